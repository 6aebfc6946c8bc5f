import gc
import os
import signal
import subprocess
import sys
import threading

import pytest

from hyperkube.command.lifecycle import COLLECTOR_THRESHOLDS, Lifecycle, StopSignal, start_up, stop_signal

WAITER = """
import sys
from hyperkube.command.lifecycle import stop_signal
with stop_signal() as stopped:
    print("ready", flush=True)
    while not stopped.wait(0.0001):
        pass
print("stopped", flush=True)
sys.stdin.read()
"""


class Part:
    def __init__(self, name, log, fails=""):
        self.name, self.log, self.fails = name, log, fails

    def start(self):
        self.log.append(f"+{self.name}")
        if self.fails == "start":
            raise OSError(self.name)

    def close(self):
        self.log.append(f"-{self.name}")
        if self.fails == "close":
            raise OSError(self.name)


def live(*parts):
    with Lifecycle() as life:
        for part in parts:
            life.start(part.name, part)


def test_parts_close_in_reverse():
    log = []
    with Lifecycle() as life:
        life.start("a", Part("a", log))
        life.on_close("b", lambda: log.append("-b"))
        life.start("c", Part("c", log))

    assert log == ["+a", "+c", "-c", "-b", "-a"]


def test_a_part_that_started_half_way_is_closed():
    log = []
    with pytest.raises(OSError, match="b"):
        live(Part("a", log), Part("b", log, fails="start"))

    assert log == ["+a", "+b", "-b", "-a"]


def test_a_part_that_cannot_close_holds_back_no_other():
    log = []
    with pytest.raises(OSError, match="b"):
        live(Part("a", log), Part("b", log, fails="close"))

    assert log == ["+a", "+b", "-b", "-a"]


@pytest.fixture
def stopped():
    made = StopSignal()
    yield made
    made.close()


def test_a_stop_signal_wakes_all_who_wait_now_and_later(stopped):
    threads = [threading.Thread(target=stopped.wait, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not stopped.wait(0.001)

    stopped.set()

    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert stopped.wait()
    assert stopped.is_set()


def test_a_handler_may_set_it_while_its_own_thread_sets_it():
    """A signal arrives while the main thread is inside `set` and `wait`: nothing waits for itself."""
    with stop_signal() as stopped:
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert stopped.wait(30)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_is_never_lost_nor_waits_for_itself(number):
    """The waiting thread is almost always inside `wait` here, so a lock taken there would be met."""
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", WAITER], stdin=-1, stdout=-1, text=True)
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
            assert process.stdout.readline() == "stopped\n"
            process.communicate("", timeout=30)
            assert process.returncode == 0
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(autouse=True)
def _thresholds():
    """Give the collector of the tests its own thresholds back."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_the_collector_rests_during_a_start_and_leaves_alone_what_was_made():
    assert gc.isenabled()

    try:
        with start_up():
            during = gc.isenabled()
            made = [[] for _ in range(1000)]
        frozen = gc.get_freeze_count()
    finally:
        gc.unfreeze()

    assert not during
    assert frozen > len(made)
    assert gc.isenabled()
    assert gc.get_threshold() == COLLECTOR_THRESHOLDS


def test_a_start_that_fails_gives_the_collector_back():
    with pytest.raises(OSError, match="no port"), start_up():
        raise OSError("no port")

    gc.unfreeze()
    assert gc.isenabled()
