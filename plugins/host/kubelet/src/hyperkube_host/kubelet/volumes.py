"""A pod's volumes on this node: which plugin serves which, where they lie, and what a container gets mounted.

Source of the layout: kubernetes ``pkg/kubelet/kubelet_getters.go`` (``pods/UID/volumes/PLUGIN/NAME``).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_host.kubelet.environment import ConfigFailed, expand
from hyperkube_host.kubelet.node_api import NodeApi

from hyperkube.hookspecs.runtime import Mount
from hyperkube.hookspecs.volume import VolumeFailed, VolumeRequest, Volumes
from hyperkube.kinds.volumes import claim_name, not_made_for
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object, namespace_of, uid_of


class MountFailed(Exception):
    """A volume is not ready; the text is that of the FailedMount event."""


class PodVolumes:
    """Mounts and unmounts the volumes of pods."""

    def __init__(
        self, root: Path, kinds: Sequence[tuple[str, Volumes]], api: NodeApi, node: Callable[[], Object]
    ) -> None:
        """Keep pods' folders under `root`; `kinds` are the volume plugins by name, in order."""
        self._pods = root / "pods"
        self._kinds = kinds
        self._api = api
        self._node = node

    def pod_folder(self, uid: str) -> Path:
        """Return the folder that belongs to a pod."""
        return self._pods / uid

    def folders(self) -> list[str]:
        """Return the uids of the pods that have a folder."""
        return [path.name for path in self._pods.iterdir()] if self._pods.is_dir() else []

    def setup(self, pod: Object) -> dict[str, str]:
        """Make all volumes ready, or follow their sources again; return volume name → path on the node.

        Raises:
            MountFailed: for the first that is not.
        """
        paths: dict[str, str] = {}
        for volume in pod["spec"].get("volumes") or []:
            name = volume["name"]
            try:
                kind, plugin, resolved = self._find(pod, volume)
                folder = self._folder(pod, kind, name)
                folder.mkdir(parents=True, exist_ok=True)
                paths[name] = plugin.setup(self._request(pod, resolved, folder))
            except ApiError as error:
                raise MountFailed(f'MountVolume.SetUp failed for volume "{name}" : {error.message}') from error
            except (VolumeFailed, OSError) as error:
                raise MountFailed(f'MountVolume.SetUp failed for volume "{name}" : {error}') from error
        return paths

    def _folder(self, pod: Object, kind: str, name: str) -> Path:
        return self.pod_folder(uid_of(pod)) / "volumes" / kind.replace("/", "~") / name

    def _request(self, pod: Object, volume: Object, folder: Path) -> VolumeRequest:
        mounts = [m for c in _all_containers(pod) for m in c.get("volumeMounts") or [] if m["name"] == volume["name"]]
        return VolumeRequest(
            volume=volume,
            pod=pod,
            path=str(folder),
            read_only=bool(mounts) and all(mount.get("readOnly") for mount in mounts),
            node=self._node(),
            get_config_map=self._api.config_map,
            get_secret=self._api.secret,
            request_token=lambda audience, seconds: self._api.token(pod, audience, seconds),
        )

    def _find(self, pod: Object, volume: Object) -> tuple[str, Volumes, Object]:
        resolved = volume
        if "persistentVolumeClaim" in volume or "ephemeral" in volume:
            resolved = self._resolve(pod, volume)
        for kind, plugin in self._kinds:
            if plugin.supports(resolved):
                return kind, plugin, resolved
        source = next((key for key in resolved if key != "name"), "nothing")
        known = ", ".join(kind for kind, _ in self._kinds)
        raise VolumeFailed(f"no volume plugin handles {source!r} (installed: {known})")

    def _resolve(self, pod: Object, volume: Object) -> Object:
        """Return the volume with the source of the PersistentVolume that its claim is bound to."""
        from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES

        name = claim_name(pod, volume) or ""
        claim = self._api.get(PERSISTENT_VOLUME_CLAIMS, namespace_of(pod), name)
        why = not_made_for(claim, pod) if "ephemeral" in volume else ""
        if why:
            raise VolumeFailed(why)
        bound = (claim.get("spec") or {}).get("volumeName")
        if not bound or (claim.get("status") or {}).get("phase") != "Bound":
            raise VolumeFailed(f"PVC {namespace_of(pod)}/{name} is not bound")
        spec = self._api.get(PERSISTENT_VOLUMES, "", bound)["spec"]
        return {"name": volume["name"], **spec}

    def teardown(self, pod: Object) -> None:
        """Take the volumes of an ended pod down and remove its folder."""
        for volume in pod["spec"].get("volumes") or []:
            try:
                kind, plugin, resolved = self._find(pod, volume)
            except (VolumeFailed, NotFound):
                continue  # what could never be set up leaves nothing
            folder = self._folder(pod, kind, volume["name"])
            if folder.exists():
                plugin.teardown(self._request(pod, resolved, folder))
        self.remove_folder(uid_of(pod))

    def remove_folder(self, uid: str) -> None:
        """Remove what is left of a pod."""
        shutil.rmtree(self.pod_folder(uid), ignore_errors=True)


def _all_containers(pod: Object) -> list[Object]:
    return [*(pod["spec"].get("initContainers") or []), *(pod["spec"].get("containers") or [])]


def mounts_of(container: Object, paths: dict[str, str], env: dict[str, str]) -> list[Mount]:
    """Return a container's mounts of the volumes at `paths`.

    Raises:
        ConfigFailed: a mount names no volume, or a path outside of it.
    """
    mounts: list[Mount] = []
    for entry in container.get("volumeMounts") or []:
        source = paths.get(entry["name"])
        if source is None:
            raise ConfigFailed(f"cannot find volume {entry['name']!r} to mount into container {container['name']!r}")
        sub_path = expand(entry["subPathExpr"], env) if entry.get("subPathExpr") else entry.get("subPath", "")
        if sub_path:
            source = _inside(source, sub_path)
        target = entry["mountPath"]
        mounts.append(
            Mount(
                host_path=source,
                container_path=target if target.startswith("/") else "/" + target,
                read_only=bool(entry.get("readOnly")),
                propagation=entry.get("mountPropagation") or "None",
            )
        )
    return mounts


def _inside(folder: str, sub_path: str) -> str:
    """Return the path of a part of a volume, made as a folder when missing; it cannot lead out of the volume."""
    root = Path(folder).resolve()
    real = (root / sub_path).resolve()
    if not real.is_relative_to(root):
        raise ConfigFailed(f"subPath {sub_path!r} leads out of its volume")
    if not real.exists():
        real.mkdir(mode=0o750, parents=True)
    return str(real)
