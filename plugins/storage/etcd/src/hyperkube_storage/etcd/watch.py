"""A watch of etcd that survives what happens to etcd: it goes on after the last revision that was delivered."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hyperkube_storage.etcd.answers import translate
from hyperkube_storage.etcd.endpoints import Endpoints

from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.storage.store import Compacted, EventBatch, KeyValue, StoreError, StoreEvent, StoreUnavailable

if TYPE_CHECKING:
    from hyperkube_storage.etcd.rpc_pb2 import Event, WatchResponse
    from hyperkube_storage.etcd.rpc_pb2 import KeyValue as RpcKeyValue

RETRY = Backoff(initial=0.05, cap=2.0)
"""Delays between attempts to open the stream again."""

ASK_AGAIN_SECONDS = 0.1
"""etcd does not answer a request for progress while the watch still catches up: so ask again."""

logger = logging.getLogger("hyperkube.storage")


def key_value(item: RpcKeyValue) -> KeyValue:
    """Return etcd's record as a Store's."""
    return KeyValue(item.key.decode(), item.value, item.create_revision, item.mod_revision, item.version, item.lease)


class EtcdWatch:
    """A `StoreWatch` over one gRPC stream at a time.

    Args:
        endpoints: where streams are opened.
        start: first key of the range.
        end: first key after it.
        revision: changes after it are delivered.
        clock: for delays.
        closed: called once with the watch when it is closed.
        tick: writes the key `tick_key` in range: that event is the progress report where the server's own reports may
            overtake events (before 3.4.25 and 3.5.8, etcd issue 15220); None where they can be trusted.
        tick_key: its events are not delivered.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        start: str,
        end: str,
        *,
        revision: int,
        clock: Clock,
        closed: Callable[[EtcdWatch], None],
        tick: Callable[[], None] | None,
        tick_key: str,
    ) -> None:
        self._endpoints = endpoints
        self._start = start.encode() or b"\x00"
        self._end = end.encode()
        self._delivered = revision
        self._clock = clock
        self._on_close = closed
        self._tick = tick
        self._tick_key = tick_key.encode()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._call: Any = None
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._progress_wanted = False
        self._timer: Timer | None = None

    def __iter__(self) -> Iterator[EventBatch]:
        """Yield batches until closed, over as many streams as it takes.

        Raises:
            Compacted: the history after the last delivered revision is gone.
        """
        import grpc

        failures = 0
        while not self._closed.is_set():
            client = None
            try:
                client = self._endpoints.client()
                for batch in self._stream(client):
                    failures = 0
                    yield batch
            except grpc.RpcError as error:
                self._lost(translate(error), client)
            except Compacted:
                raise
            except (StoreError, ValueError) as error:  # ValueError: grpc's word for a channel that was closed
                self._lost(error, client)
            failures += 1
            self._clock.wait(self._closed, RETRY.delay(failures))

    def request_progress(self) -> None:
        """Ask for a batch whose revision is at least the store's.

        Raises:
            StoreError: etcd does not answer (where progress takes a write).
        """
        if self._tick is not None:
            self._tick()
            return
        self._progress_wanted = True
        self._ask()

    def close(self) -> None:
        """End the iteration, also while it waits for etcd; idempotent."""
        with self._lock:
            self._closed.set()
            call, self._call = self._call, None
            if self._timer is not None:
                self._timer.cancel()
        self._requests.put(None)
        if call is not None:
            call.cancel()
        self._on_close(self)

    def _lost(self, error: Exception, client: Any) -> None:
        if self._closed.is_set():
            return
        logger.warning("the watch of etcd broke off after revision %d: %s", self._delivered, error)
        if client is not None:
            self._endpoints.leave(client)

    def _stream(self, client: Any) -> Iterator[EventBatch]:
        """Yield the batches of one stream."""
        from hyperkube_storage.etcd.etcdrpc import WatchCreateRequest, WatchRequest, WatchStub

        requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        create = WatchCreateRequest(
            key=self._start,
            range_end=self._end,
            start_revision=self._delivered + 1,
            prev_kv=True,
            progress_notify=True,
            fragment=True,
        )
        requests.put(WatchRequest(create_request=create))
        metadata = (*(client.metadata or ()), ("hasleader", "true"))
        with self._lock:
            if self._closed.is_set():
                return
            call = self._call = WatchStub(client.channel).Watch(iter(requests.get, None), metadata=metadata)
            self._requests = requests
        if self._progress_wanted:
            self._ask()
        try:
            yield from self._batches(call)
        finally:
            requests.put(None)
            call.cancel()

    def _batches(self, responses: Iterator[WatchResponse]) -> Iterator[EventBatch]:
        events: list[Event] = []
        for response in responses:
            if response.canceled:
                if response.compact_revision:
                    raise Compacted(self._delivered, response.compact_revision)
                raise StoreUnavailable(response.cancel_reason or "etcd cancelled the watch")
            events += response.events
            if response.fragment or (response.created and not events):
                continue
            batch = self._batch(events, response.header.revision)
            events = []
            self._delivered = max(self._delivered, batch.revision)
            yield batch

    def _batch(self, events: list[Event], current: int) -> EventBatch:
        """Return events as a batch; none of them makes a progress report."""
        if not events:
            self._progress_wanted = False
            return EventBatch((), current)
        changes = tuple(self._event(event) for event in events if event.kv.key != self._tick_key)
        return EventBatch(changes, events[-1].kv.mod_revision)

    @staticmethod
    def _event(event: Event) -> StoreEvent:
        deleted = event.type == event.DELETE
        return StoreEvent(
            event.kv.key.decode(),
            event.kv.mod_revision,
            None if deleted else key_value(event.kv),
            key_value(event.prev_kv) if event.HasField("prev_kv") else None,
        )

    def _ask(self) -> None:
        """Send a request for progress, and again until there was an answer."""
        from hyperkube_storage.etcd.etcdrpc import WatchProgressRequest, WatchRequest

        with self._lock:
            if self._closed.is_set() or not self._progress_wanted:
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._clock.call_later(ASK_AGAIN_SECONDS, self._ask)
            if self._call is not None:
                self._requests.put(WatchRequest(progress_request=WatchProgressRequest()))
