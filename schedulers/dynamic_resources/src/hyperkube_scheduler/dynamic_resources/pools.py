"""Which devices a node can reach: the newest slices of each driver's pools, kept by pool and by node.

A pool is read once per change of its slices, whichever node asks. Source: kubernetes dynamic-resource-allocation
``structured/internal/incubating/pools_incubating.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from hyperkube_scheduler.dynamic_resources.capacity import Capacity

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.quantity import Quantity, parse

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask

Counters = dict[tuple[str, str], Quantity]
"""(counter set, counter) → amount; under the empty counter stands the set itself, with 0."""
_HARD = frozenset({"NoSchedule", "NoExecute"})
_EVERYWHERE: Object = {"allNodes": True}


class DeviceId(NamedTuple):
    """What tells a device from all others."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        """Return ``driver/pool/device``."""
        return "/".join(self)


@dataclass(slots=True, eq=False)
class Device:
    """One device as its slice lists it.

    Attributes:
        id: its name among all devices.
        spec: its entry in the slice.
        holder: what says which nodes it is for: the slice's spec, or its own entry.
        consumes: what it takes from its pool's shared counters.
        capacities: what it has.
        taints: those that keep claims off.
        judged: expression → whether it holds for the device.
    """

    id: DeviceId
    spec: Object
    holder: Object
    consumes: Counters
    capacities: Mapping[str, Capacity]
    taints: Sequence[Object]
    judged: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: Object, row: Object) -> Device:
        """Read an entry of the slice with that spec."""
        taints = [taint for taint in row.get("taints") or () if taint.get("effect") in _HARD]
        return cls(
            DeviceId(spec["driver"], spec["pool"]["name"], row["name"]),
            row,
            row if spec.get("perDeviceNodeSelection") else spec,
            _consumed(row),
            {name: Capacity.of(each) for name, each in (row.get("capacity") or {}).items()},
            taints,
        )

    @property
    def shared(self) -> bool:
        """Whether several claims may have it at once."""
        return bool(self.spec.get("allowMultipleAllocations"))

    @property
    def conditional(self) -> bool:
        """Whether it has to be made ready before a pod is bound."""
        return bool(self.spec.get("bindingConditions"))


@dataclass(slots=True, eq=False)
class Part:
    """Devices of a pool that are for the same nodes; `seen` is the mask of these at a generation of the nodes."""

    order: int
    holder: Object
    devices: tuple[Device, ...]
    seen: tuple[tuple[int, int], Mask] | None = None


@dataclass(slots=True, eq=False)
class View:
    """What one node can reach of a pool."""

    pool: Pool
    devices: tuple[Device, ...]
    conditional: bool
    invalid: bool


class Pool:
    """A driver's pool: all its slices of the newest generation, whichever nodes they are for."""

    def __init__(self, driver: str, name: str, slices: Iterable[Object], *, partitions: bool = True) -> None:
        """Read the slices; without `partitions` those that need that ability are left out."""
        self.driver = driver
        self.name = name
        newest = _newest(slices)
        self.incomplete = len(newest) != int(newest[0]["spec"]["pool"].get("resourceSliceCount") or 0)
        self.counters: Counters = {}
        self.devices: list[Device] = []
        self.local: dict[str, list[Part]] = {}
        self.wide: list[Part] = []
        self._views: dict[str, View] = {}
        self._parts = 0
        twice = False
        for each in newest:
            spec = each["spec"]
            if not partitions and (spec.get("perDeviceNodeSelection") or spec.get("sharedCounters")):
                continue
            for counter_set in spec.get("sharedCounters") or ():
                twice |= (counter_set["name"], "") in self.counters
                self.counters[counter_set["name"], ""] = Quantity(0)
                for counter, row in (counter_set.get("counters") or {}).items():
                    self.counters[counter_set["name"], counter] = parse(str(row["value"]))
            self._place(spec, [Device.of(spec, row) for row in spec.get("devices") or ()])
        unknown = partitions and any(key not in self.counters for device in self.devices for key in device.consumes)
        self.invalid = twice or unknown

    def __str__(self) -> str:
        """Return ``driver/pool``."""
        return f"{self.driver}/{self.name}"

    def view(self, node: str, parts: Sequence[Part] = ()) -> View | None:
        """Return what a node can reach, or None if nothing of the pool is for it.

        Args:
            node: the node's name.
            parts: those of `wide` that are for the node.
        """
        if not parts and node in self._views:
            return self._views[node]
        found = [*self.local.get(node, ()), *parts]
        if not found:
            return None
        found.sort(key=lambda part: part.order)
        devices = tuple(device for part in found for device in part.devices)
        twice = len({device.id for device in devices}) != len(devices)
        view = View(self, devices, any(device.conditional for device in devices), self.invalid or twice)
        if not parts:
            self._views[node] = view
        return view

    def _place(self, spec: Object, devices: list[Device]) -> None:
        self.devices += devices
        if spec.get("perDeviceNodeSelection"):
            for device in devices:
                self._put(device.holder, (device,))
        else:
            self._put(spec, tuple(devices))
        if spec.get("sharedCounters") and not spec.get("nodeName"):
            self._put(_EVERYWHERE, ())  # a pool that is about to get more of them concerns every node

    def _put(self, holder: Object, devices: tuple[Device, ...]) -> None:
        self._parts += 1
        part = Part(self._parts, holder, devices)
        if holder.get("nodeName"):
            self.local.setdefault(holder["nodeName"], []).append(part)
        else:
            self.wide.append(part)


def _newest(slices: Iterable[Object]) -> list[Object]:
    rows = sorted(slices, key=name_of)
    last = max(_generation(each) for each in rows)
    return [each for each in rows if _generation(each) == last]


def _consumed(device: Object) -> Counters:
    found: Counters = {}
    for row in device.get("consumesCounters") or ():
        found[row["counterSet"], ""] = Quantity(0)
        for counter, amount in (row.get("counters") or {}).items():
            found[row["counterSet"], counter] = parse(str(amount["value"]))
    return found


def _generation(each: Object) -> int:
    return int(each["spec"]["pool"].get("generation") or 0)
