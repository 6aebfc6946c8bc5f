"""A cloud that fails is left alone for a while, and one that is asked too often is asked more slowly."""

from __future__ import annotations

import threading

import pytest
from hyperkube_lib.cloud_provider import Circuit, CircuitOpen

from hyperkube.hookspecs.cloud import CloudFailed, CloudThrottled, CloudUnavailable, InstanceNotFound, UpdatesHosts
from hyperkube.machinery.clock import FakeClock


class Machines:
    """A capability whose answers are given: values are returned, errors raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked = 0

    def exists(self, _node: object) -> object:
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def update(self, _cluster: str, _service: object, _nodes: object) -> None:
        """Only balancers that have it are updated."""


def asked(machines, circuit, times=1):
    """Ask that many times; return the type of what came each time."""
    guarded, came = circuit.guard(machines), []
    for _ in range(times):
        try:
            came.append(type(guarded.exists({})))
        except (CloudFailed, InstanceNotFound) as error:
            came.append(type(error))
    return came


def test_three_failures_in_a_row_open_it_and_the_reason_is_told():
    machines, circuit = Machines(*[CloudUnavailable("503 from the cloud")] * 3), Circuit(FakeClock())

    assert asked(machines, circuit, 3) == [CloudUnavailable] * 3
    with pytest.raises(CircuitOpen, match=r"is asked again in 1 s: 503 from the cloud"):
        circuit.guard(machines).exists({})
    assert machines.asked == 3


def test_an_answer_between_failures_keeps_it_closed():
    machines = Machines(
        CloudUnavailable(""), CloudUnavailable(""), True, CloudUnavailable(""), CloudUnavailable(""), True
    )

    assert CircuitOpen not in asked(machines, Circuit(FakeClock()), 6)


@pytest.mark.parametrize("answer", [InstanceNotFound("i-1"), CloudFailed("no such parameter")])
def test_what_it_says_of_one_thing_is_an_answer(answer):
    machines = Machines(*[answer] * 9)

    assert asked(machines, Circuit(FakeClock()), 9) == [type(answer)] * 9


def test_one_call_finds_out_whether_the_cloud_is_back():
    clock = FakeClock()
    machines, circuit = Machines(*[CloudUnavailable("down")] * 4, True, True), Circuit(clock)
    asked(machines, circuit, 3)

    clock.advance(1.1)
    assert asked(machines, circuit, 2) == [CloudUnavailable, CircuitOpen]  # and now for two seconds
    clock.advance(1.1)
    assert asked(machines, circuit) == [CircuitOpen]
    clock.advance(1.1)

    assert asked(machines, circuit, 2) == [bool, bool]


def finding_out(circuit):
    """Let a thread ask whether the cloud is back; return it, and the event at which it learns that it is."""
    entered, leave = threading.Event(), threading.Event()

    class Slow:
        def exists(self, _node: object) -> bool:
            entered.set()
            return leave.wait(20)

    first = threading.Thread(target=lambda: circuit.guard(Slow()).exists({}))
    first.start()
    assert entered.wait(20)
    return first, leave


def test_while_it_finds_out_others_are_not_let_through():
    clock = FakeClock()
    circuit = Circuit(clock)
    asked(Machines(*[CloudUnavailable("down")] * 3), circuit, 3)
    clock.advance(1.1)
    first, leave = finding_out(circuit)

    assert asked(Machines(True), circuit) == [CircuitOpen]
    leave.set()
    first.join()
    assert asked(Machines(True), circuit) == [bool]


def test_calls_that_end_meanwhile_neither_let_others_through_nor_lengthen_the_pause():
    clock = FakeClock()
    circuit = Circuit(clock)
    started, fail = threading.Barrier(5, timeout=20), threading.Event()

    class Failing:
        def exists(self, _node: object) -> bool:
            started.wait()
            fail.wait(20)
            raise CloudUnavailable("down")

    late = [threading.Thread(target=asked, args=(Failing(), circuit)) for _ in range(4)]
    for thread in late:
        thread.start()
    started.wait()
    asked(Machines(*[CloudUnavailable("down")] * 3), circuit, 3)
    clock.advance(1.1)
    first, leave = finding_out(circuit)

    fail.set()
    for thread in late:
        thread.join()
    assert asked(Machines(True), circuit) == [CircuitOpen]  # the one that finds out is under way still
    leave.set()
    first.join()

    assert asked(Machines(True), circuit) == [bool]


def test_a_cloud_that_throttles_says_for_how_long():
    clock = FakeClock()
    machines, circuit = Machines(CloudThrottled("slow down", retry_after=20), True), Circuit(clock)

    assert asked(machines, circuit, 2) == [CloudThrottled, CircuitOpen]
    clock.advance(19)
    assert asked(machines, circuit) == [CircuitOpen]
    clock.advance(2)

    assert asked(machines, circuit) == [bool]


def test_calls_beyond_the_rate_wait_and_too_many_are_refused():
    clock = FakeClock()
    slept: list[float] = []
    clock.sleep = slept.append
    circuit = Circuit(clock, rate=1, burst=2)

    came = asked(Machines(*[True] * 40), circuit, 40)

    assert came.count(bool) == 32
    assert came[-8:] == [CircuitOpen] * 8
    assert slept == pytest.approx(list(range(1, 31)))


def test_what_a_capability_can_do_it_still_can():
    circuit = Circuit(FakeClock())

    assert isinstance(circuit.guard(Machines()), UpdatesHosts)
    assert not isinstance(circuit.guard(object()), UpdatesHosts)
