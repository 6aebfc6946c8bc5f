"""What the scheduler tells the world about its decisions: events and the PodScheduled condition, off the loop.

Refusals are told at once. The events of successes wait while there are pods to be scheduled, at most
`PATIENCE_SECONDS`: people read them later, while the pods of a burst want their nodes now.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from hyperkube_host.scheduler.api_dispatcher.conditions import unschedulable_patch

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import NodeName, Object, key_of, name_of, namespace_of

PATIENCE_SECONDS = 2.0
AT_ONCE = 100

_log = logging.getLogger("hyperkube.scheduler")


@dataclass(frozen=True, slots=True)
class _Refusal:
    pod: Object
    reason: str
    message: str
    nominated: NodeName | None


class ApiDispatcher:
    """Writes on one thread, which lives while there is something to write."""

    def __init__(self, client: Client, clock: Clock, recorder: EventRecorder, busy: Callable[[], bool]) -> None:
        """Take the API, and what tells whether pods are waiting to be scheduled."""
        self._client = client
        self._clock = clock
        self._recorder = recorder
        self._busy = busy
        self._condition = threading.Condition()
        self._bound: deque[tuple[Object, NodeName]] = deque()
        self._refused: deque[_Refusal] = deque()
        self._writes: deque[Callable[[], None]] = deque()
        self._writing = False
        self._closing = False
        self._idle = threading.Event()
        self._idle.set()

    def record_scheduled(self, pod: Object, node: NodeName) -> None:
        """Tell that a pod was bound."""
        with self._condition:
            self._bound.append((pod, node))
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
                if not self._refused and not self._writes and self._bound and not self._closing and self._busy():
                    self._condition.wait_for(
                        lambda: self._closing or bool(self._refused or self._writes), PATIENCE_SECONDS
                    )
                refused, writes = list(self._refused), list(self._writes)
                self._refused.clear()
                self._writes.clear()
                urgent = refused or writes
                bound = [self._bound.popleft() for _ in range(min(AT_ONCE, len(self._bound)))] if not urgent else []
                if not urgent and not bound:
                    self._writing = False
                    self._idle.set()
                    return
            for refusal in refused:
                self._tell(refusal)
            for write in writes:
                self._write(write)
            for pod, node in bound:
                self._recorder.event(pod, "Normal", "Scheduled", f"Successfully assigned {key_of(pod)} to {node}")
            if bound:
                self._recorder.flush(PATIENCE_SECONDS)

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
