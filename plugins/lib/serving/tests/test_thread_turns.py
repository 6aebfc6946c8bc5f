"""Writes that share one thread."""

from __future__ import annotations

import logging
import threading

import pytest
from hyperkube_lib.serving.priority import Priority
from hyperkube_lib.serving.thread_turns import ThreadTurns
from turn_doubles import LONG, Gathered, Queueing

from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Put


@pytest.fixture
def store():
    return Queueing()


@pytest.fixture
def turns(store):
    made = ThreadTurns(store, limit=100, name="turns", logger=logging.getLogger("test"))
    yield made
    store.gate.set()
    made.close()
    if made._thread is not None:
        made._thread.join(LONG)
        assert not made._thread.is_alive()


def held(turns):
    """Keep the thread of the turns busy until the result is set."""
    gate, begun = threading.Event(), threading.Event()
    turns.submit(lambda: (begun.set(), gate.wait(LONG)))
    assert begun.wait(LONG)
    return gate


def test_what_waits_together_is_committed_together_on_one_thread(turns, store):
    done = Gathered(20)
    gate = held(turns)
    for number in range(20):
        turns.submit(lambda number=number: (store.write(), done.add(number)))
    gate.set()

    assert done.complete.wait(LONG)
    assert done.outcomes == [*range(20)]
    assert store.sizes == [20]
    assert store.threads == {turns._ident}


def test_of_high_priority_one_goes_before_each_usual_one_and_of_low_one_after_every_second(turns):
    done = Gathered(20)
    gate = held(turns)
    for name in "xyz":
        turns.submit(lambda name=name: done.add(name), priority=Priority.LOW)
    for number in range(8):
        turns.submit(lambda number=number: done.add(number))
    for name in "abcdefghi":
        turns.submit(lambda name=name: done.add(name), priority=Priority.HIGH)
    gate.set()

    assert done.complete.wait(LONG)
    assert "".join(map(str, done.outcomes)) == "ab0xc1d2ye3f4zg5h6i7"


@pytest.mark.parametrize("priority", [Priority.HIGH, Priority.LOW])
def test_a_call_of_any_priority_wakes_the_thread_and_is_in_the_limit(store, priority):
    turns = ThreadTurns(store, limit=1, name="turns", logger=logging.getLogger("test"))
    done = Gathered(1)
    assert turns.submit(lambda: done.add("alone"), priority=priority)
    assert done.complete.wait(LONG)

    gate = held(turns)
    assert [turns.submit(int, priority=priority) for _ in range(3)] == [True, False, False]
    assert turns.submit(int, begun=True, priority=priority)
    gate.set()
    turns.close()


@pytest.mark.parametrize("priority", [Priority.HIGH, Priority.LOW])
def test_calls_of_any_priority_are_made_before_the_end_in_their_order(store, priority):
    turns = ThreadTurns(store, limit=100, name="turns", logger=logging.getLogger("test"))
    done, gate = Gathered(5), held(turns)
    for number in range(5):
        turns.submit(lambda number=number: (store.write(), done.add(number)), priority=priority)
    turns.close()
    gate.set()

    assert done.complete.wait(LONG)
    assert done.outcomes == [0, 1, 2, 3, 4]


def test_what_is_written_at_high_priority_is_committed_without_those_that_are_expected(turns, store):
    done, gate = Gathered(24), held(turns)
    for number in range(20):  # each writes twice: the second time all are expected
        turns.submit(lambda number=number: (store.write(), store.write(), done.add(number)))
    for name in "abcd":
        turns.submit(lambda name=name: (store.write(), done.add(name)), priority=Priority.HIGH)
    gate.set()

    assert done.complete.wait(LONG)
    assert {*"abcd"} <= {*done.outcomes[:10]}
    assert store.sizes[0] < 5


def test_who_is_committed_goes_on_before_others_begin(turns, store):
    told, done, gate = [], Gathered(3), held(turns)
    for number in range(3):
        turns.submit(lambda number=number: (store.write(), told.append("goes on"), done.add(number)))
    store.gate.clear()
    gate.set()
    assert store.begun.acquire(timeout=LONG)
    busy = held(turns)
    for _ in range(5):
        turns.submit(lambda: told.append("begins"))
    store.gate.set()
    for _ in range(3000):
        if turns._committed:
            break
        threading.Event().wait(0.01)
    busy.set()

    assert done.complete.wait(LONG)
    assert told[:3] == ["goes on"] * 3


