"""Calls of several requests that are made together."""

import grpc
import pytest
from hyperkube_storage.etcd import Access
from hyperkube_storage.etcd.calls import Call, QueuedCalls
from hyperkube_storage.etcd.endpoints import Endpoints
from hyperkube_testing.beside import module_beside

from hyperkube.storage.store import FutureRevision, StoreUnavailable

Refusal = module_beside(__file__, "refusal").Refusal

AWAY = Refusal(grpc.StatusCode.UNAVAILABLE, "socket closed")
REFUSED = Refusal(grpc.StatusCode.OUT_OF_RANGE, "is a future revision")


class Future:
    """An answer that is there at once."""

    def __init__(self, answer):
        self._answer = answer

    def add_done_callback(self, told):
        told(self)

    def exception(self):
        return self._answer if isinstance(self._answer, Exception) else None

    def result(self):
        return self._answer


class Member:
    """A member that answers requests by name, and notes them."""

    metadata = None

    def __init__(self, name, answers, log):
        self._name, self._answers, self._log = name, answers, log

    def future(self, request, _seconds, metadata=None):
        self._log.append((self._name, request))
        answer = self._answers.get(self._name, request)
        if isinstance(answer, ValueError):
            raise answer
        return Future(answer)


class FakeAccess(Access):
    """Members by host name."""

    __slots__ = ("answers", "log")

    def connect(self, address, tunnel=None):
        return Member(address.host, self.answers, self.log)


@pytest.fixture
def access():
    made = FakeAccess(["http://a", "http://b"])
    object.__setattr__(made, "answers", {})
    object.__setattr__(made, "log", [])
    return made


def method(client):
    return client


def made(access, *wanted):
    """Return what becomes of calls that are made together: (request, may be repeated)."""
    calls = [Call(method, request, repeats=repeats) for request, repeats in wanted]
    Endpoints(access).together(calls)
    return [call.failure or call.answer for call in calls]


def test_all_are_sent_on_one_connection(access):
    assert made(access, ("x", True), ("y", False)) == ["x", "y"]
    assert access.log == [("a", "x"), ("a", "y")]


def test_a_member_that_is_away_leaves_reads_to_the_next_and_writes_unknown(access):
    access.answers["a"] = AWAY

    read, write = made(access, ("x", True), ("y", False))

    assert read == "x"
    assert isinstance(write, StoreUnavailable)
    assert access.log == [("a", "x"), ("a", "y"), ("b", "x")]


def test_none_that_answers_is_an_error_of_each(access):
    access.answers.update(a=AWAY, b=AWAY)

    outcomes = made(access, ("x", True), ("y", True))

    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 2


def test_a_refusal_is_final(access):
    access.answers["a"] = REFUSED

    (outcome,) = made(access, ("x", True))

    assert isinstance(outcome, FutureRevision)
    assert access.log == [("a", "x")]


def test_a_channel_that_was_closed_meanwhile_is_left(access):
    access.answers["a"] = ValueError("Cannot invoke RPC on closed channel!")

    assert made(access, ("x", False)) == ["x"]


def test_a_bug_reaches_those_who_wait():
    def together(_calls):
        raise RuntimeError("a bug")

    queued = QueuedCalls(together)
    call = Call(method, "x", repeats=True)

    def commit():
        queued.take()()

    queued.queue_here(commit)

    assert queued.add(call)
    assert str(call.failure) == "a bug"


def test_a_thread_that_queues_no_more_makes_its_calls_itself():
    queued = QueuedCalls(lambda _calls: None)
    queued.queue_here(lambda: None)

    queued.queue_no_more()

    assert not queued.add(Call(method, "x", repeats=True))
