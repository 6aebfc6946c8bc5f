"""The embedded store is checked, compacted, saved and put back by command; what is wrong is said in one line."""

import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner
from hyperkube_command.storage import command
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import Compacted, Put

sqlite = pytest.importorskip("hyperkube_storage.sqlite", reason="needs the storage backend")
SqliteStore, FORMAT = sqlite.SqliteStore, sqlite.database.FORMAT
KEY = "/registry/configmaps/default/a"


@pytest.fixture(params=["a cluster's folder", "an API server's folder"])
def data(request, tmp_path):
    """Return a data folder whose store has two versions of one key."""
    data = tmp_path / "data"
    if request.param == "a cluster's folder":
        Layout(data).create()
    store = opened(data)
    store.txn([], [Put(KEY, b"one")])
    store.txn([], [Put(KEY, b"two")])
    store.close()
    return data


def file_of(data):
    own = Layout(data).store
    return (own if own.is_dir() else data) / "storage.db"


def opened(data):
    return SqliteStore(file_of(data), history_seconds=0)


def run(data, *words):
    done = CliRunner().invoke(command, ["--data-dir", str(data), *words])
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def value(data):
    with closing(opened(data)) as store:
        return store.get(KEY).value


def test_check_says_what_is_there(data):
    assert run(data, "check").startswith("ok, revision 3, 1 keys in 2 versions, ")


def test_check_reads_beside_a_server(data):
    with closing(opened(data)) as store:
        store.txn([], [Put(KEY, b"three")])

        assert run(data, "check").startswith("ok, revision 4, 1 keys in 3 versions, ")


def test_compact_forgets_history_and_keeps_what_is_live(data):
    assert run(data, "compact").startswith("compacted: ")

    assert run(data, "check").startswith("ok, revision 3, 1 keys in 1 versions, ")
    with closing(opened(data)) as store, pytest.raises(Compacted):
        store.get(KEY, revision=2)


def test_a_backup_is_restored(data, tmp_path):
    saved = tmp_path / "saved.db"
    assert run(data, "backup", str(saved)).startswith(f"saved to '{saved}': ok, revision 3, ")
    with closing(opened(data)) as store:
        store.txn([], [Put(KEY, b"three")])

    with pytest.raises(UsageError, match="exists: give --force to replace it"):
        run(data, "restore", str(saved))
    assert run(data, "restore", str(saved), "--force").startswith("restored to ")

    assert value(data) == b"two"


def test_a_backup_replaces_no_file_unless_told(data, tmp_path):
    saved = tmp_path / "saved.db"
    saved.write_text("dear")

    with pytest.raises(UsageError, match="exists: give --force to replace it"):
        run(data, "backup", str(saved))

    assert saved.read_text() == "dear"
    run(data, "backup", str(saved), "--force")


def test_a_store_in_use_is_neither_compacted_nor_replaced(data, tmp_path):
    saved = tmp_path / "saved.db"
    with closing(opened(data)):
        run(data, "backup", str(saved))
        for words in (["compact"], ["restore", str(saved), "--force"]):
            with pytest.raises(UsageError, match="is in use by process"):
                run(data, *words)


def test_a_missing_store_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"storage file '.*storage\.db' does not exist"):
        run(tmp_path / "nowhere", "check")


def test_a_damaged_store_is_named(data):
    file = file_of(data)
    content = file.read_bytes()
    place = content.index(b"two")
    file.write_bytes(content[:place] + b"twO" + content[place + 3 :])

    with pytest.raises(UsageError, match=f"is damaged: key '{KEY}' at revision 3 is not what was written"):
        run(data, "check")


def test_a_newer_format_is_refused_and_left_alone(data):
    with closing(sqlite3.connect(file_of(data))) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = file_of(data).read_bytes()

    for words in (["check"], ["compact"]):
        with pytest.raises(UsageError, match=f"has format {FORMAT + 1}, this hyperkube reads up to {FORMAT}"):
            run(data, *words)
    with pytest.raises(UsageError, match=f"has format {FORMAT + 1}"):
        opened(data)
    assert file_of(data).read_bytes() == before


@pytest.mark.parametrize("backend", ["memory", "etcd"])
def test_a_backend_that_others_look_after_is_refused(data, backend):
    pytest.importorskip(f"hyperkube_storage.{backend}")
    with pytest.raises(UsageError, match=f"storage backend '{backend}' is not looked after by this command"):
        run(data, "--storage-backend", backend, "check")
