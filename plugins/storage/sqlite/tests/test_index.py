"""Where each key is, as one number."""

import sys

import pytest
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_storage.sqlite.database import PLACE_BITS
from hyperkube_storage.sqlite.index import Entry, packed, unpacked

from hyperkube.storage.store import Compare, Put


@pytest.mark.parametrize(
    "entry",
    [
        Entry(2 << PLACE_BITS, 2, 1, 0),
        Entry((1 << 62) | 7, 1, (1 << 40) - 1, (1 << 62)),
        Entry(9_000_000 << PLACE_BITS | 3, 12, 5_000_000, 77),
        Entry(5 << PLACE_BITS, 5, 1, 1),
    ],
    ids=["new", "largest", "often-written", "with-a-lease"],
)
def test_an_entry_is_what_was_packed(entry):
    assert unpacked(packed(*entry)) == entry


def test_the_entry_of_an_object_that_was_never_changed_is_small():
    assert sys.getsizeof(packed(30_000_000 << PLACE_BITS, 30_000_000, 1, 0)) <= 36


def test_a_row_whose_numbers_are_no_numbers_costs_itself_alone(tmp_path):
    path = tmp_path / "storage.db"
    store = SqliteStore(path, history_seconds=0)
    revisions = [store.txn([], [Put(f"/{name}", b"1")]).revision for name in "abc"]
    writer = store.database.writer
    writer.execute("UPDATE history SET created = 'x' WHERE key = '/a'")
    writer.execute("UPDATE history SET version = 1 << 50, lease = -3 WHERE key = '/b'")
    store.close()

    store = SqliteStore(path, history_seconds=0)
    items = {item.key: item for item in store.range("/", "0").items}
    written = store.txn([Compare("/a", revisions[0])], [Put("/a", b"2")])

    assert (items["/a"].damaged, items["/b"].damaged, items["/c"].value) == (True, True, b"1")
    assert written.succeeded
    assert store.get("/a").value == b"2"
    store.close()
