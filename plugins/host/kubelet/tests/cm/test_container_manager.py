"""The whole container manager on this machine's cgroups (as root), and its flags."""

import os
import time
from functools import partial

import pytest
from hyperkube_host.kubelet.apis import device_plugin, pod_resources
from hyperkube_host.kubelet.cm.build import build_container_manager
from hyperkube_host.kubelet.cm.cgroup_manager import cgroup_mounts, kill_processes
from hyperkube_host.kubelet.cm.cgroup_name import CGROUPFS
from hyperkube_host.kubelet.cm.cgroup_v1 import CgroupV1Manager
from hyperkube_host.kubelet.cm.node_plugins import NodePlugins
from hyperkube_host.kubelet.cm.options import ContainerManagerOptions
from hyperkube_host.kubelet.cm.swap import SwapSettings, check_swap, swap_resources, swap_space
from hyperkube_host.kubelet.cm.unmanaged import UnmanagedContainerManager
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.metrics.kubelet_metrics import container_manager_metrics
from hyperkube_host.kubelet.qos.resource_config import ResourceConfig
from hyperkube_host.kubelet.thresholds import read_thresholds
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed, Stub, unix_channel

from hyperkube.kinds.resource_lists import read, write
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.quantity import Quantity
from hyperkube.plugin.flags import FlagValues

GI = 1 << 30


def options(tmp_path, **values):
    given = {"root-dir": str(tmp_path), **{name.replace("_", "-"): value for name, value in values.items()}}
    return ContainerManagerOptions.of(FlagValues.of(FLAGS, given), ())


def container(name="c", cpu="1", **more):
    same = {"cpu": cpu, "memory": "64Mi", **more}
    return {"name": name, "resources": {"requests": same, "limits": same}}


def pod(uid, *containers):
    return {"metadata": {"name": uid, "namespace": "ns", "uid": uid}, "spec": {"containers": [*containers]}}


def until(condition, seconds=15):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


@pytest.fixture
def cgroup_root():
    """A cgroup of the test's own that pods' cgroups are made in."""
    if os.geteuid() != 0 or not os.access("/sys/fs/cgroup/cpu", os.W_OK) or (os.cpu_count() or 1) < 2:
        pytest.skip("needs root, two CPUs, and cgroups of version 1 that may be written")
    mounts = cgroup_mounts()
    cgroups = CgroupV1Manager(mounts, CGROUPFS, None, SystemClock())
    root = (f"hyperkube-cm-{os.getpid()}",)
    cgroups.create(root, ResourceConfig())
    yield f"/{root[0]}", mounts
    kill_processes(cgroups, root)
    cgroups.destroy(root)


@pytest.fixture
def node(tmp_path, cgroup_root):
    """A started container manager with static CPUs; `node.pods` are the active ones."""

    class Node:
        mounts = cgroup_root[1]

        def __init__(self):
            self.pods, self.events, self.updates = [], [], []
            clock = SystemClock()
            wanted = options(
                tmp_path,
                cgroup_root=cgroup_root[0],
                cpu_manager_policy="static",
                reserved_cpus="0",
                kube_reserved="memory=100Mi",
                cpu_manager_reconcile_period="1s",
                fail_swap_on="false",
            )
            capacity = read({"cpu": str(os.cpu_count()), "memory": str(4 * GI), "ephemeral-storage": "100Gi"})
            self.manager = build_container_manager(
                wanted,
                capacity,
                driver="cgroupfs",
                node_event=lambda *event: self.events.append(event),
                clock=clock,
                plugins=partial(NodePlugins, tmp_path, None, clock, devices_changed=lambda: None, volume_drivers={}),
            )
            self.capacity = capacity
            self.manager.start(lambda: self.pods, self._running, lambda *update: self.updates.append(update))

        def _running(self):
            return {(one["metadata"]["uid"], "c"): f"id-{one['metadata']['uid']}" for one in self.pods}

        def run(self, one):
            failure = self.manager.admit(one)
            if failure is None:
                self.pods.append(one)
                self.manager.prepare_pod(one)
            return failure

        def read(self, controller, path):
            return (self.mounts.of[controller] / path.lstrip("/")).read_text().strip()

    made = Node()
    yield made
    made.manager.close()


