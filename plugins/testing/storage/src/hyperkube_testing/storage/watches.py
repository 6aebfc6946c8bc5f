# ruff: noqa: D102 - tests, whose names are their docstrings
"""What a Store promises about watches and leases; a part of `hyperkube_testing.storage.store.StoreContract`."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hyperkube_testing.storage.steps import (
    END,
    PREFIX,
    UNKNOWN_LEASE,
    StoreFactory,
    StoreFixtures,
    collect,
    names,
    put,
    remove,
)

from hyperkube.storage.store import (
    Compacted,
    LeaseNotFound,
    Put,
    Store,
    StoreEvent,
    StoreUnavailable,
)
from hyperkube.testing.harness import raises


class WatchPromises(StoreFixtures):
    """Each change once, in order, with what was; keys that leave with their lease."""

    def test_a_watch_tells_each_change_once_in_order_with_what_was(self, store: Store) -> None:
        start = put(store, "before")
        watch = store.watch(PREFIX, END, revision=start)
        created = put(store, "a", b"one")
        updated = put(store, "a", b"two")
        store.txn([], [Put(END, b"outside")])
        removed = remove(store, "a")

        events = collect(watch, removed)

        seen = [
            (event.revision, event.current and event.current.value, event.previous and event.previous.value)
            for event in events
        ]
        assert seen == [(created, b"one", None), (updated, b"two", b"one"), (removed, None, b"two")]
        assert {event.key for event in events} == {PREFIX + "a"}
        assert events[2].previous is not None
        assert events[2].previous.mod_revision == updated

    def test_a_watch_can_start_in_the_past(self, store: Store) -> None:
        first = put(store, "a", b"one")
        second = put(store, "a", b"two")
        put(store, "b", b"three")
        last = remove(store, "b")

        events = collect(store.watch(PREFIX, END, revision=first), last)

        assert [event.revision for event in events] == [second, second + 1, last]
        assert [event.previous and event.previous.value for event in events] == [b"one", None, b"three"]

    def test_a_watch_from_forgotten_history_says_so(self, store: Store) -> None:
        first = put(store, "a")
        for _ in range(3):
            last = put(store, "a")
        store.compact(last)

        with raises(Compacted):
            collect(store.watch(PREFIX, END, revision=first), last)

    def test_a_watch_lives_through_a_compaction(self, store: Store) -> None:
        watch = store.watch(PREFIX, END, revision=store.revision())
        revisions = [put(store, "a", b"1"), put(store, "a", b"2")]
        events: list[StoreEvent] = []
        watch.request_progress()
        for batch in watch:
            events += batch.events
            if batch.revision >= revisions[-1]:
                break
        store.compact(revisions[-1])
        revisions.append(put(store, "a", b"3"))

        events += collect(watch, revisions[-1])

        assert [event.revision for event in events] == revisions
        assert events[-1].previous is not None
        assert events[-1].previous.value == b"2"

    def test_a_watch_misses_nothing_of_many_writers(self, store: Store) -> None:
        watch = store.watch(PREFIX, END, revision=store.revision())

        def write(worker: int) -> list[int]:
            return [
                store.txn([], [Put(f"{PREFIX}{worker}/{n}", b"v"), Put(f"{PREFIX}{worker}/also", b"v")]).revision
                for n in range(15)
            ]

        with ThreadPoolExecutor(4) as pool:
            written = sorted(revision for answer in pool.map(write, range(4)) for revision in answer)
        watch.request_progress()
        batches = []
        for batch in watch:
            batches.append(batch)
            if batch.revision >= written[-1]:
                break
        watch.close()

        events = [event for batch in batches for event in batch.events]
        assert sorted({event.revision for event in events}) == written
        assert len(events) == 2 * len(written)
        assert [event.revision for event in events] == sorted(event.revision for event in events)
        for one, other in itertools.pairwise(batches):
            if one.events and other.events:
                assert one.events[-1].revision < other.events[0].revision, "a transaction was torn apart"

    def test_progress_reaches_a_quiet_watch(self, store: Store) -> None:
        watch = store.watch(PREFIX, END, revision=store.revision())
        store.txn([], [Put(END, b"outside")])

        assert collect(watch, store.revision()) == []

    def test_closing_a_watch_ends_its_blocked_iteration(self, store: Store) -> None:
        watch = store.watch(PREFIX, END, revision=store.revision())
        seen: list[object] = []
        reader = threading.Thread(target=lambda: seen.extend(watch))
        reader.start()

        watch.close()
        reader.join(10)

        assert not reader.is_alive()

    def test_closing_the_store_ends_its_watches(self, open_store: StoreFactory) -> None:
        store = open_store()
        watch = store.watch(PREFIX, END, revision=store.revision())
        reader = threading.Thread(target=lambda: list(watch))
        reader.start()

        store.close()
        store.close()
        reader.join(10)

        assert not reader.is_alive()

    def test_a_closed_store_is_unavailable(self, open_store: StoreFactory) -> None:
        store = open_store()
        store.close()

        with raises(StoreUnavailable):
            put(store, "a")
        with raises(StoreUnavailable):
            store.get(PREFIX + "a")

    def test_a_lease_takes_its_keys_along(self, store: Store, pass_time: Callable[[float], None]) -> None:
        lease = store.grant_lease(2)
        start = put(store, "kept")
        put(store, "a", lease=lease)
        put(store, "b", lease=lease)
        put(store, "b", b"without a lease now")
        item = store.get(PREFIX + "a")
        assert item is not None
        assert item.lease == lease != 0
        watch = store.watch(PREFIX, END, revision=start)

        for _ in range(20):
            pass_time(1)
            if store.get(PREFIX + "a") is None:
                break

        assert names(store) == ["b", "kept"]
        assert [event.key[-1] for event in collect(watch, store.revision()) if event.current is None] == ["a"]

    def test_an_unknown_lease_is_refused_and_nothing_written(self, store: Store) -> None:
        with raises(LeaseNotFound):
            store.txn([], [Put(PREFIX + "b", b"v"), Put(PREFIX + "a", b"v", UNKNOWN_LEASE)])

        assert names(store) == []
