"""States of the local cluster are kept, listed, compared, brought back and gone on from, by command."""

import pytest
from click.testing import CliRunner
from hyperkube_command.snapshot import command, resource_of
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import Delete, Put

SqliteStore = pytest.importorskip("hyperkube_storage.sqlite", reason="needs the storage backend").SqliteStore


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def change(data, *operations):
    """Let the cluster's server write; return the revision."""
    Layout(data).create()
    store = SqliteStore(Layout(data).store / "storage.db", history_seconds=0)
    try:
        for operation in operations:
            store.txn([], [operation])
        return store.revision()
    finally:
        store.close()


def keys(data):
    store = SqliteStore(Layout(data).store / "storage.db", history_seconds=0)
    try:
        return {item.key: item.value for item in store.range("/", "0").items}
    finally:
        store.close()


def run(data, *words, code=0):
    done = CliRunner().invoke(command, [*words, "--data-dir", str(data)])
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.output


POD, SETTINGS = "/registry/pods/default/a", "/registry/configmaps/default/settings"


def test_what_was_saved_comes_back(data):
    change(data, Put(POD, b"one"))
    run(data, "save", "good")
    change(data, Put(POD, b"two"), Put(SETTINGS, b"{}"))

    with pytest.raises(UsageError, match="exists: give --force to replace it"):
        run(data, "restore", "good")
    run(data, "restore", "good", "--force")

    assert keys(data) == {POD: b"one"}


def test_a_new_data_folder_is_made_of_a_snapshot_file(data, tmp_path):
    change(data, Put(POD, b"one"))
    saved = tmp_path / "elsewhere" / "saved.db"
    run(data, "save", str(saved))

    run(tmp_path / "new", "restore", str(saved))

    assert keys(tmp_path / "new") == {POD: b"one"}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_a_running_server_is_saved_and_forked_but_not_replaced(data, tmp_path):
    Layout(data).create()
    store = SqliteStore(Layout(data).store / "storage.db")
    store.txn([], [Put(POD, b"one")])

    run(data, "save", "running")
    output = run(data, "fork", str(tmp_path / "fork"))
    with pytest.raises(UsageError, match="is in use by process"):
        run(data, "restore", "running", "--force")
    store.txn([], [Put(POD, b"two")])
    store.close()

    assert output.startswith("forked: revision 2, 1 keys, ")
    assert output.endswith(f"start it with: hyperkube up --data-dir {tmp_path / 'fork'}\n")
    assert keys(tmp_path / "fork") == {POD: b"one"}
    assert keys(data) == {POD: b"two"}


def test_seed_and_fork_go_their_own_ways_and_the_fork_asks_for_the_seed_s_addresses(data, tmp_path):
    change(data, Put(POD, b"seed"))
    (data / "slice").write_text("77\n")
    (data / "pki" / "secret.key").write_text("of the seed")

    run(data, "fork", str(tmp_path / "fork"))
    change(tmp_path / "fork", Put(SETTINGS, b"{}"))

    assert keys(data) == {POD: b"seed"}
    assert keys(tmp_path / "fork") == {POD: b"seed", SETTINGS: b"{}"}
    assert (tmp_path / "fork" / "slice").read_text() == "77\n"
    assert list((tmp_path / "fork" / "pki").iterdir()) == []


def test_a_fork_needs_an_empty_folder_and_a_seed(data, tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        run(data, "fork", str(tmp_path / "fork"))
    assert not (tmp_path / "fork").exists()
    change(data, Put(POD, b"one"))

    with pytest.raises(UsageError, match="is not an empty folder"):
        run(data, "fork", str(data))


def test_they_are_listed_in_the_order_of_their_revisions(data):
    change(data, Put(POD, b"one"))
    run(data, "save", "z-first")
    change(data, Put(SETTINGS, b"{}"))
    run(data, "save", "a-second")
    run(data, "save")

    rows = [line.split() for line in run(data, "ls").splitlines()]

    assert rows[0] == ["NAME", "REVISION", "OBJECTS", "BYTES"]
    assert rows[1][:3] == ["z-first", "2", "1"]
    assert [row[1:3] for row in rows[2:]] == [["3", "2"]] * 2
    assert ["a-second", "3", "2"] in [row[:3] for row in rows]


def test_objects_are_counted_now_and_in_the_past(data):
    first = change(data, Put(POD, b"one"))
    change(data, Put(SETTINGS, b"{}"), Put("/registry/services/specs/default/web", b"{}"))

    assert run(data, "show").splitlines() == [
        "revision 4, readable from revision 1 on, 3 objects",
        "       1 configmaps",
        "       1 pods",
        "       1 services/specs",
    ]
    assert run(data, "show", str(first)).splitlines()[0] == "revision 2, readable from revision 1 on, 1 objects"


def test_two_states_are_compared_by_key(data):
    first = change(data, Put(POD, b"one"), Put("/registry/pods/default/gone", b"{}"))
    run(data, "save", "before")
    change(data, Put(POD, b"two"), Put(SETTINGS, b"{}"), Delete("/registry/pods/default/gone"))

    expected = [f"+ {SETTINGS}", f"~ {POD}", "- /registry/pods/default/gone"]
    for before in ("before", str(first)):
        assert sorted(run(data, "diff", before, code=1).splitlines()) == sorted(expected)
    assert run(data, "diff", "before", str(first)) == ""


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("1", "revision 1 has been compacted, the oldest retained one is 3"),
        ("99", "revision 99 does not exist yet, the current one is 3"),
        ("nothing", "snapshot 'nothing' does not exist .*and it is no revision"),
    ],
)
def test_a_state_that_cannot_be_read_is_refused_in_a_line(data, state, words):
    change(data, Put(POD, b"one"), Put(POD, b"two"))
    store = SqliteStore(Layout(data).store / "storage.db", history_seconds=0)
    store.compact(3)
    store.close()

    with pytest.raises(UsageError, match=words):
        run(data, "show", state)


def test_a_damaged_snapshot_takes_no_store_s_place(data):
    change(data, Put(POD, b"one"))
    run(data, "save", "bad")
    saved = data / "snapshots" / "bad.db"
    saved.write_bytes(saved.read_bytes()[:4096])

    with pytest.raises(UsageError, match="is damaged"):
        run(data, "restore", "bad", "--force")
    assert keys(data) == {POD: b"one"}


@pytest.mark.parametrize(
    ("key", "resource"),
    [
        (POD, "pods"),
        ("/registry/services/endpoints/default/a", "services/endpoints"),
        ("/registry/example.com/widgets/default/a", "example.com/widgets"),
        ("/registry", "/registry"),
    ],
)
def test_keys_are_counted_by_resource(key, resource):
    assert resource_of(key) == resource
