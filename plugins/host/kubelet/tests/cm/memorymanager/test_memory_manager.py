"""Memory of NUMA nodes, by upstream's tables (``pkg/kubelet/cm/memorymanager/policy_static_test.go``)."""

import pytest
from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.memorymanager.memory_manager import MemoryManager, check_policy
from hyperkube_host.kubelet.cm.memorymanager.memory_state import (
    FILE_NAME,
    MemoryState,
    check_reserved,
    initial_machine_state,
    node_memory,
)
from hyperkube_host.kubelet.cm.memorymanager.static_policy import StaticMemoryPolicy
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaInfo, TopologyHint
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, TopologyOptions

from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.errors import UsageError

MI, GI = 1 << 20, 1 << 30
MACHINE = {0: {"memory": 4 * GI, "hugepages-2Mi": GI}, 1: {"memory": 4 * GI, "hugepages-2Mi": GI}}
RESERVED = {0: {"memory": 512 * MI}, 1: {"memory": 512 * MI}}


def container(name, memory, **more):
    same = {"cpu": "1", "memory": memory, **more}
    return {"name": name, "resources": {"requests": same, "limits": same}}


def pod(uid, *containers, inits=()):
    return {"metadata": {"name": uid, "uid": uid}, "spec": {"containers": [*containers], "initContainers": [*inits]}}


