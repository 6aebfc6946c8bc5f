# ruff: noqa: D102 - tests, whose names are their docstrings
"""The promises of a `Store` as tests: subclass `StoreContract` (or `DurableStoreContract`) and give it a factory.

::

    class TestMyStore(DurableStoreContract):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda: MyStore(tmp_path / "data")
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hyperkube_testing.storage.steps import (
    END,
    PREFIX,
    StoreFactory,
    collect,
    names,
    put,
    remove,
)
from hyperkube_testing.storage.watches import WatchPromises

from hyperkube.storage.store import (
    Compacted,
    Compare,
    Delete,
    FutureRevision,
    Put,
    Store,
    TxnResult,
)
from hyperkube.testing.harness import raises


class StoreContract(WatchPromises):
    """What every Store promises."""

    def test_a_new_key_has_its_first_version(self, store: Store) -> None:
        before = store.revision()

        revision = put(store, "a", b"one")

        item = store.get(PREFIX + "a")
        assert item is not None
        assert (item.value, item.create_revision, item.mod_revision, item.version) == (b"one", revision, revision, 1)
        assert revision == before + 1 == store.revision()

    def test_an_update_keeps_the_creation_and_counts(self, store: Store) -> None:
        created = put(store, "a", b"one")

        updated = put(store, "a", b"two")

        item = store.get(PREFIX + "a")
        assert item is not None
        assert (item.value, item.create_revision, item.mod_revision, item.version) == (b"two", created, updated, 2)

    def test_a_key_made_again_starts_over(self, store: Store) -> None:
        put(store, "a")
        remove(store, "a")

        again = put(store, "a")

        item = store.get(PREFIX + "a")
        assert item is not None
        assert (item.create_revision, item.version) == (again, 1)

    def test_a_missing_key_is_none(self, store: Store) -> None:
        assert store.get(PREFIX + "missing") is None

    def test_a_failed_comparison_changes_nothing_and_tells_what_is(self, store: Store) -> None:
        revision = put(store, "a", b"one")

        result = store.txn(
            [Compare(PREFIX + "a", revision - 1), Compare(PREFIX + "b", 0)],
            [Put(PREFIX + "a", b"two"), Put(PREFIX + "b", b"new")],
        )

        assert result == TxnResult(succeeded=False, revision=revision, current=[store.get(PREFIX + "a"), None])
        assert names(store) == ["a"]
        assert store.revision() == revision

    def test_comparing_with_zero_creates_once(self, store: Store) -> None:
        create = ([Compare(PREFIX + "a", 0)], [Put(PREFIX + "a", b"v")])

        outcomes = [store.txn(*create).succeeded, store.txn(*create).succeeded]

        assert outcomes == [True, False]

    def test_a_transaction_is_one_revision(self, store: Store) -> None:
        put(store, "old")

        result = store.txn([], [Put(PREFIX + "a", b"1"), Put(PREFIX + "b", b"2"), Delete(PREFIX + "old")])

        assert {item.mod_revision for item in store.range(PREFIX, END).items} == {result.revision}
        assert names(store) == ["a", "b"]

    def test_a_transaction_may_not_write_a_key_twice(self, store: Store) -> None:
        with raises(ValueError) as refused:
            store.txn([], [Put(PREFIX + "a", b"1"), Delete(PREFIX + "a")])
        assert "duplicate key" in str(refused.exception)

    def test_removing_what_is_not_there_is_no_change(self, store: Store) -> None:
        before = store.revision()

        result = store.txn([], [Delete(PREFIX + "missing")])

        assert (result.succeeded, store.revision()) == (True, before)

    def test_compare_and_swap_loses_no_update(self, store: Store) -> None:
        key, rounds, workers = PREFIX + "counter", 20, 6
        put(store, "counter", b"0")

        def count() -> list[int]:
            revisions: list[int] = []
            while len(revisions) < rounds:
                item = store.get(key)
                assert item is not None
                value = b"%d" % (int(item.value) + 1)
                result = store.txn([Compare(key, item.mod_revision)], [Put(key, value)])
                if result.succeeded:
                    revisions.append(result.revision)
            return revisions

        with ThreadPoolExecutor(workers) as pool:
            taken = [future.result() for future in [pool.submit(count) for _ in range(workers)]]

        item = store.get(key)
        assert item is not None
        assert int(item.value) == rounds * workers
        assert len({revision for revisions in taken for revision in revisions}) == rounds * workers
        assert all(revisions == sorted(revisions) for revisions in taken)

    def test_an_answered_write_is_seen_by_every_later_read(self, store: Store) -> None:
        def write(worker: int) -> list[str]:
            unseen = []
            for number in range(10):
                revision = put(store, f"{worker}", b"%d" % number)
                item = store.get(f"{PREFIX}{worker}")
                if item is None or item.mod_revision != revision or store.revision() < revision:
                    unseen.append(f"{worker}/{number}")
            return unseen

        with ThreadPoolExecutor(4) as pool:
            assert [unseen for answer in pool.map(write, range(4)) for unseen in answer] == []

    def test_a_range_is_in_byte_order_and_without_its_end(self, store: Store) -> None:
        for name in ("b", "a/x", "a-b/x", "\u00e9", "\U0001f600", "\uff5e", "a"):
            put(store, name)
        store.txn([], [Put(END, b"outside")])

        assert names(store) == sorted(names(store), key=str.encode)
        assert names(store) == ["a", "a-b/x", "a/x", "b", "\u00e9", "\uff5e", "\U0001f600"]
        assert [item.key for item in store.range(PREFIX + "a", PREFIX + "a/").items] == [PREFIX + "a", PREFIX + "a-b/x"]

    def test_a_limit_cuts_but_the_count_is_whole(self, store: Store) -> None:
        for name in "abcde":
            put(store, name)

        page = store.range(PREFIX, END, limit=2)
        rest = store.range(page.items[-1].key + "\x00", END, limit=3)

        assert ([item.key[-1] for item in page.items], page.count, page.more) == (["a", "b"], 5, True)
        assert ([item.key[-1] for item in rest.items], rest.count, rest.more) == (["c", "d", "e"], 3, False)
        assert store.count(PREFIX, END) == 5

    def test_keys_alone_come_without_values(self, store: Store) -> None:
        revision = put(store, "a", b"long")

        (item,) = store.range(PREFIX, END, keys_only=True).items

        assert (item.key, item.value, item.mod_revision) == (PREFIX + "a", b"", revision)

    def test_the_past_can_be_read(self, store: Store) -> None:
        first = put(store, "a", b"one")
        second = put(store, "b", b"two")
        put(store, "a", b"changed")
        third = remove(store, "b")

        values = {
            r: [(i.key[-1], i.value) for i in store.range(PREFIX, END, revision=r).items] for r in (first, second)
        }

        assert values == {first: [("a", b"one")], second: [("a", b"one"), ("b", b"two")]}
        assert names(store, revision=third) == ["a"]
        at_first = store.get(PREFIX + "a", revision=first)
        assert at_first is not None
        assert at_first.value == b"one"
        assert store.get(PREFIX + "b", revision=first) is None

    def test_the_future_cannot(self, store: Store) -> None:
        ahead = store.revision() + 1000

        with raises(FutureRevision):
            store.get(PREFIX + "a", revision=ahead)
        with raises(FutureRevision):
            store.range(PREFIX, END, revision=ahead)

    def test_pages_of_one_revision_are_one_snapshot(self, store: Store) -> None:
        for number in range(10):
            put(store, f"{number}", b"old")
        page = store.range(PREFIX, END, limit=4)
        for number in range(10):
            put(store, f"{number}", b"new")
        put(store, "5a")

        rest = store.range(page.items[-1].key + "\x00", END, revision=page.revision)

        assert [(item.key[-1], item.value) for item in rest.items] == [(str(n), b"old") for n in range(4, 10)]

    def test_compaction_forgets_the_past_and_keeps_the_present(self, store: Store) -> None:
        first = put(store, "a", b"one")
        put(store, "gone")
        remove(store, "gone")
        last = put(store, "a", b"two")
        put(store, "b", b"later")

        store.compact(last)

        with raises(Compacted) as caught:
            store.get(PREFIX + "a", revision=first)
        assert caught.exception.revision == first
        with raises(Compacted):
            store.range(PREFIX, END, revision=first)
        assert names(store, revision=last) == ["a"]
        assert [(item.key[-1], item.value) for item in store.range(PREFIX, END).items] == [
            ("a", b"two"),
            ("b", b"later"),
        ]

    def test_compacting_again_is_harmless(self, store: Store) -> None:
        first = put(store, "a")
        second = put(store, "a")

        store.compact(second)
        store.compact(second)
        store.compact(first)

        assert names(store) == ["a"]


class DurableStoreContract(StoreContract):
    """What a Store promises whose data outlives it; `open_store` opens the same data again."""

    def test_everything_is_there_again(self, open_store: StoreFactory) -> None:
        store = open_store()
        first = put(store, "a", b"one")
        put(store, "a", b"two")
        put(store, "gone")
        last = remove(store, "gone")
        store.close()

        store = open_store()

        assert store.revision() == last
        item, old = store.get(PREFIX + "a"), store.get(PREFIX + "a", revision=first)
        assert item is not None
        assert old is not None
        assert (item.value, item.create_revision, item.version) == (b"two", first, 2)
        assert old.value == b"one"
        assert names(store) == ["a"]
        assert [event.revision for event in collect(store.watch(PREFIX, END, revision=first), last)] == [
            first + 1,
            first + 2,
            last,
        ]
        store.close()

    def test_what_was_compacted_stays_compacted(self, open_store: StoreFactory) -> None:
        store = open_store()
        first = put(store, "a")
        last = put(store, "a")
        store.compact(last)
        store.close()

        store = open_store()

        with raises(Compacted):
            store.get(PREFIX + "a", revision=first)
        store.close()

    def test_a_lease_outlives_its_store(self, open_store: StoreFactory, pass_time: Callable[[float], None]) -> None:
        store = open_store()
        put(store, "a", lease=store.grant_lease(2))
        store.close()

        store = open_store()
        for _ in range(20):
            pass_time(1)
            if store.get(PREFIX + "a") is None:
                break

        assert names(store) == []
        store.close()
