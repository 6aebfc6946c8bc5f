"""Which status, taints and pods follow from what a node says and does not say, as tables.

The cases are those of kubernetes ``node_lifecycle_controller_test.go``, with its graces of 50 and 60 seconds.
"""

import pytest
from node_world import Rig, evicted, lease, node, pod, ready, taints

from hyperkube.kinds.resources import EVENTS, LEASES, NODES, PODS
from hyperkube.machinery.errors import Conflict, NotFound

GRACES = {"node_monitor_grace_period": 50.0, "node_startup_grace_period": 60.0}
LONG_AGO = "2027-01-01T00:00:00Z"
NOW = "2030-01-01T00:00:00Z"
NEVER = ("NodeStatusNeverUpdated", "Kubelet never posted node status.")
STOPPED = ("NodeStatusUnknown", "Kubelet stopped posting node status.")


@pytest.fixture
def rig():
    return Rig(**GRACES)


def aged(status, created, *conditions, name="n1"):
    """Return a node of that age; further conditions are said to be False."""
    made = node(status, name=name)
    made["metadata"]["creationTimestamp"] = created
    made["status"]["conditions"] += [
        {"type": kind, "status": "False", "lastHeartbeatTime": NOW, "lastTransitionTime": NOW} for kind in conditions
    ]
    return made


def said(rig, name="n1"):
    """Return reason, message and last heartbeat of each Unknown condition by type."""
    return {
        each["type"]: (each["reason"], each["message"], each["lastHeartbeatTime"])
        for each in rig.client.get(NODES, name)["status"]["conditions"]
        if each["status"] == "Unknown"
    }


def marked(rig):
    """Return the pods that were taken out of service."""
    return [path for verb, resource, path in rig.client.actions if (verb, resource) == ("patch", "pods")]


def status_writes(rig):
    return [path for verb, resource, path in rig.client.actions if (verb, resource) == ("update", "nodes")]


@pytest.mark.parametrize(
    ("status", "created", "renewed", "renewed_again", "reported_again", "unknown", "pods_marked"),
    [
        pytest.param("", NOW, False, False, None, {}, False, id="new, silent"),
        pytest.param("", NOW, True, False, None, {}, False, id="new, silent, leased"),
        pytest.param("", LONG_AGO, False, False, None, {"Ready": NEVER}, True, id="old, silent"),
        pytest.param("", LONG_AGO, True, True, "", {}, False, id="old, silent, lease renewed"),
        pytest.param("", LONG_AGO, True, False, "", {"Ready": NEVER}, True, id="old, silent, lease expired"),
        pytest.param("True", LONG_AGO, False, False, None, {}, False, id="old, heard just now"),
        pytest.param("True", LONG_AGO, False, False, "", {"Ready": STOPPED}, True, id="old, not heard for an hour"),
        pytest.param("True", LONG_AGO, True, True, "", {}, False, id="old, status stale, lease renewed"),
        pytest.param("True", LONG_AGO, True, False, "True", {}, False, id="old, status fresh, lease expired"),
        pytest.param("True", LONG_AGO, True, False, "", {"Ready": STOPPED}, True, id="old, both stale"),
    ],
)
def test_silence_is_judged_by_age_status_and_lease(
    rig, status, created, renewed, renewed_again, reported_again, unknown, pods_marked
):
    """`reported_again` is what the kubelet posts an hour later ("" nothing), None that no time passes."""
    rig.client.seed(NODES, aged(status, created))
    rig.client.seed(PODS, pod("p"))
    if renewed:
        rig.client.seed(LEASES, lease("2030-01-01T00:00:00.000000Z"))
    rig.settle()
    if reported_again is not None:
        rig.clock.advance(3600)
        if renewed_again:
            rig.renew("n1")
        if reported_again:
            rig.report("n1", reported_again)
        rig.settle()

    heard = NOW if status else created
    expected = {kind: (*texts, heard) for kind, texts in unknown.items()}
    if expected:
        pressure = {f"{kind}Pressure": (*NEVER, created) for kind in ("Memory", "Disk", "PID")}
        expected |= pressure
    assert said(rig) == expected
    assert status_writes(rig) == (["n1/status"] if expected else [])
    assert marked(rig) == (["d/p/status"] if pods_marked else [])


def test_each_pressure_keeps_what_its_kubelet_said_last(rig):
    rig.client.seed(NODES, aged("True", LONG_AGO, "DiskPressure"))
    rig.settle()
    rig.advance(51)

    assert said(rig) == {
        "Ready": (*STOPPED, NOW),
        "DiskPressure": (*STOPPED, NOW),
        "MemoryPressure": (*NEVER, LONG_AGO),
        "PIDPressure": (*NEVER, LONG_AGO),
    }


@pytest.mark.parametrize("grace", ["within", "after"])
@pytest.mark.parametrize("status", ["True", "False", "Unknown", ""])
def test_the_ready_condition_by_what_was_said_and_how_long_ago(rig, status, grace):
    rig.client.seed(NODES, aged(status, NOW))
    rig.settle()
    rig.advance(61 if grace == "after" else 10)

    conditions = rig.client.get(NODES, "n1")["status"]["conditions"]
    found = next((each["status"] for each in conditions if each["type"] == "Ready"), "")
    assert found == (status if grace == "within" else "Unknown")
    assert status_writes(rig) == (["n1/status"] if grace == "after" and status != "Unknown" else [])


