"""Where events go: a file that is rotated, or a webhook; each at once or in batches.

Source: kubernetes apiserver ``plugin/pkg/audit/{log,webhook,buffered}``, ``pkg/server/options/audit.go``.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import orjson
from hyperkube_host.apiserver.audit.rotation import RotatedFile
from hyperkube_lib.webhooks.review import ReviewClient, WebhookFailed

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object


class AuditFailed(HyperkubeError):
    """Events could not be kept."""


class Backend(Protocol):
    """Keeps events.

    Attributes:
        may_block: whether it waits for another server.
    """

    may_block: bool

    def keep(self, events: Sequence[Object]) -> None:
        """Keep events, in order.

        Raises:
            AuditFailed: they are lost.
        """

    def close(self) -> None:
        """Keep what is still buffered, then let go of everything."""


class LogBackend:
    """Writes a line for each event, as JSON or in the first form of Kubernetes' audit log."""

    may_block = False

    def __init__(self, file: RotatedFile, write: Callable[[Object], bytes]) -> None:
        self._file = file
        self._write = write

    def keep(self, events: Sequence[Object]) -> None:
        """Append the events' lines."""
        try:
            for event in events:
                self._file.append(self._write(event))
        except OSError as error:
            raise AuditFailed(f"cannot write the audit log: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def json_line(event: Object) -> bytes:
    """Return an event as a line of JSON."""
    return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)


def legacy_line(event: Object) -> bytes:
    """Return an event as the text of ``--audit-log-format=legacy``."""
    acting, reference = event.get("impersonatedUser"), event.get("objectRef") or {}
    fields = {
        "id": event["auditID"],
        "stage": event["stage"],
        "ip": (event.get("sourceIPs") or ["<unknown>"])[0],
        "method": event["verb"],
        "user": event["user"]["username"],
        "groups": _quoted_list(event["user"].get("groups") or []) or "<none>",
        "as": acting["username"] if acting else "<self>",
        "asgroups": (_quoted_list(acting.get("groups") or []) if acting else "") or "<lookup>",
        "user-agent": event.get("userAgent", ""),
        "namespace": reference.get("namespace") or "<none>",
        "uri": event["requestURI"],
        "response": str((event.get("responseStatus") or {}).get("code") or "<deferred>"),
    }
    text = " ".join(f"{key}={orjson.dumps(value).decode()}" for key, value in fields.items())
    return f"{event['requestReceivedTimestamp']} AUDIT: {text}\n".encode()


def _quoted_list(values: Sequence[str]) -> str:
    return ",".join(orjson.dumps(value).decode() for value in values)


class WebhookBackend:
    """Posts events as an EventList to the server of ``--audit-webhook-config-file``."""

    may_block = True

    def __init__(self, reviews: ReviewClient) -> None:
        self._reviews = reviews

    def keep(self, events: Sequence[Object]) -> None:
        """Post the events."""
        try:
            self._reviews.send(
                {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": list(events)}
            )
        except WebhookFailed as error:
            raise AuditFailed(f"the audit webhook lost {len(events)} events: {error}") from error

    def close(self) -> None:
        """Close the connections."""
        self._reviews.close()


class Batching:
    """Keeps events on a thread of its own: a batch when enough are there or the oldest has waited long enough.

    When the buffer is full, further events are lost, and that is logged: no request waits for the audit log.

    Args:
        inner: what keeps the batches.
        clock: for the waits.
        logger: is told of losses.
        buffer: events that may wait.
        size: events of one batch.
        wait: seconds the first event of a batch waits at most.
    """

    may_block = False

    def __init__(
        self, inner: Backend, clock: Clock, logger: logging.Logger, *, buffer: int, size: int, wait: float
    ) -> None:
        self._inner, self._clock, self._logger = inner, clock, logger
        self._buffer, self._size, self._wait = buffer, size, wait
        self._events: deque[Object] = deque()
        self._lock = threading.Lock()
        self._some, self._enough, self._closed = threading.Event(), threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def keep(self, events: Sequence[Object]) -> None:
        """Put events into the buffer."""
        with self._lock:
            room = self._buffer - len(self._events)
            self._events.extend(events[:room])
            waiting = len(self._events)
        self._some.set()
        if waiting >= self._size:
            self._enough.set()
        if len(events) > room:
            self._logger.error("the audit buffer is full: %d events are lost", len(events) - room)

    def _run(self) -> None:
        while not self._closed.is_set():
            self._some.wait()
            if not self._closed.is_set():
                self._clock.wait(self._enough, self._wait)
            self._drain()

    def _drain(self) -> None:
        while True:
            with self._lock:
                batch = [self._events.popleft() for _ in range(min(self._size, len(self._events)))]
                if not self._events:
                    self._some.clear()
                if len(self._events) < self._size:
                    self._enough.clear()
            if not batch:
                return
            try:
                self._inner.keep(batch)
            except AuditFailed as error:
                self._logger.error("%s", error)  # noqa: TRY400  the cause is in the text; a trace tells no more

    def close(self) -> None:
        """Keep what is buffered, end the thread, close what is behind."""
        self._closed.set()
        self._some.set()
        self._enough.set()
        self._thread.join()
        self._drain()
        self._inner.close()
