"""The allocator: what several claims of a pod need, node after node.

Source: kubernetes dynamic-resource-allocation ``structured/internal/incubating/allocator_incubating.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.pools import Counters, Device, Pool, View
from hyperkube_scheduler.dynamic_resources.reasons import (
    INVALID_POOLS,
    NOT_ENOUGH,
    TIMED_OUT,
    CannotAllocate,
)
from hyperkube_scheduler.dynamic_resources.requests import Requests, Wanted, check_count
from hyperkube_scheduler.dynamic_resources.search import Chosen, Everything, OutOfTime, Search
from hyperkube_scheduler.dynamic_resources.selectors import Selectors
from hyperkube_scheduler.dynamic_resources.slices import Reach
from hyperkube_scheduler.dynamic_resources.usage import Usage

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, key_of


@dataclass(frozen=True, slots=True)
class Allocation:
    """What was found for one claim.

    Attributes:
        chosen: devices in the order of the requests.
        wanted: the request or alternative that was chosen for each request.
    """

    chosen: tuple[Chosen, ...]
    wanted: tuple[Wanted, ...]

    @property
    def score(self) -> int:
        """How early the chosen alternatives stand in their lists: the higher, the better."""
        return sum(one.score for one in self.wanted)


@dataclass(slots=True)
class Allocator:
    """Allocates for several claims together.

    Attributes:
        reach: which devices a node reaches.
        usage: what claims have.
        selectors: judges devices.
        features: what is on.
        late: tells that time is up.
        steps: how many devices were considered; a measure of the work.
    """

    reach: Reach
    usage: Usage
    selectors: Selectors
    features: Features = field(default_factory=Features)
    late: Callable[[], bool] = lambda: False
    steps: int = 0
    _left: dict[Pool, Counters] = field(default_factory=dict)

    def allocate(
        self, node: str, column: int, claims: Sequence[tuple[Object, Requests]]
    ) -> tuple[Allocation, ...] | str:
        """Return devices of a node for all claims, or why there are none.

        Raises:
            CannotAllocate: something is wrong with a claim or class, or all devices are asked for of a pool that is
                not complete or not valid.
        """
        views = self.reach.views(node, column)
        search = Search(self, self._usable(views), claims, self._everything(views, claims))
        try:
            found = search.run()
        except OutOfTime:
            return TIMED_OUT
        finally:
            self.steps += search.steps
        if found is None:
            return INVALID_POOLS if any(view.invalid for view in views) else NOT_ENOUGH
        return tuple(Allocation(chosen, wanted) for chosen, wanted in zip(*found, strict=True))

    def left(self, pool: Pool) -> Counters:
        """Return what the devices in use leave of a pool's shared counters."""
        known = self._left.get(pool)
        if known is None:
            known = self._left[pool] = dict(pool.counters)
            for device in pool.devices:
                if device.consumes and self.usage.has(device.id):
                    for key, amount in device.consumes.items():
                        if key in known:
                            known[key] = known[key] - amount
        return known

    def matches(self, wanted: Wanted, device: Device) -> bool:
        """Tell whether a device is what a request means.

        Raises:
            CannotAllocate: an expression is wrong, or fails for the device.
        """
        if device.conditional and not self.features.binding:
            return False
        return self.selectors.match(wanted, device)

    def _usable(self, views: Sequence[View]) -> list[tuple[Pool, Device]]:
        return [
            (view.pool, device)
            for view in views
            if not view.pool.incomplete and not view.invalid
            for device in view.devices
        ]

    def _everything(self, views: Sequence[View], claims: Sequence[tuple[Object, Requests]]) -> Everything:
        """Return which devices the requests mean that want all of them; check how many a claim needs with these."""
        found: Everything = {}
        for claim, requests in claims:
            least = 0
            wants_all = False
            for alternatives in requests:
                for wanted in alternatives:
                    if wanted.everything:
                        wants_all = True
                        found[wanted] = self._all_of(views, claim, wanted)
                least += min(len(found[one]) if one.everything else one.count for one in alternatives)
            if wants_all:
                check_count(key_of(claim), least)
        return found

    def _all_of(self, views: Sequence[View], claim: Object, wanted: Wanted) -> list[tuple[Pool, Device]]:
        found = []
        for view in views:
            if view.pool.incomplete or view.invalid:
                why = "being updated" if view.pool.incomplete else "invalid"
                what = f"asks for all devices, but resource pool {view.pool} is currently {why}"
                raise CannotAllocate(f"claim {key_of(claim)}, request {wanted.own_name}: {what}")
            found += [
                (view.pool, device)
                for device in view.devices
                if self.matches(wanted, device) and self.has_left(wanted, device)
            ]
        return found

    def has_left(self, wanted: Wanted, device: Device) -> bool:
        """Tell whether a device has the amounts left that a request wants, not counting what is being chosen."""
        from hyperkube_scheduler.dynamic_resources.capacity import suffices

        if not self.features.capacity:
            return True
        return suffices(device.capacities, wanted.amounts, self.usage.of(device.id))
