"""What other users of the machine may write to is not followed, and what is ours they cannot read."""

import http.client
import logging
import os
import socket
import stat

import pytest
from hyperkube_lib.console.server import Console
from hyperkube_lib.loopback_slices import FIRST, hold_slice
from hyperkube_runtime.process.runtime import ProcessRuntime
from hyperkube_runtime.process.shim_client import ShimEvents
from hyperkube_storage.sqlite import SqliteStore

from hyperkube.client.kubeconfig import Access
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually


@pytest.mark.parametrize("trap", ["link to a file", "link to nothing", "folder", "pipe"])
def test_a_trap_among_the_slices_is_passed_over(tmp_path, trap):
    folder, mine = tmp_path / "slices", tmp_path / "mine"
    folder.mkdir()
    place = folder / str(FIRST)
    if trap == "link to a file":
        mine.write_text("precious")
        place.symlink_to(mine)
    elif trap == "link to nothing":
        place.symlink_to(mine)
    elif trap == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)

    held = hold_slice(folder)

    try:
        assert held.number == (FIRST if trap == "pipe" else FIRST + 1)
        assert mine.read_text() == "precious" if trap == "link to a file" else not mine.exists()
    finally:
        held.release()


def test_a_store_is_its_owners_alone(tmp_path):
    path = tmp_path / "data" / "storage.db"
    before = os.umask(0)
    try:
        store = SqliteStore(path)
        files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        store.close()
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert files.pop("storage.db.lock") == 0o600
    assert set(files.values()) == {0o600}


@pytest.mark.parametrize("said", [b"\xff\xfe", b"", b"x" * 4096, b"\0", b"../../etc"], ids=repr)
def test_what_is_no_change_of_a_container_ends_no_thread(tmp_path, said):
    before, heard = os.umask(0), []
    try:
        events = ShimEvents(tmp_path, heard.append, logging.getLogger("test"))
    finally:
        os.umask(before)
    try:
        place = tmp_path / "events.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reporter:
            reporter.sendto(said, str(place))
            reporter.sendto(b"c1", str(place))
        eventually(lambda: "c1" in heard)
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    finally:
        events.close()


def test_users_of_pods_pass_through_the_runtimes_folders_and_see_nothing(tmp_path):
    before = os.umask(0)
    try:
        runtime = ProcessRuntime(tmp_path / "process", clock=SystemClock(), logger=logging.getLogger("test"))
    finally:
        os.umask(before)
    modes = {folder.name: stat.S_IMODE(folder.stat().st_mode) for folder in (tmp_path / "process").glob("*s")}
    runtime.close()

    assert stat.S_IMODE((tmp_path / "process").stat().st_mode) == 0o711
    assert modes == {"sandboxes": 0o711, "containers": 0o711}


NOBODY = 65534


@pytest.fixture
def console():
    access = Access({"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}, {"token": "owner"}, "default")
    console = Console(lambda: access, SystemClock())
    console.start()
    yield console
    console.close()


def asked(console, path, cookie="", uid=None):
    """Ask the console over a connection, of another user's if told to; return the status and the cookie of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", console.port, timeout=60)
    connection.connect()
    if uid is not None:
        os.fchown(connection.sock.fileno(), uid, -1)  # root may give its sockets away
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers.get("Set-Cookie", "").partition(";")[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has sockets of other users")
def test_a_cookie_of_the_console_that_another_user_caught_is_of_no_use(console):
    _, mine = asked(console, f"/sign-in?token={console.sessions.one_time_token}")
    _, theirs = asked(console, f"/sign-in?token={console.sessions.one_time_token}", uid=NOBODY)

    signed_in, signed_out = 404, 401  # a path that is not relayed to anybody, and one to those who are not signed in
    assert [asked(console, "/k8s/version", mine, uid)[0] for uid in (None, NOBODY, None)] == [
        signed_in, signed_out, signed_in,
    ]  # fmt: skip
    assert [asked(console, "/k8s/version", theirs, uid)[0] for uid in (NOBODY, None)] == [signed_in, signed_out]
    assert [asked(console, "/access", mine, NOBODY)[0], asked(console, "/k8s/version")[0]] == [303, signed_out]
