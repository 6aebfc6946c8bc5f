"""What the summary says of the node, its pods, and their files; and the pages made of the same figures."""

import os
from functools import partial

import pytest
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.eviction.usage import observations_of
from hyperkube_host.kubelet.metrics.cadvisor_metrics import cadvisor_metrics
from hyperkube_host.kubelet.metrics.kubelet_metrics import volume_metrics
from hyperkube_host.kubelet.metrics.resource_metrics import failed_scrape, resource_metrics
from hyperkube_host.kubelet.stats.machine import MachineUse, machine_use, process_limits
from hyperkube_host.kubelet.stats.summary_provider import SummaryProvider
from hyperkube_host.kubelet.stats.volume_stats import VolumeStats
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld, MountedForPod
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume
from hyperkube_host.kubelet.volumemanager.volume_usage import usage_row

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, ContainerUsage, Image, SandboxStatus
from hyperkube.hookspecs.volume import VolumeSpec, VolumeUsage
from hyperkube.machinery.clock import FakeClock

SECOND = 1_000_000_000
POD = {
    "metadata": {"name": "p", "namespace": "d", "uid": "u"},
    "spec": {
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "claim"}},
        ]
    },
}


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
        return [ContainerUsage(id="c", cpu_nanoseconds=self.cpu, memory_bytes=4096)]

    def images(self):
        return [Image(id="i", tags=(), size=1000)]


class WithStats(OneContainer):
    """The same with CRI's statistics."""

    def container_stats(self):
        return [
            {
                "attributes": {"id": "c"},
                "cpu": {"timestamp": 5 * SECOND, "usage_core_nano_seconds": {"value": 7 * SECOND}},
                "memory": {"working_set_bytes": {"value": 10}, "rss_bytes": {"value": 8}, "usage_bytes": {"value": 12}},
                "writable_layer": {"used_bytes": {"value": 300}, "inodes_used": {"value": 3}},
                "swap": {"swap_usage_bytes": {"value": 2}},
            }
        ]

    def sandbox_stats(self):
        return []

    def image_fs_info(self):
        return {"image_filesystems": [{"fs_id": {"mountpoint": "/"}, "used_bytes": {"value": 5000}}]}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def runtime(clock):
    return OneContainer(clock.now().timestamp())


@pytest.fixture
def directories(tmp_path):
    found = KubeletDirectories(tmp_path)
    for plugin, name, size in (("kubernetes.io~empty-dir", "scratch", 8192), ("kubernetes.io~csi", "data", 4096)):
        folder = found.volume("u", plugin, name)
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * size)
    logs = found.pod_logs("d", "p", "u") / "c"
    logs.mkdir(parents=True)
    (logs / "0.log").write_bytes(b"x" * 4096)
    return found


@pytest.fixture
def provider(runtime, clock, directories):
    return SummaryProvider(runtime, clock, "n", directories, lambda: [POD], lambda: 1 << 20)


@pytest.fixture
def measure(provider):
    def nano_cores():
        (pod,) = provider.summary()["pods"]
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


def test_a_rate_is_good_for_all_who_ask_within_a_second(runtime, clock, measure):
    clock.advance(4)
    runtime.cpu = 2 * SECOND
    measure()
    clock.advance(0.5)
    runtime.cpu = 3 * SECOND

    assert measure() == SECOND // 2


def test_files_of_pods_are_measured(provider):
    (pod,) = provider.summary()["pods"]

    volumes = {row["name"]: row for row in pod["volume"]}
    assert volumes["scratch"]["usedBytes"] >= 8192
    assert volumes["data"]["inodesUsed"] == 2
    assert pod["containers"][0]["logs"]["usedBytes"] >= 4096
    own = volumes["scratch"]["usedBytes"] + pod["containers"][0]["logs"]["usedBytes"]
    assert pod["ephemeral-storage"]["usedBytes"] == own


def test_volumes_are_measured_anew_after_a_minute(directories, clock):
    stats = VolumeStats(directories, clock)
    before = stats.of(POD)
    (directories.volume("u", "kubernetes.io~empty-dir", "scratch") / "more").write_bytes(b"x" * 4096)

    assert stats.of(POD) is before
    clock.advance(60)
    assert stats.of(POD) != before
    stats.keep([])
    assert stats.of({"metadata": {"uid": "other"}, "spec": {}}) == []


def test_the_period_of_volumes_is_a_flag(directories, clock):
    stats = VolumeStats(directories, clock, period=5.0)
    before = stats.of(POD)

    clock.advance(5)

    assert stats.of(POD) is not before
    assert VolumeStats(directories, clock, period=-1.0).of(POD) == []


def test_the_node_is_measured(provider):
    summary = provider.summary()

    node = summary["node"]
    assert node["memory"]["availableBytes"] + node["memory"]["workingSetBytes"] == machine_use().memory_total
    assert node["runtime"]["imageFs"]["usedBytes"] == 1000
    assert node["systemContainers"][0]["memory"]["availableBytes"] == (1 << 20) - 4096
    assert {"memory.available", "allocatableMemory.available", "nodefs.available", "imagefs.available",
            "containerfs.available", "pid.available"} <= set(observations_of(summary))  # fmt: skip
    assert provider.node_summary()["pods"] == []