def test_each_write_of_a_turn_waits_for_a_commit_of_its_own(turns, store):
    done = Gathered(5)
    gate = held(turns)
    for number in range(5):
        turns.submit(lambda number=number: (store.write(), store.write(), done.add(number)))
    gate.set()

    assert done.complete.wait(LONG)
    assert store.sizes == [5, 5]


def test_others_begin_while_a_commit_is_under_way(turns, store):
    first, second = Gathered(3), Gathered(1)
    gate = held(turns)
    store.gate.clear()
    for number in range(3):
        turns.submit(lambda number=number: (store.write(), first.add(number)))
    gate.set()
    assert store.begun.acquire(timeout=LONG)
    turns.submit(lambda: second.add("begun"))

    assert second.complete.wait(LONG)
    assert first.outcomes == []
    store.gate.set()
    assert first.complete.wait(LONG)


def test_who_waits_elsewhere_holds_up_nobody(turns):
    release, done, threads = threading.Event(), Gathered(2), []

    def waits():
        threads.append(threading.get_ident())
        return release.wait(LONG)

    turns.submit(lambda: done.add(turns.elsewhere(waits)))
    turns.submit(lambda: done.add("other"))
    turns.submit(release.set)

    assert done.complete.wait(LONG)
    assert done.outcomes == ["other", True]
    assert threads != [turns._ident]


def test_what_fails_elsewhere_fails_on_the_turn(turns):
    done = Gathered(1)

    def fails():
        raise LookupError("no")

    def call():
        with pytest.raises(LookupError, match="no"):
            turns.elsewhere(fails)
        done.add("told")

    turns.submit(call)

    assert done.complete.wait(LONG)


def test_off_the_turns_everything_is_done_here(turns):
    assert not turns.is_here()
    assert turns.elsewhere(threading.get_ident) == threading.get_ident()


def test_a_call_that_crashes_leaves_the_others_alone(turns, store, caplog):
    done = Gathered(1)

    turns.submit(lambda: 1 / 0)
    turns.submit(lambda: (store.write(), done.add("written")))

    assert done.complete.wait(LONG)
    assert "a call on a turn failed" in caplog.text


def test_what_waits_behind_a_call_that_hangs_is_given_to_others(turns):
    gate, taken = held(turns), []
    turns.submit(lambda: taken.append("ran"))

    turns.relieve(lambda _call: True)
    turns.relieve(lambda call: (call(), True)[1])

    assert taken == ["ran"]
    gate.set()


@pytest.mark.parametrize("priority", [Priority.HIGH, Priority.LOW])
def test_so_are_calls_of_any_priority_and_none_is_lost_for_which_there_is_no_room(turns, priority):
    gate, done = held(turns), Gathered(3)
    for number in range(3):
        turns.submit(lambda number=number: done.add(number), priority=priority)

    turns.relieve(lambda _call: True)  # it has made a step since the last look
    turns.relieve(lambda call: not done.outcomes and (call(), True)[1])

    assert done.outcomes == [0]
    gate.set()
    assert done.complete.wait(LONG)
    assert done.outcomes == [0, 1, 2]


class Loop:
    """Writes down what a loop is asked for."""

    def __init__(self):
        self.told = []

    def wake(self):
        self.told.append("wake")

    def give_way(self):
        self.told.append("give way")


