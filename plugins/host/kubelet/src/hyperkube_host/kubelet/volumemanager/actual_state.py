"""What is attached to this node and mounted on it, as far as the kubelet knows.

Source: kubernetes ``pkg/kubelet/volumemanager/cache/actual_state_of_world.go``.
"""

from __future__ import annotations

import threading
from dataclasses import field

from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume

from hyperkube.machinery.dataclass import dataclass


@dataclass(slots=True)
class MountedForPod:
    """A volume of a pod that is ready.

    Attributes:
        volume: what it is.
        path: the folder, file or device that containers get.
        is_device: whether that is a device.
    """

    volume: PodVolume
    path: str
    is_device: bool = False


@dataclass(slots=True)
class NodeVolume:
    """A volume on the node, changed only by the operation that holds its name.

    Attributes:
        volume: what it is, as the first pod had it.
        device: what it was attached as; None before.
        device_mount_path: where it is mounted for all pods; empty when it is not.
        pods: the pods that have it, or may have a part of it.
        left: the pods that have nothing of it any more, after whose end it is still to be taken from the node.
    """

    volume: PodVolume
    device: str | None = None
    device_mount_path: str = ""
    pods: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)


class ActualStateOfWorld:
    """The volumes of the node; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._volumes: dict[str, NodeVolume] = {}
        self._mounted: dict[str, dict[str, MountedForPod]] = {}
        self._wanted: dict[str, frozenset[str]] = {}

    def volume(self, volume: PodVolume) -> NodeVolume:
        """Return the record of a volume, made if there is none."""
        with self._lock:
            return self._volumes.setdefault(volume.unique_name, NodeVolume(volume))

    def known(self, unique_name: str) -> NodeVolume | None:
        """Return the record of a volume."""
        with self._lock:
            return self._volumes.get(unique_name)

    def forget(self, unique_name: str) -> None:
        """Drop the record of a volume that the node does not have any more."""
        with self._lock:
            self._volumes.pop(unique_name, None)

    def mounted(self, uid: str) -> dict[str, MountedForPod]:
        """Return the volumes of a pod that are ready, by the name of its entry."""
        with self._lock:
            return dict(self._mounted.get(uid) or {})

    def mark_mounted(self, uid: str, mounted: MountedForPod) -> None:
        """Note that a volume of a pod is ready."""
        with self._lock:
            self._mounted.setdefault(uid, {})[mounted.volume.name] = mounted

    def mark_unmounted(self, uid: str, name: str) -> None:
        """Note that a volume of a pod is not there any more."""
        with self._lock:
            own = self._mounted.get(uid) or {}
            own.pop(name, None)
            if not own:
                self._mounted.pop(uid, None)

    def left_by(self, uid: str) -> list[PodVolume]:
        """Return the volumes that a pod has nothing of any more, and that the node did not let go of yet."""
        with self._lock:
            return [one.volume for one in self._volumes.values() if uid in one.left]

    def is_mounted_elsewhere(self, unique_name: str, uid: str) -> bool:
        """Tell whether another pod has a volume."""
        with self._lock:
            found = self._volumes.get(unique_name)
            return found is not None and bool(found.pods - {uid})

    def want(self, uid: str, unique_names: frozenset[str]) -> bool:
        """Note which attachable volumes a pod is to have; tell whether the volumes in use are others now."""
        with self._lock:
            before = self._in_use()
            if unique_names:
                self._wanted[uid] = unique_names
            else:
                self._wanted.pop(uid, None)
            return self._in_use() != before

    def _in_use(self) -> list[str]:
        names = {name for wanted in self._wanted.values() for name in wanted}
        names |= {name for name, one in self._volumes.items() if one.volume.attachable is not None}
        return sorted(names)

    def volumes_in_use(self) -> list[str]:
        """Return the attachable volumes that must not be detached: those that pods want or have."""
        with self._lock:
            return self._in_use()

    def device_mount_paths(self) -> set[str]:
        """Return where volumes are mounted for all pods."""
        with self._lock:
            return {one.device_mount_path for one in self._volumes.values() if one.device_mount_path}
