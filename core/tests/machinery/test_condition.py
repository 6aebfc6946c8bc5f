"""Conditions and events that are small while no thread waits."""

import threading

import pytest

from hyperkube.machinery.condition import Condition, Event
from hyperkube.testing.waiting import eventually


def begun(target):
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def test_who_waits_is_woken_with_the_lock_however_often_that_is_held():
    condition, steps = Condition(), []

    def wait():
        with condition, condition:
            steps.append("waits")
            condition.notify()
            assert condition.wait_for(lambda: "done" in steps, 10)
            steps.append("woken")

    with condition:
        thread = begun(wait)
        assert condition.wait_for(lambda: steps, 10)
        steps.append("done")
        condition.notify_all()
    thread.join(10)

    assert steps == ["waits", "done", "woken"]


def test_a_notice_wakes_as_many_as_it_says_and_the_first_first():
    condition, waiting, woken = Condition(), [], []

    def wait(number):
        with condition:
            waiting.append(number)
            condition.wait(10)
            woken.append(number)

    threads = []
    for number in range(3):
        threads.append(begun(lambda number=number: wait(number)))
        eventually(lambda number=number: number in waiting)
    with condition:
        condition.notify()
    threads[0].join(10)

    assert woken == [0]
    with condition:
        condition.notify_all()
    for thread in threads:
        thread.join(10)
    assert sorted(woken) == [0, 1, 2]


def test_two_conditions_may_share_a_lock():
    lock = threading.RLock()
    one, two = Condition(lock), Condition(lock)

    with one:
        two.notify()
        assert not two.wait(0.001)


def test_only_who_holds_the_lock_may_wait_or_notify():
    condition = Condition()

    with pytest.raises(RuntimeError):
        condition.wait()
    with pytest.raises(RuntimeError):
        condition.notify()


def test_an_event_is_set_waited_for_and_cleared():
    event = Event()
    thread = begun(lambda: event.wait(10))

    assert not event.wait(0.001)
    event.set()
    thread.join(10)

    assert (event.is_set(), event.wait()) == (True, True)
    event.clear()
    assert not event.is_set()
