"""Tries to place a group's pods one after another and takes everything back: what would come of it is left.

Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (podGroupSchedulingDefaultAlgorithm and
podGroupPodSchedulingAlgorithm), 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import ClusterState
from hyperkube_host.scheduler.profile.profiles import Running
from hyperkube_host.scheduler.queue.scheduling_queue import Ticket
from hyperkube_host.scheduler.schedule_one.schedule_pod import Chooser

from hyperkube.hookspecs.scheduling import Nomination
from hyperkube.machinery.objects import NodeName

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import QueuedPod
    from hyperkube_host.scheduler.framework.schedule_result import Decision

    from hyperkube.hookspecs.node_table import Mask

Prepare = Callable[[Ticket], "QueuedPod"]


class Verdict(Enum):
    """What came of trying a whole group."""

    FITS = "fits"
    WAITS = "waits"
    """It will fit once evicted pods are gone."""
    REFUSED = "refused"
    FAILED = "failed"
    """For a reason that has nothing to do with the cluster's state."""


@dataclass(slots=True)
class Tried:
    """What came of one pod.

    Attributes:
        node: where it would go, perhaps once there is room; None: nowhere.
        message: why nowhere, or why not yet.
        refused_by: the plugins that said no.
        waits: what a permit plugin waits for; empty: the pod may be bound.
        needs_room: it fits once evicted pods are gone.
        keeps: an earlier nomination stays as it is.
        failed: for a reason that has nothing to do with the cluster's state.
        before: where room was being made for it before.
    """

    ticket: Ticket
    info: QueuedPod
    decision: Decision
    node: NodeName | None = None
    message: str = ""
    refused_by: tuple[str, ...] = ()
    waits: str = ""
    needs_room: bool = False
    keeps: bool = False
    failed: bool = False
    before: NodeName | None = None


@dataclass(slots=True)
class Outcome:
    """What came of a group, pod by pod; after a failure only of the first ones."""

    verdict: Verdict
    tried: list[Tried] = field(default_factory=list)
    message: str = ""

    def assignments(self) -> dict[str, NodeName]:
        """Return who would go where."""
        return {each.info.key: each.node for each in self.tried if each.node is not None}


class GroupAttempt:
    """Tries one group with one profile; for the scheduler's own thread."""

    def __init__(
        self, running: Running, tickets: Sequence[Ticket], prepare: Prepare,
        *, state: ClusterState, chooser: Chooser, binder: Binder, why_no_room: str = "",
    ) -> None:  # fmt: skip
        """Take the parts.

        Args:
            running: the profile.
            tickets: the pods, in the order in which they are tried.
            prepare: makes a pod ready to be decided about; the table's lock is held.
            state: what is known of the cluster.
            chooser: decides about one pod.
            binder: asks reserve plugins.
            why_no_room: why no room is made for single pods; empty: it is made.
        """
        self._running = running
        self._tickets = tickets
        self._prepare = prepare
        self._state = state
        self._chooser = chooser
        self._binder = binder
        self._why_no_room = why_no_room

    def run(self, among: Mask | None = None, *, evicts: bool = True) -> Outcome:
        """Try all pods, and take everything back.

        Args:
            among: the nodes to choose from; None means all.
            evicts: whether to make room for single pods.
        """
        tried: list[Tried] = []
        try:
            for ticket in self._tickets:
                tried.append(self._place(ticket, among, evicts=evicts))
                if tried[-1].failed:
                    text = f"failed to schedule other pod from a pod group: {tried[-1].message}"
                    return Outcome(Verdict.FAILED, tried, text)
        finally:
            for each in reversed(tried):
                self._take_back(each)
        return Outcome(verdict(tried), tried)

    def _place(self, ticket: Ticket, among: Mask | None, *, evicts: bool) -> Tried:
        before = self._state.nominated_node(ticket.key)
        with self._state.table().lock:
            info = self._prepare(ticket)
            decision = self._chooser.decide(self._running, info, among)
            tried = Tried(ticket, info, decision, decision.node, before=before)
            if decision.node is not None:
                self._state.assume(info, decision.node)
        if decision.node is None:
            self._make_room(tried, evicts=evicts)
        if tried.node is not None:
            self._hold(tried, tried.node)
        return tried

    def _make_room(self, tried: Tried, *, evicts: bool) -> None:
        tried.refused_by = tuple(tried.decision.refused)
        if evicts and not self._why_no_room:
            nomination = self._chooser.make_room(self._running, tried.info, tried.decision)
        else:
            nomination = Nomination(None, self._why_no_room)
        tried.message, tried.keeps = tried.decision.close(nomination.message), nomination.keeps
        if nomination.node is not None:
            tried.node, tried.needs_room = nomination.node, True
            self._state.assume(tried.info, nomination.node)

    def _hold(self, tried: Tried, node: NodeName) -> None:
        """Reserve, and ask for permission; what is refused is given back."""
        profile = self._running.profile
        try:
            self._binder.reserve(profile, tried.info, node)
        except NotBound as refusal:
            self._refuse(tried, refusal)
            return
        for name, plugin in profile.permits:
            permission = plugin.permit(tried.info, node)
            if permission.wait_seconds:
                tried.waits = tried.waits or permission.reason or f"permit plugin {name!r} waits"
            elif not permission.allowed:
                self._binder.unreserve(profile, tried.info, node)
                text = f"permit plugin {name!r}: {permission.reason}"
                self._refuse(tried, NotBound(text, rejected=True, plugin=name))
                return

    def _refuse(self, tried: Tried, refusal: NotBound) -> None:
        self._state.forget(tried.info.pod)
        self._renominate(tried)
        tried.node, tried.needs_room = None, False
        tried.message, tried.failed = str(refusal), not refusal.rejected
        tried.refused_by = (refusal.plugin,) if refusal.plugin else ()

    def _take_back(self, tried: Tried) -> None:
        if tried.node is not None:
            self._binder.unreserve(self._running.profile, tried.info, tried.node)
            self._state.forget(tried.info.pod)
            self._renominate(tried)

    def _renominate(self, tried: Tried) -> None:
        if tried.before is not None:
            self._state.nominate(tried.info.pod, tried.before, tried.info.priority)


def verdict(tried: Iterable[Tried]) -> Verdict:
    """Tell what is to be done with the group: it fits as soon as permission is given to any of its pods."""
    found, needs_room = Verdict.REFUSED, False
    for each in tried:
        if each.node is not None:
            needs_room = needs_room or each.needs_room
            if not each.waits:
                found = Verdict.WAITS if needs_room else Verdict.FITS
    return found
