"""The steps that the contract of storage backends is written in, and the fixtures of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import (
    Delete,
    Put,
    Store,
    StoreEvent,
    StoreWatch,
    prefix_end,
)
from hyperkube.testing.harness import fixture

StoreFactory: TypeAlias = Callable[[], Store]

PREFIX = "/registry/contract/"
END = prefix_end(PREFIX)
UNKNOWN_LEASE = 987654321


def put(store: Store, name: str, value: bytes = b"v", *, lease: int = 0) -> int:
    """Write a key of the contract's prefix whatever is there; return the revision."""
    return store.txn([], [Put(PREFIX + name, value, lease)]).revision


def remove(store: Store, name: str) -> int:
    """Remove a key of the contract's prefix; return the revision."""
    return store.txn([], [Delete(PREFIX + name)]).revision


def names(store: Store, **options: int) -> list[str]:
    """Return the names in the contract's prefix."""
    return [item.key.removeprefix(PREFIX) for item in store.range(PREFIX, END, **options).items]  # type: ignore[arg-type] # ints are a subset of the options


def collect(watch: StoreWatch, until: int) -> list[StoreEvent]:
    """Return what a watch delivers up to the revision `until`, then close it."""
    events: list[StoreEvent] = []
    watch.request_progress()
    try:
        for batch in watch:
            events += batch.events
            if batch.revision >= until:
                return events
    finally:
        watch.close()
    raise AssertionError(f"the watch ended before revision {until}")


class StoreFixtures:
    """A store to try, and its time; subclasses provide `open_store`."""

    @fixture
    def open_store(self) -> StoreFactory:
        """Return a factory of stores; override it."""
        raise NotImplementedError("a subclass provides the fixture `open_store`")

    @fixture
    def pass_time(self) -> Callable[[float], None]:
        """Return what lets the store's clock go on; override it where the clock is a fake."""
        return SystemClock().sleep

    @fixture
    def store(self, open_store: StoreFactory) -> Iterator[Store]:
        """Open one store."""
        store = open_store()
        yield store
        store.close()
