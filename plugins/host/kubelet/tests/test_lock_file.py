"""One kubelet of a node at a time."""

import fcntl
import threading
import time
from pathlib import Path

import pytest
from hyperkube_host.kubelet.lock_file import check_lock_flags, locked

from hyperkube.machinery.errors import UsageError
from hyperkube.testing.waiting import SECONDS


def is_locked(path):
    with Path(path).open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_the_lock_is_held_as_long_as_the_kubelet_runs(tmp_path):
    path = str(tmp_path / "lock")

    with locked(path, never):
        assert is_locked(path)
    assert not is_locked(path)


def never():
    """Wait a moment and do not give up."""
    time.sleep(0.01)
    return False


def test_a_kubelet_that_is_stopped_waits_no_more(tmp_path):
    path = str(tmp_path / "lock")

    with locked(path, never), locked(path, lambda: True) as is_held:
        assert not is_held


def test_a_second_kubelet_waits_for_the_first(tmp_path):
    path, order, second_runs = str(tmp_path / "lock"), [], threading.Event()

    def second():
        with locked(path, never):
            order.append("second")
            second_runs.set()

    with locked(path, never):
        thread = threading.Thread(target=second)
        thread.start()
        assert not second_runs.wait(0.05)
        order.append("first ends")
    thread.join(SECONDS)

    assert order == ["first ends", "second"]


def test_the_first_kubelet_is_told_once_that_another_one_wants_the_lock(tmp_path):
    path, told, times = str(tmp_path / "lock"), threading.Event(), []

    def contended():
        times.append(1)
        told.set()

    with locked(path, never, contended):
        is_locked(path)
        assert told.wait(SECONDS)
        is_locked(path)
    assert times == [1]


def test_nothing_is_told_when_the_kubelet_just_ends(tmp_path):
    times = []

    with locked(str(tmp_path / "lock"), never, lambda: times.append(1)):
        pass

    assert times == []


def test_a_file_that_cannot_be_made_is_named(tmp_path):
    path = str(tmp_path / "no" / "lock")

    with pytest.raises(UsageError, match=r"unable to acquire file lock on .*: No such file"), locked(path, never):
        pass


def test_contention_needs_a_file():
    with pytest.raises(UsageError, match="cannot exit on lock file contention: no lock file specified"):
        check_lock_flags("", exits_on_contention=True)
    check_lock_flags("", exits_on_contention=False)
