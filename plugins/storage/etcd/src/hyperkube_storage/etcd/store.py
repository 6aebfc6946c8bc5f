"""EtcdStore: the Store in an etcd v3 cluster, over the channel, TLS and login of the package etcd3.

etcd3's own calls ignore limits and revisions and its watcher does not survive a restart of etcd, so requests are built
here and watches are our own (`watch`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hyperkube_storage.etcd.answers import CompactedAway
from hyperkube_storage.etcd.calls import COMPACT, GRANT, RANGE, STATUS, TXN, Call, QueuedCalls
from hyperkube_storage.etcd.compaction import Compaction
from hyperkube_storage.etcd.endpoints import Access, Endpoints
from hyperkube_storage.etcd.watch import EtcdWatch, key_value

from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.storage.retention import DEFAULT_SECONDS
from hyperkube.storage.store import (
    Compacted,
    Compare,
    Delete,
    KeyValue,
    Put,
    RangeResult,
    TxnResult,
    check_distinct,
)

if TYPE_CHECKING:
    from hyperkube_storage.etcd import rpc_pb2

NO_KEY = b"\x00"
"""A key that is never written: reading it tells the revision."""

TICK = "\x00hyperkube-progress"
"""What is appended to a watched range's start to write a progress report, for servers that need it."""


def trusts_progress(version: str) -> bool:
    """Tell whether an etcd of this version never reports progress ahead of events (etcd issue 15220)."""
    try:
        major, minor, patch = (int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:3])
    except ValueError:
        return False
    fixed = {(3, 4): 25, (3, 5): 8}.get((major, minor))
    return patch >= fixed if fixed is not None else (major, minor) > (3, 5)