def test_what_the_system_uses_is_told_by_name(runtime, clock, directories):
    use = {"kubelet": CgroupUse(cpu=3 * SECOND, memory=9000, working_set=8000)}
    provider = SummaryProvider(runtime, clock, "n", directories, list, system_use=lambda: use)
    provider.summary()
    clock.advance(2)
    use["kubelet"] = CgroupUse(cpu=4 * SECOND, memory=9000, working_set=8000)

    (row,) = provider.summary()["node"]["systemContainers"]

    assert row["name"] == "kubelet"
    assert (row["cpu"]["usageCoreNanoSeconds"], row["cpu"]["usageNanoCores"]) == (4 * SECOND, SECOND // 2)
    assert (row["memory"]["usageBytes"], row["memory"]["workingSetBytes"]) == (9000, 8000)


def test_waiting_is_no_use_of_cpu(tmp_path):
    (tmp_path / "stat").write_text("cpu  100 0 50 900 800 10 20 30 7 7\nbtime 1600000000\n")
    (tmp_path / "meminfo").write_text("MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 40 kB\n")

    tick = SECOND // os.sysconf("SC_CLK_TCK")
    assert machine_use(tmp_path) == MachineUse(210 * tick, 1600000000.0, 100 * 1024, 40 * 1024)


def test_what_a_machine_does_not_tell_is_left_out(tmp_path):
    assert machine_use(tmp_path) == MachineUse()
    assert process_limits(tmp_path) == {}


def test_a_runtimes_own_statistics_count(clock, directories):
    provider = SummaryProvider(WithStats(clock.now().timestamp()), clock, "n", directories, lambda: [POD])

    summary = provider.summary()

    (container,) = summary["pods"][0]["containers"]
    assert container["cpu"]["usageCoreNanoSeconds"] == 7 * SECOND
    assert (container["memory"]["workingSetBytes"], container["memory"]["rssBytes"]) == (10, 8)
    assert (container["rootfs"]["usedBytes"], container["swap"]["swapUsageBytes"]) == (300, 2)
    assert container["cpu"]["time"] == "1970-01-01T00:00:05Z"
    assert summary["node"]["runtime"]["imageFs"]["usedBytes"] == 5000
    assert "systemContainers" not in summary["node"]


def test_the_page_of_resource_metrics(clock, directories):
    provider = SummaryProvider(WithStats(100.0), clock, "n", directories, list)

    page = resource_metrics(MachineUse(3 * SECOND, 0.0, 100, 40), list(provider.running()))

    lines = page.splitlines()
    assert 'container_cpu_usage_seconds_total{container="c",namespace="d",pod="p"} 7.0 5000' in lines
    assert 'container_memory_working_set_bytes{container="c",namespace="d",pod="p"} 10 5000' in lines
    assert 'container_start_time_seconds{container="c",namespace="d",pod="p"} 100.0' in lines
    assert 'pod_memory_working_set_bytes{namespace="d",pod="p"} 10' in lines
    assert "node_cpu_usage_seconds_total 3.0" in lines
    assert "node_memory_working_set_bytes 60" in lines
    assert lines[-1] == "resource_scrape_error 0"
    assert failed_scrape().splitlines()[-1] == "resource_scrape_error 1"


def test_the_page_of_cadvisor(clock, directories):
    provider = SummaryProvider(WithStats(100.0), clock, "n", directories, list)

    page = cadvisor_metrics(MachineUse(memory_total=100), list(provider.running()), 9.0)

    labels = 'container="c",id="/c",image="host",name="c",namespace="d",pod="p"'
    assert f'container_cpu_usage_seconds_total{{{labels},cpu="total"}} 7.0 5000' in page
    assert f"container_memory_rss{{{labels}}} 8 5000" in page
    assert f"container_fs_usage_bytes{{{labels}}} 300 5000" in page
    assert "machine_memory_bytes 100" in page


class Volumes:
    """A kind that tells how full its volumes are."""

    def usage(self, _spec, _mounted):
        return VolumeUsage(capacity=100, used=40, inodes_used=2)


def test_volumes_of_claims_are_told_by_the_claim(runtime, clock, directories):
    state = ActualStateOfWorld()
    spec = VolumeSpec(volume={"name": "data"}, persistent_volume={"metadata": {"name": "data"}})
    claim = {"metadata": {"name": "claim", "namespace": "d"}}
    volume = PodVolume(name="v", plugin_name="x", plugin=Volumes(), spec=spec, unique_name="x/data", claim=claim)
    state.mark_mounted("u", MountedForPod(volume, "/"))
    provider = SummaryProvider(runtime, clock, "n", directories, lambda: [POD], of_volume=partial(usage_row, state))

    page = volume_metrics(provider.summary(), [POD])

    assert 'kubelet_volume_stats_inodes_used{namespace="d",persistentvolumeclaim="claim"} 2' in page
    assert 'kubelet_volume_stats_capacity_bytes{namespace="d",persistentvolumeclaim="claim"} 100' in page
    assert "scratch" not in page