def test_a_lease_that_goes_back_is_no_sign_of_life(rig):
    rig.client.seed(NODES, node())
    rig.client.seed(LEASES, lease("2030-01-01T00:00:00.000000Z"))
    rig.settle()
    rig.advance(40)
    earlier = {"spec": {"renewTime": "2029-01-01T00:00:00.000000Z"}}
    rig.client.patch(LEASES, "n1", earlier, "kube-node-lease")
    rig.settle()
    rig.advance(11)

    assert ready(rig)[0] == "Unknown"


def test_all_pods_of_all_silent_nodes_are_marked(rig):
    names = [f"n{number}" for number in range(5)]
    rig.client.seed(NODES, *(aged("True", LONG_AGO, name=name) for name in names))
    for number in range(20):
        made = pod(f"p{number}")
        made["spec"]["nodeName"] = names[number % 5]
        rig.client.seed(PODS, made)
    rig.settle()
    rig.advance(60)

    assert len(marked(rig)) == len(set(marked(rig))) == 20


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        pytest.param(None, ["a", "b"], id="no retry"),
        pytest.param(Conflict("fake error"), ["a", "b", "a"], id="refused, and tried again"),
        pytest.param(NotFound("gone"), ["a", "b", "a"], id="not found, looked at again with its node"),
    ],
)
def test_a_pod_that_cannot_be_marked_is_tried_again_and_holds_no_other_up(rig, error, tries):
    rig.client.seed(NODES, node())
    rig.client.seed(PODS, pod("a"), pod("b"))
    rig.settle()
    if error is not None:
        rig.client.fail_next("patch", "pods", error)
    rig.advance(51)
    for _ in range(3):
        rig.advance(1)
    rig.report("n1", "False")
    rig.settle()

    assert [path.split("/")[1] for path in marked(rig)] == tries
    about = [each["involvedObject"]["name"] for each in told(rig, "Pod")]
    assert about == (["a", "b"] if error is None else ["b", "a"])


def told(rig, kind):
    rig.plugins[0]._recorder.flush()
    return [each for each in rig.client.objects(EVENTS) if each["involvedObject"]["kind"] == kind]


@pytest.mark.parametrize(
    ("status", "known", "expected"),
    [
        pytest.param("False", False, [], id="health not gathered yet"),
        pytest.param("True", True, [], id="node ready"),
        pytest.param("False", True, ["d/p/status"], id="node not ready"),
        pytest.param("Unknown", True, ["d/p/status"], id="node silent"),
        pytest.param("", True, [], id="node has said nothing"),
    ],
)
def test_a_pod_that_is_bound_to_a_node_that_is_not_ready_is_not_ready(rig, status, known, expected):
    rig.client.seed(NODES, node(status))
    if known:
        rig.settle()
    rig.client.seed(PODS, pod("p"))
    rig.settle()

    assert marked(rig) == expected


def test_an_event_on_a_node_has_its_uid(rig):
    made = node("Unknown")
    made["metadata"]["uid"] = "1234567890"
    rig.client.seed(NODES, made)
    rig.settle()

    assert [(each["reason"], each["involvedObject"]["uid"]) for each in told(rig, "Node")] == [
        ("RegisteredNode", "1234567890")
    ]


def test_a_status_that_was_refused_is_told_of_once(rig):
    rig.client.seed(NODES, node())
    rig.settle()
    rig.client.fail_next("update", "nodes", Conflict("fake error"))
    rig.advance(51)
    rig.advance(1)

    assert [each["reason"] for each in told(rig, "Node")] == ["RegisteredNode", "NodeNotReady"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, {}),
        ({"topology.kubernetes.io/region": "r"}, {"topology.kubernetes.io/region": "r"}),
        (
            {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
            {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            | {"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"},
        ),
        (
            {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            | {"beta.kubernetes.io/os": "windows", "beta.kubernetes.io/arch": "arm"},
            {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            | {"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"},
        ),
    ],
    ids=["none", "no target", "created", "corrected"],
)
def test_beta_labels_follow_the_stable_ones(rig, labels, expected):
    rig.client.seed(NODES, node(labels=labels))
    rig.settle()

    assert rig.client.get(NODES, "n1")["metadata"].get("labels", {}) == expected


def test_a_node_that_is_being_deleted_is_judged_all_the_same(rig):
    made = node()
    made["metadata"]["finalizers"] = ["example.com/keep"]
    rig.client.seed(NODES, made)
    rig.client.delete(NODES, "n1")
    rig.settle()
    rig.advance(51)

    assert ready(rig)[0] == "Unknown"


def test_a_node_that_lost_its_ready_condition_keeps_the_taint_that_evicts_and_gets_none():
    rig = Rig("well", **GRACES)
    rig.client.seed(NODES, node("False"), node(name="n2"))
    rig.settle()
    for name in ("n1", "n2"):
        rig.client.patch(NODES, name, {"status": {"conditions": []}}, subresource="status")
    rig.settle()

    assert taints(rig, "n1") == {("not-ready", "NoExecute")}
    assert taints(rig, "n2") == set()
    assert evicted(rig) == ["n1"]
