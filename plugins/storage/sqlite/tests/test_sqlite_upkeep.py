import random
import sqlite3
import threading
from contextlib import closing

import pytest
from hyperkube_storage.sqlite import Sqlite, SqliteStore

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.storage.store import Compacted, Delete, Put, StoreError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def path(folder):
    return folder / "storage.db"


@pytest.fixture
def upkeep(folder):
    return Sqlite(PluginContext(name="sqlite", settings={"data_dir": str(folder)})).storage_upkeep()


def fill(path, writes=200, size=500):
    """Write a history with replaced, deleted and created-again keys; return what is there in the end."""
    store = SqliteStore(path, history_seconds=0)
    for number in range(writes):
        key = f"/registry/maps/{number % 20:02}"
        store.txn([], [Put(key, b'{"n":%d,"text":"%s"}' % (number, b"x" * size))])
        if number % 7 == 0:
            store.txn([], [Delete(key)])
    found = contents(store)
    store.close()
    return found


def contents(store):
    return [(item.key, item.value, item.mod_revision) for item in store.range("/", "0").items]


def test_a_whole_file_is_called_so(path, upkeep):
    fill(path, writes=10)

    assert upkeep.check().startswith("ok, revision 13, 10 keys in 12 versions, ")


def test_a_missing_file_is_no_file(upkeep, path, tmp_path):
    for call in (upkeep.check, upkeep.compact, lambda: upkeep.backup(tmp_path / "b", force=False)):
        with pytest.raises(UsageError, match=f"storage file '{path}' does not exist"):
            call()
    assert not path.parent.exists()


def test_compaction_keeps_what_is_live_and_shrinks_the_file(path, upkeep):
    live = fill(path)
    before = path.stat().st_size

    upkeep.compact()

    assert path.stat().st_size < before / 3
    assert upkeep.check().startswith("ok, revision 230, 17 keys in 17 versions")
    store = SqliteStore(path, history_seconds=0)
    assert contents(store) == live
    with pytest.raises(Compacted):
        store.get("/registry/maps/01", revision=5)
    store.close()


def test_a_file_in_use_is_checked_and_saved_but_not_changed(path, upkeep, tmp_path):
    store = SqliteStore(path, history_seconds=0)
    store.txn([], [Put("/a", b"{}")])

    assert upkeep.check().startswith("ok, revision 2, 1 keys")
    upkeep.backup(tmp_path / "saved.db", force=False)
    for call in (upkeep.compact, lambda: upkeep.restore(tmp_path / "saved.db", force=True)):
        with pytest.raises(UsageError, match="is in use by process"):
            call()
    assert store.txn([], [Put("/a", b"{1}")]).succeeded
    store.close()


def test_a_backup_under_load_is_one_moment(path, upkeep, tmp_path):
    store, ended = SqliteStore(path, history_seconds=0), threading.Event()
    answered = []

    def write():
        number = 0
        while not ended.is_set():
            number += 1
            value = b'{"n":%d}' % number
            store.txn([], [Put("/a/left", value), Put("/a/right", value)])
            answered.append(value)

    writer = threading.Thread(target=write)
    writer.start()
    for number in range(5):
        known = len(answered)
        target = tmp_path / f"{number}.db"
        upkeep.backup(target, force=False)
        copy = SqliteStore(target, history_seconds=0)
        found = copy.range("/a/", "/a0").items
        copy.close()

        assert not found or found[0].value == found[1].value
        assert not known or answered.index(found[0].value, known - 1) >= known - 1
    ended.set()
    writer.join()
    store.close()


@pytest.mark.parametrize("made", [[], ["PRAGMA journal_mode = WAL"]], ids=["empty", "without-tables"])
def test_the_backup_of_a_server_that_is_starting_is_refused_and_leaves_nothing(path, upkeep, tmp_path, made):
    path.parent.mkdir()
    path.touch()
    with closing(sqlite3.connect(path)) as connection:
        for command in made:
            connection.execute(command)

    with pytest.raises(UsageError, match="holds nothing yet: is its server still starting"):
        upkeep.backup(tmp_path / "saved.db", force=False)

    assert {found.name for found in tmp_path.iterdir()} == {path.parent.name}


def test_the_backup_of_a_damaged_file_leaves_the_one_before(path, upkeep, tmp_path):
    fill(path)
    upkeep.backup(tmp_path / "saved.db", force=False)
    before = (tmp_path / "saved.db").read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE history SET value = x'00' WHERE id = (SELECT max(id) FROM history)")
        connection.commit()

    with pytest.raises(UsageError, match=f"storage file '{path}' is damaged"):
        upkeep.backup(tmp_path / "saved.db", force=True)

    assert (tmp_path / "saved.db").read_bytes() == before
    assert {found.name for found in tmp_path.iterdir()} == {"saved.db", path.parent.name}


def test_a_backup_replaces_nothing_unless_told(path, upkeep, tmp_path):
    fill(path)
    target = tmp_path / "saved.db"
    target.write_text("dear")

    with pytest.raises(UsageError, match=r"saved\.db' exists: give --force to replace it"):
        upkeep.backup(target, force=False)
    assert target.read_text() == "dear"
    upkeep.backup(target, force=True)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["data", "saved.db"]


