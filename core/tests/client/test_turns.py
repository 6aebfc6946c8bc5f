"""Turns on shared threads: one at a time for each seat, none lost, and nobody held up by a slow one."""

import threading

import pytest

from hyperkube.client.turns import THREADS, Turns
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually


@pytest.fixture
def turns():
    clock = SystemClock()
    turns = Turns("test", clock)
    yield turns
    turns.close()
    clock.close()


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


def test_nothing_to_do_costs_no_thread(turns):
    turns.seat(lambda: None)

    assert threads() == []


def test_many_seats_share_few_threads(turns):
    served = set()
    seats = [turns.seat(lambda number=number: served.add(number)) for number in range(100)]

    for seat in seats:
        seat.ring()

    assert eventually(lambda: len(served) == 100)
    assert 1 <= len(threads()) <= THREADS


def test_a_ring_during_a_turn_is_answered_by_another_one_after_it(turns):
    inside, go_on, log = threading.Event(), threading.Event(), []

    def turn():
        log.append("begin")
        inside.set()
        go_on.wait(60)
        log.append("end")

    seat = turns.seat(turn)
    seat.ring()
    inside.wait(60)
    seat.ring()
    seat.ring()
    go_on.set()

    assert eventually(lambda: len(log) == 4)
    assert log == ["begin", "end"] * 2


def test_what_a_turn_asks_for_comes_after_its_rest_without_a_ring(turns):
    rests = [0.001, 0.0, None]
    log = []

    def turn():
        log.append(len(log))
        return rests[len(log) - 1]

    turns.seat(turn).ring()

    assert eventually(lambda: log == [0, 1, 2])


def test_turns_that_hang_hold_up_the_others_for_a_moment_only(turns):
    hanging, end, served = threading.Semaphore(0), threading.Event(), threading.Event()

    def hang():
        hanging.release()
        end.wait(60)

    for seat in [turns.seat(hang) for _ in range(THREADS)]:
        seat.ring()
    for _ in range(THREADS):
        assert hanging.acquire(timeout=60)
    turns.seat(served.set).ring()

    assert served.wait(50)
    assert len(threads()) == THREADS + 1
    end.set()


def test_leaving_waits_for_the_present_turn_and_ends_all_others(turns):
    inside, go_on, log = threading.Event(), threading.Event(), []

    def turn():
        inside.set()
        go_on.wait(60)
        log.append("turn")

    seat = turns.seat(turn)
    seat.ring()
    inside.wait(60)
    leaving = threading.Thread(target=lambda: (seat.leave(), log.append("left")))
    leaving.start()
    go_on.set()
    leaving.join(60)
    seat.ring()

    assert log == ["turn", "left"]


def test_a_turn_may_leave_its_own_seat(turns):
    log = []

    def turn():
        log.append("turn")
        seat.leave()
        return 0.0

    seat = turns.seat(turn)
    seat.ring()
    last = threading.Event()
    assert eventually(lambda: log)
    turns.seat(last.set).ring()

    assert last.wait(60)
    assert log == ["turn"]


def test_a_turn_that_fails_takes_nothing_from_the_others(turns, caplog):
    served = threading.Event()
    turns.seat(lambda: 1 // 0).ring()
    turns.seat(served.set).ring()

    assert served.wait(60)
    assert eventually(lambda: "a turn failed" in caplog.text)


def test_after_closing_there_are_no_threads_and_no_turns(turns):
    first, second = threading.Event(), threading.Event()
    turns.seat(first.set).ring()
    assert first.wait(60)

    turns.close()
    turns.seat(second.set).ring()

    assert threads() == []
    assert not second.is_set()
