"""Writes that share the loop's thread."""

from __future__ import annotations

import logging
import threading

import pytest
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.loop_turns import LINGER_TICKS, LoopTurns
from hyperkube_lib.serving.priority import Priority
from turn_doubles import LONG, Gathered, Queueing


@pytest.fixture
def store():
    return Queueing()


@pytest.fixture
def turns(store, loop):
    made = LoopTurns(store, limit=100, name="turns", logger=logging.getLogger("test"))
    made.join(loop)
    yield made
    store.gate.set()
    made.close()


def on(loop, call):
    """Return what a call on the loop returns."""

    async def make():
        return call()

    return loop.run(make())


def submitted(loop, turns, *calls):
    """Submit calls in one go of the loop; return whether they were let in."""
    return on(loop, lambda: [turns.submit(call) for call in calls])


def test_what_waits_together_is_committed_together_off_the_loop(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.SLICE_SECONDS", LONG)
    done = Gathered(20)
    submitted(loop, turns, *[lambda number=number: (store.write(), done.add(number)) for number in range(20)])

    assert done.complete.wait(LONG)
    assert done.outcomes == [*range(20)]
    assert store.sizes == [20]
    assert store.threads == {on(loop, threading.get_ident)}
    assert not store.committers & store.threads


def test_what_waits_is_begun_in_slices_and_still_committed_together(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.SLICE_SECONDS", 0.0)
    done, between = Gathered(5), []
    calls = [lambda number=number: (store.write(), done.add(number)) for number in range(5)]
    calls[1:1] = [lambda: loop.post(lambda: between.append(len(store._queued)))]
    submitted(loop, turns, *calls)

    assert done.complete.wait(LONG)
    assert store.sizes == [5]
    assert between[0] < 5


def test_what_is_written_at_high_priority_is_committed_without_the_others(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.SLICE_SECONDS", 0.0)
    done = Gathered(21)

    def submit():
        for number in range(20):
            turns.submit(lambda number=number: (store.write(), done.add(number)))
        turns.submit(lambda: (store.write(), done.add("bound")), priority=Priority.HIGH)

    on(loop, submit)

    assert done.complete.wait(LONG)
    assert done.outcomes[0] == "bound"
    assert store.sizes[0] == 1


def test_each_write_of_a_turn_waits_for_a_commit_of_its_own(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.PATIENCE_SECONDS", 5.0)
    done = Gathered(5)
    twice = [lambda number=number: (store.write(), store.write(), done.add(number)) for number in range(5)]
    submitted(loop, turns, *twice)

    assert done.complete.wait(LONG)
    assert store.sizes == [5, 5]


def test_who_is_committed_goes_on_before_others_begin(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.SLICE_SECONDS", LONG)
    told, done = [], Gathered(3)
    store.gate.clear()
    submitted(loop, turns, *[lambda: (store.write(), told.append("goes on"), done.add("written")) for _ in range(3)])
    assert store.begun.acquire(timeout=LONG)

    def commit_and_submit():
        store.gate.set()
        while not loop._mail:
            threading.Event().wait(0.001)
        threading.Event().wait(0.05)  # until the loop has been woken for it, too
        for _ in range(5):
            turns.submit(lambda: told.append("begins"))

    on(loop, commit_and_submit)

    assert done.complete.wait(LONG)
    on(loop, int)
    assert told == ["goes on"] * 3 + ["begins"] * 5


def test_an_answer_goes_out_behind_the_events_of_its_commit(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.EVENTS_SECONDS", LONG)
    done = Gathered(52)

    class Watcher:
        def flush(self):
            threading.Event().wait(0.001)
            done.add("event")

    store.committed = lambda: [loop.ring(Watcher()) for _ in range(50)]
    submitted(loop, turns, lambda: (store.write(), done.add("goes on"), turns.answer(loop, done.add, "answer")))

    assert done.complete.wait(LONG)
    assert done.outcomes[-1] == "answer"
    assert done.outcomes.index("goes on") < 50


def test_an_answer_does_not_wait_long_for_the_events_of_its_commit(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.EVENTS_SECONDS", 0.0)
    done = Gathered(51)

    class Watcher:
        def flush(self):
            threading.Event().wait(0.02)
            done.add("event")

    store.committed = lambda: [loop.ring(Watcher()) for _ in range(50)]
    submitted(loop, turns, lambda: (store.write(), turns.answer(loop, done.add, "answer")))

    assert done.complete.wait(LONG)
    assert done.outcomes.index("answer") < 50


def test_the_loop_goes_on_and_others_begin_while_a_commit_is_under_way(loop, turns, store):
    first, second = Gathered(1), Gathered(1)
    store.gate.clear()
    submitted(loop, turns, lambda: (store.write(), first.add("written")))
    assert store.begun.acquire(timeout=LONG)
    submitted(loop, turns, lambda: second.add("begun"))

    assert second.complete.wait(LONG)
    assert first.outcomes == []
    store.gate.set()
    assert first.complete.wait(LONG)


def test_a_write_alone_does_not_wait_for_those_of_long_ago(loop, turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.loop_turns.PATIENCE_SECONDS", 0.0)
    first, alone = Gathered(10), Gathered(1)
    submitted(loop, turns, *[lambda: (store.write(), first.add("written")) for _ in range(10)])
    assert first.complete.wait(LONG)
    put_off = []
    monkeypatch.setattr(
        turns, "_commit_now", lambda commit=turns._commit_now: (put_off.append(turns._put_off), commit())
    )
    submitted(loop, turns, lambda: (store.write(), alone.add("written")))

    assert alone.complete.wait(LONG)
    assert put_off == [False]


def test_what_waits_elsewhere_holds_up_neither_turns_nor_loop(loop, turns):
    release, done, threads = threading.Event(), Gathered(2), []

    def waits():
        threads.append(threading.get_ident())
        return release.wait(LONG)

    submitted(loop, turns, lambda: done.add(turns.elsewhere(waits)), lambda: done.add("other"), release.set)

    assert done.complete.wait(LONG)
    assert done.outcomes == ["other", True]
    assert threads != [on(loop, threading.get_ident)]


def test_what_fails_elsewhere_fails_on_the_turn(loop, turns):
    done = Gathered(1)

    def fails():
        raise LookupError("no")

    def call():
        with pytest.raises(LookupError, match="no"):
            turns.elsewhere(fails)
        done.add("told")

    submitted(loop, turns, call)

    assert done.complete.wait(LONG)


def test_on_the_loop_but_on_no_turn_nothing_goes_elsewhere(loop, turns):
    done = Gathered(1)
    submitted(loop, turns, lambda: done.add(turns.is_here()))
    assert done.complete.wait(LONG)

    assert done.outcomes == [True]
    assert not on(loop, turns.is_here)
    assert on(loop, lambda: turns.elsewhere(threading.get_ident)) == on(loop, threading.get_ident)


def test_an_answer_is_given_at_once_on_the_same_loop_and_posted_to_another(loop, turns):
    other, done = EdgeLoop(name="other"), Gathered(2)
    other.start()
    turns.join(other)
    submitted(
        loop,
        turns,
        lambda: [turns.answer(each, lambda: done.add(threading.current_thread().name)) for each in (other, loop)],
    )

    assert done.complete.wait(LONG)
    assert sorted(done.outcomes) == ["edge", "other"]
    other.close()


def test_a_call_that_crashes_leaves_the_others_alone(loop, turns, store, caplog):
    done = Gathered(1)
    submitted(loop, turns, lambda: 1 / 0, lambda: (store.write(), done.add("written")))

    assert done.complete.wait(LONG)
    assert "a call on a turn failed" in caplog.text


def test_no_more_wait_than_the_limit_except_those_let_in_before(loop, store):
    turns = LoopTurns(store, limit=1, name="turns", logger=logging.getLogger("test"))
    turns.join(loop)
    let_in = on(loop, lambda: [turns.submit(int), turns.submit(int), turns.submit(int, begun=True)])
    turns.close()

    assert let_in == [True, False, True]
    assert not on(loop, lambda: turns.submit(int))


def test_the_end_waits_for_what_has_begun_and_then_leaves_the_store(loop, store):
    turns = LoopTurns(store, limit=100, name="turns", logger=logging.getLogger("test"))
    turns.join(loop)
    store.gate.clear()
    done = Gathered(2)
    submitted(
        loop,
        turns,
        lambda: (store.write(), done.add("written")),
        lambda: done.add(turns.elsewhere(lambda: store.gate.wait(LONG) and "back")),
    )
    assert store.begun.acquire(timeout=LONG)
    turns.close()
    on(loop, int)
    assert store.is_joined
    store.gate.set()

    assert done.complete.wait(LONG)
    on(loop, int)
    on(loop, int)
    assert sorted(done.outcomes) == ["back", "written"]
    assert not store.is_joined
    assert turns._idle == []


def test_stacks_end_when_no_call_has_come_for_long_and_come_back_with_the_next(loop, turns, store):
    first, second = Gathered(5), Gathered(5)
    submitted(loop, turns, *[lambda number=number: (store.write(), first.add(number)) for number in range(5)])
    assert first.complete.wait(LONG)
    stacks = on(loop, lambda: len(turns._idle))
    on(loop, lambda: [turns.relieve(lambda _call: False) for _ in range(LINGER_TICKS + 1)])

    assert stacks == 5
    assert on(loop, lambda: turns._idle) == []
    submitted(loop, turns, *[lambda number=number: (store.write(), second.add(number)) for number in range(5)])
    assert second.complete.wait(LONG)
