"""GangScheduling: of pods that are worth nothing alone, place enough at once or none.

A pod whose ``spec.schedulingGroup`` names a PodGroup with the gang policy is held back until ``minCount`` pods of the
group are known. The scheduler then tries them in one cycle, and this plugin lets them be bound as soon as ``minCount``
have a node: if they never do, none keeps one, so that two half-placed gangs never block each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field

from hyperkube.client.informer import Informer
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.pod_groups import GroupKey, group_of
from hyperkube.hookspecs.scheduling import (
    FrameworkHandle,
    Permission,
    PermitPlugin,
    PodInfo,
    PreEnqueuePlugin,
    ReservePlugin,
)
from hyperkube.kinds.pods import is_terminal
from hyperkube.kinds.resources import POD_GROUPS, PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import NodeName, Object, is_being_deleted, key_of

CHANGE = "pod group"
"""A group came or changed, or one of its pods did."""
PERMIT_SECONDS = 300.0
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"
TOO_FEW_PLACED = "waiting for minCount pods from a gang to be scheduled"


@dataclass(slots=True)
class _Gang:
    """What is known of one group's pods, by ``namespace/name``."""

    known: set[str] = field(default_factory=set)
    placed: set[str] = field(default_factory=set)
    reserved: set[str] = field(default_factory=set)

    def seated(self) -> int:
        """Return how many have a node, or one reserved."""
        return len(self.placed | self.reserved)

    def waiting(self) -> set[str]:
        """Return those that have a node reserved only."""
        return self.reserved - self.placed

    def unseated(self) -> set[str]:
        """Return those that have none."""
        return self.known - self.placed - self.reserved


class GangScheduling(PreEnqueuePlugin, ReservePlugin, PermitPlugin):
    """Holds a gang's pods together.

    Settings: ``permitTimeoutSeconds`` (300), how long a pod that is about to be bound waits for the others.
    Source: kubernetes ``pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go`` (1.36).
    """

    events_to_register = frozenset({CHANGE})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._seconds = float(settings.get("permitTimeoutSeconds") or PERMIT_SECONDS)
        self._lock = threading.Lock()
        self._gangs: dict[GroupKey, _Gang] = {}
        self._groups: Informer | None = None
        self._hand: FrameworkHandle | None = None
        self._wake: Callable[[str], None] = lambda _change: None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Follow groups and their pods."""
        self._wake = wake
        if self.context.informers is None:
            return
        self._groups = self.context.informers.informer(POD_GROUPS)
        self._groups.add_handler(
            on_add=lambda _group: wake(CHANGE), on_update=lambda _old, _new: wake(CHANGE), on_delete=lambda _group: None
        )
        self.context.informers.informer(PODS).add_handler(
            on_add=self._pod, on_update=lambda _old, pod: self._pod(pod), on_delete=self._pod_gone
        )

    def set_handle(self, pods: FrameworkHandle) -> None:
        """Take what lets waiting pods go on."""
        self._hand = pods

    def pre_enqueue(self, pod: Object) -> str:
        """Return why the pod's gang is not complete yet."""
        key = group_of(pod)
        if key is None:
            return ""
        group = self._group(key)
        if group is None:
            return f'waiting for pods\'s pod group "{key[1]}" to appear in scheduling queue'
        with self._lock:
            gang = self._gangs.get(key) or _Gang()
            return TOO_FEW if len(gang.known | {key_of(pod)}) < min_count(group) else ""

    def reserve(self, pod: PodInfo, node: NodeName) -> str:
        """Count the pod as one that has a node."""
        key = group_of(pod.pod)
        if key is not None:
            with self._lock:
                self._gangs.setdefault(key, _Gang()).reserved.add(pod.key)
        return ""

    def unreserve(self, pod: PodInfo, node: NodeName) -> None:
        """Count it no longer."""
        key = group_of(pod.pod)
        if key is not None:
            with self._lock:
                gang = self._gangs.get(key)
                if gang is not None:
                    gang.reserved.discard(pod.key)

    def permit(self, pod: PodInfo, node: NodeName) -> Permission:
        """Wait for the others; the one that completes the gang lets all of them go on."""
        key = group_of(pod.pod)
        group = self._group(key) if key is not None else None
        wanted = min_count(group)
        if key is None or wanted <= 1:
            return Permission(allowed=True)
        with self._lock:
            gang = self._gangs.setdefault(key, _Gang())
            complete = gang.seated() >= wanted
            others = (gang.waiting() if complete else gang.unseated()) - {pod.key}
        for other in sorted(others) if self._hand is not None else ():
            if complete:
                self._hand.allow(other)  # type: ignore[union-attr]  # asked above
            else:
                self._hand.activate(other)  # type: ignore[union-attr]  # asked above
        if complete:
            return Permission(allowed=True)
        return Permission(allowed=False, reason=TOO_FEW_PLACED, wait_seconds=self._seconds)

    def _group(self, key: GroupKey) -> Object | None:
        if self._groups is None:
            return None
        return self._groups.get(*key)

    def _pod(self, pod: Object) -> None:
        key = group_of(pod)
        if key is None:
            return
        if is_terminal(pod) or is_being_deleted(pod):
            self._pod_gone(pod)
            return
        name = key_of(pod)
        with self._lock:
            gang = self._gangs.setdefault(key, _Gang())
            news = name not in gang.known
            gang.known.add(name)
            if pod.get("spec", {}).get("nodeName"):
                gang.placed.add(name)
                gang.reserved.discard(name)
        if news:
            self._wake(CHANGE)

    def _pod_gone(self, pod: Object) -> None:
        key = group_of(pod)
        if key is None:
            return
        with self._lock:
            gang = self._gangs.get(key)
            if gang is not None:
                gang.known.discard(key_of(pod))
                gang.placed.discard(key_of(pod))
                if not gang.known and not gang.reserved:
                    del self._gangs[key]


def min_count(group: Object | None) -> int:
    """Return how many of a group's pods must be placed at once; 1 for a group that is no gang."""
    policy = ((group or {}).get("spec") or {}).get("schedulingPolicy") or {}
    return int((policy.get("gang") or {}).get("minCount") or 1)
