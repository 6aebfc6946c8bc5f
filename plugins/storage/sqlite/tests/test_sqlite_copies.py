import errno
import shutil
from pathlib import Path

import pytest
from hyperkube_storage.sqlite import SqliteStore, copies

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.store import Put, StoreUnavailable


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "seed" / "storage.db", FakeClock(), history_seconds=0)
    store.txn([], [Put("/a", b"one")])
    store.txn([], [Put("/a", b"two")])
    yield store
    store.close()


@pytest.fixture
def cloned(monkeypatch):
    """Stand in for a disk that shares blocks: whole files are "shared" by copying them; return which were."""
    done = []

    def ioctl(new, _request, old):
        source = Path(f"/proc/self/fd/{old}")
        done.append(source.readlink().name)
        shutil.copyfile(source, f"/proc/self/fd/{new}")

    monkeypatch.setattr(copies.fcntl, "ioctl", ioctl)
    return done


def test_blocks_are_shared_where_the_disk_can(store, cloned, tmp_path):
    other = store.fork(tmp_path / "fork")

    other.txn([], [Put("/a", b"three")])

    assert cloned == ["storage.db"]
    assert (store.get("/a").value, other.get("/a").value) == (b"two", b"three")
    assert other.get("/a", revision=2).value == b"one"
    assert {file.name for file in (tmp_path / "fork").iterdir()} == {
        "storage.db", "storage.db-shm", "storage.db-wal", "storage.db.lock",
    }  # fmt: skip
    other.close()


def test_where_it_cannot_the_file_is_copied(store, monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(copies.fcntl, "ioctl", refuse)

    other = store.fork(tmp_path / "fork")

    assert other.get("/a").value == b"two"
    other.close()


def test_a_reader_that_keeps_the_log_from_being_emptied_prevents_no_fork(store, cloned, tmp_path):
    with store.database.reader() as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM history").fetchall()
        store.txn([], [Put("/a", b"three")])
        store.checkpoint()
        store.txn([], [Put("/a", b"four")])

        other = store.fork(tmp_path / "fork")

    assert other.get("/a").value == b"four"
    other.close()


def test_a_place_that_cannot_be_written_leaves_the_seed_at_work(store, tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreUnavailable, match=r"cannot be written: (Not a directory|File exists)"):
        store.fork(tmp_path / "file")

    assert store.txn([], [Put("/a", b"three")]).succeeded