class EtcdStore:
    """A `Store` in etcd. Nothing is asked of etcd before the first call.

    Args:
        access: where etcd is and who to be there.
        clock: for delays; leases end by etcd's own clock.
        history_seconds: how long replaced versions are kept, for which the servers that share this etcd compact it in
            turn; 0 leaves that to others.
        trust_progress: whether etcd's progress reports can be relied on; None to find out from its version.

    Raises:
        UsageError: the access is not usable.
    """

    def __init__(
        self,
        access: Access,
        clock: Clock | None = None,
        *,
        history_seconds: float = DEFAULT_SECONDS,
        trust_progress: bool | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._endpoints = Endpoints(access, self._clock)
        self._queued = QueuedCalls(self._endpoints.together)
        self._trust_progress = trust_progress
        self._lock = threading.Lock()
        self._watches: set[EtcdWatch] = set()
        self._compaction = Compaction(self, self._clock, history_seconds) if history_seconds else None

    def revision(self) -> int:
        """Return etcd's revision, linearizably."""
        return self._range(key=NO_KEY, count_only=True).header.revision

    def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """Return one key, now or at `revision`."""
        answer = self._range(self._by_turns, key=key.encode(), revision=revision)
        return key_value(answer.kvs[0]) if answer.kvs else None

    def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0, keys_only: bool = False) -> RangeResult:
        """Return the keys in ``[start, end)`` in byte order, now or at `revision`."""
        answer = self._range(
            key=start.encode() or NO_KEY, range_end=end.encode(), limit=limit, revision=revision, keys_only=keys_only
        )
        return RangeResult([key_value(item) for item in answer.kvs], answer.header.revision, answer.count, answer.more)

    def count(self, start: str, end: str) -> int:
        """Return the number of keys in ``[start, end)``."""
        return self._range(key=start.encode() or NO_KEY, range_end=end.encode(), count_only=True).count

    def txn(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> TxnResult:
        """Compare, then apply all of `success` in one revision, or nothing."""
        check_distinct(success)
        answer: rpc_pb2.TxnResponse = self._by_turns(Call(TXN, _txn_request(compare, success), repeats=False))
        if answer.succeeded:
            return TxnResult(succeeded=True, revision=answer.header.revision)
        found = [response.response_range.kvs for response in answer.responses]
        current = [key_value(items[0]) if items else None for items in found]
        return TxnResult(succeeded=False, revision=answer.header.revision, current=current)

    def watch(self, start: str, end: str, *, revision: int) -> EtcdWatch:
        """Watch ``[start, end)`` for changes after `revision`; the stream is opened by the iteration."""
        tick_key = start + TICK
        tick = None if self._trusts_progress() else lambda: self._write_tick(tick_key)
        watch = EtcdWatch(
            self._endpoints,
            start,
            end,
            revision=revision,
            clock=self._clock,
            closed=self._forget_watch,
            tick=tick,
            tick_key=tick_key,
        )
        with self._lock:
            self._watches.add(watch)
        return watch

    def grant_lease(self, seconds: int) -> int:
        """Create a lease; etcd ends it within seconds after its time."""
        from hyperkube_storage.etcd.etcdrpc import LeaseGrantRequest

        return int(self._by_turns(Call(GRANT, LeaseGrantRequest(TTL=seconds), repeats=False)).ID)

    def queue_writes(self, pause: Callable[[], None]) -> None:
        """Keep what this thread writes, and what it reads of single keys, until `take_queued`."""
        self._queued.queue_here(pause)

    def queue_no_more(self) -> None:
        """Let this thread wait for each of its calls again."""
        self._queued.queue_no_more()

    def take_queued(self) -> Callable[[], None]:
        """Return what sends the calls that this thread has kept, all at once, and waits for their answers."""
        return self._queued.take()

    def compact(self, revision: int) -> None:
        """Forget history before `revision`."""
        from hyperkube_storage.etcd.etcdrpc import CompactionRequest

        request = CompactionRequest(revision=revision)
        try:
            self._endpoints.read(Call(COMPACT, request, repeats=True))
        except CompactedAway:
            return  # by another client

    def size(self) -> int:
        """Return the bytes of the database of the member in use."""
        return int(self._status().dbSize)

    def close(self) -> None:
        """End the watches and close the connection; idempotent."""
        with self._lock:
            watches = list(self._watches)
        for watch in watches:
            watch.close()
        if self._compaction is not None:
            self._compaction.close()
        self._endpoints.close()

    def _by_turns(self, call: Call) -> Any:
        """Return the answer to a call, which is made with those of others where requests take turns on this thread."""
        if not self._queued.add(call):
            return self._endpoints.read(call) if call.repeats else self._endpoints.write(call)
        if call.failure is not None:
            raise call.failure
        return call.answer

    def _range(self, make: Callable[[Call], Any] | None = None, **options: Any) -> rpc_pb2.RangeResponse:
        from hyperkube_storage.etcd.etcdrpc import RangeRequest

        request = RangeRequest(**options)
        try:
            answer: rpc_pb2.RangeResponse = (make or self._endpoints.read)(Call(RANGE, request, repeats=True))
        except CompactedAway as error:
            # etcd does not tell how far it is compacted; at least the revision asked for is.
            raise Compacted(request.revision, request.revision + 1) from error
        return answer

    def _status(self) -> rpc_pb2.StatusResponse:
        from hyperkube_storage.etcd.etcdrpc import StatusRequest

        answer: rpc_pb2.StatusResponse = self._endpoints.read(Call(STATUS, StatusRequest(), repeats=True))
        return answer

    def _trusts_progress(self) -> bool:
        if self._trust_progress is None:
            self._trust_progress = trusts_progress(self._status().version)
        return self._trust_progress

    def _write_tick(self, key: str) -> None:
        """Make an event in the range and leave nothing behind that `etcdctl` would show."""
        self.txn([], [Put(key, b"")])
        self.txn([], [Delete(key)])

    def _forget_watch(self, watch: EtcdWatch) -> None:
        with self._lock:
            self._watches.discard(watch)


def _txn_request(compare: Sequence[Compare], success: Sequence[Put | Delete]) -> rpc_pb2.TxnRequest:
    from hyperkube_storage.etcd import rpc_pb2 as rpc

    def operation(wanted: Put | Delete) -> rpc.RequestOp:
        if isinstance(wanted, Put):
            put = rpc.PutRequest(key=wanted.key.encode(), value=wanted.value, lease=wanted.lease)
            return rpc.RequestOp(request_put=put)
        return rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=wanted.key.encode()))

    return rpc.TxnRequest(
        compare=[
            rpc.Compare(
                result=rpc.Compare.EQUAL,
                target=rpc.Compare.MOD,
                key=condition.key.encode(),
                mod_revision=condition.mod_revision,
            )
            for condition in compare
        ],
        success=[operation(wanted) for wanted in success],
        failure=[rpc.RequestOp(request_range=rpc.RangeRequest(key=condition.key.encode())) for condition in compare],
    )
