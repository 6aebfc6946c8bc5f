"""The search on one node: by trying, in a fixed order. The first complete solution is taken.

Claim by claim, request by request, alternative by alternative, device by device; devices of one request are taken in
their order only, so that no combination comes twice. What is chosen is given back when it leads nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from hyperkube_scheduler.dynamic_resources.capacity import Amounts, suffices, taken
from hyperkube_scheduler.dynamic_resources.constraints import constraints_of
from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.pools import Counters, Device, DeviceId, Pool
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate
from hyperkube_scheduler.dynamic_resources.requests import MOST_DEVICES, Requests, Wanted
from hyperkube_scheduler.dynamic_resources.usage import Usage

from hyperkube.kinds.taints import is_tolerated
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity

STEPS_PER_LOOK = 64
"""Steps between two looks at the clock."""

Candidate: TypeAlias = tuple[Pool, Device]
Everything: TypeAlias = dict[Wanted, list[Candidate]]
"""The devices that a request means which wants all of them."""


class Chosen(NamedTuple):
    """A device for a request; of one that is shared, how much of it."""

    wanted: Wanted
    device: Device
    pool: Pool
    amounts: Amounts | None
    counted: bool
    """Whether the pool's shared counters were charged for it."""


class OutOfTime(Exception):
    """The search took too long."""


class Failure(Enum):
    """Why an attempt failed."""

    NOTHING = "nothing"
    TOO_MANY = "too many"
    """Whatever devices come first, the claim would get more than it may have."""


_Attempts: TypeAlias = Generator[None, Failure | None, Failure]
"""Yields when a request has its devices; is told why those after it did not get any; returns when nothing is left."""


class DeviceTable(Protocol):
    """What a search asks about devices; see `hyperkube_scheduler.dynamic_resources.allocator.Allocator`."""

    usage: Usage
    features: Features

    @property
    def late(self) -> Callable[[], bool]:
        """What tells that time is up."""

    def left(self, pool: Pool) -> Counters:
        """Return what the devices in use leave of a pool's shared counters."""

    def matches(self, wanted: Wanted, device: Device) -> bool:
        """Tell whether a device is what a request means."""


