"""Put-off calls of the machine's clock, and their end."""

import threading

from hyperkube.machinery.clock import SystemClock


def test_a_put_off_call_is_made_on_the_clocks_thread():
    clock, made = SystemClock(), threading.Event()

    clock.call_later(0.01, made.set)

    assert made.wait(30)
    clock.close()


def test_a_cancelled_call_is_not_made():
    clock, made, later = SystemClock(), threading.Event(), threading.Event()

    clock.call_later(0.01, made.set).cancel()
    clock.call_later(0.02, later.set)

    assert later.wait(30)
    assert not made.is_set()
    clock.close()


def test_a_closed_clock_makes_no_calls_and_keeps_no_thread():
    clock, made, others = SystemClock(), threading.Event(), {*threading.enumerate()}
    clock.call_later(60, made.set)
    (own,) = (thread for thread in threading.enumerate() if thread.name == "clock" and thread not in others)

    clock.close()
    clock.close()

    assert not own.is_alive()
    assert clock.call_later(0, made.set) is not None
    assert [thread for thread in threading.enumerate() if thread.name == "clock" and thread not in others] == []
    assert not made.is_set()


def test_a_call_that_fails_and_one_that_is_far_off_leave_the_others_their_time(caplog):
    clock, made = SystemClock(), threading.Event()

    for seconds in (1e18, float("inf"), 2**63):
        clock.call_later(seconds, made.clear)
    clock.call_later(0, lambda: 1 / 0)
    clock.call_later(0.01, made.set)

    assert made.wait(60)
    assert not clock.wait(threading.Event(), 0.01)
    clock.close()
    assert "a put-off call failed" in caplog.text
