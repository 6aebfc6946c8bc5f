"""The work queue's promises."""

import threading

from hyperkube.client.workqueue import WorkQueue
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import FakeClock


def test_a_waiting_key_is_held_once():
    queue = WorkQueue(FakeClock())

    queue.add("a")
    queue.add("a")

    assert queue.get() == "a"
    assert queue.get(block=False) is None


def test_a_key_added_while_it_is_worked_on_comes_back_only_when_done():
    queue = WorkQueue(FakeClock())
    queue.add("a")
    queue.get()

    queue.add("a")

    assert queue.get(block=False) is None
    queue.done("a")
    assert queue.get(block=False) == "a"


def test_a_delayed_key_appears_when_its_time_has_come():
    clock = FakeClock()
    queue = WorkQueue(clock)

    queue.add_after("a", 10)
    clock.advance(9)
    assert queue.get(block=False) is None

    clock.advance(1)
    assert queue.get(block=False) == "a"


def test_of_two_delays_the_shorter_counts():
    clock = FakeClock()
    queue = WorkQueue(clock)
    queue.add_after("a", 10)
    queue.add_after("a", 1)
    queue.add_after("a", 20)

    clock.advance(1)

    assert queue.get(block=False) == "a"
    queue.done("a")
    clock.advance(60)
    assert queue.get(block=False) is None


def test_the_delay_doubles_until_the_key_is_forgotten():
    queue = WorkQueue(FakeClock(), backoff=Backoff(initial=1, cap=3))

    delays = [queue.add_rate_limited("a") for _ in range(4)]
    queue.forget("a")

    assert delays == [1, 2, 3, 3]
    assert queue.add_rate_limited("a") == 1


def test_shutting_down_wakes_a_waiting_worker():
    queue = WorkQueue(FakeClock())
    taken = []
    worker = threading.Thread(target=lambda: taken.append(queue.get()))
    worker.start()

    queue.shut_down()
    worker.join(30)

    assert taken == [None]
    queue.add("late")
    assert len(queue) == 0


def test_a_cancelled_delay_does_not_add_the_key():
    clock = FakeClock()
    queue = WorkQueue(clock)
    queue.add_after("a", 10)

    queue.cancel("a")
    queue.cancel("never delayed")

    clock.advance(60)
    assert queue.get(block=False) is None
