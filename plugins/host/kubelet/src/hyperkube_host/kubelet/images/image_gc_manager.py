"""Removes images that no container uses: when the disk is full, and when they have not been used for long.

Source: kubernetes ``pkg/kubelet/images/image_gc_manager.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from hyperkube.hookspecs.runtime import Image, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_time

PERIOD_SECONDS = 300.0
_log = logging.getLogger("hyperkube.kubelet")


class ImageGCFailed(HyperkubeError):
    """The disk stays fuller than it should be: the text says how much could not be freed."""


class ImageGCPolicy(Record):
    """When images are removed.

    Attributes:
        high_percent: use of the images' disk that starts it; 100 never does.
        low_percent: use that ends it.
        min_age_seconds: how long an image stays at least after it was first seen.
        max_age_seconds: how long an image stays at most without being used; 0 for ever.
    """

    high_percent: int = 85
    low_percent: int = 80
    min_age_seconds: float = 120.0
    max_age_seconds: float = 0.0


class ImageRecord(NamedTuple):
    """What is known of an image: when it was first seen and last used, on a clock that only goes forward."""

    first_detected: float
    last_used: float = 0.0
    size: int = 0
    pinned: bool = False


Records = Mapping[str, ImageRecord]
"""By the image's id."""


def detect(known: Records, images: Iterable[Image], in_use: Collection[str], now: float) -> dict[str, ImageRecord]:
    """Return the records of the images that are there; `in_use` names those of containers, by id or by any name."""
    found = {}
    for image in images:
        old = known.get(image.id, ImageRecord(now))
        used = image.id in in_use or any(name in in_use for name in (*image.tags, *image.digests))
        found[image.id] = ImageRecord(old.first_detected, now if used else old.last_used, image.size, image.pinned)
    return found


def candidates(records: Records, now: float) -> list[str]:
    """Return the images that no container uses, the one that was not used for longest first; a pinned one never."""
    unused = [(row.last_used, row.first_detected, key) for key, row in records.items() if not row.pinned]
    return [key for last_used, _, key in sorted(unused) if last_used < now]


def bytes_to_free(policy: ImageGCPolicy, available: int, capacity: int) -> int:
    """Return how much is to be freed of a disk; 0 while it is not too full."""
    percent = 100 - available * 100 // capacity
    if percent < policy.high_percent:
        return 0
    return max(0, capacity * (100 - policy.low_percent) // 100 - available)


class ImageGCManager:
    """Keeps the records and removes images; `garbage_collect` and the rest run on any thread, one at a time."""

    def __init__(
        self,
        policy: ImageGCPolicy,
        runtime: Runtime,
        clock: Clock,
        image_fs: Callable[[], Object],
        node_event: Callable[[str, str, str], None],
        collected: Callable[[Collection[str], str], None] = lambda _kept, _begun: None,
    ) -> None:
        """Take what is looked at.

        Args:
            policy: when images are removed.
            runtime: has them.
            clock: for ages.
            image_fs: returns ``availableBytes`` and ``capacityBytes`` of their disk.
            node_event: (kind, reason, message) about the node.
            collected: called after each round with the ids of the images that are there, and when it began (RFC 3339).
        """
        self._policy = policy
        self._runtime = runtime
        self._clock = clock
        self._image_fs = image_fs
        self._node_event = node_event
        self._collected = collected
        self._lock = threading.Lock()
        self._records: dict[str, ImageRecord] = {}
        self._failed_before = False

    def run(self) -> None:
        """Do one round; a failure is an event only when the round before has failed, too."""
        try:
            self.garbage_collect()
        except (RuntimeFailed, ImageGCFailed) as error:
            if self._failed_before:
                self._node_event("Warning", "ImageGCFailed", str(error))
            else:
                _log.warning("image garbage collection failed once: %s", error)
            self._failed_before = True
        else:
            self._failed_before = False

    def garbage_collect(self) -> None:
        """Remove what is too old, then what has to go for the disk.

        Raises:
            RuntimeFailed: the runtime does not tell.
            ImageGCFailed: the disk is still too full.
        """
        with self._lock:
            self._round(self._collect)

    def _collect(self, begun: float) -> None:
        policy = self._policy
        if policy.max_age_seconds:
            oldest = begun - policy.max_age_seconds
            old = [key for key in candidates(self._records, begun) if self._idle_since(key) <= oldest]
            self._free(old, begun, None)
        stats = self._image_fs()
        available, capacity = stats.get("availableBytes", 0), stats.get("capacityBytes", 0)
        if not capacity:
            text = "invalid capacity 0 on image filesystem"
            self._node_event("Warning", "InvalidDiskCapacity", text)
            raise ImageGCFailed(text)
        wanted = bytes_to_free(policy, min(available, capacity), capacity)
        if not wanted:
            return
        freed = self._free(candidates(self._records, begun), begun, wanted)
        if freed < wanted:
            text = (
                "Failed to garbage collect required amount of images. Attempted to free"
                f" {wanted} bytes, but only found {freed} bytes eligible to free."
            )
            self._node_event("Warning", "FreeDiskSpaceFailed", text)
            raise ImageGCFailed(text)

    def delete_unused_images(self) -> None:
        """Remove all images that no container uses and that are old enough.

        Raises:
            RuntimeFailed: the runtime does not tell.
        """
        with self._lock:
            self._round(self._delete_unused)

    def _round(self, remove: Callable[[float], None]) -> None:
        """Look at what is there, remove some of it, and tell what is left."""
        since = format_time(self._clock.now())
        begun = self._detect()
        try:
            remove(begun)
        finally:
            self._collected(self._records.keys(), since)

    def _delete_unused(self, begun: float) -> None:
        self._free(candidates(self._records, begun), begun, None)

    def _idle_since(self, key: str) -> float:
        """Return since when an image was not used, as far as this kubelet has seen."""
        record = self._records[key]
        return max(record.first_detected, record.last_used)

    def _detect(self) -> float:
        now = self._clock.monotonic()
        in_use: set[str] = set()
        for status in self._runtime.containers():
            in_use |= {status.image, status.image_id, status.image_ref}
        self._records = detect(self._records, self._runtime.images(), in_use - {""}, now)
        return now

    def _free(self, keys: Iterable[str], now: float, wanted: int | None) -> int:
        """Remove images in order until `wanted` bytes are free, or all; return the sum of their sizes."""
        freed = 0
        for key in keys:
            if wanted is not None and freed >= wanted:
                break
            if now - self._records[key].first_detected < self._policy.min_age_seconds:
                continue
            try:
                self._runtime.remove_image(key)
            except RuntimeFailed as error:
                _log.warning("cannot remove image %s: %s", key, error)
                continue
            freed += self._records.pop(key).size
        return freed
