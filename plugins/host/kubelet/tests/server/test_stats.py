"""What the summary says of the use of CPU."""

import os

import pytest
from hyperkube_host.kubelet.server.stats import Statistics, node_usage

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


def test_the_nodes_use_is_what_the_kernel_counts(tmp_path):
    (tmp_path / "stat").write_text("cpu  100 20 30 900 50 6 4 10 70 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nbtime 1600000000\n")
    (tmp_path / "meminfo").write_text(
        "MemTotal:  1000 kB\nMemFree:  10 kB\nMemAvailable:  400 kB\nHugePages_Total: 0\n"
    )

    usage = node_usage(tmp_path)

    assert usage.cpu_nanoseconds == 170 * SECOND // os.sysconf("SC_CLK_TCK"), "guests are counted as users already"
    assert (usage.memory, usage.available_memory) == (600 * 1024, 400 * 1024)
    assert usage.started_at == 1_600_000_000
