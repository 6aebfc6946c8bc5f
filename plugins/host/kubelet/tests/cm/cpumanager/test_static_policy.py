"""The static policy and its state, by upstream's tables (``policy_static_test.go``, ``state_checkpoint_test.go``)."""

import json

import pytest
from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.cpumanager.cpu_manager import CpuManager
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import format_cpu_set, parse_cpu_set
from hyperkube_host.kubelet.cm.cpumanager.cpu_state import FILE_NAME, CpuState
from hyperkube_host.kubelet.cm.cpumanager.policy_options import StaticPolicyOptions
from hyperkube_host.kubelet.cm.cpumanager.static_policy import StaticPolicy, guaranteed_cpus, pod_guaranteed_cpus
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaInfo, TopologyHint
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, TopologyOptions

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.machinery.errors import UsageError


def container(name, cpu, memory="1Gi", **more):
    same = {"cpu": cpu, "memory": memory}
    return {"name": name, "resources": {"requests": same, "limits": same}, **more}


def pod(uid, *containers, inits=()):
    return {"metadata": {"name": uid, "uid": uid}, "spec": {"containers": [*containers], "initContainers": [*inits]}}


def options(*names):
    gates = {"CPUManagerPolicyAlphaOptions": True}
    return StaticPolicyOptions.of(dict.fromkeys(names, "true"), gates)


@pytest.fixture
def rig(tmp_path, machines):
    """Builds a policy; `rig.state` is its state, kept in a folder of the test."""

    class Rig:
        folder = tmp_path

        def __call__(self, machine="single-socket-ht", reserved=1, chosen=(), policy="none"):
            topology = machines[machine]
            numa = NumaInfo(tuple(topology.numa_nodes), {})
            self.affinity = TopologyManager(TopologyOptions(policy=policy), numa)
            self.state = CpuState(tmp_path, "static")
            return StaticPolicy(topology, self.state, self.affinity, options(*chosen), reserved)

        def shared(self):
            return format_cpu_set(self.state.default)

        def own(self, uid, name="c"):
            return format_cpu_set(self.state.own_cpus(uid, name) or ())

    return Rig()


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        pytest.param(container("c", "2")["resources"], 2, id="whole"),
        pytest.param(container("c", "1500m")["resources"], 0, id="not-whole"),
        pytest.param({"requests": {"cpu": "2", "memory": "1Gi"}}, 0, id="burstable"),
        pytest.param({}, 0, id="besteffort"),
    ],
)
def test_only_whole_cpus_of_guaranteed_pods_are_exclusive(resources, count):
    one = {"name": "c", "resources": resources}

    assert guaranteed_cpus(pod("p", one), one) == count


def test_a_pod_has_what_its_start_or_its_run_needs():
    sidecar = container("s", "1", restartPolicy="Always")

    assert pod_guaranteed_cpus(pod("p", container("c", "2"), inits=[sidecar, container("i", "4")])) == 5
    assert pod_guaranteed_cpus(pod("p", container("c", "2"), container("d", "3"), inits=[container("i", "4")])) == 5


def test_what_one_container_has_alone_the_others_do_not_share(rig):
    policy = rig()

    policy.allocate(pod("p", container("c", "2")), container("c", "2"))

    assert (rig.own("p"), rig.shared(), policy.reserved) == ("1,5", "0,2-4,6-7", {0})


def test_allocating_twice_gives_the_same(rig):
    policy, one = rig(), pod("p", container("c", "2"))

    for _ in range(2):
        policy.allocate(one, one["spec"]["containers"][0])

    assert rig.own("p") == "1,5"


def test_a_container_goes_on_with_the_cpus_of_ended_init_containers(rig):
    policy = rig()
    one = pod("p", container("c", "2"), inits=[container("i", "4")])

    for each in (*one["spec"]["initContainers"], *one["spec"]["containers"]):
        policy.allocate(one, each)

    assert (rig.own("p", "i"), rig.own("p")) == ("1-2,5-6", "1,5")


