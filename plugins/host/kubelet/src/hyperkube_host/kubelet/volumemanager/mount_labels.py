"""Volumes that are mounted with the SELinux label of their pod (``mount -o context``), instead of labelling each file.

All pods that have such a volume at a time need the same label. Sources: kubernetes ``pkg/volume/util/selinux.go``
(GetMountSELinuxLabel, VolumeSupportsSELinuxMount), ``pkg/volume/util/util.go`` (GetPodVolumeNames),
``pkg/kubelet/volumemanager/cache/{desired,actual}_state_of_world.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

from hyperkube_host.kubelet.types.pod_spec import containers_of, ephemeral_containers_of, init_containers_of
from hyperkube_host.kubelet.volumemanager.pod_volumes import RWOP, PodVolume, VolumeNotProcessed
from hyperkube_host.kubelet.volumemanager.selinux import SELinux

from hyperkube.hookspecs.volume import SELinuxMountable, VolumeFailed
from hyperkube.machinery.objects import Object

GATE = "SELinuxMount"
"""Whether volumes of all access modes are mounted so, and not only those of ReadWriteOncePod."""


class MountLabels:
    """Which label each volume is to be mounted with, and which pods want it so; thread-safe."""

    def __init__(self, selinux: SELinux, *, all_modes: bool) -> None:
        """Label volumes of `all_modes`, or those of ReadWriteOncePod only."""
        self._selinux = selinux
        self._all_modes = all_modes
        self._lock = threading.Lock()
        self._wanted: dict[str, dict[str, str]] = {}
        self._ended: set[str] = set()

    def labelled(self, pod: Object, uid: str, volume: PodVolume) -> PodVolume:
        """Return a volume with its label, which the pod wants from now on.

        Raises:
            VolumeNotProcessed: the pod's containers want several, or another pod has it with another one.
        """
        if not self._selinux.is_enabled or not self._is_supported(volume):
            return volume
        labels = sorted({self._selinux.file_label(options) for options in _contexts(pod, volume.name)})
        if len(labels) > 1:
            raise VolumeNotProcessed(f"multiple SELinux labels found: {','.join(labels)}")
        context = pod["spec"].get("securityContext") or {}
        label = "" if not labels or context.get("seLinuxChangePolicy") == "Recursive" else labels[0]
        self._claim(volume, uid, label)
        return replace(volume, selinux_label=label)

    def _is_supported(self, volume: PodVolume) -> bool:
        spec, plugin = volume.spec, volume.plugin
        if spec.persistent_volume is None or not isinstance(plugin, SELinuxMountable):
            return False
        if not self._all_modes and spec.volume.get("accessModes") != [RWOP]:
            return False
        return plugin.supports_selinux_context_mount(spec)

    def _claim(self, volume: PodVolume, uid: str, label: str) -> None:
        with self._lock:
            wanted = self._wanted.setdefault(volume.unique_name, {})
            other = next((pod for pod, theirs in wanted.items() if pod != uid and theirs != label), None)
            if other is None:
                wanted[uid] = label
                return
            has_ended, theirs = other in self._ended, wanted[other]
        if has_ended:
            raise VolumeNotProcessed(_waiting(volume))
        pair = f"{_quoted(theirs)} and {_quoted(label)}"
        raise VolumeNotProcessed(f"conflicting SELinux labels of volume {volume.spec.name}: {pair}")

    def check_mounted(self, volume: PodVolume, path: str) -> None:
        """Check what an earlier kubelet left mounted for all pods of the node.

        Raises:
            VolumeFailed: it has another label, and goes when the pod that had it is cleaned up.
        """
        if not self._selinux.is_enabled or not self._is_supported(volume):
            return
        found = self._selinux.mounted_label(path)
        if found is not None and found != volume.selinux_label:
            raise VolumeFailed(_waiting(volume))

    def pod_ended(self, uid: str) -> None:
        """Note that a pod's volumes are being taken from it."""
        if self._selinux.is_enabled:
            with self._lock:
                self._ended.add(uid)

    def forget(self, uid: str) -> None:
        """Note that a pod has no volumes any more."""
        if not self._selinux.is_enabled:
            return
        with self._lock:
            self._ended.discard(uid)
            for wanted in self._wanted.values():
                wanted.pop(uid, None)
            self._wanted = {name: wanted for name, wanted in self._wanted.items() if wanted}


def _contexts(pod: Object, volume: str) -> Iterator[Object]:
    """Yield the SELinux options of all containers that mount a volume, as far as they have any."""
    shared = (pod["spec"].get("securityContext") or {}).get("seLinuxOptions")
    for container in (*init_containers_of(pod), *containers_of(pod), *ephemeral_containers_of(pod)):
        if any(mount["name"] == volume for mount in container.get("volumeMounts") or ()):
            own = (container.get("securityContext") or {}).get("seLinuxOptions")
            if options := own if own is not None else shared:
                yield options


def _waiting(volume: PodVolume) -> str:
    why = "because it is already mounted to a different pod with a different SELinux label"
    return f"waiting for unmount of volume {_quoted(volume.unique_name)}, {why}"


def _quoted(text: str) -> str:
    return f'"{text}"'