@pytest.fixture
def rig(tmp_path):
    """A machine of two nodes with 2.5Gi of memory for containers each."""

    class Rig:
        folder = tmp_path

        def __init__(self):
            self.state = MemoryState(tmp_path, "Static", initial_machine_state(MACHINE, RESERVED))
            self.affinity = TopologyManager(TopologyOptions(), NumaInfo((0, 1), {}))
            self.policy = StaticMemoryPolicy(self.state, self.affinity)
            self.manager = MemoryManager(self.state, self.policy)

        def admit(self, one, *, nodes=None):
            for each in (*one["spec"]["initContainers"], *one["spec"]["containers"]):
                if nodes is not None:
                    key = (one["metadata"]["uid"], each["name"])
                    self.affinity._hints[key] = TopologyHint(frozenset(nodes), preferred=True)
                self.manager.allocate(one, each)

        def free(self):
            return [self.state.machine[node].memoryMap["memory"].free // MI for node in (0, 1)]

    return Rig


def test_memory_comes_from_one_node_if_that_has_enough(rig):
    made = rig()

    made.admit(pod("p", container("c", "1Gi")))

    assert (made.manager.numa_nodes("p", "c"), made.free()) == ([0], [1536, 2560])


def test_more_than_a_node_has_comes_from_several(rig):
    made = rig()

    made.admit(pod("p", container("c", "3Gi")))

    assert (made.manager.numa_nodes("p", "c"), made.free()) == ([0, 1], [0, 2048])


def test_the_nodes_of_the_affinity_are_used(rig):
    made = rig()

    made.admit(pod("p", container("c", "1Gi")), nodes=[1])

    assert made.free() == [2560, 1536]


def test_an_affinity_that_is_too_small_is_not_extended_against_preference(rig):
    made = rig()
    made.admit(pod("a", container("c", "2Gi")), nodes=[0])

    with pytest.raises(AllocationFailed, match="failed to find the extended preferred hint"):
        made.admit(pod("b", container("c", "1Gi")), nodes=[0])


def test_a_node_that_gives_memory_alone_gives_none_together_with_others(rig):
    made = rig()
    made.admit(pod("a", container("c", "1Gi")), nodes=[0])

    with pytest.raises(AllocationFailed, match="failed to find the default preferred hint"):
        made.admit(pod("b", container("c", "3Gi")))


def test_nodes_that_give_memory_together_give_none_alone(rig):
    made = rig()
    made.admit(pod("a", container("c", "3Gi")))

    hints = made.manager.topology_hints(pod("b", container("c", "1Gi")), container("c", "1Gi"))["memory"]

    assert [(sorted(hint.nodes), hint.preferred) for hint in hints] == [([0, 1], False)]


def test_all_kinds_of_memory_come_from_the_same_nodes(rig):
    made, one = rig(), container("c", "1Gi", **{"hugepages-2Mi": "2Gi"})

    made.admit(pod("p", one))

    assert [(kind, nodes) for kind, _, nodes in made.manager.memory_of("p", "c")] == [
        ("memory", [0, 1]),
        ("hugepages-2Mi", [0, 1]),
    ]


def test_a_container_goes_on_with_the_memory_of_ended_init_containers(rig):
    made = rig()

    made.admit(pod("p", container("c", "1Gi"), inits=[container("i", "2Gi")]))

    assert made.free() == [512, 2560]
    assert [size for _, size, _ in made.manager.memory_of("p", "i")] == [GI]


def test_burstable_pods_have_memory_from_anywhere(rig):
    made = rig()

    made.admit(pod("p", {"name": "c", "resources": {"requests": {"memory": "1Gi"}}}))

    assert (made.manager.numa_nodes("p", "c"), made.free()) == ([], [2560, 2560])


def test_memory_of_pods_that_are_gone_is_free_again(rig):
    made = rig()
    made.admit(pod("p", container("c", "3Gi")))

    made.manager.remove_stale(list)

    assert (made.free(), made.state.machine[0].cells, made.state.machine[0].numberOfAssignments) == ([2560] * 2, [0], 0)


def test_a_restarted_kubelet_knows_what_it_gave(rig):
    rig().admit(pod("p", container("c", "1Gi")))

    again = rig()

    assert (again.manager.numa_nodes("p", "c"), again.free()) == ([0], [1536, 2560])
    again.admit(pod("p", container("c", "1Gi")))
    assert again.free() == [1536, 2560]


def test_a_machine_with_other_memory_stops_the_start(rig, tmp_path):
    rig()

    with pytest.raises(UsageError, match="the expected machine state is different from the real one"):
        MemoryState(tmp_path, "Static", initial_machine_state({0: {"memory": GI}}, {}))


def test_a_file_that_cannot_be_trusted_stops_the_start(rig, tmp_path):
    rig()
    (tmp_path / FILE_NAME).write_text('{"policyName": "Static", "checksum": 1}')

    with pytest.raises(UsageError, match="please drain this node and delete the memory manager checkpoint file"):
        rig()


@pytest.mark.parametrize(
    ("reserved", "node_allocatable", "message"),
    [
        ({0: {"memory": GI}}, {"memory": "2Gi"}, 'total amount "1Gi" of type "memory" is not equal to the value "2Gi"'),
        ({7: {"memory": GI}}, {"memory": "1Gi"}, "references a NUMA node 7 that does not exist"),
        ({}, {}, "you should specify the system reserved memory"),
    ],
)
def test_reserved_memory_is_what_node_allocatable_reserves(reserved, node_allocatable, message):
    with pytest.raises(UsageError, match=message):
        check_reserved([0, 1], reserved, read(node_allocatable))


def test_reserved_memory_that_fits_is_accepted():
    check_reserved([0, 1], RESERVED, read({"memory": "1Gi", "cpu": "1"}))


@pytest.mark.parametrize("policy", ["BestEffort", "other"])
def test_policies_that_there_are_none_of_here_are_refused(policy):
    with pytest.raises(UsageError, match=policy):
        check_policy(policy)


def test_without_a_policy_memory_comes_from_anywhere(rig):
    made = rig()
    none = MemoryManager(made.state, None)

    none.allocate(pod("p", container("c", "1Gi")), container("c", "1Gi"))

    assert (none.numa_nodes("p", "c"), none.allocatable(), none.pod_topology_hints(pod("p"))) == ([], [], {})


def test_the_kernel_tells_the_memory_of_nodes(tmp_path):
    pages = tmp_path / "node0/hugepages/hugepages-2048kB"
    pages.mkdir(parents=True)
    (tmp_path / "node0/meminfo").write_text("Node 0 MemTotal:       1024 kB\nNode 0 MemFree:  1 kB\n")
    (pages / "nr_hugepages").write_text("3\n")

    assert node_memory(tmp_path) == {0: {"memory": MI, "hugepages-2Mi": 6 * MI}}
