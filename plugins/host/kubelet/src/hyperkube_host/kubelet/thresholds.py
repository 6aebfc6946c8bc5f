"""The thresholds of eviction: how little of a node's memory, disk or process ids is too little, and for how long.

Sources: kubernetes ``pkg/kubelet/eviction/{defaults_linux,helpers,types}.go``, ``pkg/kubelet/eviction/api/types.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hyperkube.machinery import quantity
from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.errors import UsageError

MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE = "MemoryPressure", "DiskPressure", "PIDPressure"
MEMORY_AVAILABLE, ALLOCATABLE_MEMORY = "memory.available", "allocatableMemory.available"
NODE_FS, NODE_INODES = "nodefs.available", "nodefs.inodesFree"
IMAGE_FS, IMAGE_INODES = "imagefs.available", "imagefs.inodesFree"
CONTAINER_FS, CONTAINER_INODES = "containerfs.available", "containerfs.inodesFree"
PID_AVAILABLE = "pid.available"
CONDITION_OF = {
    MEMORY_AVAILABLE: MEMORY_PRESSURE,
    ALLOCATABLE_MEMORY: MEMORY_PRESSURE,
    IMAGE_FS: DISK_PRESSURE,
    CONTAINER_FS: DISK_PRESSURE,
    NODE_FS: DISK_PRESSURE,
    IMAGE_INODES: DISK_PRESSURE,
    NODE_INODES: DISK_PRESSURE,
    CONTAINER_INODES: DISK_PRESSURE,
    PID_AVAILABLE: PID_PRESSURE,
}
"""Signal → the condition of the node that it belongs to."""
RESOURCE_OF = {
    MEMORY_AVAILABLE: "memory",
    ALLOCATABLE_MEMORY: "memory",
    IMAGE_FS: "ephemeral-storage",
    CONTAINER_FS: "ephemeral-storage",
    NODE_FS: "ephemeral-storage",
    IMAGE_INODES: "inodes",
    NODE_INODES: "inodes",
    CONTAINER_INODES: "inodes",
    PID_AVAILABLE: "pids",
}
"""Signal → the resource that is to be reclaimed, as events and messages name it."""
DEFAULT_THRESHOLDS = (
    "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%"
)
_DERIVED = {CONTAINER_FS: (NODE_FS, IMAGE_FS), CONTAINER_INODES: (NODE_INODES, IMAGE_INODES)}
"""Signal of the containers' file system → the signals that it follows: the node's, or the images'."""


class Amount(NamedTuple):
    """An amount, or a share of all there is."""

    amount: int = 0
    share: float = 0.0

    def of(self, capacity: int) -> int:
        """Return how much that is where there is so much in all."""
        return int(self.share * capacity) if self.share else self.amount


class Threshold(NamedTuple):
    """How little of something is too little.

    Attributes:
        grace_seconds: how long it may be so before a pod has to go; 0 for a hard threshold.
        minimum_reclaim: how much more there must be before a met threshold is not met any longer.
    """

    signal: str
    value: Amount
    grace_seconds: float = 0.0
    minimum_reclaim: Amount = Amount()

    @property
    def is_hard(self) -> bool:
        """Whether a pod has to go at once."""
        return self.grace_seconds == 0

    def is_met(self, available: int, capacity: int, *, with_reclaim: bool = False) -> bool:
        """Tell whether there is too little, or still too little after it was so (`with_reclaim`)."""
        wanted = self.value.of(capacity)
        if with_reclaim:
            wanted += self.minimum_reclaim.of(capacity)
        return available < wanted


