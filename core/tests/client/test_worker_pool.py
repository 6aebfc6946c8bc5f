"""Threads that come with the keys and go with them."""

import logging
import threading

from hyperkube.client import worker_pool
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import FakeClock
from hyperkube.testing.waiting import eventually

LOGGER = logging.getLogger("hyperkube.test")


def pool_of(work, *, clock=None, workers=2):
    backoff = Backoff(initial=1.0, cap=1.0)
    return WorkerPool("pool", work, clock=clock or FakeClock(), workers=workers, logger=LOGGER, backoff=backoff)


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("pool-")]


def test_keys_are_worked_on_from_begin_to_stop():
    done = []
    pool = pool_of(done.append)
    pool.queue.add("early")
    assert not threads()

    pool.begin()
    pool.queue.add("late")

    eventually(lambda: sorted(done) == ["early", "late"])
    pool.stop()
    assert pool.wait_ended(30)
    pool.queue.add("too late")
    assert not threads()
    assert len(done) == 2


def test_no_more_threads_than_workers():
    gate, entered = threading.Event(), []

    def work(key):
        entered.append(key)
        gate.wait(30)

    pool = pool_of(work)
    pool.begin()
    for key in "abc":
        pool.queue.add(key)

    eventually(lambda: len(entered) == 2)
    assert len(threads()) == 2
    gate.set()
    eventually(lambda: len(entered) == 3)
    pool.stop()
    assert pool.wait_ended(30)


def test_idle_threads_go_and_come_again(monkeypatch):
    monkeypatch.setattr(worker_pool, "LINGER_SECONDS", 0.01)
    done = []
    pool = pool_of(done.append)
    pool.begin()
    pool.queue.add("a")
    eventually(lambda: done == ["a"] and not threads())

    pool.queue.add("b")

    eventually(lambda: done == ["a", "b"])
    pool.stop()
    assert pool.wait_ended(30)


def test_a_key_whose_work_failed_comes_back_and_stops_no_other(caplog):
    clock, tries = FakeClock(), []

    def work(key):
        tries.append(key)
        if len(tries) == 1:
            raise KeyError("bug")

    pool = pool_of(work, clock=clock)
    pool.queue.add("broken")
    pool.queue.add("sound")

    assert [pool.take(block=False) for _ in range(3)] == ["broken", "sound", None]
    assert "pool failed on 'broken'" in caplog.text
    clock.advance(1)
    assert pool.take(block=False) == "broken"
