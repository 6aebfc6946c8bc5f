"""How much the volumes of pods take; measured anew after a minute, as it means looking at every file.

Source: kubernetes ``pkg/kubelet/server/stats/volume_stat_calculator.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from pathlib import Path

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.stats.file_systems import disk_usage, fs_info
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld, MountedForPod

from hyperkube.hookspecs.volume import MetricsProvider, MountedVolume, VolumeFailed, VolumeUsage
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.machinery.times import format_time

PERIOD_SECONDS = 60.0


class VolumeStats:
    """Measures the folders of volumes; thread-safe."""

    def __init__(self, directories: KubeletDirectories, clock: Clock, state: ActualStateOfWorld) -> None:
        """Measure what is in the folders of pods; `state` tells which of them are claims, and asks kinds that know."""
        self._state = state
        self._directories = directories
        self._clock = clock
        self._lock = threading.Lock()
        self._measured: dict[str, tuple[float, list[Object]]] = {}

    def of(self, pod: Object) -> list[Object]:
        """Return the row of each volume that has files of its own on this node."""
        if not pod["spec"].get("volumes"):
            return []
        uid, now = uid_of(pod), self._clock.monotonic()
        with self._lock:
            known = self._measured.get(uid)
        if known is not None and now - known[0] < PERIOD_SECONDS:
            return known[1]
        rows = self._measure(uid)
        with self._lock:
            self._measured[uid] = (now, rows)
        return rows

    def keep(self, uids: Collection[str]) -> None:
        """Forget all pods but these."""
        with self._lock:
            self._measured = {uid: entry for uid, entry in self._measured.items() if uid in uids}

    def _measure(self, uid: str) -> list[Object]:
        time = format_time(self._clock.now())
        root = self._directories.pod(uid) / "volumes"
        folders = sorted(path for path in root.glob("*/*") if path.is_dir() and not path.is_symlink())
        by_folder = {mounted.volume.spec.name: mounted for mounted in self._state.mounted(uid).values()}
        rows = [(path, by_folder.get(path.name)) for path in folders]
        return [
            {"time": time, "name": path.name, **_row(path)} if mounted is None else {"time": time, **row}
            for path, mounted in rows
            if mounted is None or (row := _row_of(uid, path, mounted))
        ]


def _row_of(uid: str, path: Path, mounted: MountedForPod) -> Object:
    """Return the row of a volume that is mounted; nothing for one that is not to be measured."""
    volume = mounted.volume
    spec, claim = volume.spec, volume.claim
    if isinstance(volume.plugin, MetricsProvider):
        try:
            found = _usage(volume.plugin.usage(spec, MountedVolume(name=spec.name, pod_uid=uid, path=str(path))))
        except VolumeFailed:
            return {}
    elif spec.persistent_volume is not None or volume.device_mountable is not None:
        found = {} if "hostPath" in spec.volume else fs_info(Path(mounted.path))
    else:
        found = _row(path)
    if not found or claim is None:
        return {**found, "name": volume.name} if found else {}
    return {**found, "name": volume.name, "pvcRef": {"name": name_of(claim), "namespace": namespace_of(claim)}}


def _usage(usage: VolumeUsage) -> Object:
    figures = {
        "availableBytes": usage.available,
        "capacityBytes": usage.capacity,
        "usedBytes": usage.used,
        "inodesFree": usage.inodes_free,
        "inodes": usage.inodes,
        "inodesUsed": usage.inodes_used,
    }
    found: Object = {key: value for key, value in figures.items() if value is not None}
    if usage.abnormal is not None:
        found["volumeHealthStats"] = {"abnormal": bool(usage.abnormal)}
    return found


def _row(path: Path) -> Object:
    used, inodes = disk_usage(path)
    return {**fs_info(path), "usedBytes": used, "inodesUsed": inodes}
