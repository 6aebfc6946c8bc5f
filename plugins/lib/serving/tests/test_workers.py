"""The pool on which handlers run."""

from __future__ import annotations

import logging
import threading
from queue import SimpleQueue

import pytest
from hyperkube_lib.serving import workers
from hyperkube_lib.serving.workers import WorkerPool


@pytest.fixture
def pool():
    made = WorkerPool(2, queue=3, name="test", logger=logging.getLogger("test"))
    yield made
    made.close()
    for thread in made._threads:
        thread.join(30)  # the next test counts threads by their names


def test_calls_run_on_threads_of_the_pool(pool):
    names, done = [], threading.Event()

    assert pool.submit(lambda: (names.append(threading.current_thread().name), done.set()))
    assert done.wait(30)
    assert names == ["test-0"]


def test_an_idle_thread_is_used_before_a_new_one_is_started(pool):
    for _ in range(5):
        done = threading.Event()
        pool.submit(done.set)
        assert done.wait(30)
        threading.Event().wait(0.01)

    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("test-")] == ["test-0"]


def test_no_more_threads_than_the_size_and_no_more_waiting_than_the_queue(pool):
    gate, begun = threading.Event(), threading.Semaphore(0)

    def hold():
        begun.release()
        gate.wait(60)

    accepted = 0
    for _ in range(2):
        accepted += pool.submit(hold)
        begun.acquire()
    for _ in range(5):
        accepted += pool.submit(hold)

    assert accepted == 5
    gate.set()


def test_a_call_does_not_wait_for_a_thread_that_has_just_taken_another(pool):
    taken, gate, done = threading.Event(), threading.Event(), threading.Event()

    class Interrupted(SimpleQueue):
        """Stops a thread between taking `gate.wait` and making the call."""

        def get(self, *args, **options):
            call = super().get(*args, **options)
            if call == gate.wait:
                taken.set()
                gate.wait(30)
            return call

    pool._calls = Interrupted()
    first = threading.Event()
    pool.submit(first.set)
    assert first.wait(30)
    threading.Event().wait(0.05)  # until the thread has come for the next call
    pool.submit(gate.wait)
    assert taken.wait(30)
    pool.submit(done.set)

    assert done.wait(10)
    gate.set()


def test_a_call_that_raises_does_not_cost_the_thread(pool, caplog):
    def fail():
        raise RuntimeError("oops")

    done = threading.Event()
    pool.submit(fail)
    pool.submit(done.set)

    assert done.wait(30)


def test_a_closed_pool_takes_nothing(pool):
    pool.close()

    assert not pool.submit(lambda: None)


def test_a_pool_whose_threads_hang_grows_and_shrinks_again(pool):
    gate, begun, done = threading.Event(), threading.Semaphore(0), threading.Event()
    for _ in range(2):
        pool.submit(lambda: (begun.release(), gate.wait(30)))
    for _ in range(2):
        assert begun.acquire(timeout=30)
    pool.submit(done.set)

    pool.relieve()

    assert done.wait(30)
    gate.set()
    for _ in range(600):
        if len([thread for thread in threading.enumerate() if thread.name.startswith("test-")]) <= 2:
            break
        threading.Event().wait(0.05)
    assert len([thread for thread in threading.enumerate() if thread.name.startswith("test-")]) <= 2


def test_a_busy_pool_does_not_grow(pool):
    gate, begun, ended = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)
    for _ in range(2):
        pool.submit(lambda: (begun.release(), ended.release()))
    for _ in range(2):
        assert ended.acquire(timeout=30)
    for _ in range(2):
        pool.submit(lambda: (begun.release(), gate.wait(30)))
    for _ in range(4):
        assert begun.acquire(timeout=30)
    pool.submit(lambda: None)

    pool.relieve()  # two calls have ended since the last look, as many as there are threads

    assert len([thread for thread in threading.enumerate() if thread.name.startswith("test-")]) == 2
    gate.set()


def test_threads_without_calls_go_and_come_again(pool, monkeypatch):
    monkeypatch.setattr(workers, "LINGER_SECONDS", 0.01)
    for _ in range(20):
        done = threading.Event()
        assert pool.submit(done.set)
        assert done.wait(30)
        for thread in pool._threads.copy():
            thread.join(30)

    assert pool._asked == pool._submitted == 20


def test_no_call_is_left_behind_by_a_thread_that_goes(pool, monkeypatch):
    monkeypatch.setattr(workers, "LINGER_SECONDS", 0.0005)
    for pause in range(400):
        done = threading.Event()
        assert pool.submit(done.set)
        assert done.wait(30), "the call waits for a thread that has gone"
        threading.Event().wait(pause % 10 * 0.0001)
