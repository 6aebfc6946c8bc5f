import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.watch_cache import StoreCache
from hyperkube_storage.sqlite import Sqlite, SqliteStore
from hyperkube_storage.sqlite.database import FORMAT
from hyperkube_storage.sqlite.group_commit import GroupCommit
from hyperkube_storage.sqlite.maintenance import COMPACTIONS

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.storage.store import Compacted, Compare, Delete, Put, StoreFull, StoreUnavailable
from hyperkube.storage.subscriptions import Subscribable
from hyperkube.testing.waiting import eventually as until


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "storage.db"


@pytest.fixture
def store(path):
    store = SqliteStore(path, history_seconds=0)
    yield store
    store.close()


def test_the_plugin_opens_a_file_in_the_data_dir(tmp_path):
    store = Sqlite(PluginContext(name="sqlite", settings={"data_dir": str(tmp_path / "kube")})).storage_open()

    assert (tmp_path / "kube" / "storage.db").exists()
    assert isinstance(store, Subscribable)
    store.close()


def test_the_plugin_needs_a_place():
    with pytest.raises(UsageError, match="needs --data-dir"):
        Sqlite(PluginContext(name="sqlite")).storage_open()


def test_folder_and_files_are_their_owners_alone(store, path):
    store.txn([], [Put("/a", b"v")])

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}
    assert {"storage.db", "storage.db-wal"} <= set(modes)


def test_a_second_process_is_refused_in_one_line(store, path):
    code = f"from hyperkube_storage.sqlite import SqliteStore; SqliteStore(__import__('pathlib').Path({str(path)!r}))"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert answer.returncode != 0
    assert f"storage file {str(path)!r} is in use by process {os.getpid()}" in answer.stderr.splitlines()[-1]


def test_the_file_is_free_after_closing(path):
    SqliteStore(path).close()

    SqliteStore(path).close()


def damage_header(path):
    path.write_bytes(b"this is not a database at all, but it is long enough to be looked at" * 20)


def damage_pages(path):
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = bytes(len(content) - 4096 * 3)
    path.write_bytes(content)


def newer_format(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def foreign(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()


def folder_instead(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage_header, "is damaged: file is not a database"),
        (damage_pages, "is damaged: database disk image is malformed"),
        (newer_format, f"has format 99, this hyperkube reads up to {FORMAT}"),
        (foreign, "is a database of another program"),
        (folder_instead, "cannot be used: Is a directory"),
    ],
)
def test_an_unusable_file_is_refused_in_one_line(path, change, message):
    store = SqliteStore(path)
    for number in range(100):
        store.txn([], [Put(f"/{number}", bytes(1000))])
    store.close()
    change(path)

    for _ in range(2):  # a failed attempt leaves no lock behind
        with pytest.raises(UsageError) as caught:
            SqliteStore(path)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_refused(path):
    SqliteStore(path).close()
    path.chmod(0o400)

    with pytest.raises(UsageError, match="Permission denied"):
        SqliteStore(path)


def test_a_full_disk_writes_nothing_and_heals(store):
    store.txn([], [Put("/a", b"one")])
    before = store.revision()
    (pages,) = store.database.writer.execute("PRAGMA page_count").fetchone()
    store.database.writer.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StoreFull):
        store.txn([], [Put("/a", b"two"), Put("/b", bytes(100_000))])
    full = (store.revision(), store.get("/a").value, store.get("/b"))
    store.database.writer.execute("PRAGMA max_page_count = 1000000")

    assert full == (before, b"one", None)
    assert store.txn([], [Put("/b", bytes(100_000))]).revision == before + 1


def test_a_failing_disk_ends_all_writing(store, monkeypatch):
    def fail(*_args):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise error

    store.txn([], [Put("/a", b"one")])
    monkeypatch.setattr(store, "_write", fail)
    with pytest.raises(StoreUnavailable, match="disk I/O error"):
        store.txn([], [Put("/a", b"two")])
    monkeypatch.undo()

    with pytest.raises(StoreUnavailable, match="disk I/O error"):
        store.txn([], [Put("/a", b"three")])
    assert store.get("/a").value == b"one"


def test_compaction_frees_what_nobody_can_read(store):
    for number in range(1200):
        store.txn([], [Put("/a", b"%d" % number)])
    store.txn([], [Put(f"/gone/{n}", b"v") for n in range(700)])
    store.txn([], [Delete(f"/gone/{n}") for n in range(700)])
    store.txn([], [Put("/gone/0", b"again")])

    store.compact(store.revision() - 1)

    def rows():
        with store.database.reader() as connection:
            return connection.execute("SELECT count(*) FROM history").fetchone()[0]

    assert until(lambda: rows() == 2)
    assert (store.get("/a").value, store.get("/gone/0").value) == (b"1199", b"again")
    assert store.get("/gone/0", revision=store.revision() - 1) is None


def test_previous_values_are_read_of_the_keys_alone_that_are_wanted(store):
    events = []
    store.subscribe("/a", "/z", lambda batch: events.extend(batch.events), previous=lambda key: key == "/b")
    store.subscribe("/x", "/z", lambda batch: None)
    for value in (b"1", b"2"):
        store.txn([], [Put("/a", value), Put("/b", value), Put("/y", value)])
    store.txn([], [Delete("/a"), Delete("/b")])

    before = [(event.key, event.previous and event.previous.value) for event in events]

    created = [("/a", None), ("/b", None), ("/y", None)]
    assert before == [*created, ("/a", b""), ("/b", b"1"), ("/y", b"1"), ("/a", b""), ("/b", b"2")]


