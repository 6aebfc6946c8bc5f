"""What holds of a provider's balancers when its host is killed, or a call fails or its answer is lost, at any point.

`FaultyCloud` meets a provider's calls with faults; a provider's tests derive one that stands where the provider's way
to its cloud is. `FaultContract` tries each fault at each changing call, and lets two managers interleave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from enum import Enum, auto
from functools import partial

from hyperkube_testing.cloud import CLUSTER, CloudContract, service

from hyperkube.hookspecs.base import Plugin
from hyperkube.hookspecs.cloud import Disks, LoadBalancers
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import NodeName, Object, name_of


class Killed(BaseException):
    """The provider's process is gone."""


class Fault(Enum):
    """What happens at a changing call."""

    KILL = auto()
    """The process is gone before the call is sent."""
    FAIL = auto()
    """The cloud fails, and has done nothing."""
    LOSE = auto()
    """The cloud has done it, and its answer is lost."""


class FaultyCloud:
    """Says which fault a call meets, and lets another act before it; calls are told by a method and a path."""

    def __init__(self) -> None:
        self._fault: Fault | None = None
        self._left = 0
        self._meanwhile: Callable[[], object] | None = None

    def changes(self, method: str, path: str) -> bool:
        """Tell whether a call changes something."""
        return method not in {"GET", "HEAD"}

    def everything(self) -> object:
        """Return all that the cloud keeps, to be compared; a double of a vendor's says what."""
        return None

    @contextmanager
    def faulty(self, fault: Fault, at: int) -> Iterator[None]:
        """Let the changing call of that number, from one on, meet a fault; a kill is caught at the end."""
        self._fault, self._left = fault, at
        try:
            yield
        except Killed:
            pass
        finally:
            self._fault = None

    @contextmanager
    def interrupted(self, at: int, meanwhile: Callable[[], object]) -> Iterator[None]:
        """Let another do something before the changing call of that number, from one on, comes through."""
        self._meanwhile, self._left = meanwhile, at
        try:
            yield
        finally:
            self._meanwhile = None

    def let_another_in(self, method: str, path: str) -> None:
        """Do what is to be done before this call, if its turn has come."""
        if self._meanwhile is None or not self.changes(method, path):
            return
        self._left -= 1
        if self._left == 0:
            meanwhile, self._meanwhile = self._meanwhile, None
            meanwhile()

    @property
    def met(self) -> bool:
        """Whether the fault, or the interruption, was met."""
        return self._left <= 0

    def due(self, method: str, path: str) -> Fault | None:
        """Return the fault that this call meets; who is killed makes no further call.

        Raises:
            Killed: that is it.
        """
        if self._fault is None or not self.changes(method, path):
            return None
        self._left -= 1
        if self._fault is Fault.KILL and self._left <= 0:
            raise Killed
        return self._fault if self._left == 0 else None


