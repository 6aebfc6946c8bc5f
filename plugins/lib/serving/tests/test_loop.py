"""The loop's letter box and its slices of flushes."""

from __future__ import annotations

import threading

import pytest
from hyperkube_lib.serving.flow import Inbox, Outflow
from hyperkube_lib.serving.loop import EdgeLoop, TimeSlices, shared_loop

from hyperkube.machinery.clock import SystemClock


def test_posts_are_made_in_order_on_one_thread(loop):
    seen, done = [], threading.Event()
    for number in range(1000):
        loop.post(lambda number=number: seen.append((number, threading.current_thread().name)))
    loop.post(done.set)

    assert done.wait(30)
    assert seen == [(number, "edge") for number in range(1000)]


def test_posts_from_many_threads_all_arrive(loop):
    seen = []
    threads = [threading.Thread(target=lambda: [loop.post(seen.append, 1) for _ in range(2000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = threading.Event()
    loop.post(done.set)

    assert done.wait(30)
    assert len(seen) == 16_000


def test_a_post_that_fails_does_not_stop_the_others(loop, caplog):
    done = threading.Event()
    loop.post(lambda: 1 / 0)
    loop.post(done.set)

    assert done.wait(30)


def test_what_is_left_is_called_with_the_next_post(loop):
    seen, done = [], threading.Event()
    loop.leave(seen.append, "left")
    loop.wake()
    loop.leave(seen.append, "left later")
    loop.post(done.set)

    assert done.wait(30)
    assert seen == ["left", "left later"]


def test_what_is_left_waits_until_the_loop_is_woken(loop):
    made = threading.Event()
    loop.give_way()
    loop.leave(made.set)

    assert not made.wait(0.05)
    loop.wake()
    assert made.wait(30)


def test_who_gives_way_goes_on_behind_what_the_loop_had_to_do(loop):
    seen = []
    for number in range(100):
        loop.post(seen.append, number)
    loop.give_way(30)

    assert seen == [*range(100)]


def test_who_gives_way_waits_no_longer_than_told(loop):
    gate, late = threading.Event(), threading.Event()
    loop.post(gate.wait, 30)
    loop.post(late.set)
    loop.give_way(0.01)

    assert not late.is_set()
    gate.set()
    assert late.wait(30)


def test_to_give_way_to_a_loop_that_does_not_run_takes_no_time():
    EdgeLoop().give_way(float("inf"))


class Moments:
    """The monotonic time of `hyperkube_lib.serving.loop`, and a loop that takes so many seconds when it is given way."""

    is_here = False

    def __init__(self, monkeypatch):
        self.now = 100.0
        self.takes = 0.0
        self.ways = 0
        monkeypatch.setattr("hyperkube_lib.serving.loop._monotonic", lambda: self.now)

    def give_way(self):
        self.ways += 1
        self.now += self.takes

    def rests_in(self, slices, seconds):
        """Return how often the loop is given way to while a thread computes in steps of a tenth of a millisecond."""
        before, end = self.ways, self.now + seconds
        while self.now < end:
            self.now += 0.0001
            slices.rest()
        return self.ways - before


@pytest.mark.parametrize(
    ("takes", "least", "most"),
    [(0.0, 31, 34), (0.0005, 27, 30), (0.004, 12, 14), (0.06, 1, 1)],
    ids=["idle", "quick", "busy", "stuck"],
)
def test_a_thread_that_computes_gives_way_every_3_ms_and_keeps_half_of_the_time(monkeypatch, takes, least, most):
    loop = Moments(monkeypatch)
    slices = TimeSlices(loop)
    loop.takes = takes

    assert least <= loop.rests_in(slices, 0.1) <= most


def test_on_the_loops_own_thread_nothing_gives_way(loop):
    slices, seen, done = TimeSlices(loop), [], threading.Event()

    def on_the_loop():
        seen.append(loop.is_here)
        slices.rest()
        done.set()

    loop.post(on_the_loop)

    assert done.wait(30)
    assert seen == [True]
    assert not loop.is_here


def test_what_comes_behind_is_called_once_all_of_the_turn_is_done(loop):
    seen, done, gate = [], threading.Event(), threading.Event()

    class Flushed:
        def flush(self):
            seen.append("flushed")
            loop.behind(done.set)

    def first():
        gate.wait(30)
        loop.behind(lambda: seen.append("behind"))

    loop.post(first)
    loop.post(seen.append, "posted")
    loop.ring(Flushed())
    gate.set()

    assert done.wait(30)
    assert seen == ["posted", "flushed", "behind"]


def test_what_comes_behind_outside_of_a_turn_is_called_in_the_next(loop):
    done = threading.Event()
    loop.run(_behind(loop, done.set))

    assert done.wait(30)


def test_a_call_behind_that_fails_does_not_stop_the_others(loop, caplog):
    done = threading.Event()

    def both():
        loop.behind(lambda: 1 / 0)
        loop.behind(done.set)

    loop.post(both)

    assert done.wait(30)
    assert "a call behind the others failed" in caplog.text


async def _behind(loop, call):
    loop.behind(call)


class Stream:
    """Counts its flushes; each takes a while."""

    def __init__(self, loop, seconds=0.0):
        self.loop, self.seconds = loop, seconds
        self.flushes = self.rings = 0
        self.rung = False
        self.quiet = threading.Event()

    def ring(self):
        self.rings += 1
        if not self.rung:
            self.rung = True
            self.loop.ring(self)

    def flush(self):
        self.rung = False
        self.flushes += 1
        threading.Event().wait(self.seconds)


def test_a_busy_loop_gathers_rings(loop):
    stream = Stream(loop, seconds=0.002)
    for _ in range(3000):
        stream.ring()
        threading.Event().wait(0.00001)
    threading.Event().wait(0.05)

    assert 0 < stream.flushes < stream.rings / 5


def test_the_last_ring_is_never_lost(loop):
    streams = [Stream(loop, seconds=0.0002) for _ in range(50)]

    def ring(stream):
        for _ in range(100):
            stream.ring()

    threads = [threading.Thread(target=ring, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    threading.Event().wait(0.2)

    assert not any(stream.rung for stream in streams)


class Told:
    """Tells of its flush."""

    def __init__(self, name, seen, seconds=0.0):
        self.name, self.seen, self.seconds = name, seen, seconds

    def flush(self):
        self.seen.append(self.name)
        threading.Event().wait(self.seconds)


def test_between_slices_of_flushes_the_loop_does_what_else_there_is(loop):
    seen, done = [], threading.Event()

    def ring():
        for number in range(50):
            loop.ring(Told(number, seen, seconds=0.002))
        loop.asyncio.call_soon(seen.append, "other")
        loop.after_flushes(30, done.set)

    loop.post(ring)

    assert done.wait(30)
    assert seen.index("other") < 10
    assert [name for name in seen if name != "other"] == [*range(50)]


@pytest.mark.parametrize("fails", [False, True])
def test_a_call_after_flushes_comes_behind_those_that_have_rung_before(loop, fails):
    seen, done = [], threading.Event()

    def ring():
        loop.ring(Told("before", seen, seconds=0.002))
        loop.after_flushes(30, (lambda: 1 / 0) if fails else seen.append, *([] if fails else ["call"]))
        loop.ring(Told("behind", seen))
        loop.after_flushes(30, done.set)

    loop.post(ring)

    assert done.wait(30)
    assert seen == (["before", "behind"] if fails else ["before", "call", "behind"])


def test_a_call_after_flushes_is_made_at_once_where_none_has_rung(loop):
    seen = []

    async def call():
        loop.after_flushes(30, seen.append, "call")
        return list(seen)

    assert loop.run(call()) == ["call"]


def test_a_call_after_flushes_waits_no_longer_than_told_and_is_made_once(loop):
    seen, done = [], threading.Event()

    def ring():
        for number in range(20):
            loop.ring(Told(number, seen, seconds=0.02))
        loop.after_flushes(0.001, seen.append, "call")
        loop.after_flushes(30, done.set)

    loop.post(ring)

    assert done.wait(30)
    assert seen.index("call") < 20
    assert seen.count("call") == 1


def test_posting_to_a_closed_loop_is_ignored():
    loop = EdgeLoop()
    loop.start()
    loop.close()
    loop.post(print)
    loop.close()

    with pytest.raises(RuntimeError, match="not running"):
        _ = loop.asyncio


def test_an_inbox_gives_what_came_and_then_its_end():
    taken = []
    inbox = Inbox(taken.append)
    inbox.put(b"ab")
    inbox.put(b"c")
    inbox.end()
    inbox.put(b"too late")

    assert [inbox.read() for _ in range(4)] == [b"ab", b"c", b"", b""]
    assert taken == [2, 1]


def test_an_outflow_lets_no_more_out_than_its_bound(loop):
    flow = Outflow(loop, bound=100)
    flow.pause()
    blocked = threading.Event()

    def write():
        flow.write(10, lambda: None)
        blocked.set()

    thread = threading.Thread(target=write)
    thread.start()
    assert not blocked.wait(0.05)
    flow.resume()
    assert blocked.wait(30)
    thread.join()


def test_a_closed_outflow_wakes_its_writers(loop):
    flow = Outflow(loop)
    flow.pause()
    errors = []

    def write():
        try:
            flow.write(10, lambda: None)
        except ConnectionError as error:
            errors.append(str(error))

    thread = threading.Thread(target=write)
    thread.start()
    flow.close()
    thread.join(30)

    assert errors == ["the client has gone away"]


def test_those_who_go_by_one_clock_share_a_loop_while_it_runs():
    clock, other = SystemClock(), SystemClock()
    loop = EdgeLoop(clock=clock).share()
    assert shared_loop(clock) is None, "it does not run yet"

    loop.start()
    found = shared_loop(clock), shared_loop(other)
    loop.close()

    assert found == (loop, None)
    assert shared_loop(clock) is None, "it is closed"


def test_a_shared_loop_that_nothing_holds_is_forgotten():
    clock = SystemClock()
    EdgeLoop(clock=clock).share()

    assert shared_loop(clock) is None
