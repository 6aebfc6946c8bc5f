"""What is in memory of the file: where each live key's latest version is, and what a batch of writes would change."""

from __future__ import annotations

from collections.abc import Container, Iterable
from heapq import nsmallest
from typing import NamedTuple
from zlib import crc32

from hyperkube_storage.sqlite.database import PLACE_BITS

from hyperkube.storage.sorted_keys import SortedKeys
from hyperkube.storage.store import Compare, Delete, LeaseNotFound, Put


class Entry(NamedTuple):
    """The latest version of a live key."""

    row: int
    created: int
    version: int
    lease: int

    @property
    def revision(self) -> int:
        """The revision of the last write."""
        return self.row >> PLACE_BITS


_ROW_BITS, _VERSION_BITS, _AGE_BITS = 64, 40, 44
_ROW, _VERSION, _AGE = ((1 << bits) - 1 for bits in (_ROW_BITS, _VERSION_BITS, _AGE_BITS))
LARGEST_VERSION = _VERSION
_LEASE_AT = _ROW_BITS + _VERSION_BITS + _AGE_BITS


def packed(row: int, created: int, version: int, lease: int) -> int:
    """Return an entry as one number, as there is one for each key: 36 to 52 bytes instead of 170.

    The row is below the version, the revisions since the creation, and the lease, which mostly are 1, 0 and 0.
    """
    age = (row >> PLACE_BITS) - created
    return row | (version | (age | lease << _AGE_BITS) << _VERSION_BITS) << _ROW_BITS


def unpacked(number: int) -> Entry:
    """Return the entry of a number."""
    row, rest = number & _ROW, number >> _ROW_BITS
    age = rest >> _VERSION_BITS & _AGE
    return Entry(row, (row >> PLACE_BITS) - age, rest & _VERSION, number >> _LEASE_AT)


class Row(NamedTuple):
    """One row of the table ``history``."""

    id: int
    previous: int
    key: str
    created: int
    version: int
    lease: int
    value: bytes

    @property
    def revision(self) -> int:
        """The revision of the write."""
        return self.id >> PLACE_BITS

    @property
    def checksum(self) -> int:
        """The CRC-32 that is stored with the row: SQLite has none of its own. That of no row for a value of damage."""
        if type(self.value) is not bytes:  # SQLite tells a value's type from what the row says of itself
            return -1
        head = f"{self.id} {self.previous} {self.created} {self.version} {self.lease} {self.key}"
        return crc32(self.value, crc32(head.encode()))


class Index:
    """The live keys in order, and which of them go with a lease; the entries are `packed`.

    Attributes:
        changed: the keys that are not as the table of live keys has them, with the rows under which it has them, 0 for
            none; see `hyperkube_storage.sqlite.live_keys`.
    """

    def __init__(self, entries: dict[str, int], changed: dict[str, int] | None = None) -> None:
        self._entries = entries
        self.changed = {} if changed is None else changed
        self._keys = SortedKeys(entries)
        self._leased: dict[int, set[str]] = {}
        for key, number in entries.items():
            if lease := number >> _LEASE_AT:
                self._leased.setdefault(lease, set()).add(key)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Entry | None:
        """Return a key's latest version, None if it is not live."""
        number = self._entries.get(key)
        return unpacked(number) if number is not None else None

    def rows(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the rows of those of the keys that are live."""
        get = self._entries.get
        return {key: number & _ROW for key in keys if (number := get(key)) is not None}

    def keys(self, start: str, end: str, limit: int = 0) -> list[str]:
        """Return the keys in ``[start, end)`` in order, only the first `limit` of them unless that is 0."""
        return self._keys.between(start, end, limit)

    def count(self, start: str, end: str) -> int:
        """Return the number of keys in ``[start, end)``."""
        return self._keys.count(start, end)

    def leased(self, lease: int) -> set[str]:
        """Return the keys that go with a lease."""
        return set(self._leased.get(lease, ()))

    def change(self, key: str, entry: Entry | None) -> None:
        """Set or remove one key."""
        old = self._entries.get(key)
        if key not in self.changed:
            self.changed[key] = 0 if old is None else old & _ROW
        if old is not None and (lease := old >> _LEASE_AT):
            self._leased[lease].discard(key)
            if not self._leased[lease]:
                del self._leased[lease]
        if entry is None:
            if old is not None:  # a batch may create a key and delete it again
                del self._entries[key]
                self._keys.remove(key)
            return
        self._entries[key] = packed(*entry)
        if old is None:
            self._keys.add(key)
        if entry.lease:
            self._leased.setdefault(entry.lease, set()).add(key)


class Batch:
    """Transactions that are being decided, on top of the index; nothing of it counts until the file has it.

    Args:
        index: what is committed.
        revision: the store's.
        leases: the ids that exist.
    """

    def __init__(self, index: Index, revision: int, leases: Container[int]) -> None:
        self._index = index
        self._leases = leases
        self._ended: set[int] = set()
        self.revision = revision
        self.changes: dict[str, Entry | None] = {}
        self.rows: list[Row] = []

    def entry(self, key: str) -> Entry | None:
        """Return a key's latest version as the batch leaves it so far."""
        return self.changes[key] if key in self.changes else self._index.get(key)

    def holds(self, compare: Iterable[Compare]) -> bool:
        """Tell whether all comparisons are true."""
        for condition in compare:
            entry = self.entry(condition.key)
            if condition.mod_revision != (entry.revision if entry else 0):
                return False
        return True

    def apply(self, operations: Iterable[Put | Delete]) -> int:
        """Add one transaction; return the revision after it.

        Raises:
            LeaseNotFound: a lease does not exist; nothing was added.
        """
        operations = list(operations)
        for operation in operations:
            lease = operation.lease if isinstance(operation, Put) else 0
            if lease and (lease not in self._leases or lease in self._ended):
                raise LeaseNotFound(f"lease {lease} not found")
        revision, place = self.revision + 1, 0
        for operation in operations:
            row_id = revision << PLACE_BITS | place
            place += self._put(row_id, operation) if isinstance(operation, Put) else self._delete(row_id, operation.key)
        if place:
            self.revision = revision
        return self.revision

    def end_lease(self, lease: int, most: int) -> bool:
        """Add the deletion of up to `most` of a lease's keys; tell whether it has no others.

        If so, the rest of the batch does not know the lease any more.
        """
        keys = {key for key in self._index.leased(lease) if key not in self.changes}
        keys |= {key for key, entry in self.changes.items() if entry is not None and entry.lease == lease}
        self.apply(Delete(key) for key in nsmallest(most, keys))
        if len(keys) > most:
            return False
        self._ended.add(lease)
        return True

    def _put(self, row_id: int, operation: Put) -> bool:
        old = self.entry(operation.key)
        created, version = (old.created, old.version + 1) if old else (row_id >> PLACE_BITS, 1)
        self.changes[operation.key] = Entry(row_id, created, version, operation.lease)
        previous = old.row if old else 0
        self.rows.append(Row(row_id, previous, operation.key, created, version, operation.lease, operation.value))
        return True

    def _delete(self, row_id: int, key: str) -> bool:
        old = self.entry(key)
        if old is None:
            return False
        self.changes[key] = None
        self.rows.append(Row(row_id, old.row, key, old.created, 0, 0, b""))
        return True
