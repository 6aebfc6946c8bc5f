"""What the disk may do to a store, done for real: held flushes, no space, a file system that turned read-only."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_storage.sqlite import SqliteStore

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import Put, StoreFull
from hyperkube.testing.waiting import eventually as until

WRITER = """
import sys
from pathlib import Path
from hyperkube_storage.sqlite import SqliteStore
from hyperkube.storage.store import Put

store = SqliteStore(Path(sys.argv[1]), history_seconds=0)
print("open", flush=True)
for line in sys.stdin:
    print("answered", store.txn([], [Put("/a", line.encode())]).revision, flush=True)
store.close()
"""


@pytest.fixture
def held(tmp_path):
    """Return the environment of a process whose flushes can be held back, and the file that does it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path / "held.so"
    source = Path(__file__).with_name("held_fsync.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    switch = tmp_path / "held"
    return {**os.environ, "LD_PRELOAD": str(library), "HELD": str(switch)}, switch


@pytest.mark.slow
def test_no_write_is_answered_before_its_flush(tmp_path, held):
    environment, switch = held
    command = [sys.executable, "-c", WRITER, str(tmp_path / "storage.db")]
    pipe, clock, answers = subprocess.PIPE, SystemClock(), tmp_path / "answers"
    with (
        answers.open("w") as out,
        subprocess.Popen(command, stdin=pipe, stdout=out, env=environment, text=True) as writer,
    ):
        until(lambda: "open" in answers.read_text())
        writer.stdin.write("one\n")
        writer.stdin.flush()
        until(lambda: "answered 2" in answers.read_text())

        switch.touch()
        writer.stdin.write("two\n")
        writer.stdin.flush()
        clock.sleep(0.4)
        while_held = answers.read_text()
        switch.unlink()
        until(lambda: "answered 3" in answers.read_text())
        writer.stdin.close()

    assert while_held.splitlines() == ["open", "answered 2"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.root
def test_a_full_disk_refuses_writes_loses_nothing_and_heals(small_disk):
    path = small_disk / "storage.db"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    store, answered = SqliteStore(path, history_seconds=0), {}

    def write_on():
        for number in range(1000):
            value = b"%d" % number + b"x" * 20_000
            store.txn([], [Put(f"/a/{number:04}", value)])
            answered[f"/a/{number:04}"] = value

    with pytest.raises(StoreFull, match="the disk is full"):
        write_on()

    assert len(answered) > 5
    assert {item.key: item.value for item in store.range("/a/", "/a0").items} == answered
    ballast.unlink()
    assert store.txn([], [Put("/b", b"v")]).succeeded
    store.close()
    again = SqliteStore(path, history_seconds=0)
    assert {item.key: item.value for item in again.range("/a/", "/a0").items} == answered
    again.close()


@pytest.mark.root
def test_a_disk_that_turned_read_only_is_told_in_one_line(small_disk):
    path = small_disk / "storage.db"
    store = SqliteStore(path, history_seconds=0)
    store.txn([], [Put("/a", b"v")])
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    with pytest.raises(UsageError) as caught:
        SqliteStore(path, history_seconds=0)

    assert str(caught.value) == f"storage file {str(path)!r} cannot be used: Read-only file system"


@pytest.mark.slow
def test_a_torn_log_keeps_every_answered_write(tmp_path):
    """The log's end may be missing after a crash, but nothing in it was answered."""
    path = tmp_path / "storage.db"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        for number in range(50):
            writer.stdin.write(f"{number}\n")
            writer.stdin.flush()
            answer = writer.stdout.readline()
            if answer == "open\n":
                answer = writer.stdout.readline()
            assert answer == f"answered {number + 2}\n"
        writer.kill()
    log = path.with_name("storage.db-wal")
    with log.open("ab") as file:  # a frame that was being written when the power went
        file.write(os.urandom(3000))

    store = SqliteStore(path, history_seconds=0)
    assert store.get("/a").value == b"49\n"
    store.close()