def test_a_pod_with_cpus_of_its_own_has_them_and_no_quota(node):
    one = pod("own", container())

    assert node.run(one) is None

    assert node.manager.pre_create_container(one, container()) == {"cpuset_cpus": "1", "cpu_quota": -1}
    path = node.manager.pods.cgroup_parent(one)
    assert node.read("cpu", f"{path}/cpu.cfs_quota_us") == "-1"
    assert node.read("cpu", f"{path}/cpu.shares") == "1024"
    assert node.manager.has_exclusive_cpus(one)


def test_pods_that_share_are_told_when_cpus_are_given_away(node):
    shared = pod("shared", {"name": "c"})
    node.run(shared)
    before = node.manager.pre_create_container(shared, {"name": "c"})["cpuset_cpus"]

    node.run(pod("own", container()))

    until(lambda: any(update == ("id-shared", {"cpuset_cpus": "0"}) for update in node.updates) or os.cpu_count() > 2)
    assert before.startswith("0-")
    assert all(container_id != "id-own" for container_id, _ in node.updates)


def test_a_pod_that_the_machine_is_too_small_for_is_refused(node):
    failure = node.run(pod("huge", container(cpu="4096")))

    assert failure.reason == "UnexpectedAdmissionError"
    assert failure.message.startswith(
        "Allocate failed due to not enough cpus available to satisfy request: requested=4096"
    )


def test_what_was_given_and_refused_is_counted(node):
    node.run(pod("own", container()))
    node.run(pod("shared", {"name": "c"}))
    node.run(pod("huge", container(cpu="4096")))

    figures = node.manager.figures()
    of_topology = ("requests", "errors")
    assert [figures[f"kubelet_topology_manager_admission_{what}_total"] for what in of_topology] == [3, 1]
    assert [figures[f"kubelet_cpu_manager_pinning_{what}_total"] for what in of_topology] == [2, 1]
    assert figures["kubelet_cpu_manager_exclusive_cpu_allocation_count"] == 1
    assert figures["kubelet_cpu_manager_shared_pool_size_millicores"] == (os.cpu_count() - 1) * 1000
    lines = container_manager_metrics(figures).splitlines()
    assert "kubelet_topology_manager_admission_errors_total 1" in lines
    assert "# TYPE kubelet_cpu_manager_exclusive_cpu_allocation_count gauge" in lines


def test_cpus_that_were_given_are_not_resized(node):
    before, after, slower = (pod("p", container(cpu=cpu)) for cpu in ("1", "2", "1"))
    burstable = pod("p", {"name": "c", "resources": {"requests": {"cpu": "2"}}})

    message = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"'
    assert node.manager.resize_problem(before, after) == message
    assert (node.manager.resize_problem(before, slower), node.manager.resize_problem(before, burstable)) == ("", "")


def test_an_ended_pod_leaves_nothing(node):
    one = pod("own", container())
    node.run(one)

    node.pods.clear()
    node.manager.pod_ended("own")

    assert not node.manager.pods.exists(one)
    assert node.run(pod("next", container())) is None


def test_cgroups_of_pods_that_are_not_known_are_removed(node):
    node.run(pod("lost", {"name": "c"}))

    node.manager.remove_orphans(["other"])

    assert node.manager.pods.all_pods() == {}


def test_all_pods_together_are_limited_to_what_is_left(node):
    until(lambda: node.events)

    assert node.events == [("Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")]
    root = node.manager.pods.cgroup_parent(pod("x", container())).rpartition("/")[0]
    assert node.read("memory", f"{root}/memory.limit_in_bytes") == str(4 * GI - 100 * (1 << 20))


