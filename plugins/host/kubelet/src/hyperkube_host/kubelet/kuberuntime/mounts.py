"""The mounts of a container's volumes, as CRI's ``Mount``.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (makeMounts), ``pkg/kubelet/kuberuntime/kuberuntime_container.go``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.container.expansion import expand
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed

from hyperkube.hookspecs.runtime import Config
from hyperkube.machinery.objects import Object

_PROPAGATION = {"HostToContainer": "PROPAGATION_HOST_TO_CONTAINER", "Bidirectional": "PROPAGATION_BIDIRECTIONAL"}


def make_mount(host_path: str, container_path: str, *, read_only: bool = False, propagation: str = "None") -> Config:
    """Return a ``Mount``; `propagation` is that of the Kubernetes API."""
    made: dict[str, Any] = {"container_path": container_path, "host_path": host_path}
    if read_only:
        made["readonly"] = True
    if propagation in _PROPAGATION:
        made["propagation"] = _PROPAGATION[propagation]
    return made


def mounts_of(container: Object, paths: dict[str, str], env: dict[str, str]) -> list[Config]:
    """Return a container's mounts of the volumes at `paths`.

    Raises:
        ConfigFailed: a mount names no volume, or a path outside of it.
    """
    mounts: list[Config] = []
    for entry in container.get("volumeMounts") or []:
        source = paths.get(entry["name"])
        if source is None:
            raise ConfigFailed(f"cannot find volume {entry['name']!r} to mount into container {container['name']!r}")
        check_path("mountPath", entry["mountPath"])
        sub_path = expand(entry["subPathExpr"], env) if entry.get("subPathExpr") else entry.get("subPath", "")
        if sub_path:
            check_path("subPath", sub_path)
            source = _inside(source, sub_path)
        target = entry["mountPath"]
        mounts.append(
            make_mount(
                source,
                target if target.startswith("/") else "/" + target,
                read_only=bool(entry.get("readOnly")),
                propagation=entry.get("mountPropagation") or "None",
            )
        )
    return mounts


def check_path(field: str, path: str) -> None:
    """Raise ConfigFailed for what no path can be."""
    if "\0" in path:
        raise ConfigFailed(f"{field} {path!r} must not contain NUL")


def _inside(folder: str, sub_path: str) -> str:
    """Return the path of a part of a volume, created as a folder when missing; it cannot lead out of the volume."""
    root = Path(folder).resolve()
    real = (root / sub_path).resolve()
    if not real.is_relative_to(root):
        raise ConfigFailed(f"subPath {sub_path!r} leads out of its volume")
    if not real.exists():
        try:
            _make_folders(root, real.relative_to(root).parts)
        except OSError as error:
            raise ConfigFailed(f"subPath {sub_path!r} could not be created: {error.strerror}") from error
    return str(real)


def _make_folders(root: Path, names: Sequence[str]) -> None:
    """Create folders below each other, through no link: another container of the pod may be writing to the volume."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open(root, flags)
    try:
        for name in names:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o750, dir_fd=here)
            below = os.open(name, flags, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)
