"""The scheduling queue: active pods, pods in back-off, unschedulable pods, and gated pods.

A pod is in one state at a time (`QueueState`)::

    add ──► ACTIVE ──pop──► IN_FLIGHT ──done──► (gone)
     │        ▲ ▲               │
     ▼        │ └── BACKOFF ◄───┤ failed, or an event was missed
    GATED ────┘        ▲        │
              event ── UNSCHEDULABLE ◄── rejected

Source of the parts and numbers: kubernetes ``pkg/scheduler/backend/queue/scheduling_queue.go`` (1 s doubling to 10 s;
an unschedulable pod is scheduled again after 5 minutes even if nothing happened).
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Any

from hyperkube_host.scheduler.queue import cluster_events
from hyperkube_host.scheduler.queue.cluster_events import WILDCARD, QueueingHint

from hyperkube.hookspecs.pod_groups import GroupKey, group_of
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, key_of, uid_of

FIRST_BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 10.0
UNSCHEDULABLE_SECONDS = 300.0
REMEMBERED_EVENTS = 256
"""Events remembered for pods in flight; an attempt that took longer counts as having missed one that may help."""

SortKey = Callable[[Object, float], Any]


class QueueState(StrEnum):
    """Where a pod of the queue is; the values name the parts in metrics."""

    ACTIVE = "active"
    """To be scheduled now, in the order of the queue sort plugin."""
    BACKOFF = "backoff"
    """To be scheduled once its back-off has ended."""
    UNSCHEDULABLE = "unschedulable"
    """To be scheduled after an event that may help it."""
    GATED = "gated"
    """Not to be scheduled as long as a pre-enqueue plugin rejects it."""
    IN_FLIGHT = "in_flight"
    """Being scheduled, or bound."""


@dataclass(slots=True, eq=False)
class _Entry:
    """One pod; replaced by another entry when a pod of the same name takes its place."""

    pod: Object
    queued_at: float
    attempts: int = 0
    state: QueueState = QueueState.ACTIVE
    updated: bool = False
    """While in flight: the pod changed, so the attempt's result says nothing about the pod as it is now."""
    unschedulable_plugins: Collection[str] = ()
    timer: Timer | None = None
    flushed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class QueuedPodInfo:
    """One attempt at a pod: give it back with `SchedulingQueue.done` or `SchedulingQueue.add_unschedulable`."""

    pod: Object
    key: str
    attempts: int
    moves: int
    """How many events there had been when the attempt began."""
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
    """Pods by key; thread-safe.

    Invariant, while the lock is free: an entry of `_entries` is in `_unschedulable` or `_gated` exactly if its state
    says so, and has a timer exactly if it is in back-off or unschedulable. The heap may hold entries that are active
    no longer: `pop` skips them, because taking one out of the middle of a heap costs more.
    """

    def __init__(
        self,
        clock: Clock,
        sort_key: SortKey,
        gate: Callable[[Object], str] = lambda _pod: "",
        queueing_hint: QueueingHint = lambda _plugin, _event: True,
        *,
        first_backoff: float = FIRST_BACKOFF_SECONDS,
        max_backoff: float = MAX_BACKOFF_SECONDS,
        unschedulable_seconds: float = UNSCHEDULABLE_SECONDS,
        incoming: Callable[[str, str], None] = lambda _queue, _event: None,
    ) -> None:
        """Take the order of pods, which plugin keeps one from being scheduled at all (or ""), and which events help.

        `incoming` is told which part a pod enters (as in `pending`), and the event that brought it there.
        """
        self._clock = clock
        self._sort_key = sort_key
        self._gate = gate
        self._queueing_hint = queueing_hint
        self._first_backoff = first_backoff
        self._max_backoff = max_backoff
        self._unschedulable_seconds = unschedulable_seconds
        self._incoming = incoming
        self._condition = threading.Condition()
        self._entries: dict[str, _Entry] = {}
        self._unschedulable: dict[str, _Entry] = {}
        self._gated: dict[str, _Entry] = {}
        self._gates: Counter[str] = Counter()
        self._groups: dict[GroupKey, dict[str, _Entry]] = {}
        self._heap: list[tuple[Any, int, str, _Entry]] = []
        self._order = itertools.count()
        self._events: deque[str] = deque(maxlen=REMEMBERED_EVENTS)
        self._moves = 0
        self._closed = False

    def add(self, pod: Object) -> None:
        """Add a pod, or take over its new state; a pod that was updated is scheduled again at once."""
        with self._condition:
            key = key_of(pod)
            entry = self._entries.get(key)
            if entry is not None and uid_of(entry.pod) != uid_of(pod):
                # Deleted and made again between two events. An attempt at the old one that is in flight holds the old
                # entry, so `done` and `add_unschedulable` will see that it is not current and leave the new pod alone.
                self._drop(key, entry)
                entry = None
            if entry is None:
                entry = self._entries[key] = _Entry(pod, self._clock.monotonic())
                group = group_of(pod)
                if group is not None:
                    self._groups.setdefault(group, {})[key] = entry
                self._activate(key, entry, cluster_events.UNSCHEDULED_POD_ADD)
                return
            before, entry.pod = entry.pod, pod
            if not cluster_events.is_pod_updated(before, pod):
                return
            if entry.state is QueueState.IN_FLIGHT:
                entry.updated = True  # it must not be in the heap now; `add_unschedulable` looks at this
            else:
                self._activate(key, entry, cluster_events.UNSCHEDULED_POD_UPDATE)

    def delete(self, key: str) -> None:
        """Forget a pod: it is bound, gone, or another scheduler's."""
        with self._condition:
            entry = self._entries.get(key)
            if entry is not None:
                self._drop(key, entry)

    def pop(self) -> QueuedPodInfo | None:
        """Wait for the next pod and return it, or None after `close`."""
        with self._condition:
            while not self._closed:
                while self._heap:
                    _, _, key, entry = heapq.heappop(self._heap)
                    # A pod may be in the heap several times, or be gone, gated or replaced since: only an entry that is
                    # current and active is taken, and taking it makes it in flight, so its other places are skipped.
                    if entry.state is QueueState.ACTIVE and self._entries.get(key) is entry:
                        return self._queued_pod_info(key, entry)
                self._condition.wait()
            return None

    def pop_group(self, group: GroupKey) -> list[QueuedPodInfo]:
        """Return attempts at all pods of a group that are neither in flight nor gated; their order means nothing.

        Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (podGroupInfoForPod), 1.36.
        """
        with self._condition:
            popped = []
            for key, entry in list(self._groups.get(group, {}).items()):
                if entry.state not in {QueueState.IN_FLIGHT, QueueState.GATED} and not self._closed:
                    self._cancel_timer(entry)
                    self._unschedulable.pop(key, None)
                    popped.append(self._queued_pod_info(key, entry))
            return popped

    def is_current(self, queued: QueuedPodInfo) -> bool:
        """Tell whether the attempt is still wanted: the pod was not deleted or replaced meanwhile."""
        with self._condition:
            return self._entries.get(queued.key) is queued.entry

    def holds(self, pod: Object) -> bool:
        """Tell whether a pod is in some part of the queue, and not another one of its name."""
        entry = self._entries.get(key_of(pod))  # a single look, which needs no lock
        return entry is not None and uid_of(entry.pod) == uid_of(pod)

    def done(self, queued: QueuedPodInfo) -> None:
        """Forget a pod that is bound, though not another one that has its name by now."""
        with self._condition:
            if self._entries.get(queued.key) is queued.entry:
                self._drop(queued.key, queued.entry)

    def add_unschedulable(
        self, queued: QueuedPodInfo, *, unschedulable_plugins: Collection[str] = (), error: bool = False
    ) -> None:
        """Keep a pod that could not be scheduled: until an event that may help it, or for its back-off.

        Args:
            queued: what `pop` returned.
            unschedulable_plugins: the plugins that rejected it; none means that any event may help.
            error: it failed for a reason that has nothing to do with the cluster's state.
        """
        with self._condition:
            entry = queued.entry
            if self._entries.get(queued.key) is not entry or self._closed:
                return
            entry.unschedulable_plugins, entry.flushed = unschedulable_plugins, False
            if entry.updated:
                entry.updated = False
                self._activate(queued.key, entry, cluster_events.UNSCHEDULED_POD_UPDATE)
            elif error or self._missed_event(queued, entry):
                # An event during the attempt may have come too late for the decision, and too early for `move_all`,
                # which does not look at pods in flight. Without this the pod would wait for the next one, or minutes.
                self._back_off(queued.key, entry, cluster_events.SCHEDULE_ATTEMPT_FAILURE)
            else:
                self._requeue(
                    queued.key, entry, QueueState.UNSCHEDULABLE, self._unschedulable_seconds,
                    cluster_events.SCHEDULE_ATTEMPT_FAILURE,
                )  # fmt: skip

    def move_all(self, event: str = WILDCARD) -> None:
        """Move the unschedulable pods that an event may help to the active pods, or into their back-off."""
        with self._condition:
            self._moves += 1
            self._events.append(event)
            for key, entry in list(self._unschedulable.items()):
                if self._is_worth_requeuing(entry, event):
                    self._back_off(key, entry, cluster_events.label(event))
            # Gates are asked per plugin, not per pod: thousands of pods may wait for the same one.
            opened = {gate for gate in self._gates if event == WILDCARD or self._queueing_hint(gate, event)}
            if opened:
                for key, entry in list(self._gated.items()):
                    if not opened.isdisjoint(entry.unschedulable_plugins):
                        self._activate(key, entry, cluster_events.label(event))

    def activate(self, key: str) -> None:
        """Try a pod now, whatever it waits for but a gate."""
        with self._condition:
            entry = self._entries.get(key)
            if entry is not None and entry.state in {QueueState.BACKOFF, QueueState.UNSCHEDULABLE}:
                self._activate(key, entry, cluster_events.label(WILDCARD))

    def recheck_gated(self) -> None:
        """Ask the pre-enqueue plugins about the gated pods again."""
        with self._condition:
            for key, entry in list(self._gated.items()):
                self._activate(key, entry, cluster_events.label(WILDCARD))

    def pending(self) -> dict[QueueState, int]:
        """Return how many pods are in each state."""
        with self._condition:
            counts = dict.fromkeys(QueueState, 0)
            for entry in self._entries.values():
                counts[entry.state] += 1
            return counts

    def unschedulable_by_plugin(self) -> dict[tuple[str, str], int]:
        """Return how many of the unschedulable pods each plugin rejected, by plugin and scheduler name."""
        with self._condition:
            counts: dict[tuple[str, str], int] = {}
            for entry in (*self._unschedulable.values(), *self._gated.values()):
                profile = entry.pod.get("spec", {}).get("schedulerName") or "default-scheduler"
                for plugin in entry.unschedulable_plugins:
                    counts[plugin, profile] = counts.get((plugin, profile), 0) + 1
            return counts

    def in_flight_events(self) -> dict[str, int]:
        """Return how many events are remembered for pods in flight, by name; these pods among them."""
        with self._condition:
            counts = {"PodPopped": sum(entry.state is QueueState.IN_FLIGHT for entry in self._entries.values())}
            if counts["PodPopped"]:
                for event in self._events:
                    name = cluster_events.label(event)
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
                self._cancel_timer(entry)
            self._condition.notify_all()

    def _missed_event(self, queued: QueuedPodInfo, entry: _Entry) -> bool:
        missed = self._moves - queued.moves
        if missed > len(self._events):
            return True
        recent = itertools.islice(self._events, len(self._events) - missed, None)
        return any(self._is_worth_requeuing(entry, event) for event in recent)

    def _is_worth_requeuing(self, entry: _Entry, event: str) -> bool:
        if event == WILDCARD or not entry.unschedulable_plugins:
            return True
        return any(self._queueing_hint(plugin, event) for plugin in entry.unschedulable_plugins)

    def _back_off(self, key: str, entry: _Entry, event: str) -> None:
        if not entry.attempts:
            self._activate(key, entry, event)
            return
        seconds = min(self._max_backoff, self._first_backoff * 2 ** min(entry.attempts - 1, 10))
        self._requeue(key, entry, QueueState.BACKOFF, seconds, event)

    def _requeue(self, key: str, entry: _Entry, state: QueueState, seconds: float, event: str) -> None:
        self._cancel_timer(entry)
        entry.state = state
        self._incoming(state, event)
        if state is QueueState.UNSCHEDULABLE:
            self._unschedulable[key] = entry
        else:
            self._unschedulable.pop(key, None)
        entry.timer = self._clock.call_later(seconds, lambda: self._timer_expired(key, entry))

    def _timer_expired(self, key: str, entry: _Entry) -> None:
        with self._condition:
            # The timer may have fired while another thread moved or dropped the pod: cancelling it came too late.
            waits = entry.state in {QueueState.BACKOFF, QueueState.UNSCHEDULABLE}
            if self._entries.get(key) is entry and waits and not self._closed:
                entry.flushed = entry.state is QueueState.UNSCHEDULABLE
                reason = cluster_events.UNSCHEDULABLE_TIMEOUT if entry.flushed else cluster_events.BACKOFF_COMPLETE
                self._activate(key, entry, reason)

    def _activate(self, key: str, entry: _Entry, event: str) -> None:
        self._cancel_timer(entry)
        self._unschedulable.pop(key, None)
        gate = self._gate(entry.pod)
        if gate:
            fresh = self._gated.get(key) is not entry
            self._ungate(key)
            entry.state, entry.unschedulable_plugins = QueueState.GATED, (gate,)
            self._gated[key] = entry
            self._gates[gate] += 1
            if fresh:
                self._incoming(QueueState.GATED, event)
            return
        self._ungate(key)
        entry.state = QueueState.ACTIVE
        self._incoming(QueueState.ACTIVE, event)
        # The counter breaks ties in the order of arrival, and keeps the heap from comparing entries.
        heapq.heappush(self._heap, (self._sort_key(entry.pod, entry.queued_at), next(self._order), key, entry))
        self._condition.notify()

    def _queued_pod_info(self, key: str, entry: _Entry) -> QueuedPodInfo:
        entry.attempts += 1
        entry.state = QueueState.IN_FLIGHT
        return QueuedPodInfo(entry.pod, key, entry.attempts, self._moves, entry)

    def _drop(self, key: str, entry: _Entry) -> None:
        del self._entries[key]
        group = group_of(entry.pod)
        if group is not None and group in self._groups:
            self._groups[group].pop(key, None)
            if not self._groups[group]:
                del self._groups[group]
        self._unschedulable.pop(key, None)
        self._ungate(key)
        self._cancel_timer(entry)

    def _ungate(self, key: str) -> None:
        entry = self._gated.pop(key, None)
        for gate in entry.unschedulable_plugins if entry is not None else ():
            self._gates[gate] -= 1
            if not self._gates[gate]:
                del self._gates[gate]

    def _cancel_timer(self, entry: _Entry) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
