"""etcd's keys are bytes, a `Store`'s are text: ranges of the one as ranges of the other, and items as messages.

Source: etcd ``server/etcdserver/api/v3rpc/{key,util}.go`` and ``api/v3rpc/rpctypes/error.go`` for the texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.storage.store import KeyValue

Message = dict[str, Any]
LAST = "\U0010ffff"
"""A key after all others: UTF-8 knows no larger character."""
_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xE000


class Refusal(Enum):
    """etcd's refusals: the status code and the text, which clients compare."""

    EMPTY_KEY = ("INVALID_ARGUMENT", "etcdserver: key is not provided")
    DUPLICATE_KEY = ("INVALID_ARGUMENT", "etcdserver: duplicate key given in txn request")
    VALUE_PROVIDED = ("INVALID_ARGUMENT", "etcdserver: value is provided")
    LEASE_PROVIDED = ("INVALID_ARGUMENT", "etcdserver: lease is provided")
    KEY_NOT_FOUND = ("INVALID_ARGUMENT", "etcdserver: key not found")
    COMPACTED = ("OUT_OF_RANGE", "etcdserver: mvcc: required revision has been compacted")
    FUTURE_REVISION = ("OUT_OF_RANGE", "etcdserver: mvcc: required revision is a future revision")
    TOO_MANY_OPERATIONS = ("INVALID_ARGUMENT", "etcdserver: too many operations in txn request")
    LEASE_TTL_TOO_LARGE = ("OUT_OF_RANGE", "etcdserver: too large lease TTL")
    LEASE_NOT_FOUND = ("NOT_FOUND", "etcdserver: requested lease not found")
    LEASE_EXISTS = ("FAILED_PRECONDITION", "etcdserver: lease already exists")
    NO_SPACE = ("RESOURCE_EXHAUSTED", "etcdserver: mvcc: database space exceeded")
    NOT_TEXT = ("INVALID_ARGUMENT", "hyperkube etcd: keys must be UTF-8")
    NESTED = ("UNIMPLEMENTED", "hyperkube etcd: a transaction within a transaction is not built")

    def error(self) -> RpcFailed:
        """Return it as an exception."""
        return RpcFailed(*self.value)


class KeyRange(NamedTuple):
    """The keys from `start` to before `end`; exactly `start` where `end` is None."""

    start: str
    end: str | None = None

    @property
    def limits(self) -> tuple[str, str]:
        """First key, and first key after the range."""
        return self.start, self.start + "\0" if self.end is None else self.end


def text(key: bytes) -> str:
    """Return a key as the store has it.

    Raises:
        RpcFailed: it is not UTF-8.
    """
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        raise Refusal.NOT_TEXT.error() from error


def _end(key: bytes) -> str:
    """Return the end of a range: of a prefix it is the prefix with its last byte plus one, which may be no UTF-8."""
    if key == b"\0":
        return LAST
    try:
        return key.decode()
    except UnicodeDecodeError:
        prefix = text(key[:-1] + bytes([max(key[-1] - 1, 0)]))
        if prefix[-1] == LAST:
            return LAST
        following = ord(prefix[-1]) + 1
        # No text has surrogates: what comes after the last character before them is the first one behind them.
        return prefix[:-1] + chr(_AFTER_SURROGATES if following == _SURROGATES else following)


def key_range(request: Mapping[str, Any]) -> KeyRange:
    """Return which keys a request is about.

    Raises:
        RpcFailed: it names none.
    """
    key, end = request.get("key", b""), request.get("range_end", b"")
    if not key:
        raise Refusal.EMPTY_KEY.error()
    start = "" if key == b"\0" and end else text(key)
    return KeyRange(start, _end(end) if end else None)


def message(item: KeyValue, lease: int, *, keys_only: bool = False) -> Message:
    """Return an item as a ``KeyValue``."""
    return {
        "key": item.key.encode(),
        "create_revision": item.create_revision,
        "mod_revision": item.mod_revision,
        "version": item.version,
        "value": b"" if keys_only else item.value,
        "lease": lease,
    }
