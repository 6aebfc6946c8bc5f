"""One stream of the service Watch: watches come and go on it, and their events leave it in order.

Each watch has a thread that follows the store and puts responses into the stream's queue; the stream's own thread
writes them out, while another one reads what the client asks for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from queue import SimpleQueue
from typing import Any

from hyperkube_command.etcd.keys import Message, Refusal, key_range
from hyperkube_command.etcd.kv import KV
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.machinery.dataclass import dataclass
from hyperkube.storage.store import Compacted, EventBatch, KeyValue, StoreError, StoreEvent, StoreWatch

_log = logging.getLogger("hyperkube.etcd")
ALL_WATCHES = -1
"""The watch id of a progress report that holds for the whole stream, as etcd has sent it since 3.5.8."""

NO_WATCH = -1
"""The watch id of one that is refused. etcd: ``InvalidWatchID``."""
MOST_WATCHES = 4096
"""On one stream: each has a thread."""
_DUPLICATE = "mvcc: duplicate watch ID provided on the WatchStream"
_TOO_MANY = f"hyperkube etcd: a stream has {MOST_WATCHES} watches at most"


@dataclass(frozen=True, slots=True)
class _Watch:
    """One watch: its id, what it asked for, and its end of the store."""

    number: int
    request: Mapping[str, Any]
    source: StoreWatch


class WatchStream:
    """The watches of one client's stream."""

    def __init__(self, kv: KV) -> None:
        self._kv = kv
        self._out: SimpleQueue[Message | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._watches: dict[int, _Watch] = {}
        self._waited_for: dict[int, int] = {}  # watch → reports of progress that were asked of it
        self._next = 0

    def responses(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
        """Yield what the client is told, until it leaves."""
        threading.Thread(target=self._read, args=(requests,), name="etcd-watch-requests", daemon=True).start()
        try:
            yield from iter(self._out.get, None)
        finally:
            self.close()

    def close(self) -> None:
        """End all watches."""
        with self._lock:
            watches, self._watches = list(self._watches.values()), {}
        for watch in watches:
            watch.source.close()
        self._out.put(None)

    def _read(self, requests: Iterable[Mapping[str, Any]]) -> None:
        """Do what the client asks for until it leaves, or the store is closed."""
        try:
            for request in requests:
                if "create_request" in request:
                    self._create(request["create_request"])
                elif "cancel_request" in request:
                    self._cancel(request["cancel_request"].get("watch_id", 0))
                elif "progress_request" in request:
                    self._ask_progress()
        except StoreError as error:
            _log.info("a stream of watches ends: %s", error)
        finally:
            self._out.put(None)

    def _create(self, request: Mapping[str, Any]) -> None:
        try:
            start, end = key_range(request).limits
        except RpcFailed as refusal:
            self._out.put(
                {"header": self._kv.header(), "canceled": True, "created": True, "cancel_reason": refusal.details}
            )
            return
        revision = request.get("start_revision", 0)
        with self._lock:
            number = request.get("watch_id", 0) or self._next
            problem = _DUPLICATE if number in self._watches else ""
            problem = _TOO_MANY if len(self._watches) >= MOST_WATCHES else problem
            if problem:
                refused = {"watch_id": NO_WATCH, "created": True, "canceled": True, "cancel_reason": problem}
                self._out.put({"header": self._kv.header(), **refused})
                return
            self._next = max(self._next, number) + 1
            source = self._kv.store.watch(start, end, revision=revision - 1 if revision else self._kv.store.revision())
            watch = self._watches[number] = _Watch(number, request, source)
        self._out.put({"header": self._kv.header(), "watch_id": number, "created": True})
        threading.Thread(target=self._follow, args=(watch,), name=f"etcd-watch-{number}", daemon=True).start()

    def _cancel(self, number: int) -> None:
        with self._lock:
            watch = self._watches.pop(number, None)
        if watch is not None:
            watch.source.close()
            self._out.put({"header": self._kv.header(), "watch_id": number, "canceled": True})

    def _ask_progress(self) -> None:
        """Have every watch say how far it is: the stream is as far as the last of them."""
        with self._lock:
            watches = list(self._watches.values())
            self._waited_for = {watch.number: 1 for watch in watches}
        if not watches:
            self._out.put({"header": self._kv.header(), "watch_id": ALL_WATCHES})
        for watch in watches:
            watch.source.request_progress()

    def _follow(self, watch: _Watch) -> None:
        try:
            for batch in watch.source:
                self._tell(watch, batch)
        except Compacted as error:
            with self._lock:
                self._watches.pop(watch.number, None)
            told = {
                "canceled": True,
                "compact_revision": error.compact_revision,
                "cancel_reason": Refusal.COMPACTED.value[1],
            }
            self._out.put({"header": self._kv.header(), "watch_id": watch.number, **told})

    def _tell(self, watch: _Watch, batch: EventBatch) -> None:
        # A header's revision is the batch's own: a client takes it that everything up to there has been delivered.
        header = self._kv.header(batch.revision)
        events = [made for event in batch.events if (made := self._event(watch.request, event)) is not None]
        if events:
            self._out.put({"header": header, "watch_id": watch.number, "events": events})
        if batch.events:
            return
        with self._lock:
            was_asked = self._waited_for.pop(watch.number, 0)
            is_last = bool(was_asked) and not self._waited_for
            whole_stream = len(self._watches) > 1
        if is_last:
            self._out.put({"header": header, "watch_id": ALL_WATCHES if whole_stream else watch.number})

    def _event(self, request: Mapping[str, Any], event: StoreEvent) -> Message | None:
        """Return an event as the watch wants it; None if it is filtered out."""
        kind = "DELETE" if event.current is None else "PUT"
        if f"NO{kind}" in request.get("filters", ()):
            return None
        gone = {"key": event.key.encode(), "mod_revision": event.revision}
        told: Message = {"type": kind, "kv": gone if event.current is None else self._item(event.current)}
        if request.get("prev_kv") and event.previous is not None:
            told["prev_kv"] = self._item(event.previous)
        return told

    def _item(self, item: KeyValue) -> Message:
        return {
            "key": item.key.encode(),
            "create_revision": item.create_revision,
            "mod_revision": item.mod_revision,
            "version": item.version,
            "value": item.value,
            "lease": self._kv.leases.of(item.key),
        }
