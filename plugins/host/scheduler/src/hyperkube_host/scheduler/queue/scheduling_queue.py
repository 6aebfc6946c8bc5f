"""The queue: pods to try now, pods that wait out a back-off, and pods that nothing has changed for.

Source of the numbers: kubernetes ``pkg/scheduler/backend/queue/scheduling_queue.go`` (1 s doubling to 10 s; an
unschedulable pod is tried again after 5 minutes even if nothing happened).
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from hyperkube.hookspecs.pod_groups import GroupKey, group_of
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.objects import Object, key_of, labels_of, uid_of

FIRST_BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 10.0
UNSCHEDULABLE_SECONDS = 300.0
ANYTHING = "*"
"""A change of a kind that wakes every pod."""
EVENTS = {
    "node": "NodeUpdate", "node gone": "NodeDelete", "pod": "AssignedPodAdd", "pod gone": "AssignedPodDelete",
    ANYTHING: "ForceActivate",
}  # fmt: skip
"""Change → what it is called where moves are counted; others keep their names."""
FAILURE = "ScheduleAttemptFailure"

SortKey = Callable[[Object, float], Any]
Wakes = Callable[[str, str], bool]
"""Whether a change of that kind may help a pod that a plugin of that name refused."""


@dataclass(slots=True, eq=False)
class _Entry:
    pod: Object
    queued_at: float
    attempts: int = 0
    state: str = "active"
    changed: bool = False
    refused_by: Collection[str] = ()
    timer: Timer | None = None
    flushed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """One attempt at a pod: give it back with `SchedulingQueue.done` or `SchedulingQueue.put_back`."""

    pod: Object
    key: str
    attempts: int
    changes: int
    entry: _Entry

    @property
    def queued_at(self) -> float:
        """When the pod entered the queue, by the clock's monotonic time."""
        return self.entry.queued_at

    @property
    def flushed(self) -> bool:
        """Whether this attempt is made because the pod waited too long for an event that may help it."""
        return self.entry.flushed


