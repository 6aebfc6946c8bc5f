"""What filtering finds out about one pod: its claims, those to be allocated, and with what on which node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hyperkube_lib.scheduling.node_selectors import any_term
from hyperkube_scheduler.dynamic_resources import reasons as why
from hyperkube_scheduler.dynamic_resources.answers import Answers
from hyperkube_scheduler.dynamic_resources.binding import failure_of, is_late, is_ready
from hyperkube_scheduler.dynamic_resources.extended import requests_and_mappings, with_requests

from hyperkube.hookspecs.scheduling import Filtered, NodeTable
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    from datetime import datetime

    from hyperkube_scheduler.dynamic_resources.allocator import Allocation, Allocator
    from hyperkube_scheduler.dynamic_resources.requests import Requests

    from hyperkube.hookspecs.scheduling import Mask


class Found(NamedTuple):
    """What was found for one node: for each claim to be allocated, and last for `special` if there is one."""

    allocations: tuple[Allocation, ...]
    special: Object | None = None
    mappings: Sequence[Object] = ()


@dataclass(slots=True)
class Plan:
    """What is known of a pod in one cycle.

    Attributes:
        pod: the pod.
        claims: the claims that it names.
        special: the claim for its extended resources, before a node is looked at.
        leftover: one that an earlier attempt stored, which must go first.
        created: the one that this attempt stored.
        backed: extended resources that it requests, and the class that stands for each.
        unbacked: those for which none stands.
        found: node → devices.
        elsewhere: allocated claims that keep the pod off nodes where all others could be had.
        results: what is to be written, once a node is chosen.
        answer: what was said of a table, and when.
    """

    pod: Object
    claims: list[Object]
    special: Object | None = None
    leftover: Object | None = None
    created: Object | None = None
    backed: Mapping[str, str] = field(default_factory=dict)
    unbacked: Sequence[str] = ()
    found: dict[NodeName, Found] = field(default_factory=dict)
    elsewhere: list[Object] = field(default_factory=list)
    results: list[tuple[Object, Object]] = field(default_factory=list)
    answer: tuple[object, Filtered] | None = None

    @property
    def pending(self) -> list[Object]:
        """The named claims that are not allocated."""
        return [claim for claim in self.claims if not (claim.get("status") or {}).get("allocation")]


class _Group(NamedTuple):
    """Nodes that need the same claim for extended resources, or none."""

    mask: Mask
    special: Object | None
    mappings: list[Object]


@dataclass(frozen=True, slots=True)
class Surveyor:
    """Asks for a plan about all nodes.

    Attributes:
        allocator: makes an allocator for a table; called when something is to be allocated.
        requests: reads what a claim asks for.
        answers: what is known already.
        classes: the version of the device classes.
        binding: for how many seconds devices may take to get ready; None if none has to.
        now: the time.
    """

    allocator: Callable[[NodeTable], Allocator]
    requests: Callable[[Object], Requests]
    answers: Answers
    classes: int
    binding: float | None
    now: datetime

    def ask(self, plan: Plan, nodes: NodeTable) -> Filtered:
        """Return which nodes can run the pod; remember the devices there.

        Raises:
            CannotAllocate: something is wrong with a claim, class or pool.
        """
        everywhere = np.ones(len(nodes), dtype=bool)
        if plan.leftover is not None:
            return Filtered(~everywhere, {why.STALE: everywhere}, everywhere)
        plan.found.clear()
        plan.elsewhere.clear()
        reasons: dict[str, Mask] = {}
        feasible = everywhere.copy()
        for group in _groups(plan, nodes, reasons, feasible):
            self._allocate(plan, nodes, group, reasons, feasible)
        away = self._unavailable(plan, nodes, feasible)
        if away.any():
            reasons[why.NOT_HERE] = away
            feasible &= ~away
        for node, here in zip(nodes.names, feasible.tolist(), strict=True) if plan.found else ():
            if not here:
                plan.found.pop(node, None)
        return Filtered(feasible, {text: mask for text, mask in reasons.items() if mask.any()}, ~feasible)

    def _unavailable(self, plan: Plan, nodes: NodeTable, feasible: Mask) -> Mask:
        """Return which of the nodes feasible so far cannot use what is allocated; remember the claims."""
        away = np.zeros(len(nodes), dtype=bool)
        for claim in plan.claims:
            allocation = (claim.get("status") or {}).get("allocation")
            if not allocation:
                continue
            selector = allocation.get("nodeSelector")
            here = np.ones(len(nodes), dtype=bool)
            if selector:
                here = any_term(selector.get("nodeSelectorTerms") or (), nodes)
            if self._is_lost(claim):
                here = ~np.ones(len(nodes), dtype=bool)
            mine = feasible & ~here
            if mine.any():
                plan.elsewhere.append(claim)
                away |= mine
        return away

    def _is_lost(self, claim: Object) -> bool:
        """Tell whether a claim's devices did not get ready."""
        if self.binding is None:
            return False
        return bool(failure_of(claim)) or (not is_ready(claim) and is_late(claim, self.now, self.binding))

    def _allocate(self, plan: Plan, nodes: NodeTable, group: _Group, reasons: dict[str, Mask], feasible: Mask) -> None:
        """Allocate on each node of a group; take those that lack devices out of `feasible`."""
        claims = [*plan.pending, *([] if group.special is None else [group.special])]
        if not claims:
            return
        rows = [(claim, self.requests(claim)) for claim in claims]
        allocator = self.allocator(nodes)
        reached = allocator.reach.columns(nodes)
        if not any(requests for _, requests in rows):
            reached[:] = True
        lacking = group.mask & ~reached
        names, reach, changes = nodes.names, allocator.reach, allocator.usage.changes
        known = self.answers.about(claims, self.classes, len(nodes))
        for column in (group.mask & reached).nonzero()[0].tolist():
            name = names[column]
            stamp = reach.stamp(name, column, changes)
            before = known.get(name)
            if before is not None and before[0] == stamp:
                got = before[1]
            else:
                got = allocator.allocate(name, column, rows)
                if got != why.TIMED_OUT:
                    known[name] = (stamp, got)
            if isinstance(got, str):
                reasons.setdefault(got, np.zeros(len(nodes), dtype=bool))[column] = True
                feasible[column] = False
            else:
                plan.found[name] = Found(got, group.special, group.mappings)
        if lacking.any():
            told = reasons.setdefault(why.NOT_ENOUGH, np.zeros(len(nodes), dtype=bool))
            told |= lacking
            feasible &= ~lacking