def test_the_node_tells_what_is_left_for_pods(node):
    capacity, allocatable = node.manager.node_resources(node.capacity)

    assert write(capacity) == write(node.capacity)
    assert (allocatable["cpu"].value(), allocatable["memory"].value()) == (os.cpu_count() - 1, 4 * GI - 100 * (1 << 20))


def test_a_device_plugin_is_seen_in_the_node_in_containers_and_by_monitors(node, tmp_path):
    name, end = "example.com/thing", []
    server = GrpcServer()

    def list_and_watch(_request):
        yield {"devices": [{"ID": "one", "health": "Healthy"}]}
        while not end:
            time.sleep(0.05)

    answer = {"container_responses": [{"envs": {"THING": "one"}, "cdi_devices": [{"name": "ex/thing=one"}]}]}
    handlers = {"ListAndWatch": list_and_watch, "Allocate": lambda _: answer, "GetDevicePluginOptions": lambda _: {}}
    server.add_service(device_plugin().service("DevicePlugin"), handlers)
    server.listen(str(tmp_path / "device-plugins/thing.sock"))
    server.start()
    with unix_channel(str(tmp_path / "device-plugins/kubelet.sock")) as channel:
        request = {"version": "v1beta1", "endpoint": "thing.sock", "resource_name": name}
        Stub(channel, device_plugin().service("Registration")).call("Register", request, 10)
    until(lambda: node.manager.node_resources(node.capacity)[1].get(name) == Quantity(1))
    wants = container(**{name: "1"})
    one = pod("p", wants)

    assert node.run(one) is None

    given = node.manager.run_options(one, wants)
    assert (given.envs, given.cdi_devices) == (({"key": "THING", "value": "one"},), ("ex/thing=one",))
    statuses = [{"name": "c"}]
    node.manager.allocated_resources_status(one, statuses)
    assert statuses[0]["allocatedResourcesStatus"] == [
        {"name": name, "resources": [{"resourceID": "one", "health": "Healthy"}]}
    ]
    with unix_channel(str(tmp_path / "pod-resources/kubelet.sock")) as channel:
        monitors = Stub(channel, pod_resources().service("PodResourcesLister"))
        listed = monitors.call("List", {}, 10)["pod_resources"][0]
        assert listed == monitors.call("Get", {"pod_name": "p", "pod_namespace": "ns"}, 10)["pod_resources"]
        allocatable = monitors.call("GetAllocatableResources", {}, 10)
        with pytest.raises(RpcFailed, match="pod x in namespace ns not found"):
            monitors.call("Get", {"pod_name": "x", "pod_namespace": "ns"}, 10)
    assert listed["containers"] == [
        {"name": "c", "devices": [{"resource_name": name, "device_ids": ["one"]}], "cpu_ids": [1]}
    ]
    assert allocatable["devices"] == [{"resource_name": name, "device_ids": ["one"]}]
    end.append(True)
    server.stop()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cgroup_driver": "other"}, "--cgroup-driver: 'other' is none of cgroupfs, systemd"),
        ({"cpu_manager_policy": "dynamic"}, "--cpu-manager-policy"),
        ({"enforce_node_allocatable": "pods,everything"}, "--enforce-node-allocatable: 'everything'"),
        ({"enforce_node_allocatable": "none,pods"}, "does not go with others"),
        ({"enforce_node_allocatable": "system-reserved"}, "needs --system-reserved-cgroup"),
        ({"system_reserved": "memory=many"}, "--system-reserved"),
        ({"kube_reserved": "cpu=-1"}, "cannot be negative"),
        ({"kube_reserved": "gpu=1"}, "--kube-reserved: 'gpu'"),
        ({"reserved_cpus": "a-b"}, "--reserved-cpus"),
        ({"qos_reserved": "memory=120%"}, "--qos-reserved"),
        ({"reserved_memory": "0:memory"}, "--reserved-memory"),
        ({"reserved_memory": "0:memory=1Gi;0:memory=2Gi"}, "named twice"),
        ({"memory_swap_behavior": "UnlimitedSwap"}, "--memory-swap-behavior"),
    ],
)
def test_flags_that_cannot_be_are_one_line(tmp_path, values, message):
    with pytest.raises(UsageError, match=message):
        options(tmp_path, **values)


