"""The service KV: reads, writes and transactions as etcd answers them.

All writes come through here, one at a time, under one lock: so that a transaction may compare whatever etcd lets it
compare, while a `Store` compares revisions alone.

Source: etcd ``server/etcdserver/txn/txn.go``.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from hyperkube_command.etcd.keys import Message, Refusal, key_range, message, text
from hyperkube_command.etcd.leases import Leases
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.machinery.clock import Clock
from hyperkube.storage.store import (
    Compacted,
    Delete,
    FutureRevision,
    KeyValue,
    Put,
    Store,
    StoreFull,
    StoreUnavailable,
)

CLUSTER, MEMBER, TERM = 0x68797065726B7562, 1, 1
MOST_OPERATIONS = 128
"""What a transaction may compare and do. etcd: ``DefaultMaxTxnOps``."""
_HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "EQUAL": operator.eq,
    "GREATER": operator.gt,
    "LESS": operator.lt,
    "NOT_EQUAL": operator.ne,
}
_TARGETS = {
    "VERSION": "version",
    "CREATE": "create_revision",
    "MOD": "mod_revision",
    "VALUE": "value",
    "LEASE": "lease",
}
_ORDERS = {"KEY": "key", "VERSION": "version", "CREATE": "create_revision", "MOD": "mod_revision", "VALUE": "value"}
_PLAIN = frozenset({"key", "range_end", "limit", "revision", "serializable", "keys_only", "count_only"})
_ABSENT = KeyValue("", b"", 0, 0, 0)


@contextmanager
def refusals() -> Iterator[None]:
    """Raise what the store refuses as etcd would refuse it."""
    try:
        yield
    except Compacted as error:
        raise Refusal.COMPACTED.error() from error
    except FutureRevision as error:
        raise Refusal.FUTURE_REVISION.error() from error
    except StoreFull as error:
        raise Refusal.NO_SPACE.error() from error
    except StoreUnavailable as error:
        raise RpcFailed("UNAVAILABLE", str(error)) from error


class KV:
    """The keys; every method takes and returns messages as mappings."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.leases = Leases(clock, self._expire)
        self._lock = threading.Lock()

    def header(self, revision: int = 0) -> Message:
        """Return the header of a response: the revision that it is about, or the present one."""
        now = revision or self.store.revision()
        return {"cluster_id": CLUSTER, "member_id": MEMBER, "revision": now, "raft_term": TERM}

    def range(self, request: Mapping[str, Any]) -> Message:
        """Read keys, now or at a revision."""
        keys, revision, limit = key_range(request), max(request.get("revision", 0), 0), max(request.get("limit", 0), 0)
        is_plain = _PLAIN.issuperset(request)  # the store itself can leave out what is beyond the limit
        with refusals():
            found = self.store.range(*keys.limits, revision=revision, limit=limit if is_plain else 0)
        items = [item for item in found.items if _within(request, item)]
        order = request.get("sort_order", "NONE")
        if order != "NONE" or "sort_target" in request:
            by = operator.attrgetter(_ORDERS[request.get("sort_target", "KEY")])
            items.sort(key=by, reverse=order == "DESCEND")
        shown = [] if request.get("count_only") else items[:limit] if limit else items
        return {
            "header": self.header(found.revision),
            "kvs": [self._message(item, keys_only=bool(request.get("keys_only"))) for item in shown],
            "more": found.more or (bool(limit) and len(items) > limit),
            "count": found.count,
        }

    def put(self, request: Mapping[str, Any]) -> Message:
        """Write one key."""
        return dict(self._apply([{"request_put": request}])[1][0]["response_put"])

    def delete_range(self, request: Mapping[str, Any]) -> Message:
        """Delete the keys of a range."""
        return dict(self._apply([{"request_delete_range": request}])[1][0]["response_delete_range"])

    def txn(self, request: Mapping[str, Any]) -> Message:
        """Compare, then do one thing or the other, all of it in one revision."""
        if max(len(request.get(part, ())) for part in ("compare", "success", "failure")) > MOST_OPERATIONS:
            raise Refusal.TOO_MANY_OPERATIONS.error()
        with self._lock, refusals():
            succeeded = all(self._holds(each) for each in request.get("compare", ()))
            operations = request.get("success" if succeeded else "failure", ())
            revision, responses = self._write(operations)
        return {"header": self.header(revision), "succeeded": succeeded, "responses": responses}

    def compact(self, request: Mapping[str, Any]) -> Message:
        """Forget what was replaced before a revision."""
        with refusals():
            self.store.get("\0", revision=request.get("revision", 0))  # compacted already, or not there yet
            self.store.compact(request.get("revision", 0))
        return {"header": self.header()}

    def _apply(self, operations: Sequence[Mapping[str, Any]]) -> tuple[int, list[Message]]:
        with self._lock, refusals():
            return self._write(operations)

    def _write(self, operations: Sequence[Mapping[str, Any]]) -> tuple[int, list[Message]]:
        """Do what a transaction asks for, under the lock: reads before the first write see what was there before."""
        writes: list[Put | Delete] = []
        leases: dict[str, int] = {}
        responses: list[Message] = []
        late: list[int] = []
        for index, each in enumerate(operations):
            kind, request = next(iter(each.items()), ("", {}))
            if not kind:
                raise Refusal.KEY_NOT_FOUND.error()  # so says etcd of an operation that is none
            if kind == "request_put":
                responses.append({"response_put": self._plan_put(request, writes, leases)})
            elif kind == "request_delete_range":
                responses.append({"response_delete_range": self._plan_delete(request, writes, leases)})
            elif kind == "request_range":
                late += [index] if writes else []
                responses.append({"response_range": {} if writes else self.range(request)})
            else:
                raise Refusal.NESTED.error()
        if len({write.key for write in writes}) < len(writes):
            raise Refusal.DUPLICATE_KEY.error()
        revision = self.store.txn([], writes).revision if writes else self.store.revision()
        for key, lease in leases.items():
            self.leases.bind(key, lease)
        for index in late:
            responses[index] = {"response_range": self.range(operations[index]["request_range"])}
        header = self.header(revision)
        for response in responses:
            next(iter(response.values()))["header"] = header
        return revision, responses

    def _plan_put(self, request: Mapping[str, Any], writes: list[Put | Delete], leases: dict[str, int]) -> Message:
        key, lease = text(request.get("key", b"")), request.get("lease", 0)
        if not key:
            raise Refusal.EMPTY_KEY.error()
        before = self.store.get(key)
        value = request.get("value", b"")
        if request.get("ignore_value"):
            if value:
                raise Refusal.VALUE_PROVIDED.error()
            value = _there(before).value
        if request.get("ignore_lease"):
            if lease:
                raise Refusal.LEASE_PROVIDED.error()
            lease = self.leases.of(_there(before).key)
        self.leases.check(lease)
        writes.append(Put(key, value))
        leases[key] = lease
        return {"prev_kv": self._message(before)} if before and request.get("prev_kv") else {}

    def _plan_delete(self, request: Mapping[str, Any], writes: list[Put | Delete], leases: dict[str, int]) -> Message:
        found = self.store.range(*key_range(request).limits).items
        for item in found:
            writes.append(Delete(item.key))
            leases[item.key] = 0
        previous = [self._message(item) for item in found] if request.get("prev_kv") else []
        return {"deleted": len(found), "prev_kvs": previous}

    def _holds(self, compare: Mapping[str, Any]) -> bool:
        """Tell whether a comparison holds for all keys of its range; a key that is not there compares as zero."""
        target = _TARGETS[compare.get("target", "VERSION")]
        wanted = compare.get(target, b"" if target == "value" else 0)
        holds = _HOLDS[compare.get("result", "EQUAL")]
        keys = key_range(compare)
        items: Sequence[KeyValue] = self.store.range(*keys.limits).items
        if not items:
            if target == "value":  # what is not there has no value that could be equal to, or unlike, another
                return False
            items = [_ABSENT] if keys.end is None else []
        return all(holds(self._compared(item, target), wanted) for item in items)

    def _compared(self, item: KeyValue, target: str) -> Any:
        return self.leases.of(item.key) if target == "lease" else getattr(item, target)

    def _message(self, item: KeyValue, *, keys_only: bool = False) -> Message:
        return message(item, self.leases.of(item.key), keys_only=keys_only)

    def _expire(self, keys: Sequence[str]) -> None:
        """Delete the keys of a lease that has ended, in one revision."""
        with self._lock:
            self.store.txn([], [Delete(key) for key in keys])

    def close(self) -> None:
        """End the leases; the store is closed by who opened it."""
        self.leases.close()


def _there(item: KeyValue | None) -> KeyValue:
    if item is None:
        raise Refusal.KEY_NOT_FOUND.error()
    return item


def _within(request: Mapping[str, Any], item: KeyValue) -> bool:
    """Tell whether an item was created and written last within the revisions that a request asks for."""
    for name in ("mod_revision", "create_revision"):
        revision = getattr(item, name)
        most = request.get(f"max_{name}", 0)
        if revision < request.get(f"min_{name}", 0) or (most and revision > most):
            return False
    return True
