"""A start reads the table of live keys; whatever became of it, the keys are those that history tells."""

import random
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from hyperkube_storage.sqlite import SqliteStore, live_keys, maintenance, rows
from hyperkube_storage.sqlite import store as sqlite_store
from hyperkube_storage.sqlite.copies import copy
from hyperkube_storage.sqlite.database import SEAL_STATE, Database, teach_checksums
from hyperkube_storage.sqlite.upkeep import FileUpkeep

from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import Delete, Put, StoreFull


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Let the table be worth it for a few keys."""
    monkeypatch.setattr(sqlite_store, "CHANGED_ROWS", 50)
    monkeypatch.setattr(maintenance, "CHANGED_ROWS", 50)
    monkeypatch.setattr(live_keys, "CHANGED_ROWS", 50)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "storage.db"


def fill(store, keys=40):
    """Write, replace and delete keys, one with a lease; return what is there."""
    lease = store.grant_lease(1000)
    for number in range(keys):
        store.txn([], [Put(f"/a/{number:03}", b"{}", lease if number == 7 else 0)])
    store.txn([], [Put(f"/a/{number:03}", b"[]") for number in range(0, keys, 3) if number != 7])
    store.txn([], [Delete(f"/a/{number:03}") for number in range(0, keys, 5)])
    return contents(store)


def contents(store):
    return list(store.range("/", "0").items)


@pytest.fixture
def filled(path):
    """A closed file with a table, and what is in it."""
    with closing(SqliteStore(path, history_seconds=0)) as store:
        return fill(store)


@pytest.fixture
def walks(monkeypatch):
    """Return which of the next starts walked history."""
    found = []
    walk = rows._read_history

    def counted(connection):
        found.append(1)
        return walk(connection)

    monkeypatch.setattr(rows, "_read_history", counted)
    return found


def started(path):
    with closing(SqliteStore(path, history_seconds=0)) as store:
        return contents(store)


def test_a_start_does_not_walk_history(path, filled, walks):
    assert started(path) == filled
    assert walks == []


def test_what_was_written_since_comes_from_history(path, filled, walks, tmp_path):
    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.txn([], [Put("/a/001", b"1"), Put("/new", b"1")])
        store.txn([], [Delete("/a/002"), Put("/new", b"2")])
        live = contents(store)
        with store.database.reader() as connection:
            copy(connection, tmp_path / "killed.db")  # as it is on the disk without a close

    assert started(tmp_path / "killed.db") == live
    assert walks == []


def test_a_lease_ends_for_its_keys(path, filled):
    with closing(SqliteStore(path, history_seconds=0)) as store:
        lease = store.get("/a/007").lease
        assert lease
        assert store._index.leased(lease) == {"/a/007"}


def test_compaction_waits_for_the_table(path, filled, walks, tmp_path):
    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.txn([], [Put("/a/001", b"1")])
        store.txn([], [Delete("/a/001")])
        store.compact(store.revision())
        live = contents(store)
        with store.database.reader() as connection:
            copy(connection, tmp_path / "killed.db")

    assert started(tmp_path / "killed.db") == live
    assert walks == []


def test_a_file_from_before_gets_a_table(path, filled, walks):
    damage(path, "DROP TABLE live")
    damage(path, "DELETE FROM state WHERE name IN ('indexed', 'live')")

    assert started(path) == filled
    assert started(path) == filled
    assert walks == [1]


def damage(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        teach_checksums(connection)
        assert connection.execute(statement).rowcount


DAMAGE = {
    "a key": "UPDATE live SET key = key || 'x' WHERE key = '/a/001'",
    "a key of more than one write": "UPDATE live SET key = key || 'x' WHERE key = '/a/003'",
    "a key that is no text": "UPDATE live SET key = cast(x'2f72ff' AS TEXT) WHERE key = '/a/001'",
    "a place": "UPDATE live SET id = id + 1 WHERE key = '/a/001'",
    "a version": "UPDATE live SET version = 5 WHERE key = '/a/001'",
    "a lease": "UPDATE live SET lease = 'x' WHERE key = '/a/007'",
    "a checksum": "UPDATE live SET sum = sum + 1 WHERE key = '/a/001'",
    "a row": "DELETE FROM live WHERE key = '/a/001'",
    "the table": "DROP TABLE live",
}


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_table_is_passed_over_and_made_anew(path, filled, walks, statement):
    damage(path, statement)

    assert started(path) == filled
    assert started(path) == filled
    assert walks == [1]
    assert FileUpkeep(path).check().startswith("ok")


@pytest.mark.parametrize("what", [what for what in DAMAGE if what not in {"a row", "the table"}])
def test_a_check_tells_of_a_damaged_table(path, filled, what):
    damage(path, DAMAGE[what])

    with pytest.raises(UsageError, match=r"1 rows of table 'live' are not what was written|is damaged"):
        FileUpkeep(path).check()


def test_a_table_that_an_older_hyperkube_has_left_behind_is_not_believed(path, filled, walks):
    """It compacts without writing the table: what it has removed cannot be told from what never was."""
    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.txn([], [Delete("/a/001")])
        revision = store.revision()
        live = contents(store)
    damage(path, f"DELETE FROM history WHERE key = '/a/001' OR id >> 20 = {revision}")
    damage(path, f"UPDATE state SET value = {revision} WHERE name IN ('compacted', 'cleaned')")
    damage(path, f"UPDATE state SET value = {(revision << 20) - 1} WHERE name = 'indexed'")
    damage(path, SEAL_STATE)

    assert started(path) == live
    assert walks == [1]


def test_history_that_does_not_go_on_from_the_table_is_walked(path, filled, walks, tmp_path):
    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.txn([], [Put("/a/001", b"1")])
        with store.database.reader() as connection:
            copy(connection, tmp_path / "killed.db")
    damage(tmp_path / "killed.db", "UPDATE history SET previous = 0 WHERE id = (SELECT max(id) FROM history)")

    started(tmp_path / "killed.db")

    assert walks == [1]


def test_what_compaction_from_outside_leaves_is_in_the_table(path, filled, walks):
    FileUpkeep(path).compact()
    walks.clear()

    assert started(path) == filled
    assert walks == []
    assert FileUpkeep(path).check().startswith("ok")


def test_a_disk_that_is_full_at_the_time_loses_no_change(path, filled, walks, monkeypatch):
    def full(*_):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.txn([], [Put("/a/001", b"1"), Put("/a/002", b"1")])
        with monkeypatch.context() as broken:
            broken.setattr(live_keys, "write", full)
            with pytest.raises(StoreFull):
                store.write_live_keys()
        store.txn([], [Put("/a/001", b"2"), Delete("/a/002")])
        store.write_live_keys()
        live = contents(store)

    assert started(path) == live
    assert walks == []


_WRITER = """
import random, sys
from pathlib import Path
from hyperkube_storage.sqlite import SqliteStore, live_keys, maintenance
from hyperkube_storage.sqlite import store as sqlite_store
from hyperkube.storage.store import Delete, Put
for module in (sqlite_store, maintenance, live_keys):
    module.CHANGED_ROWS = 20
sqlite_store.CHANGED_KEYS = 20
store = SqliteStore(Path(sys.argv[1]), history_seconds=0)
dice = random.Random(store.revision())
while True:
    keys = dice.sample(range(60), 3)
    store.txn([], [Delete(f"/k{key}") if dice.random() < 0.3 else Put(f"/k{key}", b"v" * 3000) for key in keys])
    if dice.random() < 0.05:
        store.write_live_keys(least=20)
        store.compact(store.revision() - 10)
    print(store.revision(), flush=True)
"""


@pytest.mark.slow
def test_a_kill_leaves_a_table_that_says_what_history_says(path, walks):
    dice = random.Random(3)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", _WRITER, path], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(30 + dice.randrange(60)):
                process.stdout.readline()
            process.kill()
        database = Database(path)
        try:
            by_table = rows.load(database).entries
            assert by_table == rows._read_index(database.writer)[0]
        finally:
            database.close()

    assert len(walks) < 4
    assert FileUpkeep(path).check().startswith("ok")
