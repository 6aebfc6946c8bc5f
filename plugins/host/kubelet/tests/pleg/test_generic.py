"""What the PLEG reports after a relisting."""

import pytest
from hyperkube_host.kubelet.pleg.generic import (
    RELIST_SECONDS,
    RELIST_THRESHOLD_SECONDS,
    SLOW_RELIST_SECONDS,
    GenericPleg,
)

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, RuntimeFailed, SandboxStatus
from hyperkube.machinery.clock import FakeClock


class Listed:
    """A runtime that is only listed."""

    def __init__(self):
        self.states = {}

    def sandboxes(self):
        return [
            SandboxStatus(id=uid, namespace="ns", name=uid, uid=uid, attempt=0, ready=True, created_at=1.0)
            for uid in self.states
        ]

    def containers(self):
        return [
            ContainerStatus(id=f"{uid}-c", sandbox_id=uid, name="c", attempt=0, state=state, image="i")
            for uid, state in self.states.items()
        ]


class Down(Listed):
    """A runtime that does not answer."""

    def sandboxes(self):
        raise RuntimeFailed("connection refused")


class Notifying(Listed):
    """A runtime that reports changes by itself."""

    def __init__(self):
        super().__init__()
        self.notify = None

    def subscribe(self, notify):
        self.notify = notify

    def pod(self, uid):
        return [], []


@pytest.fixture
def changed():
    return []


def test_pods_that_came_changed_or_went_are_reported_once(changed):
    runtime = Listed()
    pleg = GenericPleg(runtime, FakeClock(), changed.append)
    runtime.states = {"a": ContainerState.RUNNING, "b": ContainerState.RUNNING}
    pleg.relist()
    pleg.relist()
    first = sorted(changed)

    changed.clear()
    runtime.states = {"a": ContainerState.EXITED}
    pleg.relist()

    assert first == ["a", "b"]
    assert sorted(changed) == ["a", "b"]


def test_a_runtime_that_reports_its_changes_is_listed_rarely_and_wholly(changed):
    runtime = Notifying()
    pleg = GenericPleg(runtime, FakeClock(), changed.append)
    pleg.start()
    runtime.states = {"a": ContainerState.RUNNING}

    runtime.notify("a")
    delays = [pleg.relist(), pleg.relist()]

    assert delays == [SLOW_RELIST_SECONDS] * 2
    assert changed == ["a", "a", "a"]
    assert GenericPleg(Listed(), FakeClock(), changed.append).relist() == RELIST_SECONDS


def test_without_relisting_for_long_it_is_unhealthy(changed):
    clock = FakeClock()
    pleg = GenericPleg(Listed(), clock, changed.append)
    states = [pleg.unhealthy()]

    clock.advance(RELIST_THRESHOLD_SECONDS + 1)
    states.append(pleg.unhealthy())
    pleg.relist()
    states.append(pleg.unhealthy())

    assert states == ["", "pleg was last seen active 3m1s ago; threshold is 3m0s", ""]


def test_a_runtime_that_is_down_changes_nothing_and_makes_the_kubelet_unhealthy_in_time(changed):
    clock = FakeClock()
    pleg = GenericPleg(Down(), clock, changed.append)

    seconds = pleg.relist()
    clock.advance(RELIST_THRESHOLD_SECONDS + 1)
    pleg.relist()

    assert (seconds, changed) == (RELIST_SECONDS, [])
    assert pleg.unhealthy().startswith("pleg was last seen active")


def test_what_a_worker_has_seen_already_is_no_change(changed):
    runtime, seen = Listed(), {}
    pleg = GenericPleg(runtime, FakeClock(), changed.append, seen.get)
    runtime.states = {"a": ContainerState.RUNNING, "b": ContainerState.RUNNING}
    seen["a"] = frozenset([("a", "True"), ("a-c", "running")])

    pleg.relist()
    runtime.states["a"] = ContainerState.EXITED
    pleg.relist()

    assert changed == ["b", "a"]