def test_what_was_saved_comes_back(path, upkeep, tmp_path):
    saved = fill(path)
    upkeep.backup(tmp_path / "saved.db", force=False)
    store = SqliteStore(path, history_seconds=0)
    store.txn([], [Put("/registry/maps/later", b"{}")])
    store.close()

    with pytest.raises(UsageError, match="exists: give --force to replace it"):
        upkeep.restore(tmp_path / "saved.db", force=False)
    upkeep.restore(tmp_path / "saved.db", force=True)

    store = SqliteStore(path, history_seconds=0)
    assert contents(store) == saved
    store.close()


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda _data: b"not a database" * 100])
def test_no_damaged_backup_takes_a_stores_place(path, upkeep, tmp_path, damage):
    live = fill(path)
    saved = tmp_path / "saved.db"
    upkeep.backup(saved, force=False)
    saved.write_bytes(damage(saved.read_bytes()))

    with pytest.raises(UsageError, match="is damaged"):
        upkeep.restore(saved, force=True)

    store = SqliteStore(path, history_seconds=0)
    assert contents(store) == live
    store.close()


@pytest.mark.slow
def test_a_flipped_bit_is_told_in_one_line_or_was_in_nobodys_way(path, upkeep):
    """Whichever bit flips, the check names the damage in a line, or what is read is what was written."""
    live = fill(path, size=100)
    whole = path.read_bytes()
    dice, told = random.Random(5), 0
    for _ in range(150):
        place = dice.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :])

        damage = complaint(upkeep.check)
        if damage:
            told += 1
            assert "\n" not in damage
        else:
            assert read_safely(path) == live, place
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
    assert told > 50


def complaint(call):
    try:
        call()
    except (UsageError, StoreError) as error:
        return str(error)
    return ""


def read_safely(path):
    """Return the contents, or the refusal."""
    found = []

    def look():
        with closing(SqliteStore(path, history_seconds=0)) as store:
            found.extend(contents(store))

    return complaint(look) or found


@pytest.mark.parametrize("older", [1, 2])
def test_a_file_of_an_older_format_is_upgraded(path, upkeep, older):
    live = fill(path)
    tables = ("lease", "state", "history")[: 4 - older]
    with closing(sqlite3.connect(path)) as connection:
        for table in tables:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN sum")
        connection.execute(f"PRAGMA user_version = {older}")
    assert upkeep.check().startswith("ok")

    store = SqliteStore(path, history_seconds=0)
    store.txn([], [Put("/registry/maps/zz", b"{}")])

    assert contents(store)[:-1] == live
    store.close()
    assert upkeep.check().startswith("ok")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE state SET value = value + 1 WHERE name = 'compacted'", "it does not say how far it is compacted"),
        ("UPDATE state SET value = 1 << 40 WHERE name = 'compacted'", "it does not say how far it is compacted"),
        ("UPDATE state SET value = 0 WHERE name = 'cleaned'", "it does not say how far it is compacted"),
        ("UPDATE lease SET expires = expires - 1024", "1 rows of table 'lease' are not what was written"),
        ("UPDATE lease SET id = id + 1", "1 rows of table 'lease' are not what was written"),
        ("UPDATE lease SET sum = NULL", "1 rows of table 'lease' are not what was written"),
    ],
)
def test_what_is_not_history_has_checksums_too(path, upkeep, change, words):
    fill(path, writes=5)
    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.grant_lease(1000)
        store.compact(3)
        store.remove_rows([], 3 << 20)
    assert upkeep.check().startswith("ok")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()

    for use in (upkeep.check, lambda: SqliteStore(path)):
        with pytest.raises(UsageError, match=words):
            use()


def test_an_upgraded_lease_keeps_its_time(path, upkeep):
    with closing(SqliteStore(path, history_seconds=0)) as store:
        lease = store.grant_lease(1000)
        store.txn([], [Put("/a", b"{}", lease)])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "ALTER TABLE lease DROP COLUMN sum; ALTER TABLE state DROP COLUMN sum; PRAGMA user_version = 2;"
        )

    with closing(SqliteStore(path, history_seconds=0)) as store:
        store.txn([], [Put("/b", b"{}", lease)])

        assert store.get("/a").lease == lease
    assert upkeep.check().startswith("ok")


@pytest.mark.parametrize("told", [{"history_seconds": 10}, {"etcd_compaction_interval": 10.0}], ids=str)
def test_history_is_kept_as_long_as_it_is_told(folder, told):
    clock = FakeClock()
    settings = {"data_dir": str(folder), **told}
    plugin = Sqlite(PluginContext(name="sqlite", clock=clock, settings=settings))

    with closing(plugin.storage_open()) as store:
        first = store.txn([], [Put("/a", b"1")]).revision
        deadline = SystemClock().monotonic() + 60
        store.txn([], [Put("/a", b"2")])
        while store.compacted <= first and SystemClock().monotonic() < deadline:
            clock.advance(5)
            SystemClock().sleep(0.01)

        with pytest.raises(Compacted):
            store.get("/a", revision=first)
