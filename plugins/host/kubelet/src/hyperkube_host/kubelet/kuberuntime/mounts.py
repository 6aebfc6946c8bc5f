"""The mounts of a container's volumes, as CRI's ``Mount``.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (makeMounts), ``pkg/kubelet/kuberuntime/kuberuntime_container.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from hyperkube_host.kubelet.container.expansion import expand, references
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPath, SubPathFailed, SubPaths

from hyperkube.hookspecs.runtime import Config
from hyperkube.machinery.objects import Object

_READ_ONLY_SOURCES = ("configMap", "secret", "projected", "downwardAPI")
_MAYBE_READ_ONLY = ("persistentVolumeClaim",)
_PROPAGATION = {"HostToContainer": "PROPAGATION_HOST_TO_CONTAINER", "Bidirectional": "PROPAGATION_BIDIRECTIONAL"}


def make_mount(
    host_path: str, container_path: str, *, read_only: bool = False, propagation: str = "None", relabel: bool = False
) -> dict[str, Any]:
    """Return a ``Mount``; `propagation` is that of the Kubernetes API, `relabel` for the container's SELinux label."""
    made: dict[str, Any] = {"container_path": container_path, "host_path": host_path}
    if read_only:
        made["readonly"] = True
    if relabel:
        made["selinux_relabel"] = True
    if propagation in _PROPAGATION:
        made["propagation"] = _PROPAGATION[propagation]
    return made


class VolumeSources(NamedTuple):
    """What a container's volumes are.

    Attributes:
        paths: volume name → path on the node.
        images: volume name → ``ImageSpec`` of volumes that are images.
        sub_paths: makes parts of volumes ready.
        pod_uid: whose volumes they are.
        read_only: the names of volumes that are not for writing, whatever their mounts say.
        relabelled: the names of volumes whose files get the container's SELinux label.
    """

    paths: Mapping[str, str]
    sub_paths: SubPaths
    pod_uid: str = ""
    images: Mapping[str, Config] = MappingProxyType({})
    read_only: Collection[str] = ()
    relabelled: Collection[str] = ()


def read_only_volumes(pod: Object) -> set[str]:
    """Return the names of a pod's volumes that cannot be written to: their content follows objects of the API."""
    return {
        volume["name"]
        for volume in pod["spec"].get("volumes") or ()
        if any(source in volume for source in _READ_ONLY_SOURCES)
        or any((volume.get(source) or {}).get("readOnly") for source in _MAYBE_READ_ONLY)
    }


def mounts_of(container: Object, volumes: VolumeSources, env: Mapping[str, str]) -> list[Config]:
    """Return a container's mounts of its volumes.

    Raises:
        ConfigFailed: a mount names no volume, or a path outside of it.
    """
    mounts: list[Config] = []
    to_label = set(volumes.relabelled)
    for index, entry in enumerate(container.get("volumeMounts") or []):
        if entry["name"] in volumes.images:
            mounts.append(_image_mount(entry, volumes.images[entry["name"]], env))
            continue
        source = volumes.paths.get(entry["name"])
        if source is None:
            raise ConfigFailed(f"cannot find volume {entry['name']!r} to mount into container {container['name']!r}")
        check_path("mountPath", entry["mountPath"])
        if sub_path := _sub_path(entry, env):
            wanted = SubPath(
                pod_uid=volumes.pod_uid,
                container=container["name"],
                index=index,
                volume=entry["name"],
                root=source,
                path=sub_path,
            )
            try:
                source = volumes.sub_paths.prepare(wanted)
            except SubPathFailed as error:
                raise ConfigFailed(str(error)) from error
        read_only = bool(entry.get("readOnly")) or entry["name"] in volumes.read_only
        propagation = entry.get("mountPropagation") or "None"
        relabel = entry["name"] in to_label
        to_label.discard(entry["name"])  # once is enough for all mounts of it
        made = make_mount(
            source, _absolute(entry["mountPath"]), read_only=read_only, propagation=propagation, relabel=relabel
        )
        if entry.get("recursiveReadOnly") in {"Enabled", "IfPossible"}:
            made["recursive_read_only"] = True
        mounts.append(made)
    return mounts


def devices_of(container: Object, volumes: VolumeSources) -> list[Config]:
    """Return a container's devices that are volumes, as CRI's ``Device``.

    Raises:
        ConfigFailed: one names no volume.
    """
    devices: list[Config] = []
    for entry in container.get("volumeDevices") or []:
        device = volumes.paths.get(entry["name"])
        if device is None:
            raise ConfigFailed(f"cannot find volume {entry['name']!r} to pass into container {container['name']!r}")
        permissions = "r" if entry["name"] in volumes.read_only else "mrw"
        devices.append({"host_path": device, "container_path": entry["devicePath"], "permissions": permissions})
    return devices


def _absolute(path: str) -> str:
    return path if path.startswith("/") else "/" + path


def _image_mount(entry: Object, image: Config, env: Mapping[str, str]) -> Config:
    """Return the mount of an image, or of a folder in it; it is never written to."""
    check_path("mountPath", entry["mountPath"])
    made: dict[str, Any] = {"container_path": _absolute(entry["mountPath"]), "image": image, "readonly": True}
    sub_path = _sub_path(entry, env)
    return {**made, "image_sub_path": sub_path} if sub_path else made


def check_path(field: str, path: str) -> None:
    """Raise ConfigFailed for what no path can be."""
    if "\0" in path:
        raise ConfigFailed(f"{field} {path!r} must not contain NUL")


def _sub_path(entry: Object, env: Mapping[str, str]) -> str:
    """Return the part of a volume that a mount asks for, empty for the whole of it.

    Raises:
        ConfigFailed: it is no path below another, or names a variable that has no value.
    """
    sub_path: str = entry.get("subPath") or ""
    if expression := entry.get("subPathExpr"):
        if missing := sorted(name for name in references(expression) if not env.get(name)):
            raise ConfigFailed(f"missing value for {', '.join(missing)}")
        sub_path = expand(expression, env)
    check_path("subPath", sub_path)
    if sub_path.startswith("/"):
        raise ConfigFailed(f"error SubPath `{sub_path}` must not be an absolute path")
    if ".." in sub_path.split("/"):
        raise ConfigFailed(f"unable to provision SubPath `{sub_path}`: must not contain '..'")
    return sub_path