def test_a_sidecar_keeps_its_cpus_for_itself(rig):
    policy = rig()
    one = pod("p", container("c", "2"), inits=[container("s", "2", restartPolicy="Always")])

    for each in (*one["spec"]["initContainers"], *one["spec"]["containers"]):
        policy.allocate(one, each)

    assert (rig.own("p", "s"), rig.own("p")) == ("1,5", "2,6")


def test_too_few_cpus_refuse_the_pod(rig):
    policy, one = rig(), container("c", "8")

    with pytest.raises(AllocationFailed) as caught:
        policy.allocate(pod("p", one), one)

    assert caught.value.as_failure() == (
        "UnexpectedAdmissionError",
        (
            "Allocate failed due to not enough cpus available to satisfy request: requested=8, available=7,"
            " which is unexpected"
        ),
    )


@pytest.mark.parametrize(
    ("reserved", "cpu", "message"),
    [
        pytest.param(1, "3", "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2", id="half-a-core"),
        pytest.param(
            parse_cpu_set("0,1"),
            "6",
            "SMT Alignment Error: not enough free physical CPUs:"
            " available physical CPUs = 4, requested CPUs = 6, CPUs per core = 2",
            id="cores-that-the-system-has-a-thread-of",
        ),
    ],
)
def test_full_cores_only_refuses_what_would_split_one(rig, reserved, cpu, message):
    policy, one = rig(reserved=reserved, chosen=["full-pcpus-only"]), container("c", cpu)

    with pytest.raises(AllocationFailed) as caught:
        policy.allocate(pod("p", one), one)

    assert caught.value.as_failure() == ("SMTAlignmentError", message)


def test_strictly_reserved_cpus_are_not_shared_either(rig):
    rig(reserved=2, chosen=["strict-cpu-reservation"])

    assert rig.shared() == "1-3,5-7"


def test_cpus_come_from_the_nodes_of_the_affinity(rig):
    policy, one = rig("dual-socket-ht", policy="restricted"), pod("p", container("c", "2"))
    rig.affinity._hints["p", "c"] = TopologyHint(frozenset({1}), preferred=True)

    policy.allocate(one, one["spec"]["containers"][0])

    assert rig.own("p") == "1,7"


def test_hints_prefer_the_fewest_nodes(rig):
    policy = rig("dual-socket-ht")

    small, large = (
        policy.topology_hints(pod("p", one), one)["cpu"] for one in (container("c", "2"), container("c", "7"))
    )

    assert [(sorted(hint.nodes), hint.preferred) for hint in small] == [([0], True), ([1], True), ([0, 1], False)]
    assert [(sorted(hint.nodes), hint.preferred) for hint in large] == [([0, 1], True)]


def test_with_align_by_socket_all_nodes_of_a_socket_are_preferred(rig):
    policy, one = rig("multi-numa-ht", chosen=["align-by-socket"]), container("c", "2")

    hints = policy.topology_hints(pod("p", one), one)["cpu"]

    assert {frozenset(hint.nodes) for hint in hints if hint.preferred} == {
        *map(frozenset, ({0}, {1}, {2}, {3}, {0, 1}, {2, 3}))
    }


