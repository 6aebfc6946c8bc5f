"""What claims have: devices of their own, and amounts of devices that they share. Counted as claims change.

Source: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go``.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping

from hyperkube_scheduler.dynamic_resources.pools import DeviceId

from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

_Share = tuple[DeviceId, dict[str, Quantity]]


class Usage:
    """Devices in use, by claim; thread-safe to change, and to be looked at meanwhile.

    Attributes:
        version: grows with every change.
        devices: how many claims have a device of their own.
        shares: how many share one.
        amounts: how much of a shared device is taken, by capacity.
        changes: how often anything changed, by driver and pool.
    """

    def __init__(self) -> None:
        self.version = 0
        self.devices: Counter[DeviceId] = Counter()
        self.shares: Counter[DeviceId] = Counter()
        self.amounts: dict[DeviceId, dict[str, Quantity]] = {}
        self.changes: Counter[tuple[str, str]] = Counter()
        self._claims: dict[str, Object] = {}
        self._lock = threading.Lock()

    def put(self, claim: str, allocation: Object | None) -> None:
        """Note what a claim has by now, by its uid; None for nothing."""
        with self._lock:
            old = self._claims.get(claim)
            if old is allocation or (old is not None and old == allocation):
                return
            self.version += 1
            if old is not None:
                del self._claims[claim]
                self._count(old, -1)
            if allocation is not None:
                self._claims[claim] = allocation
                self._count(allocation, 1)

    def has(self, device: DeviceId) -> bool:
        """Tell whether a claim has anything of a device."""
        return device in self.devices or device in self.shares

    def of(self, device: DeviceId) -> Mapping[str, Quantity]:
        """Return what is taken of a shared device."""
        return self.amounts.get(device) or {}

    def _count(self, allocation: Object, sign: int) -> None:
        for row in _rows(allocation):
            self.changes[row["driver"], row["pool"]] += 1
        for device in own_devices(allocation):
            _add(self.devices, device, sign)
        for device, amounts in shares_of(allocation):
            _add(self.shares, device, sign)
            totals = dict(self.amounts.get(device) or {})
            for name, amount in amounts.items():
                change = amount if sign > 0 else -amount
                totals[name] = totals[name] + change if name in totals else change
            if device in self.shares:
                self.amounts[device] = totals
            else:
                self.amounts.pop(device, None)


def own_devices(allocation: Object) -> Iterator[DeviceId]:
    """Yield the devices that an allocation takes from others; what administrators look at is not taken."""
    for row in _rows(allocation):
        if not row.get("shareID"):
            yield DeviceId(row["driver"], row["pool"], row["device"])


def shares_of(allocation: Object) -> Iterator[_Share]:
    """Yield the devices that an allocation shares with others, and how much of them it takes."""
    for row in _rows(allocation):
        if row.get("shareID"):
            amounts = row.get("consumedCapacity") or {}
            yield (
                DeviceId(row["driver"], row["pool"], row["device"]),
                {name: parse(str(amount)) for name, amount in amounts.items()},
            )


def _rows(allocation: Object) -> Iterator[Object]:
    for row in (allocation.get("devices") or {}).get("results") or ():
        if not row.get("adminAccess"):
            yield row


def _add(counts: Counter[DeviceId], device: DeviceId, sign: int) -> None:
    counts[device] += sign
    if not counts[device]:
        del counts[device]
