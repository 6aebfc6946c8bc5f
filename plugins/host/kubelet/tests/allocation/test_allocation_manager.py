"""A resize from its wish to its end, against a runtime that notes what it was told."""

from hyperkube_host.kubelet.allocation.allocation_manager import AllocationManager
from hyperkube_host.kubelet.allocation.state import AllocationState
from hyperkube_host.kubelet.cm.unmanaged import UnmanagedContainerManager
from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.kuberuntime.linux_resources import ResourceSettings, linux_resources
from hyperkube_host.kubelet.kuberuntime.resize_containers import UNLIMITED_MEMORY, ContainerResizer
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.types.allocation import Allocation
from hyperkube_host.kubelet.types.resize import Pending

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, SandboxStatus
from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.clock import FakeClock

SANDBOX = SandboxStatus(id="s", namespace="d", name="p", uid="u", attempt=0, ready=True, created_at=1)
SETTINGS = ResourceSettings(memory_capacity=1 << 30, container_manager=UnmanagedContainerManager())
SMALL = {"limits": {"cpu": "200m", "memory": "128Mi"}, "requests": {"cpu": "50m", "memory": "64Mi"}}
LARGE = {"limits": {"cpu": "300m", "memory": "192Mi"}, "requests": {"cpu": "80m", "memory": "96Mi"}}


def pod(resources, generation=2):
    spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]}
    return {"metadata": {"name": "p", "namespace": "d", "uid": "u", "generation": generation}, "spec": spec}


def linux(resources):
    return linux_resources(read(resources.get("requests")), read(resources.get("limits")), SETTINGS)


def _linux(_pod, container):
    return linux(container["resources"])


class Runtime:
    """Notes the resources it was told, in order."""

    name = "noted"

    def __init__(self):
        self.calls = []

    def update_container_resources(self, container_id, linux):
        self.calls.append((container_id, linux))

    def update_sandbox_resources(self, sandbox_id, _overhead, resources):
        told = ("cpu_quota", "cpu_shares", "memory_limit_in_bytes")
        self.calls.append((sandbox_id, *(resources[name] for name in told)))


class Recorder:
    """Notes events."""

    def __init__(self):
        self.events = []

    def pod_event(self, _pod, _kind, reason, message):
        self.events.append((reason, message.partition(":")[0]))


class World:
    """A manager, and a container that runs with small resources."""

    def __init__(self, answer=None):
        self.state, self.recorder, self.runtime = AllocationState(None), Recorder(), Runtime()
        self.answer = answer
        self.cgroups = []
        resizer = ContainerResizer(self.runtime, _linux, self.cgroups.append)
        self.manager = AllocationManager(self.state, self.recorder, self.grant, resizer, FakeClock())
        self.state.set("u", Allocation.of(pod(SMALL)))
        self.linux = {"cpu_quota": 20000, "cpu_period": 100000, "cpu_shares": 51, "memory_limit_in_bytes": 128 << 20}

    def grant(self, entry):
        if self.answer is None:
            self.state.set("u", Allocation.of(entry.pod))
        return self.answer

    def pod_status(self):
        status = ContainerStatus(
            id="c", sandbox_id="s", name="c", attempt=0, state=ContainerState.RUNNING, image="i",
            resources={"linux": self.linux},
        )  # fmt: skip
        return PodStatus.of([SANDBOX], [status])

    def sync(self, entry):
        self.manager.sync(entry, self.pod_status())
        return [one["type"] for one in self.manager.conditions(entry)]


def test_a_granted_resize_is_in_progress_until_it_is_in_force():
    world, entry = World(), PodEntry(pod(LARGE))

    first = world.sync(entry)
    changed = world.manager.actuate(entry, world.pod_status(), SANDBOX)
    world.linux = {"cpu_quota": 30000, "cpu_period": 100000, "cpu_shares": 81, "memory_limit_in_bytes": 192 << 20}
    then = world.sync(entry)

    assert (first, changed, then) == (["PodResizeInProgress"], True, [])
    assert world.recorder.events == [
        ("ResizeStarted", "Pod resize started"), ("ResizeCompleted", "Pod resize completed"),
    ]  # fmt: skip


def test_memory_comes_before_cpu_and_limits_grow_before_requests():
    world, entry = World(), PodEntry(pod(LARGE))
    world.sync(entry)

    world.manager.actuate(entry, world.pod_status(), SANDBOX)

    memory = {"limits": {"cpu": "200m", "memory": "192Mi"}, "requests": {"cpu": "50m", "memory": "96Mi"}}
    assert world.runtime.calls == [
        ("s", 20000, 51, 192 << 20), ("c", linux(memory)),
        ("s", 30000, 51, 192 << 20), ("s", 30000, 81, 192 << 20), ("c", linux(LARGE)),
    ]  # fmt: skip
    assert len(world.cgroups) == 3


def test_what_shrinks_gives_back_requests_before_limits_and_after_its_containers():
    world, entry = World(), PodEntry(pod(SMALL))
    world.state.set("u", Allocation.of(pod(LARGE)))
    world.linux = {"cpu_quota": 30000, "cpu_period": 100000, "cpu_shares": 81, "memory_limit_in_bytes": 192 << 20}
    world.sync(entry)

    world.manager.actuate(entry, world.pod_status(), SANDBOX)

    memory = {"limits": {"cpu": "300m", "memory": "128Mi"}, "requests": {"cpu": "80m", "memory": "64Mi"}}
    assert world.runtime.calls == [
        ("c", linux(memory)), ("s", 30000, 81, 128 << 20),
        ("c", linux(SMALL)), ("s", 30000, 51, 128 << 20), ("s", 20000, 51, 128 << 20),
    ]  # fmt: skip


def test_a_pod_without_limits_is_told_that_there_are_none():
    world, entry = World(), PodEntry(pod({"requests": {"cpu": "1200m"}}))
    world.state.set("u", Allocation.of(pod({"requests": {"cpu": "100m"}})))
    world.linux = {"cpu_period": 100000, "cpu_shares": 102}
    world.sync(entry)

    world.manager.actuate(entry, world.pod_status(), SANDBOX)

    assert world.runtime.calls[0] == ("s", -1, 1228, UNLIMITED_MEMORY)


def test_a_resize_that_is_not_granted_is_told_of_once():
    world, entry = World(Pending("Deferred", "too little", "OutOfcpu", 2)), PodEntry(pod(LARGE))

    conditions = [world.sync(entry), world.sync(entry)]

    assert conditions == [["PodResizePending"]] * 2
    assert world.recorder.events == [("ResizeDeferred", "Pod resize OutOfcpu")]
    assert world.manager.allocated(entry.pod) == pod(SMALL)


def test_a_wish_that_is_taken_back_is_pending_no_more():
    world, entry = World(Pending("Deferred", "too little", "OutOfcpu", 2)), PodEntry(pod(LARGE))
    world.sync(entry)
    entry.pod = pod(SMALL, generation=3)

    assert world.sync(entry) == []
