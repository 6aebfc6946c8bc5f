"""What 1.x policies, read from files, make of pods and nodes: the rows of upstream's predicates, and scores of 1.x.

Source of the rows: kubernetes 1.15 ``pkg/scheduler/algorithm/predicates/predicates_test.go`` (TestRunGeneralPredicates,
TestNodeLabelPresence, TestGetMaxVols); the texts are those of the plugins that the predicates became.
"""

import random

import orjson
import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

import numpy as np
from hyperkube_host.scheduler.config.sources import Source
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_host.scheduler.framework.runtime import new_framework
from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_testing.scheduling.tables import node, pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.clock import FakeClock

WEB = {"app": "web"}
NOT_LABELLED = "node(s) didn't have the requested labels"


@pytest.fixture
def asks(tmp_path):
    """Return what reads a policy from a file and yields what decides by it, and its profile."""
    client = FakeClient()
    client.seed(SERVICES, {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": WEB}})
    informers = InformerFactory(client)
    informers.start()

    def ask(policy, **options):
        path = tmp_path / "policy.cfg"
        path.write_bytes(orjson.dumps({"kind": "Policy", "apiVersion": "v1", **policy}))
        configuration = Source(
            SchedulerOptions.in_process({"policy-config-file": str(path), **options}).configuration, client
        ).read()
        built = new_framework(
            configuration.profiles["default-scheduler"], client=client, informers=informers, clock=FakeClock(),
            options={}, gates={},
        )  # fmt: skip
        checks_all = built.provider.checks_all
        return Algorithm(built.filters, built.scores, random.Random(1), checks_all=checks_all), built

    yield ask
    informers.stop()


def pod(name="new", labels=None, **spec):
    meta = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def asking(cpu, memory, name="new"):
    requests = {"cpu": f"{cpu}m", "memory": str(memory)}
    return pod(name, containers=[{"name": "c", "resources": {"requests": requests}}])


def with_port(number, name="new"):
    return pod(name, containers=[{"name": "c", "ports": [{"containerPort": 80, "hostPort": number}]}])


def reasons(algorithm, wanted, nodes, column=0):
    """Return what all filters have against a node."""
    filtered = algorithm.run_filters(pod_info(wanted, nodes), nodes)
    found = [text for each in filtered.rejections.values() for text, mask in each.reasons.items() if mask[column]]
    assert bool(filtered.feasible[column]) is not bool(found)
    return found


@pytest.mark.parametrize(
    ("wanted", "placed", "expected"),
    [
        pytest.param(pod(), asking(9, 19, "placed"), [], id="no resources/port/host requested always fits"),
        pytest.param(
            asking(8, 10),
            asking(5, 19, "placed"),
            ["Insufficient cpu", "Insufficient memory"],
            id="not enough cpu and memory resource",
        ),
        pytest.param(
            pod(nodeName="machine2"), None, ["node(s) didn't match the requested node name"], id="host not match"
        ),
        pytest.param(
            with_port(123),
            with_port(123, "placed"),
            ["node(s) didn't have free ports for the requested pod ports"],
            id="hostport conflict",
        ),
    ],
)
def test_general_predicates(asks, wanted, placed, expected):
    algorithm, _ = asks({"predicates": [{"name": "GeneralPredicates"}], "alwaysCheckAllPredicates": True})
    nodes = table({"name": "machine1", "cpu": "10m", "memory": "20", "pods": "32"})
    if placed:
        nodes.put_pod(placed, "machine1")

    assert reasons(algorithm, wanted, nodes) == expected


@pytest.mark.parametrize(
    ("labels", "presence", "fits"),
    [
        pytest.param(["baz"], True, False, id="label does not match, presence true"),
        pytest.param(["baz"], False, True, id="label does not match, presence false"),
        pytest.param(["foo", "baz"], True, False, id="one label matches, presence true"),
        pytest.param(["foo", "baz"], False, False, id="one label matches, presence false"),
        pytest.param(["foo", "bar"], True, True, id="all labels match, presence true"),
        pytest.param(["foo", "bar"], False, False, id="all labels match, presence false"),
    ],
)
def test_labels_presence(asks, labels, presence, fits):
    argument = {"labelsPresence": {"labels": labels, "presence": presence}}
    algorithm, _ = asks({"predicates": [{"name": "CheckNodeLabelPresence", "argument": argument}]})
    nodes = table({"name": "n", "labels": {"foo": "bar", "bar": "foo"}})

    assert reasons(algorithm, pod(), nodes) == ([] if fits else [NOT_LABELLED])


@pytest.mark.parametrize("name", ["CheckServiceAffinity", "TestServiceAffinity"])
def test_service_affinity(asks, name):
    argument = {"serviceAffinity": {"labels": ["region"]}}
    algorithm, _ = asks({"predicates": [{"name": name, "argument": argument}]})
    nodes = table({"name": "a", "labels": {"region": "r1"}}, {"name": "b", "labels": {"region": "r2"}})
    nodes.put_pod(pod("first", WEB), "b")

    assert reasons(algorithm, pod(labels=WEB), nodes, 0) == ["node(s) didn't match service affinity"]
    assert reasons(algorithm, pod(labels=WEB), nodes, 1) == []


@pytest.mark.parametrize(
    ("name", "condition", "status", "reason"),
    [
        ("CheckNodeCondition", "Ready", "False", "node(s) were not ready"),
        ("CheckNodeMemoryPressure", "MemoryPressure", "True", "node(s) had memory pressure"),
        ("CheckNodeDiskPressure", "DiskPressure", "True", "node(s) had disk pressure"),
        ("CheckNodePIDPressure", "PIDPressure", "True", "node(s) had pid pressure"),
    ],
)
def test_conditions(asks, name, condition, status, reason):
    nodes = table({"name": "well"})
    ill = node("ill")
    ill["status"]["conditions"] = [{"type": condition, "status": status}]
    nodes.put_node(ill)

    algorithm, _ = asks({"predicates": [{"name": name}]})
    unaware, _ = asks({"predicates": []})

    assert [reasons(algorithm, pod(), nodes, column) for column in (0, 1)] == [[], [reason]]
    assert reasons(unaware, pod(), nodes, 1) == []


def test_what_must_be_is_there_unnamed(asks):
    algorithm, _ = asks({"predicates": []})
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    nodes = table({"name": "off", "unschedulable": True}, {"name": "tainted", "taints": [taint]})

    assert reasons(algorithm, pod(), nodes, 0) == ["node(s) were unschedulable"]
    assert len(reasons(algorithm, pod(), nodes, 1)) == 1


@pytest.mark.parametrize(("checks_all", "count"), [(True, 3), (False, 1)])
def test_all_predicates_are_told_where_that_is_asked_for(asks, checks_all, count):
    argument = {"labelsPresence": {"labels": ["baz"], "presence": True}}
    names = [{"name": "PodFitsPorts"}, {"name": "HostName"}, {"name": "x", "argument": argument}]
    algorithm, _ = asks({"predicates": names, "alwaysCheckAllPredicates": checks_all})
    nodes = table({"name": "n"})
    nodes.put_pod(with_port(80, "placed"), "n")
    wanted = with_port(80)
    wanted["spec"]["nodeName"] = "other"

    refusals = algorithm.run_filters(pod_info(wanted, nodes), nodes).rejections

    assert len(refusals) == count
    assert list(refusals) == ["NodeName", "NodePorts", "NodeLabel"][:count]


def disks(name, count):
    rows = [{"name": f"v{number}", "awsElasticBlockStore": {"volumeID": f"{name}-{number}"}} for number in range(count)]
    return pod(name, volumes=rows)


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        pytest.param("invalid", 39, id="not a number"),
        pytest.param("-2", 39, id="not positive"),
        pytest.param("40", 40, id="a number"),
    ],
)
def test_the_environment_limits_disks(asks, monkeypatch, given, limit):
    monkeypatch.setenv("KUBE_MAX_PD_VOLS", given)
    algorithm, _ = asks({"predicates": [{"name": "MaxEBSVolumeCount"}]})
    nodes = table({"name": "n"})
    nodes.put_pod(disks("placed", limit - 1), "n")

    assert reasons(algorithm, disks("new", 1), nodes) == []
    assert reasons(algorithm, disks("new", 2), nodes) == ["node(s) exceed max volume count"]


