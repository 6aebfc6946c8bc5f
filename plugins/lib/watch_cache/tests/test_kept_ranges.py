"""What was read lately stays as it is in the store, within bounds, for as long as it is read."""

from __future__ import annotations

import random

import pytest
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.kept_ranges import OBJECT_BYTES, KeptRanges

from hyperkube.machinery.errors import StorageReadError
from hyperkube.storage.store import KeyValue, StoreEvent


def made(key, revision=1, size=10):
    return CachedObject(key, revision, b"x" * size)


def decode(item):
    if not item.value:
        raise StorageReadError("it is gone")
    return CachedObject(item.key, item.mod_revision, item.value)


def change(kept, key, revision, value=b"y", *, was_there=False):
    current = KeyValue(key, value, revision, revision) if value is not None else None
    kept.apply(StoreEvent(key, revision, current, KeyValue(key, b"", 1, 1) if was_there else None), decode)


def shown(found):
    return found and ([(obj.key, obj.revision) for obj in found[0]], found[1])


def kept_of(*keys, low="a/", high="a0", **options):
    kept = KeptRanges(**options)
    kept.keep_range(low, high, [made(key) for key in keys], since=5)
    return kept


def test_a_range_is_followed():
    kept = kept_of("a/1", "a/3", "a/5")

    change(kept, "a/2", 6)
    change(kept, "a/3", 7, was_there=True)
    change(kept, "a/5", 8, None, was_there=True)
    change(kept, "b/1", 9)

    assert shown(kept.first("a/", "a0", 0, 0)) == ([("a/1", 1), ("a/2", 6), ("a/3", 7)], "")
    assert kept.find("b/1") is None


def test_a_page_is_the_first_objects_and_says_where_others_begin():
    kept = kept_of("a/1", "a/2", "a/3")

    assert shown(kept.first("a/", "a0", 2, 0)) == ([("a/1", 1), ("a/2", 1)], "a/2\0")
    assert shown(kept.first("a/2\0", "a0", 2, 0)) == ([("a/3", 1)], "")


def test_what_is_not_known_to_be_all_is_not_answered():
    kept = kept_of("a/1", "a/2", high="a/2\0")

    assert shown(kept.first("a/", "a0", 2, 0)) == ([("a/1", 1), ("a/2", 1)], "a/2\0")
    assert kept.first("a/", "a0", 3, 0) is None
    assert kept.first("a/", "a0", 0, 0) is None
    assert kept.first("A/", "a0", 1, 0) is None


def test_pages_that_follow_each_other_are_one_range():
    kept = kept_of("a/1", "a/2", high="a/2\0")

    kept.keep_range("a/2\0", "a0", [made("a/3")], since=5)

    assert shown(kept.first("a/", "a0", 0, 0)) == ([("a/1", 1), ("a/2", 1), ("a/3", 1)], "")


def test_a_range_takes_the_place_of_those_that_it_overlaps():
    kept = kept_of("a/1")
    kept.keep_range("b/", "b0", [made("b/1")], since=5)

    kept.keep_range("", "z", [made("a/1", 7), made("b/1", 7)], since=7)

    assert shown(kept.first("a/", "a0", 0, 0)) == ([("a/1", 7)], "")
    assert shown(kept.first("", "z", 0, 0)) == ([("a/1", 7), ("b/1", 7)], "")


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        pytest.param(4, None, id="before-it-was-kept"),
        pytest.param(5, ([("a/1", 1)], ""), id="when-it-was"),
        pytest.param(6, ([("a/1", 1), ("a/2", 6)], ""), id="with-what-was-there-then"),
        pytest.param(9, ([("a/1", 1), ("a/2", 6), ("a/3", 8)], ""), id="now"),
    ],
)
def test_the_past_is_known_while_things_are_only_created(revision, expected):
    kept = kept_of("a/1")
    change(kept, "a/2", 6)
    change(kept, "a/3", 8)

    assert shown(kept.first("a/", "a0", 0, revision)) == expected


@pytest.mark.parametrize("value", [pytest.param(b"z", id="changed"), pytest.param(None, id="deleted")])
def test_before_a_change_the_past_is_the_stores(value):
    kept = kept_of("a/1")

    change(kept, "a/1", 6, value, was_there=True)

    assert kept.first("a/", "a0", 0, 5) is None
    assert kept.first("a/", "a0", 0, 6) is not None


def test_a_change_that_is_told_twice_changes_nothing():
    kept = kept_of("a/1")
    change(kept, "a/2", 7, b"new")

    change(kept, "a/2", 6, b"old")

    assert kept.find("a/2").body == b"new"


def test_a_single_object_goes_with_its_next_change():
    kept = KeptRanges()
    kept.keep(made("a/1"))

    change(kept, "a/1", 6, was_there=True)

    assert (kept.find("a/1"), kept.size) == (None, 0)


def test_what_is_not_read_is_forgotten_in_the_second_round():
    kept = kept_of("a/1")
    kept.keep_range("b/", "b0", [made("b/1")], since=5)
    kept.keep(made("c/1"))
    kept.forget_unread()
    first = [kept.find(key) is not None for key in ("a/1", "b/1", "c/1")]

    kept.first("b/", "b0", 0, 0)
    kept.forget_unread()

    assert first == [True, True, False]
    assert [kept.find(key) is not None for key in ("a/1", "b/1")] == [False, True]


def test_too_much_is_not_kept():
    kept = kept_of("a/1", "a/2", most=4 * OBJECT_BYTES)
    before = kept.size

    kept.keep_range("b/", "b0", [made(f"b/{number}") for number in range(9)], since=5)

    assert (kept.size, kept.first("b/", "b0", 0, 0)) == (before, None)
    assert not kept.may_hold(3)


def test_what_grows_beyond_its_bounds_goes():
    kept = kept_of("a/1", "a/2", most=4 * OBJECT_BYTES)

    change(kept, "a/3", 6, b"y" * OBJECT_BYTES)

    assert (kept.size, bool(kept)) == (0, False)


def test_what_cannot_be_decoded_is_left_to_who_reads_it():
    kept = kept_of("a/1")

    change(kept, "a/2", 6, b"")

    assert kept.first("a/", "a0", 0, 0) is None


def test_it_is_the_same_as_the_store_whatever_happens():
    chance = random.Random(7)
    kept, store = KeptRanges(), {}
    for revision in range(2, 3000):
        key = f"{chance.choice('abc')}/{chance.randrange(40):02}"
        if chance.random() < 0.4:
            store.pop(key, None) and change(kept, key, revision, None, was_there=True)
        else:
            change(kept, key, revision, b"v", was_there=key in store)
            store[key] = revision
        low, most = f"{chance.choice('abc')}/{chance.choice(['', '2'])}", chance.choice([0, 0, 5, 20])
        high = f"{low[0]}0"
        there = [(key, at) for key, at in sorted(store.items()) if low <= key < high]
        found = kept.first(low, high, most, 0)
        if found is None:
            page = there[:most] if most else there
            end = f"{page[-1][0]}\0" if len(page) < len(there) else high
            kept.keep_range(low, end, [made(key, at) for key, at in page], since=revision)
        else:
            objects, rest = shown(found)
            assert objects == [each for each in there if not rest or each[0] < rest]
            assert not rest or len(objects) >= most > 0
        if revision % 400 == 0:
            kept.forget_unread()
    kept.forget_unread()
    kept.forget_unread()
    assert (kept.size, bool(kept)) == (0, False)
