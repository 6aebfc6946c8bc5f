"""Thresholds and order of probes, on a clock that is moved by hand."""

import pytest
from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult
from hyperkube_host.kubelet.prober import prober_manager as probes_module
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.prober.prober_manager import ProbeManager

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, SandboxStatus
from hyperkube.machinery.clock import FakeClock
from hyperkube.testing.waiting import eventually


class World:
    """Probes of one container, whose answers a test sets."""

    def __init__(self, monkeypatch, answer=ProbeResult.SUCCESS, **container):
        self.clock = FakeClock()
        self.answer = answer
        self.changed = []
        monkeypatch.setattr(probes_module, "probe_exec", lambda *_args: ProbeOutcome(self.answer, "text"))
        self.probes = ProbeManager(None, self.clock, KubeletEventRecorder(None, "n"), self.changed.append)
        self.pod = {
            "metadata": {"name": "p", "namespace": "ns", "uid": "u"},
            "spec": {"containers": [{"name": "c", **container}]},
        }
        box = SandboxStatus(id="s", namespace="ns", name="p", uid="u", attempt=0, ready=True, created_at=1)
        status = ContainerStatus(
            id="id",
            sandbox_id="s",
            name="c",
            attempt=0,
            state=ContainerState.RUNNING,
            image="i",
            started_at=self.clock.now().timestamp(),
        )
        self.probes.add_pod(self.pod, PodStatus.of([box], [status]), "127.0.0.1")
        self.settle()

    def settle(self):
        assert eventually(lambda: self.probes._pool.queue.is_idle)

    def pass_seconds(self, seconds):
        for _ in range(seconds):
            self.clock.advance(1)
            self.settle()


def probe(**fields):
    return {"exec": {"command": ["x"]}, "periodSeconds": 1, **fields}


@pytest.fixture
def world(monkeypatch):
    made = []

    def make(answer=ProbeResult.SUCCESS, **container):
        made.append(World(monkeypatch, answer, **container))
        return made[-1]

    yield make
    for one in made:
        one.probes.close()


def test_a_container_without_probes_is_started_and_ready(world):
    one = world()

    assert one.probes.is_started("id")
    assert one.probes.is_ready("id")


def test_a_warning_is_a_success_that_an_event_tells_of(world, monkeypatch):
    events = []
    monkeypatch.setattr(
        KubeletEventRecorder, "container_event", lambda _self, _pod, _container, *rest: events.append(rest)
    )

    one = world(ProbeResult.WARNING, readinessProbe=probe())

    assert one.probes.is_ready("id")
    assert set(events) == {("Warning", "ProbeWarning", "Readiness probe warning: text")}


def test_a_container_that_is_not_followed_is_neither(world):
    assert not world().probes.is_ready("other")


def test_readiness_begins_false_and_follows_the_thresholds(world):
    one = world(readinessProbe=probe(initialDelaySeconds=2, failureThreshold=2))
    states = [one.probes.is_ready("id")]

    one.pass_seconds(2)
    states.append(one.probes.is_ready("id"))
    one.answer = ProbeResult.FAILURE
    one.pass_seconds(1)
    states.append(one.probes.is_ready("id"))
    one.pass_seconds(1)
    states.append(one.probes.is_ready("id"))

    assert states == [False, True, True, False]
    assert one.changed == ["u", "u"]


def test_liveness_fails_after_its_threshold(world):
    one = world(livenessProbe=probe(failureThreshold=3))
    one.answer = ProbeResult.FAILURE

    one.pass_seconds(1)
    before = dict(one.probes.failed())
    one.pass_seconds(2)

    assert (before, one.probes.failed()) == ({}, {"id": ProbeType.LIVENESS})


def test_an_error_counts_for_nothing(world):
    one = world(livenessProbe=probe(failureThreshold=1))
    one.answer = ProbeResult.ERROR

    one.pass_seconds(5)

    assert one.probes.failed() == {}


def test_nothing_else_is_probed_before_the_startup_probe_has_passed(world):
    one = world(ProbeResult.FAILURE, startupProbe=probe(failureThreshold=10), livenessProbe=probe(failureThreshold=1))

    one.pass_seconds(3)
    started, failed = one.probes.is_started("id"), dict(one.probes.failed())
    one.answer = ProbeResult.SUCCESS
    one.pass_seconds(2)

    assert (started, failed) == (False, {})
    assert one.probes.is_started("id")


def test_a_startup_probe_that_never_passes_fails(world):
    one = world(ProbeResult.FAILURE, startupProbe=probe(failureThreshold=2))

    one.pass_seconds(3)

    assert one.probes.failed() == {"id": ProbeType.STARTUP}


def test_a_forgotten_container_is_not_probed(world):
    one = world(livenessProbe=probe(failureThreshold=1))
    one.probes.remove_pod("u")
    one.answer = ProbeResult.FAILURE

    one.pass_seconds(3)

    assert one.probes.failed() == {}
