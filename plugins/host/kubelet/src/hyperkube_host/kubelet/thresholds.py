"""The thresholds of ``--eviction-hard``: how little of a node's memory, disk or process ids is too little.

Sources: kubernetes ``pkg/kubelet/eviction/{defaults_linux.go,helpers.go}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hyperkube.machinery import quantity
from hyperkube.machinery.errors import UsageError

MEMORY, DISK, PID = "MemoryPressure", "DiskPressure", "PIDPressure"
CONDITION_OF = {
    "memory.available": MEMORY,
    "nodefs.available": DISK,
    "nodefs.inodesFree": DISK,
    "imagefs.available": DISK,
    "imagefs.inodesFree": DISK,
    "pid.available": PID,
}
"""Signal → the condition of the node that it belongs to."""
DEFAULT_THRESHOLDS = "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%"


class Threshold(NamedTuple):
    """How little of something is too little: an amount, or a share of all there is."""

    signal: str
    amount: int
    share: float

    def is_met(self, available: int, capacity: int) -> bool:
        """Tell whether there is too little."""
        return available < (self.share * capacity if self.share else self.amount)


def read_thresholds(given: Mapping[str, str]) -> tuple[Threshold, ...]:
    """Return the thresholds of ``--eviction-hard``, which are keys without values: ``memory.available<100Mi``.

    Raises:
        UsageError: one cannot be read.
    """
    return tuple(_threshold(text) for text in given)


def _threshold(text: str) -> Threshold:
    signal, sign, value = text.partition("<")
    if not sign or signal not in CONDITION_OF:
        known = ", ".join(CONDITION_OF)
        raise UsageError(f"--eviction-hard: {text!r} is not SIGNAL<AMOUNT or SIGNAL<SHARE% (signals: {known})")
    try:
        if value.endswith("%"):
            return Threshold(signal, 0, float(value[:-1]) / 100)
        return Threshold(signal, quantity.parse(value).value(), 0.0)
    except (ValueError, quantity.QuantityError) as error:
        raise UsageError(f"--eviction-hard: {text!r}: {error}") from error
