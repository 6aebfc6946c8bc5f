"""The Store: etcd's shape, whatever implements it.

Keys are text, one global revision counts every committed transaction, every key keeps its history until compaction.
A write is durable before it is answered. The promises are checked by
`hyperkube_testing.storage.store.StoreContract`; the twin for tests is `hyperkube.storage.memory.MemoryStore`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError

FIRST_REVISION = 1
"""The revision of a store that was never written, as in etcd."""


class StoreError(HyperkubeError):
    """Something a Store raises."""


class Compacted(StoreError):
    """The revision asked for was compacted away: read again and start from `compact_revision` or later."""

    def __init__(self, revision: int, compact_revision: int) -> None:
        super().__init__(f"revision {revision} has been compacted, the oldest retained one is {compact_revision}")
        self.revision = revision
        self.compact_revision = compact_revision


class FutureRevision(StoreError):
    """The revision asked for does not exist yet."""


class LeaseNotFound(StoreError):
    """The lease expired or never existed."""


class StoreUnavailable(StoreError):
    """The backend cannot answer now; nothing is known to be written; retry."""


class StoreFull(StoreUnavailable):
    """The disk or the backend's quota is full; nothing was written."""


class KeyValue(NamedTuple):
    """One key at one revision; a tuple, as pages of hundreds are made of them.

    Attributes:
        version: counts writes since creation.
        lease: 0 for none.
        stale: the value is stored in a form that is not written any more: write it again, even if it is the same.
        unreadable: why the stored form cannot be read; `value` is then as it is stored (see `transformed`).
        damaged: the store itself has lost the value, for the reason `unreadable`: the key alone, others are whole.
    """

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    version: int = 1
    lease: int = 0
    stale: bool = False
    unreadable: str = ""
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class RangeResult:
    """The answer to a range read: `revision` is the store's when it was read, `count` counts all keys in range."""

    items: Sequence[KeyValue]
    revision: int
    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class Compare:
    """A transaction's condition: `key` was last written at `mod_revision` (0: does not exist)."""

    key: str
    mod_revision: int


@dataclass(frozen=True, slots=True)
class Put:
    """Write a value, optionally bound to a lease."""

    key: str
    value: bytes
    lease: int = 0


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a key; no effect and no event if it does not exist."""

    key: str


def check_distinct(success: Sequence[Put | Delete]) -> None:
    """Refuse a transaction that writes a key twice, as etcd does.

    Raises:
        ValueError: it does.
    """
    if len(success) > 1 and len({operation.key for operation in success}) < len(success):
        raise ValueError("duplicate key given in txn request")


@dataclass(frozen=True, slots=True)
class TxnResult:
    """A transaction's outcome: on failure `current` holds the compared keys as they are (None: absent)."""

    succeeded: bool
    revision: int
    current: Sequence[KeyValue | None] = ()


@dataclass(frozen=True, slots=True)
class StoreEvent:
    """One change of one key. For a deletion `current` is None; `previous` is None for a creation."""

    key: str
    revision: int
    current: KeyValue | None
    previous: KeyValue | None


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Changes in order, and a revision up to which everything in range has now been delivered.

    A batch without events is a progress report.
    """

    events: Sequence[StoreEvent]
    revision: int


class StoreWatch(Protocol):
    """A stream of changes from one revision on; iterate it on one thread, `close` it from any."""

    def __iter__(self) -> Iterator[EventBatch]:
        """Yield batches until closed.

        Raises:
            Compacted: the start revision was compacted away.
        """

    def request_progress(self) -> None:
        """Ask for an `EventBatch` (perhaps empty) whose revision is at least the store's current one."""

    def close(self) -> None:
        """End the iteration, also when it is blocked."""


class Store(Protocol):
    """Multi-version keys with compare-and-swap, watches, leases and compaction; safe to use from many threads."""

    def revision(self) -> int:
        """Return the current revision, linearizably."""

    def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """Return one key, now or as it was at `revision`.

        Raises:
            Compacted, FutureRevision, StoreUnavailable: see there.
        """

    def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0, keys_only: bool = False) -> RangeResult:
        """Return the keys in ``[start, end)`` in byte order, at most `limit` (0: all), from one snapshot.

        Raises:
            Compacted, FutureRevision, StoreUnavailable: see there.
        """

    def count(self, start: str, end: str) -> int:
        """Return the number of keys in ``[start, end)`` now."""

    def txn(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> TxnResult:
        """Apply all of `success` in one revision if every comparison holds; else change nothing.

        Durable before it returns. A write whose outcome is unknown raises `StoreUnavailable`.

        Raises:
            LeaseNotFound, StoreFull, StoreUnavailable: see there.
        """

    def watch(self, start: str, end: str, *, revision: int) -> StoreWatch:
        """Watch ``[start, end)`` for changes *after* `revision`: each once, in order, with the previous value."""

    def grant_lease(self, seconds: int) -> int:
        """Create a lease that ends after `seconds` and takes its keys along; return its id (never 0)."""

    def compact(self, revision: int) -> None:
        """Forget history before `revision`; the latest value of each live key stays readable."""

    def close(self) -> None:
        """Finish the writes under way, end the watches, release files and connections; idempotent."""


def prefix_end(prefix: str) -> str:
    """Return the first key after all keys that start with `prefix`, for use as a range's end."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


@runtime_checkable
class GroupsWrites(Protocol):
    """A Store for which several writes at once are cheaper than one by one."""

    def expecting_write(self) -> AbstractContextManager[None]:
        """Say that this thread is about to write once, if all goes well, before it leaves the context.

        Must: a writer waits a few milliseconds at most for others that have said so, and not at all when none has.
        """


@runtime_checkable
class QueuesWrites(Protocol):
    """A Store that commits at once what several requests write by turns on one thread."""

    def queue_writes(self, pause: Callable[[], None]) -> None:
        """Keep what this thread writes, and may keep what it gets, until that is taken by `take_queued` and done.

        Args:
            pause: called by what has to wait, on this thread; it returns after the commit.

        Must: do everything but waiting for the commit as on any other thread; a store that commits at once need never
            call `pause`.
        """

    def queue_no_more(self) -> None:
        """Let this thread write like any other again; nothing is queued. A thread that ends calls this before."""

    def take_queued(self) -> Callable[[], None]:
        """Return what commits what this thread has written since the last time: a transaction a write, begun in order.

        The result is called once, from any thread.

        Must: not raise: each write raises what became of it, when its `pause` returns.
        """


@runtime_checkable
class Forkable(Protocol):
    """A Store of which another one can be made that begins where it is now."""

    def fork(self, folder: Path, clock: Clock) -> Store:
        """Return a store with the same keys, history, revision and leases, which goes its own way from then on.

        Args:
            folder: empty, or not there yet: what the new store keeps in files is in it, if it keeps any.
            clock: the new store's time. What is left of a lease when the fork is made is left of it by this clock.

        Must: begin with one state, in which every write is that was answered before the call; neither store ever sees a
            later write of the other; what is retained of history here is retained there; watches and subscriptions stay
            behind. What never changes is shared and not copied, as far as the backend can.

        Raises:
            StoreFull, StoreUnavailable: see there; a fork that was begun is gone.
        """
