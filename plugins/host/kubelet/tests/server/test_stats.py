"""What the summary says of the use of CPU."""

import pytest
from hyperkube_host.kubelet.server.stats import Statistics

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, ContainerUsage, SandboxStatus
from hyperkube.machinery.clock import FakeClock

SECOND = 1_000_000_000


class OneContainer:
    """A runtime with one container that has used `cpu` nanoseconds."""

    cpu = 0

    def __init__(self, started_at):
        self._started_at = started_at

    def sandboxes(self):
        return [
            SandboxStatus(id="s", namespace="d", name="p", uid="u", attempt=0, ready=True, created_at=self._started_at)
        ]

    def containers(self):
        return [
            ContainerStatus(
                id="c", sandbox_id="s", name="c", attempt=0, state=ContainerState.RUNNING, image="host",
                started_at=self._started_at,
            )
        ]  # fmt: skip

    def usage(self):
        return [ContainerUsage(id="c", cpu_nanoseconds=self.cpu, memory_bytes=1)]


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def runtime(clock):
    return OneContainer(clock.now().timestamp())


@pytest.fixture
def measure(runtime, clock):
    statistics = Statistics(runtime, clock, "n")

    def nano_cores():
        (pod,) = statistics.summary()["pods"]
        (container,) = pod["containers"]
        assert pod["cpu"]["usageNanoCores"] == container["cpu"]["usageNanoCores"]
        return container["cpu"]["usageNanoCores"]

    return nano_cores


def test_the_first_rate_is_over_the_time_since_the_start(runtime, clock, measure):
    clock.advance(4)
    runtime.cpu = 2 * SECOND

    assert measure() == SECOND // 2


def test_a_later_rate_is_over_the_time_since_the_measurement_before(runtime, clock, measure):
    clock.advance(4)
    measure()
    clock.advance(2)
    runtime.cpu = 2 * SECOND

    assert measure() == SECOND


def test_a_container_that_begins_anew_uses_no_less_than_nothing(runtime, clock, measure):
    clock.advance(4)
    runtime.cpu = 2 * SECOND
    measure()
    clock.advance(2)
    runtime.cpu = 0

    assert measure() == 0