class FaultContract(CloudContract):
    """The promises of a provider whatever happens at its calls.

    A subclass gives the cloud as pytest fixture ``double``; ``built`` is to talk to it.
    """

    def shapes(self) -> Sequence[Object]:
        """Return the Services, each of its kind of balancer, that faults are tried with."""
        return [service("faulty")]

    def changed(self, shape: Object) -> Object:
        """Return a Service with another port: what `ensure` has to change."""
        return {**shape, "spec": {**shape["spec"], "ports": service("faulty", port=8443)["spec"]["ports"]}}

    def test_whatever_happens_at_a_call_the_next_one_finishes_and_nothing_is_left(
        self, built: Plugin, double: FaultyCloud
    ) -> None:
        """Let each changing call meet each fault while a balancer is made, changed and deleted, and then go on."""
        nodes = self.nodes()
        for shape in self.shapes():
            before = double.everything()
            made = self._made(built, double, shape, nodes)
            other = self._made(built, double, self.changed(shape), nodes)
            self.balancers(built).ensure_deleted(CLUSTER, shape)
            assert double.everything() == before
            for fault in Fault:
                self._try(built, double, fault, [], shape, end=made, before=before)
                self._try(built, double, fault, [shape], self.changed(shape), end=other, before=before)
                self._try(built, double, fault, [shape], None, end=before, before=before)

    def _made(self, built: Plugin, double: FaultyCloud, shape: Object, nodes: Sequence[Object]) -> object:
        self.balancers(built).ensure(CLUSTER, shape, nodes)
        return double.everything()

    def _try(
        self,
        built: Plugin,
        double: FaultyCloud,
        fault: Fault,
        first: Sequence[Object],
        then: Object | None,
        *,
        end: object,
        before: object,
    ) -> None:
        """Make `first`, go on to `then` (None: delete) with a fault at each call in turn, repeat, and compare."""
        nodes, at = self.nodes(), 0
        shape = then or first[0]
        while True:
            at += 1
            for each in first:
                self.balancers(built).ensure(CLUSTER, each, nodes)
            with double.faulty(fault, at):
                _step(self.balancers(built), then, shape, nodes)
            again = self.balancers(self.after_crash(built))
            if then is None:
                again.ensure_deleted(CLUSTER, shape)
            else:
                again.ensure(CLUSTER, then, nodes)
            assert double.everything() == end, f"{fault.name} at changing call {at} of {shape['metadata']['name']}"
            again.ensure_deleted(CLUSTER, shape)
            assert double.everything() == before, f"{fault.name} at changing call {at}: something is left"
            if not double.met:
                return

    def test_whatever_happens_at_a_call_a_disk_is_neither_lost_nor_left(
        self, built: Plugin, double: FaultyCloud
    ) -> None:
        """Let each changing call meet each fault while a disk is made, attached, detached and deleted; then go on."""
        steps = [self._create, self._attach, self._detach, self._delete]
        before, ends = deepcopy(double.everything()), []
        for step in steps:
            step(self.disks(built))
            ends.append(deepcopy(double.everything()))
        assert ends[-1] == before
        for number, step in enumerate(steps):
            for fault in Fault:
                at, is_met = 0, True
                while is_met:
                    at += 1
                    for earlier in steps[:number]:
                        earlier(self.disks(built))
                    with double.faulty(fault, at), suppress(HyperkubeError):
                        step(self.disks(built))
                    is_met = double.met
                    again = self.disks(self.after_crash(built))
                    for later in steps[number:]:
                        later(again)
                        expected = ends[steps.index(later)]
                        assert double.everything() == expected, f"{fault.name} at changing call {at} of {step.__name__}"

    def test_two_managers_in_turn_leave_no_disk_that_the_last_one_deletes(
        self, built: Plugin, double: FaultyCloud
    ) -> None:
        """Let a leader make, attach, detach or delete a disk before each changing call of a manager that is late."""
        steps, before = [self._create, self._attach, self._detach, self._delete], deepcopy(double.everything())
        for late_step in self.late_steps():
            for step in steps:
                at, is_met = 0, True
                while is_met:
                    at += 1
                    late, leader = self.disks(self.after_crash(built)), self.disks(self.after_crash(built))
                    with double.interrupted(at, partial(_refusable, step, leader)):
                        _refusable(late_step, late)
                    is_met = double.met
                    self._detach(leader)
                    self._delete(leader)
                    words = f"{step.__name__} before changing call {at} of {late_step.__name__}"
                    assert double.everything() == before, f"something is left: {words}"

    def late_steps(self) -> Sequence[Callable[[Disks], object]]:
        """Return what a manager that is late does with a disk: what of it takes a cloud changing calls of its own."""
        return [self._create, self._attach, self._detach, self._delete]

    def _create(self, disks: Disks) -> str:
        return disks.create(self.request("pvc-faulty")).id

    def _attach(self, disks: Disks) -> None:
        disks.attach(self._create(disks), self.node())

    def _detach(self, disks: Disks) -> None:
        disks.detach(self._create(disks), NodeName(name_of(self.node())))

    def _delete(self, disks: Disks) -> None:
        disks.delete(self._create(disks))

    def test_two_managers_in_turn_leave_what_the_last_one_wants(self, built: Plugin, double: FaultyCloud) -> None:
        """Let another manager change or delete the balancer before each changing call of one that is late."""
        nodes = self.nodes()
        for shape in self.shapes():
            before, changed = double.everything(), self.changed(shape)
            end = self._made(built, double, changed, nodes)
            self.balancers(built).ensure_deleted(CLUSTER, shape)
            for then in (changed, None):
                at, is_met = 0, True
                while is_met:
                    at += 1
                    late, leader = self.balancers(self.after_crash(built)), self.balancers(self.after_crash(built))
                    with double.interrupted(at, partial(_step, leader, then, shape, nodes)):
                        _step(late, shape, shape, nodes)
                    is_met = double.met
                    _step(leader, then, shape, nodes)
                    assert then is None or double.everything() == end, f"at changing call {at}"
                    leader.ensure_deleted(CLUSTER, shape)
                    assert double.everything() == before, f"at changing call {at}: something is left"


def _step(balancers: LoadBalancers, then: Object | None, shape: Object, nodes: Sequence[Object]) -> None:
    try:
        if then is None:
            balancers.ensure_deleted(CLUSTER, shape)
        else:
            balancers.ensure(CLUSTER, then, nodes)
    except HyperkubeError:
        return


def _refusable(step: Callable[[Disks], object], disks: Disks) -> None:
    with suppress(HyperkubeError):
        step(disks)
