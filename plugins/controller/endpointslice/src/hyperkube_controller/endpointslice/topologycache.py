"""Hints for services with ``service.kubernetes.io/topology-mode: Auto``: endpoints in proportion to each zone's CPU.

Each zone is to have its share of the endpoints, at most 20 % short of it; a zone that has more lends endpoints to one
that has less. Where that cannot be done there are no hints at all, and an event says why.
Source: kubernetes ``staging/src/k8s.io/endpointslice/topologycache``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence

from hyperkube_controller.endpointslice.reconciler import ZONE, SlicePlan
from hyperkube_controller.endpointslice.trafficdist import is_ready, remove_hints

from hyperkube.client.actions import Emit
from hyperkube.kinds.conditions import is_true
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, labels_of
from hyperkube.machinery.quantity import parse

TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
DEPRECATED_TOPOLOGY_AWARE_HINTS = "service.kubernetes.io/topology-aware-hints"
OVERLOAD_THRESHOLD = 0.2
ENABLED = "Topology Aware Hints has been enabled"
DISABLED = "Topology Aware Hints has been disabled"
NO_ZONE = "One or more endpoints do not have a zone specified"
NO_ALLOCATED_HINTS = "No hints allocated for zones"
INSUFFICIENT_NODE_INFO = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
INSUFFICIENT_ENDPOINTS = "Insufficient number of endpoints"
ABOVE_THRESHOLD = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold"
_EXCLUDED = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_HALF = 0.5


def hints_enabled(service: Object) -> bool:
    """Tell whether the service's annotations ask for topology aware hints."""
    annotations = annotations_of(service)
    value = annotations.get(DEPRECATED_TOPOLOGY_AWARE_HINTS, annotations.get(TOPOLOGY_MODE))
    return value in {"Auto", "auto"}


@dataclass(frozen=True, slots=True)
class Allocation:
    """How many endpoints a zone must have, may have, and should have."""

    minimum: int
    maximum: int
    desired: float


class Unallocatable(Exception):
    """Hints cannot be made; the text is that of the event."""


def cpu_ratios(nodes: Iterable[Object]) -> dict[str, float] | None:
    """Return each zone's share of the CPU of ready nodes; None if it is not known or there are not two zones."""
    by_zone: dict[str, int] = {}
    for node in nodes:
        if any(label in labels_of(node) for label in _EXCLUDED) or not is_true(node.get("status") or {}, "Ready"):
            continue
        zone = labels_of(node).get(ZONE)
        cpu = parse(((node.get("status") or {}).get("allocatable") or {}).get("cpu", "0")).milli_value()
        if not zone or not cpu:
            return None
        by_zone[zone] = by_zone.get(zone, 0) + cpu
    total = sum(by_zone.values())
    if not total or len(by_zone) < 2:
        return None
    return {zone: cpu / total for zone, cpu in by_zone.items()}


def allocations(ratios: Mapping[str, float] | None, count: int) -> dict[str, Allocation]:
    """Return how many of `count` endpoints each zone gets.

    Raises:
        Unallocatable: there are too few of them, or the nodes say too little.
    """
    if ratios is None:
        raise Unallocatable(INSUFFICIENT_NODE_INFO)
    numbers = f"({count} endpoints, {len(ratios)} zones)"
    if len(ratios) > count:
        raise Unallocatable(f"{INSUFFICIENT_ENDPOINTS} {numbers}")
    minima = {zone: math.ceil(ratio * count / (1 + OVERLOAD_THRESHOLD)) for zone, ratio in ratios.items()}
    spare = count - sum(minima.values())
    if spare < 0:
        raise Unallocatable(f"{ABOVE_THRESHOLD} {numbers}")
    return {
        zone: Allocation(least, least + spare, max(ratios[zone] * count, float(least)))
        for zone, least in minima.items()
    }


class TopologyCache:
    """The CPU of zones, and which services have how many endpoints for each; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ratios: dict[str, float] | None = {}
        self._by_service: dict[str, dict[str, dict[str, int]]] = {}
        self._populated: set[str] = set()

    @property
    def is_used(self) -> bool:
        """Whether a service has hints by its annotation."""
        return bool(self._by_service)

    def set_nodes(self, nodes: Iterable[Object]) -> list[str]:
        """Learn the nodes anew; return the keys of services in which a zone has too few endpoints now."""
        ratios = cpu_ratios(nodes)
        with self._lock:
            self._ratios = ratios
            return [
                key
                for key, families in self._by_service.items()
                if any(is_overloaded(by_zone, ratios) for by_zone in families.values())
            ]

    def forget(self, key: str, address_type: str) -> bool:
        """Forget the hints of a service's slices of one address type; tell whether the service had any."""
        with self._lock:
            had = key in self._populated
            self._populated.discard(key)
            families = self._by_service.get(key, {})
            families.pop(address_type, None)
            if not families:
                self._by_service.pop(key, None)
            return had

    def add_hints(self, key: str, service: Object, plan: SlicePlan) -> list[Emit]:
        """Give the plan's ready endpoints hints, or take all hints off; return the events that tell of a change."""
        with self._lock:
            ratios = self._ratios
        try:
            by_zone = _assign(plan, allocations(ratios or None, _ready_count(plan)))
        except Unallocatable as why:
            self.forget(key, plan.address_type)
            remove_hints(plan)
            return [_event(service, "Warning", "TopologyAwareHintsDisabled", str(why), plan)]
        with self._lock:
            had = key in self._populated
            self._populated.add(key)
            self._by_service.setdefault(key, {})[plan.address_type] = by_zone
        return [] if had else [_event(service, "Normal", "TopologyAwareHintsEnabled", ENABLED, plan)]

    def disable(self, key: str, service: Object, plan: SlicePlan) -> list[Emit]:
        """Forget a service's hints because it does not ask for them; return the event if it did before."""
        if not self.forget(key, plan.address_type):
            return []
        return [_event(service, "Warning", "TopologyAwareHintsDisabled", DISABLED, plan)]


