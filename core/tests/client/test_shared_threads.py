"""Tasks on shared threads: one step at a time of each, none lost, and none held up by a slow one."""

import threading

import pytest

from hyperkube.client import shared_threads
from hyperkube.client.shared_threads import THREADS, SharedThreads
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually


@pytest.fixture
def shared():
    clock = SystemClock()
    shared = SharedThreads("test", clock)
    yield shared
    shared.close()
    clock.close()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(shared_threads, "PATIENCE", 0.02)


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


def test_nothing_to_do_costs_no_thread(shared):
    shared.task(lambda: None)

    assert threads() == []


def test_many_tasks_share_few_threads(shared):
    served = set()
    tasks = [shared.task(lambda number=number: served.add(number)) for number in range(100)]

    for task in tasks:
        task.wake()

    assert eventually(lambda: len(served) == 100)
    assert 1 <= len(threads()) <= THREADS


def test_a_wake_up_during_a_step_is_answered_by_another_one_after_it(shared):
    inside, go_on, log = threading.Event(), threading.Event(), []

    def step():
        log.append("begin")
        inside.set()
        go_on.wait(60)
        log.append("end")

    task = shared.task(step)
    task.wake()
    inside.wait(60)
    task.wake()
    task.wake()
    go_on.set()

    assert eventually(lambda: len(log) == 4)
    assert log == ["begin", "end"] * 2


def test_what_a_step_asks_for_comes_after_its_rest_without_a_wake_up(shared):
    rests = [0.001, 0.0, None]
    log = []

    def step():
        log.append(len(log))
        return rests[len(log) - 1]

    shared.task(step).wake()

    assert eventually(lambda: log == [0, 1, 2])


def test_steps_that_hang_hold_up_the_others_for_a_moment_only(shared):
    hanging, end, served = threading.Semaphore(0), threading.Event(), threading.Event()

    def hang():
        hanging.release()
        end.wait(60)

    for task in [shared.task(hang) for _ in range(THREADS)]:
        task.wake()
    for _ in range(THREADS):
        assert hanging.acquire(timeout=60)
    shared.task(served.set).wake()

    assert served.wait(50)
    assert len(threads()) == THREADS + 1
    end.set()


def test_threads_that_came_for_others_that_hung_go_when_these_are_done(shared, impatient):
    ends, served = [threading.Event() for _ in range(2 * THREADS)], threading.Semaphore(0)

    def hang(end):
        served.release()
        end.wait(60)

    tasks = [shared.task(lambda end=end: hang(end)) for end in ends]
    for task in tasks:
        task.wake()
        assert served.acquire(timeout=60)
    assert len(threads()) == 2 * THREADS
    for end in ends:
        end.set()

    assert eventually(lambda: len(threads()) == THREADS)


def test_a_rest_ends_in_time_though_the_thread_that_knew_of_it_has_gone(shared, impatient):
    end, served, ticks = threading.Event(), threading.Semaphore(0), []

    def hang():
        served.release()
        end.wait(60)

    def tick():
        ticks.append(len(threads()))
        return 0.01

    for task in [shared.task(hang) for _ in range(2 * THREADS)]:
        task.wake()
        assert served.acquire(timeout=60)
    shared.task(tick).wake()
    end.set()

    assert eventually(lambda: ticks.count(THREADS) > 20)


def test_stopping_waits_for_the_present_step_and_ends_all_others(shared):
    inside, go_on, log = threading.Event(), threading.Event(), []

    def step():
        inside.set()
        go_on.wait(60)
        log.append("step")

    task = shared.task(step)
    task.wake()
    inside.wait(60)
    leaving = threading.Thread(target=lambda: (task.stop(), log.append("left")))
    leaving.start()
    go_on.set()
    leaving.join(60)
    task.wake()

    assert log == ["step", "left"]


def test_a_step_may_stop_its_own_task(shared):
    log = []

    def step():
        log.append("step")
        task.stop()
        return 0.0

    task = shared.task(step)
    task.wake()
    last = threading.Event()
    assert eventually(lambda: log)
    shared.task(last.set).wake()

    assert last.wait(60)
    assert log == ["step"]


def test_a_step_that_fails_takes_nothing_from_the_others(shared, caplog):
    served = threading.Event()
    shared.task(lambda: 1 // 0).wake()
    shared.task(served.set).wake()

    assert served.wait(60)
    assert eventually(lambda: "a step of a task failed" in caplog.text)


def test_after_closing_there_are_no_threads_and_no_steps(shared):
    first, second = threading.Event(), threading.Event()
    shared.task(first.set).wake()
    assert first.wait(60)

    shared.close()
    shared.task(second.set).wake()

    assert threads() == []
    assert not second.is_set()


def test_a_step_that_is_due_during_a_long_one_of_another_task_is_not_held_up(shared):
    slow, end, steps, again = threading.Event(), threading.Event(), [], threading.Event()

    def often():
        steps.append(None)
        if len(steps) > 1:
            again.set()
            return None
        late.wake()
        return 0.05

    def hang():
        slow.set()
        end.wait(60)

    late = shared.task(hang)
    for _ in range(THREADS):  # all of them rest, and know of nothing that is due
        shared.task(lambda: None).wake()

    shared.task(often).wake()

    assert slow.wait(50)
    assert again.wait(50)
    assert len(threads()) <= THREADS
    end.set()


def test_the_last_threads_end_when_they_are_to_linger_no_longer():
    clock = SystemClock()
    shared = SharedThreads("test", clock, linger=0.01)
    served = threading.Semaphore(0)
    task = shared.task(served.release)

    for _ in range(3):
        task.wake()
        assert served.acquire(timeout=50)
        assert eventually(lambda: not threads())
    shared.close()
    clock.close()
