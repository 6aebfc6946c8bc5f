"""Noticing a member that went silent: its host is gone, its process is frozen, the network drops what is sent to it.

Nothing tells a client of that: calls wait for their deadlines and watches wait for ever. So every connection in use is
asked two things now and then: the member's status, which it answers by itself, and, if there are other members, a
linearizable read, for which it needs them. A connection that brings no answer is closed, which ends all that waits on
it: the network lost the member, or the member lost the others, and they may go on without it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from hyperkube_storage.etcd.answers import elsewhere

from hyperkube.machinery.clock import Clock

INTERVAL_SECONDS = 1.0
"""Time between two rounds of questions."""

ANSWER_SECONDS = 2.0
"""How long a member may take to answer."""


class Pulse:
    """Asks the members behind connections whether they are there, on a thread that starts with the first connection.

    Args:
        clock: for the interval.
        end: called with a connection that is to be left and closed.
        alone: whether there is one member only; that it cannot read is then no reason to leave it.
    """

    def __init__(self, clock: Clock, end: Callable[[Any], None], *, alone: bool = False) -> None:
        self._clock = clock
        self._end = end
        self._alone = alone
        self._lock = threading.Lock()
        # A connection that was left lives as long as a call waits on it.
        self._clients: weakref.WeakSet[Any] = weakref.WeakSet()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, client: Any) -> None:
        """Ask the member behind this etcd3 client from now on."""
        with self._lock:
            self._clients.add(client)
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="etcd-pulse", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Ask no more; idempotent."""
        self._closed.set()

    def round(self) -> None:
        """Ask everybody once; end what does not answer."""
        with self._lock:
            clients = list(self._clients)
        asked = []
        for client in clients:
            try:
                asked.append((client, *_ask(client)))
            except ValueError:  # grpc's word for a channel that was closed
                self._forget(client)
        for client, status, read in asked:
            alive = _answers(status) and (self._alone or not _waits(read))
            if not alive and not self._closed.is_set():
                self._forget(client)
                self._end(client)

    def _forget(self, client: Any) -> None:
        with self._lock:
            self._clients.discard(client)

    def _run(self) -> None:
        while not self._clock.wait(self._closed, INTERVAL_SECONDS):
            self.round()


def _ask(client: Any) -> tuple[Any, Any]:
    """Send the two questions; return the calls.

    Raises:
        ValueError: the channel is closed.
    """
    from hyperkube_storage.etcd.etcdrpc import RangeRequest, StatusRequest

    nothing = RangeRequest(key=b"\x00", count_only=True)
    return (
        client.maintenancestub.Status.future(StatusRequest(), ANSWER_SECONDS, metadata=client.metadata),
        client.kvstub.Range.future(nothing, ANSWER_SECONDS, metadata=client.metadata),
    )


def _answers(call: Any) -> bool:
    """Wait for an answer, be it a refusal."""
    error = call.exception()
    return error is None or not elsewhere(error)


def _waits(call: Any) -> bool:
    """Tell whether there was no answer in time; that the leader changed, for instance, is one."""
    import grpc

    error = call.exception()
    return error is not None and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
