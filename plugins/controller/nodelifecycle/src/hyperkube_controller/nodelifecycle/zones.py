"""How fast nodes may be emptied: at a rate of each zone, which depends on how many of its nodes are not ready.

A node that fails alone is emptied; many that fail at once hint at the network between them and the control plane, and
their pods are then better left alone. Where no node at all is ready, nothing is emptied: the fault is most likely here.
Source: kubernetes ``pkg/controller/nodelifecycle/node_lifecycle_controller.go`` (handleDisruption, ComputeZoneState).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, labels_of

REGIONS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
EXCLUDE_DISRUPTION = "node.kubernetes.io/exclude-disruption"
_FEW_NODES = 2


class ZoneState(Enum):
    """How many nodes of a zone are not ready."""

    INITIAL = "Initial"
    NORMAL = "Normal"
    PARTIAL_DISRUPTION = "PartialDisruption"
    FULL_DISRUPTION = "FullDisruption"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionRates:
    """Nodes per second that are emptied, and when which rate holds.

    Attributes:
        primary: in a zone that is well, and in one that is lost altogether while others are not.
        secondary: in a large zone of which many nodes are not ready; a small one is not emptied then.
        unhealthy_threshold: the share of nodes from which on they are many.
        large_size: the number of nodes above which a zone is large.
    """

    primary: float
    secondary: float
    unhealthy_threshold: float
    large_size: int


class Change(Enum):
    """What an observation has changed for all nodes."""

    NONE = "none"
    RATES = "rates"
    STOPPED = "stopped"
    """No zone has a ready node any more: all taints that evict are to be taken back."""
    RESUMED = "resumed"
    """A node is ready again: what was heard of the others before does not count."""


def zone_key(node: Object) -> str:
    """Return the region and zone of a node as one key; empty if it has none."""
    labels = labels_of(node)
    region, zone = (next((labels[name] for name in names if labels.get(name)), "") for names in (REGIONS, ZONES))
    return f"{region}:\x00:{zone}" if region or zone else ""


def zone_state(ready: int, not_ready: int, threshold: float) -> ZoneState:
    """Return the state of a zone with so many nodes."""
    if not ready and not_ready:
        return ZoneState.FULL_DISRUPTION
    if not_ready > _FEW_NODES and not_ready / (ready + not_ready) >= threshold:
        return ZoneState.PARTIAL_DISRUPTION
    return ZoneState.NORMAL


@dataclass(slots=True)
class _Zone:
    """A zone's nodes by whether they are ready, and its limiter: one token, which comes back at the rate."""

    nodes: dict[str, bool] = field(default_factory=dict)
    ready: int = 0
    state: ZoneState = ZoneState.INITIAL
    rate: float = 0.0
    next_at: float = 0.0

    def put(self, name: str, *, ready: bool) -> None:
        self.ready += ready - self.nodes.get(name, False)
        self.nodes[name] = ready

    def drop(self, name: str) -> None:
        self.ready -= self.nodes.pop(name, False)

    def swap_limiter(self, rate: float, now: float) -> None:
        """Take another rate; a limiter whose token is taken does not get a new one by that."""
        if self.next_at > now:
            self.next_at = now + 1 / rate if rate else now
        self.rate = rate


class ZoneEvictions:
    """The zones, their states and their limiters; for the one thread that looks at nodes."""

    def __init__(self, rates: EvictionRates) -> None:
        self._rates = rates
        self._zones: dict[str, _Zone] = {}
        self._zone_of: dict[str, str] = {}
        self._granted: set[str] = set()
        self._held: dict[str, float] = {}

    @property
    def is_stopped(self) -> bool:
        """Whether no zone has a ready node: nothing is emptied."""
        states = [zone.state for zone in self._zones.values() if zone.nodes]
        return bool(states) and all(state is ZoneState.FULL_DISRUPTION for state in states)

    def put(self, node: Object, name: str, *, ready: bool) -> None:
        """Count a node; `judge` says what follows."""
        key = zone_key(node)
        if self._zone_of.get(name, key) != key:
            self.drop(name)
        zone = self._zones.get(key)
        if zone is None:
            zone = self._zones[key] = _Zone(rate=self._rates.primary)
        self._zone_of[name] = key
        if EXCLUDE_DISRUPTION in labels_of(node):
            zone.drop(name)
        else:
            zone.put(name, ready=ready)

    def drop(self, name: str) -> None:
        """Forget a node."""
        self.done(name)
        zone = self._zones.get(self._zone_of.pop(name, ""))
        if zone is not None:
            zone.drop(name)

    def judge(self, now: float) -> Change:
        """Compare the zones with what they were, and choose their rates.

        Invariant: between two calls either all zones that have nodes are fully disrupted and their rates are 0, or the
        rate of each is that of its state.
        """
        live = {key: zone for key, zone in self._zones.items() if zone.nodes}
        for key in self._zones.keys() - live.keys():
            self._zones[key].state = ZoneState.INITIAL
        threshold = self._rates.unhealthy_threshold
        new = {key: zone_state(zone.ready, len(zone.nodes) - zone.ready, threshold) for key, zone in live.items()}
        full = ZoneState.FULL_DISRUPTION
        are_all = bool(new) and all(state is full for state in new.values())
        were_all = bool(live) and all(zone.state is full for zone in live.values())
        if are_all and were_all:
            return Change.NONE
        if are_all:
            for zone in live.values():
                zone.state = full
                zone.swap_limiter(0.0, now)
            self._granted.clear()
            return Change.STOPPED
        changed = [key for key, zone in live.items() if were_all or zone.state is not new[key]]
        for key in changed:
            zone = live[key]
            zone.state = new[key]
            zone.swap_limiter(self._rate(zone), now)
        if were_all:
            return Change.RESUMED
        return Change.RATES if changed else Change.NONE

    def _rate(self, zone: _Zone) -> float:
        if zone.state is not ZoneState.PARTIAL_DISRUPTION:
            return self._rates.primary
        return self._rates.secondary if len(zone.nodes) > self._rates.large_size else 0.0

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Return for each zone that ever had a node how many count, and how many of those are ready."""
        return {key: (len(zone.nodes), zone.ready) for key, zone in self._zones.items()}

    def hold(self, name: str, until: float) -> None:
        """Let a node that fell silent keep its pods until then: others may be about to fall silent with it."""
        self._held[name] = until

    def wait(self, name: str, now: float) -> float | None:
        """Return in how many seconds a node may be emptied: 0 for now, None for not in this state of its zone.

        A node that was told now keeps its turn until `done`, so that a conflict does not cost it another one.
        """
        zone = self._zones[self._zone_of[name]]
        if name in self._granted:
            return 0.0
        held = self._held.get(name, now) - now
        if held > 0:
            return held
        if self.is_stopped or not zone.rate:
            return None
        if now < zone.next_at:
            return zone.next_at - now
        zone.next_at = now + 1 / zone.rate
        self._granted.add(name)
        return 0.0

    def done(self, name: str) -> None:
        """Note that a node is tainted, or needs no taint any more."""
        self._granted.discard(name)
        self._held.pop(name, None)