def _groups(plan: Plan, nodes: NodeTable, reasons: dict[str, Mask], feasible: Mask) -> Iterator[_Group]:
    """Yield the nodes by which extended resources they have not themselves; take out those that lack any other."""
    if plan.special is None:
        yield _Group(np.ones(len(nodes), dtype=bool), None, [])
        return
    for resource in plan.unbacked:
        lacking = _lack(resource, nodes)
        if lacking.any():
            known = reasons.setdefault(why.NO_ROOM, np.zeros(len(nodes), dtype=bool))
            known |= lacking
            feasible &= ~lacking
    names = list(plan.backed)
    codes = np.zeros(len(nodes), dtype=np.int64)
    for number, resource in enumerate(names):
        codes += _lack(resource, nodes).astype(np.int64) << number
    for code in np.unique(codes[feasible]).tolist():
        classes = {name: plan.backed[name] for number, name in enumerate(names) if code >> number & 1}
        mask = (codes == code) & feasible
        if classes:
            requests, mappings = requests_and_mappings(plan.pod, classes)
            yield _Group(mask, with_requests(plan.special, requests), mappings)
        else:
            yield _Group(mask, None, [])


def _lack(resource: str, nodes: NodeTable) -> Mask:
    """Return which nodes do not have a resource themselves."""
    if resource not in nodes.resources:
        return np.ones(len(nodes), dtype=bool)
    lacking: Mask = nodes.allocatable[list(nodes.resources).index(resource)] == 0
    return lacking


def same_claims(plan: Plan, claims: Sequence[Object], backed: Mapping[str, str], leftover: Object | None) -> bool:
    """Tell whether a plan is about these claims as they are, and these classes."""
    if len(claims) != len(plan.claims) or plan.backed != backed or plan.leftover is not leftover:
        return False
    return all(one is other for one, other in zip(claims, plan.claims, strict=True))