@pytest.mark.parametrize(
    ("given", "gates", "message"),
    [
        ({"nonsense": "true"}, {}, 'unknown CPU Manager Policy option: "nonsense"'),
        ({"align-by-socket": "true"}, {}, "Alpha-level Options not enabled"),
        ({"distribute-cpus-across-numa": "true"}, {"CPUManagerPolicyBetaOptions": False}, "Beta-level Options not"),
        ({"full-pcpus-only": "maybe"}, {}, 'bad value for option "full-pcpus-only"'),
        (
            {"full-pcpus-only": "true", "distribute-cpus-across-cores": "true"},
            {"CPUManagerPolicyAlphaOptions": True},
            "full-pcpus-only and distribute-cpus-across-cores can not be used at the same time",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(given, gates, message):
    with pytest.raises(UsageError, match=message):
        StaticPolicyOptions.of(given, gates)


def test_a_restarted_kubelet_knows_what_it_gave(rig):
    rig().allocate(pod("p", container("c", "2")), container("c", "2"))

    rig()

    assert (rig.own("p"), rig.shared()) == ("1,5", "0,2-4,6-7")


@pytest.mark.parametrize(
    "content",
    [
        '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
        (
            '{"policyName":"static","defaultCpuSet":"0,2-7","entries":{"2b38ebd9-1cf8-483f-8aac-57cba7afaf98":'
            '{"cpumanager":"1"}},"checksum":4088866743}'
        ),
    ],
)
def test_files_of_the_kubelet_in_go_are_read_and_written(tmp_path, content):
    (tmp_path / FILE_NAME).write_text(content)

    state = CpuState(tmp_path, json.loads(content)["policyName"])
    state.set_default(state.default)

    assert json.loads((tmp_path / FILE_NAME).read_text()) == json.loads(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
            'differs from state checkpoint policy "none"',
        ),
        ('{"policyName":"static","defaultCpuSet":"0-7","checksum":1}', "checkpoint is corrupted"),
        ("[]", "please drain this node and delete the CPU manager checkpoint file"),
        ("nonsense", "please drain this node"),
    ],
)
def test_a_file_that_cannot_be_trusted_stops_the_start(tmp_path, content, message):
    (tmp_path / FILE_NAME).write_text(content)

    with pytest.raises(UsageError, match=message):
        CpuState(tmp_path, "static")


def test_a_machine_with_other_cpus_than_before_stops_the_start(rig):
    rig().allocate(pod("p", container("c", "2")), container("c", "2"))

    with pytest.raises(UsageError, match='current set of available CPUs "0-11" doesn\'t match with CPUs in state'):
        rig("dual-socket-ht")


def test_more_reserved_than_before_stops_the_start(rig):
    rig().allocate(pod("p", container("c", "2")), container("c", "2"))

    with pytest.raises(UsageError, match='not all reserved cpus: "0-1"'):
        rig(reserved=parse_cpu_set("0-1"))


class TestReconciliation:
    """Running containers follow the shared CPUs."""

    @pytest.fixture
    def manager(self, rig):
        policy = rig()
        return CpuManager(rig.state, policy)

    def test_containers_that_share_are_told_when_that_changes(self, manager):
        told = []
        shared, own = pod("shared", {"name": "c"}), pod("own", container("c", "2"))

        def reconcile():
            ids = {("shared", "c"): "shared/c", ("own", "c"): "own/c"}
            manager.reconcile(lambda: [shared, own], lambda: ids, lambda *call: told.append(call))

        reconcile()
        reconcile()
        manager.allocate(own, own["spec"]["containers"][0])
        reconcile()

        assert told == [
            ("shared/c", {"cpuset_cpus": "0-7"}),
            ("own/c", {"cpuset_cpus": "0-7"}),
            ("shared/c", {"cpuset_cpus": "0,2-4,6-7"}),
        ]

    def test_what_the_runtime_refused_is_told_again(self, manager):
        calls = []

        def refuse(*call):
            calls.append(call)
            raise RuntimeFailed("no")

        for _ in range(2):
            manager.reconcile(lambda: [pod("p", {"name": "c"})], lambda: {("p", "c"): "id"}, refuse)

        assert len(calls) == 2

    def test_cpus_of_pods_that_are_gone_are_shared_again(self, manager):
        own = pod("own", container("c", "2"))
        manager.allocate(own, own["spec"]["containers"][0])

        manager.reconcile(list, dict, lambda *_: None)

        assert format_cpu_set(manager.affinity("other", "c")) == "0-7"
