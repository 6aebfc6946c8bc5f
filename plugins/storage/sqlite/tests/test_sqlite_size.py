"""The file gives back what it does not need any more; whatever goes wrong meanwhile, nothing is lost."""

import os
import random
import sqlite3
import subprocess
import sys

import pytest
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_storage.sqlite import database as sqlite_database
from hyperkube_storage.sqlite.upkeep import FileUpkeep

from hyperkube.storage.store import Delete, Put, StoreFull
from hyperkube.testing.waiting import eventually as until

KEYS, VERSIONS = 30, 40
SIZE = 3000


@pytest.fixture(autouse=True)
def _little_to_spare(monkeypatch):
    monkeypatch.setattr(sqlite_database, "SPARE_PAGES", 8)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "storage.db"


def churn(store):
    """Write many versions of few keys, and keys that go again; return what is there at the end."""
    for number in range(VERSIONS):
        store.txn([], [Put(f"/k{key:02}", os.urandom(SIZE)) for key in range(KEYS)])
        store.txn([], [Put(f"/gone{number:02}", os.urandom(SIZE))])
        store.txn([], [Delete(f"/gone{number:02}")])
    return contents(store)


def contents(store):
    return [(item.key, item.value) for item in store.range("/", "0").items]


def is_small(store, path):
    """Tell whether the file is not much larger than what it holds, once the log is copied: a reader may prevent that."""
    store.checkpoint()
    return not store.database.surplus_pages() and path.stat().st_size < 3 * KEYS * SIZE


def test_after_compaction_the_file_is_as_large_as_what_it_holds(path):
    store = SqliteStore(path, history_seconds=0)
    live = churn(store)
    store.checkpoint()
    assert until(lambda: path.stat().st_size > 10 * KEYS * SIZE)  # the store may be at it by itself

    store.compact(store.revision())

    assert until(lambda: is_small(store, path))
    assert contents(store) == live
    store.close()
    assert FileUpkeep(path).check().startswith("ok")
    again = SqliteStore(path, history_seconds=0)
    assert contents(again) == live
    again.close()


def test_writers_go_on_while_the_file_shrinks(path):
    store = SqliteStore(path, history_seconds=0)
    churn(store)
    store.checkpoint()

    store.compact(store.revision())
    written = 0
    while not is_small(store, path) and written < 10_000:
        store.txn([], [Put("/busy", b"%d" % written)])
        written += 1

    assert is_small(store, path)
    assert contents(store)[0] == ("/busy", b"%d" % (written - 1))
    store.close()
    assert FileUpkeep(path).check().startswith("ok")


def test_a_disk_too_full_to_shrink_the_file_costs_nobody_a_write(path, monkeypatch, caplog):
    store = SqliteStore(path, history_seconds=0)
    live = churn(store)

    def full(_pages):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(store.database, "give_back", full)
    store.compact(store.revision())

    assert until(lambda: "keeps its size" in caplog.text)
    with pytest.raises(StoreFull):
        store.give_back(1)
    store.txn([], [Put("/after", b"v")])
    assert contents(store) == [("/after", b"v"), *live]
    store.close()


def test_a_file_that_cannot_shrink_is_used_as_it_is_until_it_is_compacted_from_outside(path, monkeypatch):
    monkeypatch.setattr(sqlite_database, "GIVES_BACK", "PRAGMA auto_vacuum = NONE")  # as before
    store = SqliteStore(path, history_seconds=0)
    live = churn(store)
    store.compact(store.revision())
    assert store.database.surplus_pages() == 0
    store.close()
    monkeypatch.undo()

    FileUpkeep(path).compact()

    store = SqliteStore(path, history_seconds=0)
    assert contents(store) == live
    with store.database.reader() as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    store.close()


def test_the_log_does_not_keep_the_size_of_a_peak(path, monkeypatch):
    monkeypatch.setattr(sqlite_database, "LOG_BYTES", 100_000)
    store = SqliteStore(path, history_seconds=0)
    log, sizes = path.with_name(f"{path.name}-wal"), []
    for _ in range(10):  # in the background the log may be made small at once
        store.txn([], [Put("/large", os.urandom(200_000))])
        sizes.append(log.stat().st_size)
    assert max(sizes) > 100_000

    def is_small_again():
        store.checkpoint()  # in vain while the store is at it by itself
        store.txn([], [Put("/next", b"v")])
        return log.stat().st_size <= 100_000

    assert until(is_small_again)
    store.close()


_WRITER = """
import os, sys
from pathlib import Path
from hyperkube_storage.sqlite import SqliteStore, database
from hyperkube.storage.store import Put
database.SPARE_PAGES = 8
store = SqliteStore(Path(sys.argv[1]), history_seconds=0)
found = store.get("/count")
number = int(found.value) if found else 0
print("open", number, flush=True)
while True:
    number += 1
    store.txn([], [Put("/count", b"%d" % number), *(Put(f"/k{key:02}", os.urandom(3000)) for key in range(30))])
    print("wrote", number, flush=True)
    if number % 20 == 0:
        store.compact(store.revision())  # and shrink, while the next are written
"""


@pytest.mark.slow
def test_a_kill_while_the_file_shrinks_loses_nothing(path):
    dice, written, freed = random.Random(7), 0, 0
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", _WRITER, path], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert int(process.stdout.readline().split()[1]) >= written
            for _ in range(22 + dice.randrange(20)):
                written = int(process.stdout.readline().split()[1])
            process.kill()
        assert FileUpkeep(path).check().startswith("ok")
        freed += path.stat().st_size < written * KEYS * SIZE / 2

    assert freed