class SchedulingQueue:
    """Pods by key; thread-safe."""

    def __init__(
        self,
        clock: Clock,
        sort_key: SortKey,
        gate: Callable[[Object], str] = lambda _pod: "",
        wakes: Wakes = lambda _plugin, _change: True,
        *,
        first_backoff: float = FIRST_BACKOFF_SECONDS,
        max_backoff: float = MAX_BACKOFF_SECONDS,
        unschedulable_seconds: float = UNSCHEDULABLE_SECONDS,
        incoming: Callable[[str, str], None] = lambda _queue, _event: None,
    ) -> None:
        """Take the order of pods, which plugin keeps one from being tried at all (or ""), and what wakes them.

        `incoming` is told which part a pod enters (as in `pending`), and the event that brought it there.
        """
        self._clock = clock
        self._sort_key = sort_key
        self._gate = gate
        self._wakes = wakes
        self._first_backoff = first_backoff
        self._max_backoff = max_backoff
        self._unschedulable_seconds = unschedulable_seconds
        self._incoming = incoming
        self._condition = threading.Condition()
        self._entries: dict[str, _Entry] = {}
        self._parked: dict[str, _Entry] = {}
        self._gated: dict[str, _Entry] = {}
        self._gates: Counter[str] = Counter()
        self._groups: dict[GroupKey, dict[str, _Entry]] = {}
        self._heap: list[tuple[Any, int, str, _Entry]] = []
        self._order = itertools.count()
        self._changes: deque[str] = deque(maxlen=256)
        self._changed = 0
        self._closed = False

    def put(self, pod: Object) -> None:
        """Add a pod, or take over its new state; a changed pod is tried again at once."""
        with self._condition:
            key = key_of(pod)
            entry = self._entries.get(key)
            if entry is not None and uid_of(entry.pod) != uid_of(pod):
                self._drop(key, entry)
                entry = None
            if entry is None:
                entry = self._entries[key] = _Entry(pod, self._clock.monotonic())
                group = group_of(pod)
                if group is not None:
                    self._groups.setdefault(group, {})[key] = entry
                self._activate(key, entry, "UnscheduledPodAdd")
                return
            before, entry.pod = entry.pod, pod
            if not _matters(before, pod):
                return
            if entry.state == "flying":
                entry.changed = True
            else:
                self._activate(key, entry, "UnscheduledPodUpdate")

    def remove(self, key: str) -> None:
        """Forget a pod: it is bound, gone, or somebody else's."""
        with self._condition:
            entry = self._entries.get(key)
            if entry is not None:
                self._drop(key, entry)

    def get(self) -> Ticket | None:
        """Wait for the next pod and return it, or None after `close`."""
        with self._condition:
            while not self._closed:
                while self._heap:
                    _, _, key, entry = heapq.heappop(self._heap)
                    if entry.state == "active" and self._entries.get(key) is entry:
                        return self._ticket(key, entry)
                self._condition.wait()
            return None

    def take_group(self, group: GroupKey) -> list[Ticket]:
        """Return tickets of all pods of a group that may be tried, whatever they wait for but a gate; order is chance.

        Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (podGroupInfoForPod), 1.36.
        """
        with self._condition:
            tickets = []
            for key, entry in list(self._groups.get(group, {}).items()):
                if entry.state not in {"flying", "gated"} and not self._closed:
                    self._cancel(entry)
                    self._parked.pop(key, None)
                    tickets.append(self._ticket(key, entry))
            return tickets

    def holds(self, ticket: Ticket) -> bool:
        """Tell whether the attempt is still wanted: the pod was not removed or replaced meanwhile."""
        with self._condition:
            return self._entries.get(ticket.key) is ticket.entry

    def done(self, ticket: Ticket) -> None:
        """The pod is bound: forget it, though not another one that has its name by now."""
        with self._condition:
            if self._entries.get(ticket.key) is ticket.entry:
                self._drop(ticket.key, ticket.entry)

    def put_back(self, ticket: Ticket, *, refused_by: Collection[str] = (), error: bool = False) -> None:
        """Keep a pod that could not be scheduled: until something changes that may help, or for its back-off.

        Args:
            ticket: what `get` returned.
            refused_by: the plugins that refused nodes for it; none means that any change may help.
            error: it failed for a reason that has nothing to do with the cluster's state.
        """
        with self._condition:
            entry = ticket.entry
            if self._entries.get(ticket.key) is not entry or self._closed:
                return
            entry.refused_by, entry.flushed = refused_by, False
            if entry.changed:
                entry.changed = False
                self._activate(ticket.key, entry, "UnscheduledPodUpdate")
            elif error or self._missed_something(ticket, entry):
                self._back_off(ticket.key, entry, FAILURE)
            else:
                self._park(ticket.key, entry, "unschedulable", self._unschedulable_seconds, FAILURE)

    def move(self, change: str = ANYTHING) -> None:
        """Something of that kind changed: try those again, after their back-off, whom it may help."""
        with self._condition:
            self._changed += 1
            self._changes.append(change)
            for key, entry in list(self._parked.items()):
                if self._helps(entry, change):
                    self._back_off(key, entry, EVENTS.get(change, change))
            awake = {gate for gate in self._gates if change == ANYTHING or self._wakes(gate, change)}
            if awake:
                for key, entry in list(self._gated.items()):
                    if not awake.isdisjoint(entry.refused_by):
                        self._activate(key, entry, EVENTS.get(change, change))

    def activate(self, key: str) -> None:
        """Try a pod now, whatever it waits for but a gate."""
        with self._condition:
            entry = self._entries.get(key)
            if entry is not None and entry.state in {"backoff", "unschedulable"}:
                self._activate(key, entry, EVENTS[ANYTHING])

    def regate(self) -> None:
        """Ask again about the pods that are held back by a gate."""
        with self._condition:
            for key, entry in list(self._gated.items()):
                self._activate(key, entry, EVENTS[ANYTHING])

    def pending(self) -> dict[str, int]:
        """Return how many pods are in each state; ``flying`` ones are being tried or bound."""
        with self._condition:
            counts = {"active": 0, "backoff": 0, "unschedulable": 0, "gated": 0, "flying": 0}
            for entry in self._entries.values():
                counts[entry.state] += 1
            return counts

    def refusals(self) -> dict[tuple[str, str], int]:
        """Return how many of the unschedulable pods each plugin refused nodes for, by plugin and scheduler name."""
        with self._condition:
            counts: dict[tuple[str, str], int] = {}
            for entry in (*self._parked.values(), *self._gated.values()):
                profile = entry.pod.get("spec", {}).get("schedulerName") or "default-scheduler"
                for plugin in entry.refused_by:
                    counts[plugin, profile] = counts.get((plugin, profile), 0) + 1
            return counts

    def in_flight(self) -> dict[str, int]:
        """Return how many events are remembered for pods that are being tried, by name; these pods among them."""
        with self._condition:
            counts = {"PodPopped": sum(entry.state == "flying" for entry in self._entries.values())}
            if counts["PodPopped"]:
                for change in self._changes:
                    name = EVENTS.get(change, change)
                    counts[name] = counts.get(name, 0) + 1
            return counts

    def has_active(self) -> bool:
        """Tell whether there may be a pod to try now."""
        return bool(self._heap)

    def close(self) -> None:
        """End all waits."""
        with self._condition:
            self._closed = True
            for entry in self._entries.values():
                self._cancel(entry)
            self._condition.notify_all()

    def _missed_something(self, ticket: Ticket, entry: _Entry) -> bool:
        missed = self._changed - ticket.changes
        if missed > len(self._changes):
            return True
        return any(self._helps(entry, change) for change in list(self._changes)[len(self._changes) - missed :])

    def _helps(self, entry: _Entry, change: str) -> bool:
        if change == ANYTHING or not entry.refused_by:
            return True
        return any(self._wakes(plugin, change) for plugin in entry.refused_by)

    def _back_off(self, key: str, entry: _Entry, event: str) -> None:
        if not entry.attempts:
            self._activate(key, entry, event)
            return
        seconds = min(self._max_backoff, self._first_backoff * 2 ** min(entry.attempts - 1, 10))
        self._park(key, entry, "backoff", seconds, event)

    def _park(self, key: str, entry: _Entry, state: str, seconds: float, event: str) -> None:
        self._cancel(entry)
        entry.state = state
        self._incoming(state, event)
        if state == "unschedulable":
            self._parked[key] = entry
        else:
            self._parked.pop(key, None)
        entry.timer = self._clock.call_later(seconds, lambda: self._due(key, entry))

    def _due(self, key: str, entry: _Entry) -> None:
        with self._condition:
            if self._entries.get(key) is entry and entry.state in {"backoff", "unschedulable"} and not self._closed:
                entry.flushed = entry.state == "unschedulable"
                waited = "UnschedulableTimeout" if entry.flushed else "BackoffComplete"
                self._activate(key, entry, waited)

    def _activate(self, key: str, entry: _Entry, event: str) -> None:
        self._cancel(entry)
        self._parked.pop(key, None)
        gate = self._gate(entry.pod)
        if gate:
            fresh = self._gated.get(key) is not entry
            self._ungate(key)
            entry.state, entry.refused_by = "gated", (gate,)
            self._gated[key] = entry
            self._gates[gate] += 1
            if fresh:
                self._incoming("gated", event)
            return
        self._ungate(key)
        entry.state = "active"
        self._incoming("active", event)
        heapq.heappush(self._heap, (self._sort_key(entry.pod, entry.queued_at), next(self._order), key, entry))
        self._condition.notify()

    def _ticket(self, key: str, entry: _Entry) -> Ticket:
        entry.attempts += 1
        entry.state = "flying"
        return Ticket(entry.pod, key, entry.attempts, self._changed, entry)

    def _drop(self, key: str, entry: _Entry) -> None:
        del self._entries[key]
        group = group_of(entry.pod)
        if group is not None and group in self._groups:
            self._groups[group].pop(key, None)
            if not self._groups[group]:
                del self._groups[group]
        self._parked.pop(key, None)
        self._ungate(key)
        self._cancel(entry)

    def _ungate(self, key: str) -> None:
        entry = self._gated.pop(key, None)
        for gate in entry.refused_by if entry is not None else ():
            self._gates[gate] -= 1
            if not self._gates[gate]:
                del self._gates[gate]

    def _cancel(self, entry: _Entry) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None


def _matters(before: Object, pod: Object) -> bool:
    """Tell whether a change of a pod may decide where it can go: its spec, labels, or the claims made for it."""
    return (
        before.get("spec") != pod.get("spec")
        or labels_of(before) != labels_of(pod)
        or (before.get("status") or {}).get("resourceClaimStatuses")
        != (pod.get("status") or {}).get("resourceClaimStatuses")
    )
