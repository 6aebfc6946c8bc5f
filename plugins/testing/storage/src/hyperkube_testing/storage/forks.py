# ruff: noqa: D102 - tests, whose names are their docstrings
"""What a Store promises of which others can be made: mix `ForkPromises` into a backend's contract class.

::

    class TestMyStore(ForkPromises, StoreContract):
        ...
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from hyperkube_testing.storage.steps import END, PREFIX, StoreFixtures, collect, names, put, remove

from hyperkube.machinery.clock import Clock, FakeClock
from hyperkube.storage.store import Compacted, Forkable, Put, Store, StoreEvent
from hyperkube.testing.harness import fixture, raises


def contents(store: Store) -> list[tuple[str, bytes, int, int, int]]:
    """Return all that a client could tell of the contract's keys."""
    items = store.range(PREFIX, END).items
    return [(item.key, item.value, item.create_revision, item.mod_revision, item.version) for item in items]


def seen(events: list[StoreEvent]) -> list[tuple[str, int, bytes | None, bytes | None]]:
    """Return what changes say: key, revision, value, value before."""
    return [
        (
            event.key,
            event.revision,
            event.current.value if event.current is not None else None,
            event.previous.value if event.previous is not None else None,
        )
        for event in events
    ]


class ForkPromises(StoreFixtures):
    """A fork begins as its seed is and then goes its own way."""

    @fixture
    def fork(self, tmp_path: Path) -> Iterator[Callable[..., Store]]:
        """Return what forks a store (by a clock of its own, if one is given); all forks are closed in the end."""
        forks: list[Store] = []

        def make(store: Store, clock: Clock | None = None) -> Store:
            assert isinstance(store, Forkable)
            forks.append(store.fork(tmp_path / f"fork-{len(forks)}", clock or FakeClock()))
            return forks[-1]

        yield make
        for store in forks:
            store.close()

    def test_a_fork_begins_as_its_seed_is(self, store: Store, fork: Callable[[Store], Store]) -> None:
        put(store, "a", b"one")
        put(store, "a", b"two")
        put(store, "gone")
        remove(store, "gone")

        other = fork(store)

        assert contents(other) == contents(store)
        assert other.revision() == store.revision()
        assert other.count(PREFIX, END) == 1

    def test_neither_sees_what_the_other_writes(self, store: Store, fork: Callable[[Store], Store]) -> None:
        put(store, "both", b"seed")
        put(store, "left", b"seed")
        one, two = fork(store), fork(store)
        before = store.revision()

        put(store, "both", b"changed")
        put(one, "both", b"one")
        put(one, "one", b"one")
        remove(two, "left")

        assert [(row[0].removeprefix(PREFIX), row[1]) for row in contents(store)] == [
            ("both", b"changed"),
            ("left", b"seed"),
        ]
        assert [(row[0].removeprefix(PREFIX), row[1]) for row in contents(one)] == [
            ("both", b"one"),
            ("left", b"seed"),
            ("one", b"one"),
        ]
        assert [(row[0].removeprefix(PREFIX), row[1]) for row in contents(two)] == [("both", b"seed")]
        assert (store.revision(), one.revision(), two.revision()) == (before + 1, before + 2, before + 1)

    def test_versions_go_on_counting(self, store: Store, fork: Callable[[Store], Store]) -> None:
        created = put(store, "a", b"one")
        other = fork(store)

        written = put(other, "a", b"two")

        assert contents(other) == [(PREFIX + "a", b"two", created, written, 2)]
        assert contents(store) == [(PREFIX + "a", b"one", created, created, 1)]

    def test_the_past_goes_along(self, store: Store, fork: Callable[[Store], Store]) -> None:
        first = put(store, "a", b"one")
        put(store, "a", b"two")
        last = put(store, "b", b"three")

        other = fork(store)
        later = put(other, "a", b"of the fork")
        put(store, "a", b"of the seed")

        item = other.get(PREFIX + "a", revision=first)
        assert item is not None
        assert item.value == b"one"
        assert names(other, revision=first) == ["a"]
        assert seen(collect(other.watch(PREFIX, END, revision=first), later)) == [
            (PREFIX + "a", first + 1, b"two", b"one"),
            (PREFIX + "b", last, b"three", None),
            (PREFIX + "a", later, b"of the fork", b"two"),
        ]

    def test_what_the_seed_forgot_is_forgotten(self, store: Store, fork: Callable[[Store], Store]) -> None:
        first = put(store, "a", b"one")
        last = put(store, "a", b"two")
        store.compact(last)

        other = fork(store)

        with raises(Compacted) as caught:
            other.get(PREFIX + "a", revision=first)
        assert caught.exception.compact_revision == last

    def test_each_forgets_for_itself(self, store: Store, fork: Callable[[Store], Store]) -> None:
        first = put(store, "a", b"one")
        put(store, "gone")
        last = remove(store, "gone")
        other = fork(store)

        other.compact(last)

        assert names(store, revision=first) == ["a"]
        assert names(other) == ["a"]
        with raises(Compacted):
            other.range(PREFIX, END, revision=first)

    def test_watches_stay_behind(self, store: Store, fork: Callable[[Store], Store]) -> None:
        watch = store.watch(PREFIX, END, revision=put(store, "a"))
        other = fork(store)

        put(other, "of the fork")
        last = put(store, "of the seed")

        assert [event.key for event in collect(watch, last)] == [PREFIX + "of the seed"]

    def test_a_fork_of_a_fork_is_one(self, store: Store, fork: Callable[[Store], Store]) -> None:
        put(store, "a")
        child = fork(store)
        put(child, "b")

        grandchild = fork(child)
        put(grandchild, "c")

        assert [names(one) for one in (store, child, grandchild)] == [["a"], ["a", "b"], ["a", "b", "c"]]

    def test_a_fork_outlives_its_seed(self, store: Store, fork: Callable[[Store], Store]) -> None:
        put(store, "a", b"kept")
        other = fork(store)

        store.close()

        assert [row[1] for row in contents(other)] == [b"kept"]
        put(other, "b")
        assert names(other) == ["a", "b"]

    def test_what_is_left_of_a_lease_is_left_of_it_in_the_fork(
        self, store: Store, fork: Callable[[Store, Clock], Store], pass_time: Callable[[float], None]
    ) -> None:
        put(store, "a", lease=store.grant_lease(10))
        pass_time(4)
        clock = FakeClock()

        other = fork(store, clock)
        again = other.grant_lease(60)
        other.txn([], [Put(PREFIX + "longer", b"v", again)])
        clock.advance(5)
        still = names(other)
        for _ in range(200):
            clock.advance(0.01)
            pass_time(0)
            if "a" not in names(other):
                break

        assert still == ["a", "longer"]
        assert names(other) == ["longer"]
        assert names(store) == ["a"]

    def test_a_fork_under_load_is_one_moment(self, store: Store, fork: Callable[[Store], Store]) -> None:
        ended = threading.Event()
        answered: list[bytes] = []

        def write() -> None:
            while not ended.is_set():
                value = b"%d" % len(answered)
                store.txn([], [Put(PREFIX + "left", value), Put(PREFIX + "right", value)])
                answered.append(value)

        writer = threading.Thread(target=write)
        writer.start()
        found = []
        try:
            for _ in range(5):
                known = len(answered)
                found.append((known, [row[1] for row in contents(fork(store))]))
        finally:
            ended.set()
            writer.join()

        for known, values in found:
            assert len(set(values)) <= 1
            assert not known or int(values[0]) >= known - 1