def read_thresholds(
    hard: Mapping[str, str],
    soft: Mapping[str, str] | None = None,
    grace: Mapping[str, str] | None = None,
    reclaim: Mapping[str, str] | None = None,
    *,
    enforces_pods: bool = False,
) -> tuple[Threshold, ...]:
    """Return the thresholds of the flags ``--eviction-*``.

    Args:
        hard: keys without values, ``memory.available<100Mi``.
        soft: the same of ``--eviction-soft``.
        grace: signal → duration of ``--eviction-soft-grace-period``.
        reclaim: signal → amount or share of ``--eviction-minimum-reclaim``.
        enforces_pods: whether all pods together have a limit: then it has a threshold as the node has.

    Raises:
        UsageError: one cannot be read.
    """
    graces = {signal: _seconds(signal, text) for signal, text in (grace or {}).items()}
    reclaims = {_known("eviction-minimum-reclaim", signal): _reclaim(signal, text)
                for signal, text in (reclaim or {}).items()}  # fmt: skip
    found = [*_read("eviction-hard", hard)]
    for threshold in _read("eviction-soft", soft or {}):
        if threshold.signal not in graces:
            raise UsageError(f"grace period must be specified for the soft eviction threshold {threshold.signal}")
        found.append(threshold._replace(grace_seconds=graces[threshold.signal]))
    found = [one._replace(minimum_reclaim=reclaims.get(one.signal, Amount())) for one in found]
    if enforces_pods:
        found += [one._replace(signal=ALLOCATABLE_MEMORY) for one in found
                  if one.signal == MEMORY_AVAILABLE and one.is_hard]  # fmt: skip
    return tuple(found)


def with_container_fs(
    thresholds: Iterable[Threshold], *, has_image_fs: bool, is_split: bool = False
) -> tuple[Threshold, ...]:
    """Return the thresholds with those of the containers' file system, which are no one's to choose.

    Args:
        thresholds: those of the flags.
        has_image_fs: whether images have a file system of their own.
        is_split: whether the containers' layers are not in that one.
    """
    own = [one for one in thresholds if one.signal not in _DERIVED]
    follows_images = has_image_fs and not is_split
    derived = [
        one._replace(signal=signal)
        for signal, sources in _DERIVED.items()
        for one in own
        if one.signal == sources[follows_images]
    ]
    return (*own, *derived)


def _read(flag: str, given: Mapping[str, str]) -> Iterator[Threshold]:
    for text in given:
        signal, sign, value = text.partition("<")
        if not sign or signal not in CONDITION_OF:
            known = ", ".join(CONDITION_OF)
            raise UsageError(f"--{flag}: {text!r} is not SIGNAL<AMOUNT or SIGNAL<SHARE% (signals: {known})")
        if value in {"0%", "100%"}:
            continue  # upstream's way of switching a threshold off
        amount = _amount(flag, text, value)
        if amount.share < 0 or amount.share > 1 or (amount.amount <= 0 and not amount.share):
            raise UsageError(f"--{flag}: {text!r}: eviction threshold must be positive, and at most 100%")
        yield Threshold(signal, amount)


def _amount(flag: str, text: str, value: str) -> Amount:
    try:
        if value.endswith("%"):
            return Amount(share=float(value[:-1]) / 100)
        return Amount(quantity.parse(value).value())
    except (ValueError, quantity.QuantityError) as error:
        raise UsageError(f"--{flag}: {text!r}: {error}") from error


def _reclaim(signal: str, text: str) -> Amount:
    flag = "eviction-minimum-reclaim"
    found = _amount(flag, f"{signal}={text}", text)
    if found.amount < 0 or found.share < 0 or (text.endswith("%") and not found.share):
        raise UsageError(f"--{flag}: {signal}={text}: minimum reclaim must be positive")
    return found


def _seconds(signal: str, text: str) -> float:
    flag = "eviction-soft-grace-period"
    _known(flag, signal)
    try:
        seconds = parse_duration(text)
    except DurationError as error:
        raise UsageError(f"--{flag}: {signal}={text}: {error}") from error
    if seconds < 0:
        raise UsageError(f"--{flag}: {signal}={text}: must be a positive value")
    return seconds


def _known(flag: str, signal: str) -> str:
    if signal not in CONDITION_OF:
        raise UsageError(f"--{flag}: unsupported eviction signal {signal}")
    return signal
