"""The loop around decisions: when it tries again, and what it says."""

import logging
import threading

import pytest

from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import Conflict, Forbidden, ServiceUnavailable
from hyperkube.testing.waiting import eventually


def run(error, clock=None):
    """Run a loop whose first attempt fails; return how often it tried before and after its back-off."""
    clock = clock or FakeClock()
    tries = []

    def sync(key):
        tries.append(key)
        if len(tries) == 1:
            raise error

    loop = ReconcileLoop("x", sync, clock=clock)
    loop.queue.add("k")
    loop.drain()
    first = len(tries)
    clock.advance(1)
    loop.drain()
    return first, len(tries)


@pytest.mark.parametrize(
    "error", [Conflict("x"), NotYet("x"), ServiceUnavailable("x"), ConnectionError("x"), KeyError("bug")], ids=repr
)
def test_a_failure_is_tried_again_later(error):
    assert run(error) == (1, 2)


def test_a_namespace_that_goes_is_no_reason_to_retry():
    refusal = Forbidden("x", details={"causes": [{"reason": "NamespaceTerminating"}]})

    assert run(refusal) == (1, 1)


@pytest.mark.parametrize("error", [Conflict("x"), ServiceUnavailable("x")], ids=repr)
def test_after_so_many_retries_a_key_waits_for_its_next_change(error, caplog):
    clock, tries = FakeClock(), []

    def sync(key):
        tries.append(key)
        raise error

    loop = ReconcileLoop("x", sync, clock=clock, max_retries=3)
    loop.queue.add("k")
    for _ in range(10):
        loop.drain()
        clock.advance(1000)
    dropped = len(tries)
    loop.queue.add("k")
    for _ in range(10):
        loop.drain()
        clock.advance(1000)

    assert (dropped, len(tries)) == (4, 8)
    assert "x 'k': x; dropped until it changes" in caplog.text


def test_a_conflict_is_not_worth_a_warning(caplog):
    caplog.set_level(logging.INFO)

    run(Conflict("x"))

    assert caplog.text == ""


def test_a_key_may_ask_to_be_looked_at_again():
    clock = FakeClock()
    tries = []
    loop = ReconcileLoop("x", lambda key: tries.append(key) or 30.0, clock=clock)
    loop.queue.add("k")
    loop.drain()

    clock.advance(30)
    loop.drain()

    assert tries == ["k", "k"]


def test_a_loop_that_never_rests_is_found_out():
    def restless(key):
        loop.queue.add(key)

    loop = ReconcileLoop("x", restless, clock=FakeClock())
    loop.queue.add("k")

    with pytest.raises(RuntimeError, match="does not come to rest"):
        loop.drain(limit=50)


def names_of_threads(loop):
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(f"{loop.name}-")]


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("hyperkube.client.worker_pool.LINGER_SECONDS", 0.001)


def test_a_loop_with_nothing_to_do_has_no_thread(impatient):
    seen = []
    loop = ReconcileLoop("resting", seen.append, clock=SystemClock())
    loop.queue.add("before")

    loop.begin()
    assert eventually(lambda: seen == ["before"] and names_of_threads(loop) == [])
    loop.queue.add("after")

    assert eventually(lambda: seen == ["before", "after"] and names_of_threads(loop) == [])
    loop.stop()
    assert loop.wait_ended(60)


def test_no_key_is_lost_between_a_worker_that_goes_and_one_that_comes(impatient):
    seen = []
    loop = ReconcileLoop("flickering", seen.append, clock=SystemClock(), workers=2)
    loop.begin()

    for number in range(500):
        loop.queue.add(str(number))
        SystemClock().sleep(0.001 * (number % 3))

    assert eventually(lambda: len(seen) == 500)
    loop.stop()
    assert loop.wait_ended(60)


def test_as_many_workers_come_as_keys_wait_and_are_allowed():
    inside, go_on = threading.Semaphore(0), threading.Event()

    def hold(_key):
        inside.release()
        go_on.wait(60)

    loop = ReconcileLoop("crowded", hold, clock=SystemClock(), workers=3)
    loop.begin()
    for number in range(10):
        loop.queue.add(str(number))

    for _ in range(3):
        assert inside.acquire(timeout=60)
    assert len(names_of_threads(loop)) == 3
    assert not inside.acquire(blocking=False)
    go_on.set()
    loop.stop()
    assert loop.wait_ended(60)


def test_the_end_waits_for_the_key_that_is_being_worked_on():
    inside, go_on, log = threading.Event(), threading.Event(), []

    def hold(key):
        inside.set()
        go_on.wait(60)
        log.append(key)

    loop = ReconcileLoop("ending", hold, clock=SystemClock())
    loop.queue.add("a")
    running = threading.Thread(target=loop.run)
    running.start()
    inside.wait(60)
    loop.queue.add("b")
    loop.stop()

    assert not loop.wait_ended(0)
    go_on.set()
    running.join(60)
    assert log == ["a"]
    assert loop.wait_ended(0)
