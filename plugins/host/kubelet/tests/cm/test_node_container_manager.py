"""What is left for pods, in upstream's tables (``node_container_manager_linux_test.go``)."""

import pytest
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.cm.node_container_manager import (
    NodeAllocatableConfig,
    NodeCgroups,
    allocatable,
    reservation,
    validate_node_allocatable,
)
from hyperkube_host.kubelet.thresholds import read_thresholds

from hyperkube.kinds.resource_lists import read, write
from hyperkube.machinery.errors import UsageError

CAPACITY = read({"cpu": "10", "memory": "10Gi", "ephemeral-storage": "100Gi"})


def config(system=None, kube=None, hard="", enforce=("pods",), **cgroups):
    return NodeAllocatableConfig(
        system_reserved=read(system),
        kube_reserved=read(kube),
        hard_eviction=read_thresholds({hard: ""} if hard else {}),
        enforce=enforce,
        **cgroups,
    )


@pytest.mark.parametrize(
    ("system", "kube", "hard", "expected"),
    [
        pytest.param(None, None, "", {}, id="nothing"),
        pytest.param({"cpu": "1", "memory": "1Gi"}, None, "", {"cpu": "1", "memory": "1Gi"}, id="system"),
        pytest.param(
            {"memory": "1Gi"}, {"cpu": "100m", "memory": "2Gi"}, "", {"cpu": "100m", "memory": "3Gi"}, id="both"
        ),
        pytest.param(None, {"memory": "1Gi"}, "memory.available<100Mi", {"memory": "1124Mi"}, id="eviction"),
        pytest.param(None, None, "nodefs.available<10%", {"ephemeral-storage": "10Gi"}, id="eviction-by-share"),
        pytest.param({"pid": "100"}, None, "", {}, id="what-the-scheduler-does-not-know"),
    ],
)
def test_reserved_is_what_flags_and_eviction_keep_back(system, kube, hard, expected):
    assert write(reservation(config(system, kube, hard), CAPACITY)) == expected


def test_pods_may_use_the_rest_and_never_less_than_nothing():
    left = allocatable(CAPACITY, read({"cpu": "12", "memory": "1Gi"}))

    assert (left["cpu"].value(), left["memory"].value()) == (0, 9 << 30)


def test_huge_pages_are_no_memory_for_others():
    left = allocatable(CAPACITY | read({"hugepages-2Mi": "2Gi"}), {})

    assert left["memory"].value() == 8 << 30


def test_more_than_there_is_cannot_be_reserved():
    with pytest.raises(UsageError) as caught:
        validate_node_allocatable(config({"memory": "11Gi"}), CAPACITY)

    assert str(caught.value) == (
        'invalid Node Allocatable configuration. Resource "memory" has a reservation of 11Gi but capacity of 10Gi.'
        " Expected capacity >= reservation."
    )


class Cgroups:
    """Remembers what cgroups were told; those that are not in `there` do not exist."""

    version = 1

    def __init__(self, there, refuse=""):
        self.there, self.told, self.refuse = there, {}, refuse

    def exists(self, name):
        return name in self.there

    def update(self, name, told):
        if self.refuse:
            raise ContainerManagerFailed(self.refuse)
        self.told[name] = told


@pytest.fixture
def events():
    return []


def node_cgroups(cgroups, settings):
    return NodeCgroups(cgroups, ("kubepods",), "cgroupfs", settings, CAPACITY | read({"pid": "1000"}))


def test_pods_together_are_held_to_what_is_left(events):
    cgroups = Cgroups({("kubepods",)})

    settings = config({"memory": "1Gi", "pid": "100"}, {"cpu": "1"}, "memory.available<100Mi")
    assert node_cgroups(cgroups, settings).enforce_pods(lambda *event: events.append(event))

    told = cgroups.told[("kubepods",)]
    assert (told.memory, told.cpu_shares, told.pids_limit) == (9 << 30, 9216, 900)
    assert events == [("Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")]


@pytest.mark.parametrize(
    ("enforce", "expected"), [(("pods",), 9 << 30), (("none",), 0)], ids=["enforced", "not-enforced"]
)
def test_the_memory_that_evictions_watch_is_that_of_the_limit(enforce, expected):
    settings = config({"memory": "1Gi"}, hard="memory.available<100Mi", enforce=enforce)

    assert node_cgroups(Cgroups({("kubepods",)}), settings).pods_memory_limit() == expected


def test_a_limit_that_cannot_be_set_yet_is_told_and_set_later(events):
    cgroups = Cgroups({("kubepods",)}, "busy")

    assert not node_cgroups(cgroups, config()).enforce_pods(lambda *event: events.append(event))

    assert events == [
        ("Warning", "FailedNodeAllocatableEnforcement", 'Failed to update Node Allocatable Limits ["kubepods"]: busy')
    ]


def test_the_cgroup_of_the_system_must_exist(events):
    settings = config({"cpu": "1"}, enforce=("pods", "system-reserved"), system_reserved_cgroup="/system")

    with pytest.raises(ContainerManagerFailed, match=r'on "/system": \["system"\] cgroup does not exist'):
        node_cgroups(Cgroups(set()), settings).enforce_reserved(lambda *event: events.append(event))


def test_compressible_alone_leaves_memory_to_its_owner(events):
    cgroups = Cgroups({("kubelet",)})
    reserved = {"cpu": "1", "memory": "1Gi"}
    settings = config(kube=reserved, enforce=("kube-reserved-compressible",), kube_reserved_cgroup="/kubelet")

    node_cgroups(cgroups, settings).enforce_reserved(lambda *event: events.append(event))

    assert (cgroups.told[("kubelet",)].cpu_shares, cgroups.told[("kubelet",)].memory) == (1024, None)
