"""What the scheduler tells the world about its decisions: events and the PodScheduled condition, off the loop.

Refusals are told at once. The events of successes wait until nothing was bound for `QUIET_SECONDS`: people read them
later, while the pods of a burst want their nodes now. In a burst that does not end a part of them is written every
`PATIENCE_SECONDS`, about as many a second as upstream's client would let through, or more when very many wait.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from hyperkube_host.scheduler.api_dispatcher.conditions import unschedulable_patch

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder, reference
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import NodeName, Object, key_of, name_of, namespace_of

PATIENCE_SECONDS = 2.0
QUIET_SECONDS = 0.1
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
    """Writes on one thread, which lives while there is something to write."""

    def __init__(self, client: Client, clock: Clock, recorder: EventRecorder, busy: Callable[[], bool]) -> None:
        """Take the API, and what tells whether pods are waiting to be scheduled."""
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._busy = busy
        self._condition = threading.Condition()
        self._bound: deque[_Bound] = deque()
        self._due = 0.0
        self._refused: deque[_Refusal] = deque()
        self._writes: deque[Callable[[], None]] = deque()
        self._writing = False
        self._closing = False
        self._idle = threading.Event()
        self._idle.set()

    def record_scheduled(self, pod: Object, node: NodeName) -> None:
        """Tell that a pod was bound."""
        bound = _Bound(reference(pod), node, self._clock.now())
        with self._condition:
            if not self._bound:
                self._due = self._clock.monotonic() + PATIENCE_SECONDS
            self._bound.append(bound)
            if not self._writing:
                self._wake()

    def record_failure(self, pod: Object, reason: str, message: str, nominated: NodeName | None = None) -> None:
        """Tell why a pod has no node, in an event and in its condition."""
        with self._condition:
            self._refused.append(_Refusal(pod, reason, message, nominated))
            self._wake()

    def clear_nomination(self, pod: Object, node: NodeName) -> None:
        """Tell that no room is made for a pod on a node any more: one that matters more takes it."""
        told = {**pod, "status": {**(pod.get("status") or {}), "nominatedNodeName": node}}
        with self._condition:
            self._refused.append(_Refusal(told, "", "", NodeName("")))
            self._wake()

    def add(self, write: Callable[[], None]) -> None:
        """Have something else written, soon; `write` handles refusals of the API that it expects."""
        with self._condition:
            self._writes.append(write)
            self._wake()

    def close(self) -> None:
        """Write what is left, within a second or so."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        self._idle.wait(2.0)
        self._recorder.flush(1.0)

    def _wake(self) -> None:
        self._condition.notify_all()
        if not self._writing:
            self._writing = True
            self._idle.clear()
            threading.Thread(target=self._run, name="scheduler-reports", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._wait_for_quiet()
                refused, writes = list(self._refused), list(self._writes)
                self._refused.clear()
                self._writes.clear()
                bound = self._take_bound() if not (refused or writes) or self._is_due() else []
                if not refused and not writes and not bound:
                    self._writing = False
                    self._idle.set()
                    return
            for refusal in refused:
                self._tell(refusal)
            for write in writes:
                self._write(write)
            for about, node, at in bound:
                name = f"{about.get('namespace', '')}/{about.get('name', '')}"
                self._recorder.event(about, "Normal", "Scheduled", f"Successfully assigned {name} to {node}", at=at)
            if bound:
                self._recorder.flush(PATIENCE_SECONDS)

    def _wait_for_quiet(self) -> None:
        """Wait as long as there are only successes to tell of and they are followed by others, until they are due."""
        while self._bound and not (self._refused or self._writes or self._closing or self._is_due()):
            count = len(self._bound)
            self._condition.wait(QUIET_SECONDS)  # no success ends it: a burst would wake this thread for each
            if len(self._bound) == count and not self._busy():
                return

    def _is_due(self) -> bool:
        return self._closing or self._clock.monotonic() >= self._due

    def _take_bound(self) -> list[_Bound]:
        count = min(len(self._bound), max(AT_ONCE, len(self._bound) // SHARE_AT_ONCE))
        self._due = self._clock.monotonic() + PATIENCE_SECONDS
        return [self._bound.popleft() for _ in range(count)]

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
        except (ApiError, OSError) as error:
            _log.warning("cannot tell what came of an attempt: %s", error)

    def _tell(self, refusal: _Refusal) -> None:
        """Write event and condition; a pod that is gone by now is left alone."""
        pod = refusal.pod
        if refusal.reason:
            self._recorder.event(pod, "Warning", "FailedScheduling", refusal.message)
        patch = unschedulable_patch(pod, refusal.reason, refusal.message, self._clock.now(), refusal.nominated)
        if patch is None:
            return
        try:
            self._client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        except NotFound:
            _log.debug("pod %s is gone", key_of(pod))
        except (ApiError, OSError) as error:
            _log.warning("cannot tell that pod %s is unschedulable: %s", key_of(pod), error)