def test_history_is_forgotten_after_a_while(path):
    clock = FakeClock()
    store = SqliteStore(path, clock, history_seconds=60)
    first = store.txn([], [Put("/a", b"one")]).revision
    step = 60 / COMPACTIONS
    until(lambda: store._maintenance._next_compaction == step)
    for _ in range(COMPACTIONS + 1):
        assert store.get("/a", revision=first).value == b"one"
        store.txn([], [Put("/a", b"two")])
        clock.advance(step)
        due = clock.monotonic() + step
        until(lambda due=due: store._maintenance._next_compaction == due)

    with pytest.raises(Compacted):
        store.get("/a", revision=first)
    store.close()


def test_reads_and_writes_go_on_during_checkpoints(store):
    value = bytes(100_000)
    for number in range(200):
        store.txn([], [Put(f"/{number % 10}", value)])

    assert until(lambda: store._maintenance._unflushed < 200 * len(value))
    assert store.count("/", "0") == 10
    assert all(item.value == value for item in store.range("/", "0").items)


def test_the_watch_cache_follows_it(store):
    cache = StoreCache(store, SystemClock())
    cache.start()
    pods = cache.resource("/registry/pods/", read_object())
    assert pods.list().objects == []

    revision = store.txn([], [Put("/registry/pods/d/a", b'{"metadata":{"name":"a","namespace":"d"}}')]).revision

    assert pods.get("d", "a", resource_version=0).revision == revision
    watch = pods.watch(resource_version=revision)
    gone = store.txn([Compare("/registry/pods/d/a", revision)], [Delete("/registry/pods/d/a")]).revision
    assert [(r.kind, r.revision, r.object.name) for r in watch.drain()] == [("DELETED", gone, "a")]
    cache.close()


class TestGroupCommit:
    def test_who_waits_is_served_together(self):
        batches, first, go = [], threading.Event(), threading.Event()

        def commit(batch):
            batches.append(list(batch))
            if len(batches) == 1:
                first.set()
                go.wait(60)

        commits = GroupCommit(commit)
        threads = [threading.Thread(target=commits.run, args=(0,))]
        threads[0].start()
        first.wait(60)
        threads += [threading.Thread(target=commits.run, args=(n,)) for n in range(1, 6)]
        for thread in threads[1:]:
            thread.start()
        until(lambda: len(commits._waiting) == 5)

        go.set()
        for thread in threads:
            thread.join(30)

        assert batches[0] == [0]
        assert sorted(batches[1]) == [1, 2, 3, 4, 5]
        assert len(batches) == 2

    def test_a_crash_reaches_everybody_and_the_next_goes_on(self):
        outcomes = []

        def commit(batch):
            outcomes.append(batch)
            if len(outcomes) == 1:
                raise ZeroDivisionError

        commits = GroupCommit(commit)
        with pytest.raises(ZeroDivisionError):
            commits.run(1)
        commits.run(2)

        assert outcomes == [[1], [2]]


WRITER = """
import sys
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
from hyperkube.storage.store import Compare, Delete, Put
from hyperkube_storage.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]), history_seconds=0)
def write(worker):
    for number in range(100000):
        value = b"%d" % number
        revision = store.txn([], [Put(f"/{worker}/{number % 50}", value * 300), Put(f"/{worker}/last", value)]).revision
        sys.stdout.write(f"{worker} {number} {revision}\\n")
        sys.stdout.flush()
with ThreadPoolExecutor(4) as pool:
    list(pool.map(write, range(4)))
"""


@pytest.mark.slow
def test_every_answered_write_survives_sigkill(path):
    chance = random.Random(7)
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        lines = [process.stdout.readline() for _ in range(chance.randrange(5, 400))]
        process.kill()
        lines += process.stdout.readlines()
        process.stdout.close()
        process.wait()
        answered = {}
        for line in lines:
            if line.endswith("\n"):
                worker, number, revision = map(int, line.split())
                answered[worker] = max(answered.get(worker, (0, 0)), (number, revision))

        store = SqliteStore(path, history_seconds=0)

        assert answered
        for worker, (number, revision) in answered.items():
            last = store.get(f"/{worker}/last")
            there = int(last.value)
            assert there in (number, number + 1), "at most the write under way is there beyond the answered ones"
            assert (last.mod_revision == revision) == (there == number)
            assert store.get(f"/{worker}/{there % 50}").value == b"%d" % there * 300, "a transaction is whole"
            assert store.revision() >= revision
        store.close()


def test_at_rest_no_connection_is_open_but_the_writers_and_those_that_are_read_with(store, path):
    store.txn([], [Put("/a", b"one")])

    def opened():
        log = path.with_name(f"{path.name}-wal")  # of the file itself SQLite keeps descriptors for the next connection
        return sum(each.readlink() == log for each in Path("/proc/self/fd").iterdir() if each.is_symlink())

    with store.database.reader() as reading, store.database.reader() as another:
        for connection in (reading, another):
            connection.execute("SELECT count(*) FROM history").fetchone()
        most = opened()
    with store.database.reader() as reading:
        store.database.forget()
        assert reading.execute("SELECT count(*) FROM history").fetchone() == (1,)
    store.database.forget()

    assert opened() == most - 2
    assert store.get("/a").value == b"one"