def test_flags_are_read_as_their_types(tmp_path):
    found = options(
        tmp_path,
        system_reserved="cpu=1,memory=1Gi",
        kube_reserved="cpu=500m",
        reserved_cpus="0-1",
        qos_reserved="memory=50%",
        reserved_memory="0:memory=1Gi,hugepages-2Mi=2Mi;1:memory=2Gi",
        cpu_cfs_quota_period="50ms",
        enforce_node_allocatable="none",
    )

    assert (write(found.allocatable.system_reserved), write(found.allocatable.kube_reserved)) == (
        {"memory": "1Gi"},
        {"cpu": "2"},
    )
    assert (found.qos_memory_percent, found.cpu_period, found.allocatable.enforce) == (50, 50_000, ())
    assert found.reserved_memory == {0: {"memory": GI, "hugepages-2Mi": 2 << 20}, 1: {"memory": 2 * GI}}


def test_a_node_without_cgroups_grants_everything():
    manager, one = UnmanagedContainerManager(), pod("p", container())

    assert manager.admit(one) is None
    assert manager.node_resources(read({"cpu": "1"})) == (read({"cpu": "1"}), read({"cpu": "1"}))
    assert (manager.pods.cgroup_parent(one), manager.pre_create_container(one, container())) == ("", {})
    assert manager.swap_resources(one, container(), 100) == {"memory_swap_limit_in_bytes": 100}


BURSTABLE = {"name": "c", "resources": {"requests": {"memory": "1Gi"}}}


@pytest.mark.parametrize(
    ("version", "behavior", "one", "limit", "expected"),
    [
        pytest.param(1, "NoSwap", BURSTABLE, 100, {"memory_swap_limit_in_bytes": 100}, id="v1"),
        pytest.param(1, "LimitedSwap", BURSTABLE, 0, {}, id="v1-unlimited"),
        pytest.param(2, "NoSwap", BURSTABLE, 0, {"unified": {"memory.swap.max": "0"}}, id="no-swap"),
        pytest.param(2, "LimitedSwap", BURSTABLE, 0, {"unified": {"memory.swap.max": str(GI // 2)}}, id="its-share"),
        pytest.param(2, "LimitedSwap", container(), 0, {"unified": {"memory.swap.max": "0"}}, id="guaranteed"),
        pytest.param(2, "LimitedSwap", {"name": "c"}, 0, {"unified": {"memory.swap.max": "0"}}, id="besteffort"),
    ],
)
def test_a_container_swaps_by_its_share_of_the_memory(version, behavior, one, limit, expected):
    settings = SwapSettings(behavior=behavior, cgroup_version=version, memory=8 * GI, swap=4 * GI)

    assert swap_resources(pod("p", one), one, settings, limit) == expected


def test_a_machine_that_swaps_is_refused_unless_that_is_wanted(tmp_path):
    file = tmp_path / "swaps"
    file.write_text("Filename Type Size Used Priority\n/dev/sda2 partition 1024 0 -2\n")

    check_swap(fail_swap_on=False, file=file)
    with pytest.raises(UsageError, match=r"running with swap on is not supported.*/dev/sda2"):
        check_swap(fail_swap_on=True, file=file)


def test_swap_space_is_what_the_kernel_tells(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\nSwapTotal:  2048 kB\n")

    assert swap_space(tmp_path / "meminfo") == 2 << 20


def test_what_eviction_keeps_free_may_be_left_out_of_allocatable(tmp_path):
    thresholds = read_thresholds({"memory.available<100Mi": ""})
    given = {"root-dir": str(tmp_path)}

    def reserved(**more):
        values = FlagValues.of(FLAGS, {**given, **more})
        return ContainerManagerOptions.of(values, thresholds).allocatable.hard_eviction

    assert reserved() == thresholds
    assert reserved(**{"experimental-allocatable-ignore-eviction": "true"}) == ()
