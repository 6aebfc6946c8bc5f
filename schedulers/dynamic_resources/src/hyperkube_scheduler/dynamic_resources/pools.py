"""Which devices a node can reach: the newest slices of each driver's pools.

Source: kubernetes dynamic-resource-allocation ``structured/internal/stable/pools_stable.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hyperkube_lib.scheduling.node_selectors import any_term

from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask

Counters = dict[tuple[str, str], Quantity]
"""(counter set, counter) → amount."""


class DeviceId(NamedTuple):
    """What tells a device from all others."""

    driver: str
    pool: str
    device: str


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """One device, the slice that lists it, and what it takes from its pool's shared counters."""

    id: DeviceId
    spec: Object
    slice_spec: Object
    consumes: Counters


@dataclass(slots=True, eq=False)
class Pool:
    """A driver's pool: all its slices of the newest generation, whichever nodes they are for."""

    driver: str
    name: str
    slices: list[Object] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    masks: list[Mask] = field(default_factory=list)
    """For each device which nodes reach it."""
    counters: Counters = field(default_factory=dict)

    @property
    def incomplete(self) -> bool:
        """Whether slices are missing: the driver is about to publish them."""
        return len(self.slices) != int(self.slices[0]["spec"]["pool"].get("resourceSliceCount") or 0)

    @property
    def invalid(self) -> bool:
        """Whether two devices have the same name."""
        return len({device.id for device in self.devices}) != len(self.devices)


def gather(slices: Sequence[Object], nodes: NodeTable) -> list[Pool]:
    """Return all pools with their newest slices, and which nodes reach their devices."""
    newest: dict[tuple[str, str], list[Object]] = {}
    for each in sorted(slices, key=lambda item: str(item["metadata"]["name"])):
        key = (each["spec"]["driver"], each["spec"]["pool"]["name"])
        known = newest.setdefault(key, [])
        if known and _generation(known[0]) > _generation(each):
            continue
        if known and _generation(known[0]) < _generation(each):
            known.clear()
        known.append(each)
    return [_pool(driver, name, rows, nodes) for (driver, name), rows in sorted(newest.items())]


def _pool(driver: str, name: str, slices: list[Object], nodes: NodeTable) -> Pool:
    pool = Pool(driver, name, slices)
    for each in slices:
        spec = each["spec"]
        for counter_set in spec.get("sharedCounters") or ():
            for counter, row in counter_set["counters"].items():
                pool.counters[counter_set["name"], counter] = parse(str(row["value"]))
        shared = None if spec.get("perDeviceNodeSelection") else reach(spec, nodes)
        for row in spec.get("devices") or ():
            pool.devices.append(Device(DeviceId(driver, name, row["name"]), row, spec, _consumed(row)))
            pool.masks.append(reach(row, nodes) if shared is None else shared)
    return pool


def reach(holder: Object, nodes: NodeTable) -> Mask:
    """Return which nodes a slice or device says it is for."""
    if holder.get("nodeName"):
        return np.array([name == holder["nodeName"] for name in nodes.names], dtype=bool)
    if holder.get("allNodes"):
        return np.ones(len(nodes), dtype=bool)
    if holder.get("nodeSelector"):
        return any_term(holder["nodeSelector"].get("nodeSelectorTerms") or (), nodes)
    return np.zeros(len(nodes), dtype=bool)


def _consumed(device: Object) -> Counters:
    return {
        (row["counterSet"], counter): parse(str(amount["value"]))
        for row in device.get("consumesCounters") or ()
        for counter, amount in row["counters"].items()
    }


def _generation(each: Object) -> int:
    return int(each["spec"]["pool"].get("generation") or 0)
