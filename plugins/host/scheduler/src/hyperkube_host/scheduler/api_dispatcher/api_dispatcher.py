"""What the scheduler tells the world about its decisions: events and the PodScheduled condition, off the loop.

Refusals are told at once, those of several pods side by side. Of one pod the latest counts: while a report waits for
its turn another one takes its place, one of a pod that is gone is left out, and a pod is bound only after its report is
written or left out, so that no condition comes to say that a pod with a node has none.

The events of successes wait while pods are bound in a burst: people read them later, while the pods want their nodes
now. In a burst that does not end a part of them is written every `PATIENCE_SECONDS`, about as many a second as
upstream's client would let through, or more when very many wait.

Source of the rules: kubernetes ``pkg/scheduler/backend/api_dispatcher`` (calls in flight, one for each object; a newer
one replaces one that waits; a binding matters more than a status).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from hyperkube_host.scheduler.api_dispatcher.conditions import unschedulable_patch

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder, reference
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import NodeName, Object, key_of, name_of, namespace_of

REPORTERS = 16
"""Reports on their way at once, as many as upstream's dispatcher has."""
PATIENCE_SECONDS = 2.0
QUIET_SECONDS = 0.1
FEW = 5
"""Pods bound within `QUIET_SECONDS` that are no burst yet: 50 a second, as many as upstream's client lets through."""
AT_ONCE = 100
"""Events of successes written together; upstream's client has a burst of 100 and 50 a second."""
SHARE_AT_ONCE = 10
"""Of more than ten times as many the tenth part is written, so that they do not pile up without bound."""

_log = logging.getLogger("hyperkube.scheduler")


@dataclass(frozen=True, slots=True)
class _Refusal:
    pod: Object
    reason: str
    message: str
    nominated: NodeName | None


class _Bound(NamedTuple):
    about: Object
    """A reference to the pod."""
    node: NodeName
    at: datetime


class ApiDispatcher:
    """Writes on threads that live while there is something to write; safe to use from many threads."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        recorder: EventRecorder,
        busy: Callable[[], bool],
        waits: Callable[[Object], bool] = lambda _pod: True,
    ) -> None:
        """Take the API, what tells whether pods are to be scheduled now, and whether a pod waits for a node still."""
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._busy = busy
        self._waits = waits
        self._condition = threading.Condition()
        self._bound: deque[_Bound] = deque()
        self._due = 0.0
        self._writing = False
        self._closing = False
        self._idle = threading.Event()
        self._idle.set()
        # A key whose report is being written is in `_reporting` before it leaves `_reports`: in one of them it can be
        # seen without the lock.
        self._reports: dict[str, _Refusal | Callable[[], None]] = {}
        self._reporting: set[str] = set()
        self._reported = threading.Condition()
        self._pool: WorkerPool[str] = WorkerPool(
            "scheduler-reports", self._report, clock=clock, workers=REPORTERS, logger=_log
        )
        self._pool.begin()

    def record_scheduled(self, pod: Object, node: NodeName) -> None:
        """Tell that a pod was bound."""
        bound = _Bound(reference(pod), node, self._clock.now())
        with self._condition:
            if not self._bound:
                self._due = self._clock.monotonic() + PATIENCE_SECONDS
            self._bound.append(bound)
            if self._writing:
                return
            self._writing = True
            self._idle.clear()
            threading.Thread(target=self._write_events, name="scheduler-events", daemon=True).start()

    def record_failure(self, pod: Object, reason: str, message: str, nominated: NodeName | None = None) -> None:
        """Tell why a pod has no node, in an event and in its condition."""
        key = key_of(pod)
        with self._reported:
            before = self._reports.get(key)
            if isinstance(before, _Refusal):
                nominated = before.nominated if nominated is None else nominated
            self._reports[key] = _Refusal(pod, reason, message, nominated)
        self._pool.queue.add(key)

    def clear_nomination(self, pod: Object, node: NodeName) -> None:
        """Tell that no room is made for a pod on a node any more: one that matters more takes it."""
        key = key_of(pod)
        told = {**pod, "status": {**(pod.get("status") or {}), "nominatedNodeName": node}}
        with self._reported:
            before = self._reports.get(key)
            if isinstance(before, _Refusal):
                self._reports[key] = replace(before, pod=told, nominated=NodeName(""))
            else:
                self._reports[key] = _Refusal(told, "", "", NodeName(""))
        self._pool.queue.add(key)

    def add(self, key: str, write: Callable[[], None]) -> None:
        """Have something else written, soon, in place of what waits under the same key, which is no pod's.

        `write` handles refusals of the API that it expects.
        """
        with self._reported:
            self._reports[key] = write
        self._pool.queue.add(key)

    def settle(self, key: str) -> None:
        """Leave out what waits to be told of a pod, and wait for what is being written: it is about to be bound."""
        if key not in self._reports and key not in self._reporting:
            return
        with self._reported:
            self._reports.pop(key, None)
            self._reported.wait_for(lambda: key not in self._reporting)

    def close(self) -> None:
        """Write what is left, within a second or so."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        with self._reported:
            self._reported.wait_for(lambda: not (self._reports or self._reporting), 2.0)
        self._pool.stop()
        self._idle.wait(2.0)
        self._recorder.flush(1.0)

    def _report(self, key: str) -> None:
        """Write the latest report under a key; the pool gives each key to one thread at a time."""
        with self._reported:
            self._reporting.add(key)
            report = self._reports.pop(key, None)
        try:
            if isinstance(report, _Refusal):
                self._tell(report)
            elif report is not None:
                report()
        except (ApiError, OSError) as error:
            _log.warning("cannot tell what came of %s: %s", key, error)
        finally:
            with self._reported:
                self._reporting.discard(key)
                self._reported.notify_all()

    def _tell(self, refusal: _Refusal) -> None:
        """Write event and condition; a pod that is gone by now, or has a node, is left alone."""
        pod = refusal.pod
        if not self._waits(pod):
            return
        if refusal.reason:
            self._recorder.event(pod, "Warning", "FailedScheduling", refusal.message)
        patch = unschedulable_patch(pod, refusal.reason, refusal.message, self._clock.now(), refusal.nominated)
        if patch is None:
            return
        try:
            self._client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        except NotFound:
            _log.debug("pod %s is gone", key_of(pod))

    def _write_events(self) -> None:
        while True:
            with self._condition:
                self._wait_for_quiet()
                bound, more = self._take_bound(), bool(self._bound)
                if not bound:
                    self._writing = False
                    self._idle.set()
                    return
            for about, node, at in bound:
                name = f"{about.get('namespace', '')}/{about.get('name', '')}"
                self._recorder.event(about, "Normal", "Scheduled", f"Successfully assigned {name} to {node}", at=at)
            if more:  # the recorder drops what is more than it holds
                self._recorder.flush(PATIENCE_SECONDS)

    def _wait_for_quiet(self) -> None:
        """Wait as long as successes are followed by many others, until they are due."""
        while self._bound and not (self._closing or self._clock.monotonic() >= self._due):
            count = len(self._bound)
            self._condition.wait(QUIET_SECONDS)  # no success ends it: a burst would wake this thread for each
            if len(self._bound) - count <= FEW and not self._busy():
                return

    def _take_bound(self) -> list[_Bound]:
        count = min(len(self._bound), max(AT_ONCE, len(self._bound) // SHARE_AT_ONCE))
        self._due = self._clock.monotonic() + PATIENCE_SECONDS
        return [self._bound.popleft() for _ in range(count)]