class Search:
    """One search; its state is what was chosen so far."""

    def __init__(
        self,
        allocator: DeviceTable,
        devices: Sequence[Candidate],
        claims: Sequence[tuple[Object, Requests]],
        everything: Everything,
    ) -> None:
        self.steps = 0
        self._allocator = allocator
        self._usage = allocator.usage
        self._features = allocator.features
        self._devices = devices
        self._everything = everything
        self._todo = [(index, rows) for index, (_, requests) in enumerate(claims) for rows in requests]
        self._picked: list[Wanted | None] = [None] * len(self._todo)
        self._constraints = [constraints_of(claim) for claim, _ in claims]
        self._chosen: list[list[Chosen]] = [[] for _ in claims]
        self._busy: dict[DeviceId, set[int]] = {}
        self._sharing: dict[DeviceId, list[Amounts]] = {}
        self._used: dict[Pool, Counters] = {}

    def run(self) -> tuple[list[tuple[Chosen, ...]], list[tuple[Wanted, ...]]] | None:
        """Return devices and chosen alternatives claim by claim, or None.

        Raises:
            CannotAllocate: something is wrong with a claim or class.
            OutOfTime: it took too long.
        """
        if not self._found():
            return None
        picked: list[list[Wanted]] = [[] for _ in self._chosen]
        for (claim, _), wanted in zip(self._todo, self._picked, strict=True):
            if wanted is not None:
                picked[claim].append(wanted)
        return [tuple(row) for row in self._chosen], [tuple(row) for row in picked]

    def _found(self) -> bool:
        """Try request after request; one that fails makes the one before try something else."""
        stack: list[_Attempts] = []
        answer: Failure | None = None
        while len(stack) < len(self._todo):
            stack.append(self._attempts(len(stack)))
            answer = None
            while stack:
                try:
                    stack[-1].send(answer)
                except StopIteration as end:
                    stack.pop()
                    answer = self._seen_before(len(stack), end.value)
                else:
                    break
            if not stack:
                return False
        return True

    def _seen_before(self, number: int, failure: Failure) -> Failure:
        """Return what the failure of a request means to the one before: another claim has room of its own."""
        if number and self._todo[number][0] != self._todo[number - 1][0]:
            return Failure.NOTHING
        return failure

    def _attempts(self, number: int) -> _Attempts:
        """Choose devices for a request, alternative by alternative, in all ways that there are."""
        claim, alternatives = self._todo[number]
        failure = Failure.TOO_MANY
        for wanted in alternatives:
            self._picked[number] = wanted
            count = len(self._everything[wanted]) if wanted.everything else wanted.count
            if not count:
                failure = Failure.NOTHING
                continue
            if len(self._chosen[claim]) + count > MOST_DEVICES:
                self._step()
                continue
            ways = self._all_at_once(claim, wanted) if wanted.everything else self._ways(claim, wanted, count)
            failure_of_way = yield from ways
            if failure_of_way is Failure.NOTHING:
                failure = failure_of_way
        return failure

    def _all_at_once(self, claim: int, wanted: Wanted) -> _Attempts:
        before = len(self._chosen[claim])
        failure = Failure.NOTHING
        for candidate in self._everything[wanted]:
            self._step()
            if not self._take(claim, wanted, candidate, must=True):
                break
        else:
            failure = _failure_told((yield))
        while len(self._chosen[claim]) > before:
            self._give_back(claim)
        return failure

    def _ways(self, claim: int, wanted: Wanted, count: int) -> _Attempts:
        """Choose so many of the devices, each time others."""
        devices = self._devices
        chosen: list[int] = []
        index = 0
        while True:
            missing = count - len(chosen)
            if not missing:
                failure = _failure_told((yield))
                if failure is Failure.TOO_MANY:
                    for _ in chosen:
                        self._give_back(claim)
                    return failure
            else:
                self._step()
                last = len(devices) - missing
                while index <= last and not self._choose(claim, wanted, devices[index]):
                    index += 1
                if index <= last:
                    chosen.append(index)
                    index += 1
                    continue
                if not chosen:
                    return Failure.NOTHING
            self._give_back(claim)
            index = chosen.pop() + 1

    def _choose(self, claim: int, wanted: Wanted, candidate: Candidate) -> bool:
        return self._eligible(claim, wanted, candidate[1]) and self._take(claim, wanted, candidate)

    def _eligible(self, claim: int, wanted: Wanted, device: Device) -> bool:
        """Tell what costs little to tell: whether a device is free, matches, and has enough left."""
        return (
            self._free(claim, wanted, device)
            and self._allocator.matches(wanted, device)
            and self._has_left(wanted, device)
        )

    def _free(self, claim: int, wanted: Wanted, device: Device) -> bool:
        """Tell whether a device may be had: administrators look at those of others too, though at each only once."""
        busy = self._busy.get(device.id)
        if wanted.admin:
            return not busy or claim not in busy
        return not busy and device.id not in self._usage.devices

    def _has_left(self, wanted: Wanted, device: Device) -> bool:
        if not self._features.capacity:
            return True
        used = self._usage.of(device.id)
        return suffices(device.capacities, wanted.amounts, used, *self._sharing.get(device.id, ()))

    def _take(self, claim: int, wanted: Wanted, candidate: Candidate, *, must: bool = False) -> bool:
        """Choose a device if taints, constraints and counters allow; tell whether they do.

        Raises:
            CannotAllocate: it must be had, and a constraint forbids it.
        """
        pool, device = candidate
        if must and not (self._free(claim, wanted, device) and self._has_left(wanted, device)):
            return False
        if self._features.taints and not all(is_tolerated(taint, wanted.tolerations) for taint in device.taints):
            return False
        if device.consumes and not self._features.partitions:
            return False
        shared = device.shared and self._features.capacity
        charged = bool(device.consumes) and not (shared and self._in_parts(device.id))
        if charged and not self._has_counters(pool, device):
            return False
        if not self._keeps(claim, wanted, device):
            if must:
                what = f"cannot add device {device.id} because a claim constraint would not be satisfied"
                raise CannotAllocate(f"claim {wanted.claim}, request {wanted.own_name}: {what}")
            return False
        amounts: Mapping[str, Quantity] | None = None
        if shared:
            amounts = taken(device.capacities, wanted.amounts)
            self._sharing.setdefault(device.id, []).append(amounts)
        else:
            self._busy.setdefault(device.id, set()).add(claim)
        if charged:
            self._charge(pool, device, 1)
        self._chosen[claim].append(Chosen(wanted, device, pool, amounts, charged))
        return True

    def _give_back(self, claim: int) -> None:
        wanted, device, pool, amounts, charged = self._chosen[claim].pop()
        for constraint in self._constraints[claim]:
            constraint.remove(wanted.name)
        if amounts is None:
            self._busy[device.id].discard(claim)
        else:
            self._sharing[device.id].pop()
        if charged:
            self._charge(pool, device, -1)

    def _keeps(self, claim: int, wanted: Wanted, device: Device) -> bool:
        """Add a device to all constraints of a claim, or to none; tell which."""
        constraints = self._constraints[claim]
        for number, constraint in enumerate(constraints):
            if not constraint.add(wanted.name, device):
                for before in constraints[:number]:
                    before.remove(wanted.name)
                return False
        return True

    def _in_parts(self, device: DeviceId) -> bool:
        """Tell whether a part of a shared device is taken, so that it is paid for."""
        return device in self._usage.shares or bool(self._sharing.get(device))

    def _has_counters(self, pool: Pool, device: Device) -> bool:
        left, used = self._allocator.left(pool), self._used.get(pool, {})
        for key, amount in device.consumes.items():
            if key not in left or left[key] < (used[key] + amount if key in used else amount):
                return False
        return True

    def _charge(self, pool: Pool, device: Device, sign: int) -> None:
        used = self._used.setdefault(pool, {})
        for key, amount in device.consumes.items():
            change = amount if sign > 0 else -amount
            used[key] = used[key] + change if key in used else change

    def _step(self) -> None:
        self.steps += 1
        if self.steps % STEPS_PER_LOOK == 1 and self._allocator.late():
            raise OutOfTime


def _failure_told(failure: Failure | None) -> Failure:
    return Failure.NOTHING if failure is None else failure
