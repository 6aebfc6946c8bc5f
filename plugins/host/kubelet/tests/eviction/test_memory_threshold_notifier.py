"""The kernel's word that memory gets short, for a cgroup of the test's own (as root, with cgroups of version 1)."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hyperkube_host.kubelet.eviction.memory_threshold_notifier import REFRESH_SECONDS, MemoryThresholdNotifier
from hyperkube_host.kubelet.thresholds import read_thresholds

from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

MEMORY = Path("/sys/fs/cgroup/memory")
MI = 1 << 20
HOLDS = "import sys; held = bytearray(int(sys.argv[1])); held[::4096] = b'x' * len(held[::4096]); sys.stdin.read()"
THRESHOLDS = read_thresholds({"memory.available<40Mi": "", "nodefs.available<90%": ""})


class Later:
    """A clock that the test moves."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def folder():
    if os.geteuid() != 0 or not os.access(MEMORY / "cgroup.event_control", os.W_OK):
        pytest.skip("needs root and cgroups of version 1 that may be written")
    made = MEMORY / f"hyperkube-notifier-{os.getpid()}"
    made.mkdir()
    yield made
    SystemClock().sleep(0.05)
    made.rmdir()


def hold(folder, size):
    """Start a process in the cgroup that holds so many bytes."""
    enters = f'echo $$ > {folder}/cgroup.procs; exec {sys.executable} -c "$0" {size}'
    return subprocess.Popen(["sh", "-c", enters, HOLDS], stdin=subprocess.PIPE)


def end(process):
    process.communicate()


def test_memory_that_gets_short_is_told_at_once(folder):
    crossed = threading.Event()
    notifier = MemoryThresholdNotifier(folder, THRESHOLDS, 100 * MI, crossed.set, SystemClock())
    notifier.update()

    little = hold(folder, 10 * MI)
    assert not crossed.wait(1.0)
    much = hold(folder, 70 * MI)

    assert crossed.wait(20)
    end(little)
    end(much)
    notifier.close()


def test_marks_are_set_anew_once_they_are_old_and_leave_no_thread(folder):
    clock = Later()
    notifier = MemoryThresholdNotifier(folder, THRESHOLDS, 100 * MI, lambda: None, clock)

    def watches():
        return [thread.ident for thread in threading.enumerate() if thread.name == "memory-notifier"]

    notifier.update()
    (first,) = watches()
    notifier.update()
    assert watches() == [first]

    clock.now = REFRESH_SECONDS
    notifier.update()

    assert eventually(lambda: len(watches()) == 1 and watches() != [first], 10)
    notifier.close()
    eventually(lambda: not watches(), 10)
    notifier.update()
    assert not watches()


def test_a_kernel_without_such_marks_is_told_of(tmp_path, caplog):
    (tmp_path / "memory.stat").write_text("total_inactive_file 0\n")

    with caplog.at_level("INFO"):
        MemoryThresholdNotifier(tmp_path, THRESHOLDS, 100 * MI, lambda: None, SystemClock()).update()

    assert "the kernel does not tell of memory that gets short" in caplog.text