def test_the_loop_is_woken_once_for_all_that_ran(turns, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.thread_turns.SLICE_SECONDS", LONG)
    loop, done = Loop(), Gathered(1)
    turns.join(loop)
    turns.join(loop)
    gate = held(turns)
    for name in "abc":
        turns.submit(lambda name=name: loop.told.append(name))
    gate.set()
    turns.submit(lambda: done.add("after"))

    assert done.complete.wait(LONG)
    assert [told for told in loop.told if told != "wake"] == ["a", "b", "c"]
    assert loop.told[:3] == ["a", "b", "c"]


def test_turns_give_way_to_the_loop_when_they_have_run_for_a_while(turns, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.thread_turns.SLICE_SECONDS", 0.0)
    loop, done = Loop(), Gathered(2)
    turns.join(loop)
    for name in "ab":
        turns.submit(lambda name=name: (loop.told.append(name), done.add(name)))

    assert done.complete.wait(LONG)
    turns.close()
    turns._thread.join(LONG)
    assert [told for told in loop.told if told != "wake"] == ["a", "give way", "b", "give way"]


def test_the_loop_is_woken_before_a_commit_is_put_off_for_those_who_wait_for_answers(turns, store, monkeypatch):
    monkeypatch.setattr("hyperkube_lib.serving.thread_turns.SLICE_SECONDS", LONG)
    loop, done = Loop(), Gathered(4)
    turns.join(loop)
    gate = held(turns)
    for number in range(3):
        turns.submit(lambda number=number: (store.write(), loop.told.append("answer"), done.add(number)))
    turns.submit(lambda: (store.write(), loop.told.append("answer"), store.write(), done.add("again")))
    gate.set()

    assert done.complete.wait(LONG)
    assert store.sizes == [4, 1]
    assert loop.told.count("answer") == 4
    assert "wake" in loop.told[loop.told.index("answer") :]


def test_a_call_that_hangs_does_not_keep_the_answers_of_those_before_it(turns):
    loop = Loop()
    turns.join(loop)
    gate = held(turns)
    loop.told.clear()
    turns.relieve(lambda _call: True)

    assert loop.told == ["wake"]
    gate.set()


def test_no_more_wait_than_the_limit_except_those_let_in_before(store):
    turns = ThreadTurns(store, limit=1, name="turns", logger=logging.getLogger("test"))
    gate = held(turns)

    assert [turns.submit(int) for _ in range(3)] == [True, False, False]
    assert turns.submit(int, begun=True)
    gate.set()
    turns.close()
    assert not turns.submit(int)


def test_the_end_waits_for_who_has_begun(store):
    turns = ThreadTurns(store, limit=100, name="turns", logger=logging.getLogger("test"))
    done, gate = Gathered(4), held(turns)
    turns.submit(lambda: done.add(turns.elsewhere(lambda: "back")))
    for _ in range(3):
        turns.submit(lambda: (store.write(), done.add("written")))
    turns.close()
    gate.set()

    assert done.complete.wait(LONG)
    turns._thread.join(LONG)
    assert sorted(done.outcomes) == ["back", "written", "written", "written"]


def test_a_store_that_commits_at_once_lets_no_turn_wait(caplog):
    store, done = MemoryStore(), Gathered(5)
    turns = ThreadTurns(store, limit=100, name="turns", logger=logging.getLogger("test"))
    for number in range(5):
        turns.submit(lambda number=number: done.add(store.txn([], [Put(f"/{number}", b"x")]).revision))

    assert done.complete.wait(LONG)
    assert done.outcomes == sorted(done.outcomes)
    turns.close()
    store.close()


def test_threads_and_stacks_go_when_no_call_comes_and_come_back_with_the_next(store):
    turns = ThreadTurns(store, limit=100, name="linger", logger=logging.getLogger("test"), linger=0.01)
    first, second = Gathered(5), Gathered(5)
    gate = held(turns)
    for number in range(5):
        turns.submit(lambda number=number: (store.write(), first.add(number)))
    thread = turns._thread
    gate.set()
    assert first.complete.wait(LONG)
    thread.join(LONG)

    assert turns._thread is None
    assert turns._idle == []
    assert not store.is_joined
    for number in range(5):
        turns.submit(lambda number=number: (store.write(), second.add(number)))
    assert second.complete.wait(LONG)
    turns.close()


def test_a_thread_does_not_go_while_a_call_is_elsewhere(store):
    turns = ThreadTurns(store, limit=100, name="linger", logger=logging.getLogger("test"), linger=0.001)
    back, done = threading.Event(), Gathered(1)
    turns.submit(lambda: done.add(turns.elsewhere(lambda: back.wait(LONG))))
    threading.Event().wait(0.05)

    assert turns._thread is not None
    back.set()
    assert done.complete.wait(LONG)
    turns.close()


@pytest.mark.parametrize("priority", Priority)
def test_no_call_is_lost_where_threads_go_all_the_time(store, priority):
    turns = ThreadTurns(store, limit=10_000, name="linger", logger=logging.getLogger("test"), linger=0.0)
    done = Gathered(2000)
    for number in range(2000):
        assert turns.submit(lambda number=number: (store.write(), done.add(number)), priority=priority)

    assert done.complete.wait(LONG)
    assert done.outcomes == [*range(2000)]
    turns.close()


def test_one_call_alone_has_no_thread_that_commits(turns, store):
    done = Gathered(1)
    turns.submit(lambda: (store.write(), done.add("written")))

    assert done.complete.wait(LONG)
    assert "turns-commit" not in {thread.name for thread in threading.enumerate()}
