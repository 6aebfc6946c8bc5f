"""How much the volumes of pods take; measured anew after a period, as it means looking at every file.

Source: kubernetes ``pkg/kubelet/server/stats/volume_stat_calculator.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.stats.file_systems import disk_usage, fs_info

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.times import format_time

PERIOD_SECONDS = 60.0
OfVolume = Callable[[str, Path], Object | None]
"""(pod's uid, folder of a volume) → its row; nothing in it for one that is not measured, None to measure the folder."""


class VolumeStats:
    """Measures the folders of volumes; thread-safe."""

    def __init__(
        self,
        directories: KubeletDirectories,
        clock: Clock,
        of_volume: OfVolume = lambda _uid, _path: None,
        period: float = PERIOD_SECONDS,
    ) -> None:
        """Measure what is in the folders of pods, except where `of_volume` knows better.

        A figure is good for `period` seconds; 0 or less for none at all.
        """
        self._period = period
        self._of_volume = of_volume
        self._directories = directories
        self._clock = clock
        self._lock = threading.Lock()
        self._measured: dict[str, tuple[float, list[Object]]] = {}

    def of(self, pod: Object) -> list[Object]:
        """Return the row of each volume that has files of its own on this node."""
        if self._period <= 0 or not pod["spec"].get("volumes"):
            return []
        uid, now = uid_of(pod), self._clock.monotonic()
        with self._lock:
            known = self._measured.get(uid)
        if known is not None and now - known[0] < self._period:
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
        rows = [(path, self._of_volume(uid, path)) for path in folders]
        return [
            {"time": time, "name": path.name, **(_row(path) if row is None else row)} for path, row in rows if row != {}
        ]


def _row(path: Path) -> Object:
    used, inodes = disk_usage(path)
    return {**fs_info(path), "usedBytes": used, "inodesUsed": inodes}
