"""gitRepo: a folder with a clone of a repository, made when the pod starts.

A user who may create pods has the kubelet run ``git`` on a repository of their choice, so the gate
``GitRepoVolumeDriver`` is off unless it is turned on. Source: kubernetes ``pkg/volume/git_repo/git_repo.go``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from hyperkube_lib.volume_mount import HostPrograms, Programs

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["GitRepo"]

GATE = "GitRepoVolumeDriver"
_DISABLED = (
    "git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate "
    f"`{GATE}`"
)
_READY = ".ready"


class GitClones:
    """Clones repositories; see `Volumes`."""

    def __init__(self, programs: Programs | None = None, *, enabled: bool) -> None:
        """Refuse every volume unless `enabled`."""
        self._programs: Programs = programs or HostPrograms()
        self._enabled = enabled

    def supports(self, volume: Object) -> bool:
        """Handle ``gitRepo``."""
        return "gitRepo" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Clone once, and check the revision out.

        Raises:
            VolumeFailed: the gate is off, a value looks like a flag, or ``git`` says no.
        """
        if not self._enabled:
            raise VolumeFailed(_DISABLED)
        source = request.volume["gitRepo"]
        for name in ("repository", "revision", "directory"):
            if str(source.get(name) or "").startswith("-"):
                raise VolumeFailed(f'"{source[name]}" is an invalid value for {name}')
        target = str(source.get("directory") or "")
        # The content lies one folder deeper, so that the mark of a complete clone is not part of it.
        folder, mark = Path(request.path) / "data", Path(request.path) / _READY
        if mark.exists():
            return str(folder)
        if folder.exists():  # an attempt that was broken off
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        self._git(folder, "clone", "--", source["repository"], *((target,) if target else ()))
        if source.get("revision"):
            self._check_out(folder, target, source["revision"])
        mark.touch()
        return str(folder)

    def _check_out(self, folder: Path, target: str, revision: str) -> None:
        made = sorted(folder.iterdir())
        if target and Path(target) == Path():
            clone = folder
        elif len(made) == 1:
            clone = made[0]
        else:
            raise VolumeFailed(f"unexpected directory contents: {[path.name for path in made]}")
        self._git(clone, "checkout", revision)
        self._git(clone, "reset", "--hard")

    def _git(self, folder: Path, *arguments: str) -> None:
        done = self._programs.run(["git", "-C", str(folder), *arguments])
        if done.code:
            raise VolumeFailed(f"failed to exec 'git {' '.join(arguments)}': {done.output}: {done.problem}")

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the clone."""
        shutil.rmtree(mounted.path, ignore_errors=True)

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec of this kind."""
        return VolumeSpec(volume={"name": mounted.name, "gitRepo": {}})


class GitRepo(Plugin):
    """The gitRepo volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return GitClones(enabled=bool(self.context.gates.get(GATE)))
