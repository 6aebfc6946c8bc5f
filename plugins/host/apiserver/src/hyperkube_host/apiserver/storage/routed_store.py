"""One store out of several: each resource is in the one that its keys are given to, all others in the main one.

Revisions of different stores have nothing to do with one another, so each has a watch cache of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from hyperkube.storage.store import (
    Compare,
    Delete,
    KeyValue,
    Put,
    RangeResult,
    Store,
    StoreWatch,
    TxnResult,
)


class RoutedStore:
    """A `Store` that passes every call on to the store of its key.

    Args:
        main: has all keys that no other has; revisions and leases are its own.
        others: by prefix, which ends with a slash.
    """

    def __init__(self, main: Store, others: Mapping[str, Store]) -> None:
        self._main = main
        self._others = dict(others)
        self._lock = threading.Lock()
        self._leases: dict[int, dict[int, int]] = {}
        self.revision = main.revision

    def store_of(self, key: str) -> Store:
        """Return the store that has a key."""
        end = key.rfind("/")
        while end > 0:
            found = self._others.get(key[: end + 1])
            if found is not None:
                return found
            end = key.rfind("/", 0, end)
        return self._main

    def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """Return one key."""
        return self.store_of(key).get(key, revision=revision)

    def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0, keys_only: bool = False) -> RangeResult:
        """Return the keys of a range that is within one store."""
        return self.store_of(start).range(start, end, limit=limit, revision=revision, keys_only=keys_only)

    def count(self, start: str, end: str) -> int:
        """Return the number of keys of a range that is within one store."""
        return self.store_of(start).count(start, end)

    def txn(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> TxnResult:
        """Compare and write in the store of the keys; of keys in several stores nothing can be promised.

        Such a transaction fails as if a comparison had: try each key alone.
        """
        stores = {id(store): store for store in (self.store_of(step.key) for step in (*compare, *success))}
        if len(stores) > 1:
            return TxnResult(succeeded=False, revision=self._main.revision(), current=[None] * len(compare))
        store = next(iter(stores.values()), self._main)
        return store.txn(compare, [self._with_lease(step, store) for step in success])

    def watch(self, start: str, end: str, *, revision: int) -> StoreWatch:
        """Watch a range that is within one store."""
        return self.store_of(start).watch(start, end, revision=revision)

    def grant_lease(self, seconds: int) -> int:
        """Create a lease in every store; the main store's name stands for all of them."""
        others = {id(store): store.grant_lease(seconds) for store in self._distinct()}
        lease = self._main.grant_lease(seconds)
        with self._lock:
            self._leases[lease] = others
        return lease

    def compact(self, revision: int) -> None:
        """Compact the main store, whose revision it is."""
        self._main.compact(revision)

    def close(self) -> None:
        """Close all stores."""
        for store in (*self._distinct(), self._main):
            store.close()

    def _distinct(self) -> list[Store]:
        return list({id(store): store for store in self._others.values()}.values())

    def _with_lease(self, step: Put | Delete, store: Store) -> Put | Delete:
        if isinstance(step, Delete) or not step.lease or store is self._main:
            return step
        with self._lock:
            return Put(step.key, step.value, self._leases.get(step.lease, {}).get(id(store), step.lease))