def _event(service: Object, event_type: str, reason: str, text: str, plan: SlicePlan) -> Emit:
    return Emit(service, event_type, reason, f"{text}, addressType: {plan.address_type}")


def _entries(slices: Iterable[Object]) -> list[Object]:
    return [entry for each in slices for entry in each.get("endpoints") or []]


def _ready_count(plan: SlicePlan) -> int:
    return sum(is_ready(entry) for entry in _entries([*plan.create, *plan.update, *plan.unchanged]))


def _assign(plan: SlicePlan, wanted: Mapping[str, Allocation]) -> dict[str, int]:
    """Write hints into the plan's slices; return how many endpoints each zone has been given.

    Raises:
        Unallocatable: an endpoint is in no zone that is known.
    """
    by_zone: dict[str, int] = {}
    for each in list(plan.unchanged):
        hinted = _hinted(each, by_zone, wanted)
        if hinted is None:
            plan.change(each)
            continue
        for zone, count in hinted.items():
            by_zone[zone] = by_zone.get(zone, 0) + count
    ready = _same_zone_hints([*plan.create, *plan.update])
    for entry in ready:
        by_zone[entry["zone"]] = by_zone.get(entry["zone"], 0) + 1
    giving, receiving = giving_and_receiving_zones(wanted, by_zone)
    for entry in ready:
        if not giving or not receiving:
            break
        if giving.get(entry["zone"]):
            zone = next(iter(receiving))
            entry["hints"] = {"forZones": [{"name": zone}]}
            _take_one(giving, entry["zone"])
            _take_one(receiving, zone)
            by_zone[zone] = by_zone.get(zone, 0) + 1
            by_zone[entry["zone"]] -= 1
    if not by_zone:
        raise Unallocatable(NO_ALLOCATED_HINTS)
    return by_zone


def _same_zone_hints(slices: Sequence[Object]) -> list[Object]:
    """Give each ready endpoint a hint for its own zone and the others none; return the ready ones.

    Raises:
        Unallocatable: an endpoint is in no zone that is known.
    """
    for each in slices:
        # The entries are made anew: what is in them may still be shared with the cache.
        each["endpoints"] = [
            {key: value for key, value in entry.items() if key != "hints"} for entry in _entries([each])
        ]
    ready = [entry for entry in _entries(slices) if is_ready(entry)]
    for entry in ready:
        if not entry.get("zone"):
            raise Unallocatable(NO_ZONE)
        entry["hints"] = {"forZones": [{"name": entry["zone"]}]}
    return ready


def _take_one(counts: dict[str, int], zone: str) -> None:
    counts[zone] -= 1
    if not counts[zone]:
        del counts[zone]


def _hinted(slice_: Object, already: Mapping[str, int], wanted: Mapping[str, Allocation]) -> dict[str, int] | None:
    """Return how many endpoints of a slice are meant for each zone; None if its hints must be made anew."""
    counts: dict[str, int] = {}
    for entry in _entries([slice_]):
        if not is_ready(entry):
            continue
        zones = (entry.get("hints") or {}).get("forZones") or ()
        if not zones or any(zone["name"] not in wanted for zone in zones):
            return None
        for zone in zones:
            counts[zone["name"]] = counts.get(zone["name"], 0) + 1
    if any(count + already.get(zone, 0) > wanted[zone].maximum for zone, count in counts.items()):
        return None
    return counts


def giving_and_receiving_zones(
    wanted: Mapping[str, Allocation], by_zone: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many endpoints each zone lends and borrows, so that each comes as near as possible to its share."""
    surplus = {zone: by_zone.get(zone, 0) - each.desired for zone, each in sorted(wanted.items())}
    gives = {zone: most for zone, most in surplus.items() if most > 0}
    takes = {zone: -most for zone, most in surplus.items() if most < 0}
    giving: dict[str, int] = {}
    receiving: dict[str, int] = {}
    while gives and takes:
        giver, taker = max(gives, key=gives.__getitem__), max(takes, key=takes.__getitem__)
        most, least = max(gives[giver], takes[taker]), min(gives[giver], takes[taker])
        # Half an endpoint is rounded, as long as the other zone has a whole one to give or to get.
        if most < 1 or least < _HALF:
            break
        giving[giver] = giving.get(giver, 0) + 1
        receiving[taker] = receiving.get(taker, 0) + 1
        gives[giver] -= 1
        takes[taker] -= 1
    return giving, receiving


def is_overloaded(by_zone: Mapping[str, int], ratios: Mapping[str, float] | None) -> bool:
    """Tell whether a zone has fewer endpoints than it needs at least."""
    if not by_zone:
        return False
    if not ratios:
        return True
    total = sum(by_zone.values())
    return any(
        zone not in by_zone or by_zone[zone] < math.ceil(total * ratio / (1 + OVERLOAD_THRESHOLD))
        for zone, ratio in ratios.items()
    )
