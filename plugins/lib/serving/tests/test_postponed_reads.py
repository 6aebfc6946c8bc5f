"""Reads that wait for a store in another process, without a thread."""

import logging
from types import SimpleNamespace

import pytest
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.service import Incoming, Service

from hyperkube.testing.waiting import eventually


class Reads:
    """Answers the paths that it knows; keeps those who wait."""

    def __init__(self):
        self.answers = {}
        self.waiting = []

    def waits_for(self, request):
        return self.waiting.append if request.path in self.answers else None

    def answer(self, request):
        answer = self.answers[request.path]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Handler:
    def __init__(self):
        self.postponed_reads = Reads()

    def handle(self, request):
        return Response(body=b"by a worker")


class Asker:
    def __init__(self):
        self.answers = []

    def deliver(self, incoming, answer):
        if not incoming.answered:
            incoming.answered = True
            self.answers.append(answer)


@pytest.fixture
def loop():
    posted = []
    return SimpleNamespace(asyncio=SimpleNamespace(time=lambda: 1.0), post=lambda call, *args: posted.append((call, args)), posted=posted)  # fmt: skip


@pytest.fixture
def handler():
    return Handler()


@pytest.fixture
def service(loop, handler):
    made = Service(handler, loop=loop, limits=EdgeLimits(), logger=logging.getLogger("test"), name="test")
    yield made
    made.workers.close()


def turn(loop):
    """Make the calls that were posted."""
    posted, loop.posted[:] = list(loop.posted), []
    for call, args in posted:
        call(*args)


def answered(loop, asker):
    """Return the answers to a request that a worker has."""

    def look():
        turn(loop)
        return asker.answers

    return eventually(look)


def asked(service, path, method="GET", **how):
    asker, incoming = Asker(), Incoming(HttpRequest(method=method, path=path), **how)
    service.submit(asker, incoming)
    return asker, incoming


def test_a_read_is_answered_when_memory_has_what_the_store_had(service, handler, loop):
    handler.postponed_reads.answers["/known"] = Response(body=b"from memory")
    asker, _ = asked(service, "/known")
    before = list(loop.posted)

    handler.postponed_reads.waiting[0](None)
    turn(loop)

    assert (before, [answer.body for answer in asker.answers]) == ([], [b"from memory"])
    assert service._read_only == 0


@pytest.mark.parametrize("path", ["/unknown", "/forgotten", "/in vain"])
def test_what_memory_does_not_answer_has_a_worker(service, handler, loop, path):
    handler.postponed_reads.answers |= {"/forgotten": None, "/in vain": Response(body=b"old")}
    asker, _ = asked(service, path)

    for told in handler.postponed_reads.waiting:
        told(TimeoutError("in vain") if path == "/in vain" else None)

    assert [answer.body for answer in answered(loop, asker)] == [b"by a worker"]


def test_a_write_does_not_wait(service, handler, loop):
    handler.postponed_reads.answers["/known"] = Response(body=b"from memory")
    asker, _ = asked(service, "/known", method="PUT")

    assert [answer.body for answer in answered(loop, asker)] == [b"by a worker"]


def test_a_large_answer_is_compressed_by_a_worker(service, handler, loop):
    handler.postponed_reads.answers["/known"] = Response(body=b"x" * service.limits.gzip_from)
    asker, _ = asked(service, "/known", gzip=True)

    handler.postponed_reads.waiting[0](None)

    assert len(answered(loop, asker)[0].body) < service.limits.gzip_from
    assert service._read_only == 0


def test_a_bug_is_an_internal_error(service, handler, loop):
    handler.postponed_reads.answers["/known"] = RuntimeError("a bug")
    asker, _ = asked(service, "/known")

    handler.postponed_reads.waiting[0](None)
    turn(loop)

    assert [answer.status for answer in asker.answers] == [500]


def test_a_read_whose_time_is_up_is_answered_once(service, handler, loop):
    handler.postponed_reads.answers["/known"] = Response(body=b"from memory")
    asker, incoming = asked(service, "/known")
    incoming.answered = True

    handler.postponed_reads.waiting[0](None)
    turn(loop)

    assert asker.answers == []
    assert service._read_only == 0