def told(built, wanted, nodes):
    """Return each score plugin's final scores, by name."""
    info, every = pod_info(wanted, nodes), np.ones(len(nodes), dtype=bool)
    return {
        name: plugin.normalize(info, nodes, plugin.score(info, nodes), every).tolist()
        for name, plugin, _ in built.scores
    }


POLICY = {
    "priorities": [
        {"name": "LeastRequestedPriority", "weight": 1},
        {"name": "BalancedResourceAllocation", "weight": 1},
        {"name": "ServiceSpreadingPriority", "weight": 2},
        {"name": "ZoneSpread", "weight": 4, "argument": {"serviceAntiAffinity": {"label": "zone"}}},
        {"name": "RackSpread", "weight": 2, "argument": {"serviceAntiAffinity": {"label": "rack"}}},
        {"name": "Fast", "weight": 3, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
    ]
}


def racks():
    nodes = table(
        {"name": "a", "cpu": "4", "memory": "10000", "labels": {"zone": "1", "rack": "1", "ssd": ""}},
        {"name": "b", "cpu": "6", "memory": "10000", "labels": {"zone": "1", "rack": "2"}},
        {"name": "c", "cpu": "4", "memory": "10000", "labels": {"zone": "2", "rack": "3"}},
    )
    nodes.put_pod({**asking(0, 0, "first"), "metadata": pod("first", WEB)["metadata"]}, "a")
    return nodes


def wanted_web():
    return {**asking(3000, 5000), "metadata": pod("new", WEB)["metadata"]}


def test_a_policy_file_that_asks_for_1_x_gets_its_numbers(asks):
    nodes = racks()

    algorithm, built = asks({**POLICY, "predicates": [], "scoreScale": 10})
    decision = algorithm.schedule(pod_info(wanted_web(), nodes), nodes)

    assert told(built, wanted_web(), nodes) == {
        "LeastRequestedPriority": [3, 5, 3],
        "BalancedResourceAllocation": [7, 10, 7],
        "ServiceSpreadingPriority": [0, 10, 10],
        "ServiceAntiAffinity": [0, 10, 30],  # by weights 2 and 1 of a common 2
        "LabelPreference": [10, 0, 0],
    }
    assert [weight for _, _, weight in built.scores] == [1, 1, 2, 2, 3]
    totals = [3 + 7 + 30, 5 + 10 + 2 * 10 + 2 * 10, 3 + 7 + 2 * 10 + 2 * 30]
    assert decision.node == ("a", "b", "c")[totals.index(max(totals))] == "c"


def test_a_policy_file_that_does_not_ask_gets_todays(asks):
    one_weight = [{**row, "weight": 2} if "argument" in row else row for row in POLICY["priorities"]]

    _, built = asks({"priorities": one_weight, "predicates": []})

    assert {name: weight for name, _, weight in built.scores} == {
        "NodeResourcesLeastAllocated": 1,
        "NodeResourcesBalancedAllocation": 1,
        "SelectorSpread": 2,
        "ServiceAffinity": 4,
        "NodeLabel": 2,
    }
    assert max(map(max, told(built, wanted_web(), racks()).values())) == 100


@pytest.mark.parametrize(("policy", "expected"), [({}, 9), ({"hardPodAffinitySymmetricWeight": 5}, 5)])
def test_the_symmetric_weight_of_the_flag_holds_unless_the_policy_has_its_own(asks, policy, expected):
    _, built = asks(policy, **{"hard-pod-affinity-symmetric-weight": 9})

    assert built.provider.settings["InterPodAffinity"] == {"hardPodAffinityWeight": expected}


def test_the_symmetric_weight_of_the_flag_holds_for_a_provider():
    def settings(weight):
        return (
            Source(SchedulerOptions.in_process({"hard-pod-affinity-symmetric-weight": weight}).configuration, None)
            .read()
            .profiles["default-scheduler"]
        )

    assert settings(9).settings["InterPodAffinity"] == {"hardPodAffinityWeight": 9}
    assert "InterPodAffinity" not in settings(1).settings
