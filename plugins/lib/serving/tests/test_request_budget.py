"""Work whose time is up ends, where it may be broken off, and nowhere else."""

import threading
import time

import pytest
from hyperkube_lib.serving import request_budget
from hyperkube_lib.serving.exchange import Response
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.request_budget import RequestBudget

from hyperkube.machinery.errors import Timeout


def spin(until):
    while not until.is_set():
        sum(range(100))


class Work(threading.Thread):
    """Spins within a budget until it is told to end, or broken off."""

    def __init__(self, budget):
        super().__init__(daemon=True)
        self.budget, self.began, self.end, self.outcome = budget, threading.Event(), threading.Event(), None

    def run(self):
        try:
            with self.budget:
                self.began.set()
                spin(self.end)
            self.outcome = "done"
        except Timeout as error:
            self.outcome = error.status()["reason"]


@pytest.fixture
def work():
    work = Work(RequestBudget())
    work.start()
    work.began.wait(60)
    yield work
    work.end.set()


def test_work_that_is_stopped_ends_with_a_timeout(work):
    work.budget.stop()
    work.join(60)

    assert work.outcome == "Timeout"


def test_work_that_takes_too_much_processor_time_ends_too(work, monkeypatch):
    monkeypatch.setattr(request_budget, "MOST_CPU_SECONDS", 0.05)
    deadline = time.monotonic() + 60
    while work.is_alive() and time.monotonic() < deadline:
        work.budget.check()
        time.sleep(0.01)

    assert work.outcome == "Timeout"


def test_work_that_is_done_in_time_is_left_alone(work):
    work.budget.check()
    work.end.set()
    work.join(60)

    assert work.outcome == "done"


def test_what_is_done_outside_is_never_broken_off():
    budget = RequestBudget()
    with budget:
        pass
    budget.stop()
    sum(range(100_000))

    with pytest.raises(Timeout), budget:
        raise AssertionError


def test_nothing_is_raised_after_the_end_however_close_the_stop_comes():
    for _ in range(300):
        budget = RequestBudget()
        stopping = threading.Thread(target=budget.stop)
        try:
            with budget:
                stopping.start()
        except Timeout:
            pass
        stopping.join()
        sum(range(1000))


def test_a_request_that_was_answered_504_costs_nothing_more(toy, start, connect):
    ended = threading.Event()

    def route(request):
        try:
            with request.budget:
                spin(threading.Event())
        finally:
            ended.set()
        return Response()

    toy.routes["/spin"] = route
    edge = start(limits=EdgeLimits(request_timeout=0.3))
    client = connect(edge)
    client.get("/spin")

    assert client.answer()[0] == 504
    assert ended.wait(60)
