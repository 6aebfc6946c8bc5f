"""Which nodes get a pod and which pods go; the rows are those of upstream's ``daemon_controller_test.go``."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.daemonset.decision import manage
from hyperkube_controller.daemonset.observed import Observed
from hyperkube_controller.daemonset.pods import node_should_run_daemon_pod, pod_of, pods_by_node, tolerations_of
from hyperkube_controller.daemonset.status import status_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
EARLY, LATE = "2029-12-31T23:00:00Z", "2029-12-31T23:59:50Z"


def daemon_set(**spec):
    return {"metadata": {"name": "d", "namespace": "ns", "uid": "u", "generation": 2}, "spec": {"template": {}, **spec}}


def surging(**spec):
    return daemon_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}, **spec)


def node(name="n", *taints, **labels):
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": [*taints]}}


def taint(key, effect):
    return {"key": key, "effect": effect}


def pod(name, *, on="n", revision="new", phase="Running", ready=None, going=False, assigned=True, created="1"):
    made = pod_of(daemon_set(), on, revision)
    made["metadata"] |= {"name": name, "namespace": "ns", "uid": name, "creationTimestamp": created}
    if going:
        made["metadata"]["deletionTimestamp"] = EARLY
    if assigned:
        made["spec"]["nodeName"] = on
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": ready}
    made["status"] = {"phase": phase, "conditions": [condition] if ready else []}
    return made


def observed(*pods, owner=None, nodes=None, may_replace=True):
    return Observed(
        owner or daemon_set(),
        [node()] if nodes is None else nodes,
        pods_by_node(pods),
        "new",
        NOW,
        lambda _node: may_replace,
    )


def decided(*pods, **more):
    decision = manage(observed(*pods, **more))
    return decision.create, [each["metadata"]["name"] for each in decision.delete]


GONE = {"nodes": []}
TAINTED = {"nodes": [node("n", taint("gpu", "NoSchedule"))]}
EVICTING = {"nodes": [node("n", taint("gpu", "NoExecute"))]}


@pytest.mark.parametrize(
    ("pods", "more", "create", "delete"),
    [
        pytest.param([], {}, ["n"], [], id="none there"),
        pytest.param([pod("a")], {}, [], [], id="one there"),
        pytest.param([pod("a", going=True)], {}, [], [], id="waits for one that is being deleted"),
        pytest.param([pod("a", going=True, phase="Failed")], {}, ["n"], [], id="not for one that ended"),
        pytest.param([], TAINTED, [], [], id="a taint keeps it off"),
        pytest.param([pod("a")], TAINTED, [], [], id="and lets it stay"),
        pytest.param([pod("a")], EVICTING, [], ["a"], id="but one that evicts does not"),
        pytest.param([pod("a"), pod("b", going=True)], EVICTING, [], ["a"], id="what is going goes by itself"),
        pytest.param([pod("a", assigned=False)], GONE, [], ["a"], id="unscheduled, of a node that is gone"),
        pytest.param([pod("a")], GONE, [], [], id="on a node that is gone: the garbage collector's"),
        pytest.param([pod("b", created="2"), pod("a", created="1")], {}, [], ["b"], id="all but the oldest go"),
        pytest.param([pod("a", assigned=False), pod("b", created="2")], {}, [], ["a"], id="with a node before without"),
        pytest.param([pod("a", phase="Failed")], {}, [], ["a"], id="failed"),
        pytest.param([pod("a", phase="Failed")], {"may_replace": False}, [], [], id="failed, in back-off"),
        pytest.param([pod("a", phase="Succeeded")], {}, [], ["a"], id="succeeded"),
        pytest.param([pod("a", phase="Failed"), pod("b")], {}, [], ["a"], id="a failed one beside one that runs"),
    ],
)
def test_one_pod_runs_on_every_node_that_fits(pods, more, create, delete):
    assert decided(*pods, **more) == (create, delete)


@pytest.mark.parametrize(
    ("pods", "spec", "create", "delete"),
    [
        pytest.param([pod("o", revision="old", ready=EARLY), pod("n")], {}, [], [], id="new one not ready yet"),
        pytest.param([pod("o", revision="old"), pod("n")], {}, [], ["o"], id="old one not ready any more"),
        pytest.param([pod("o", revision="old", ready=EARLY), pod("n", ready=LATE)], {}, [], ["o"], id="new one ready"),
        pytest.param(
            [pod("o", revision="old", ready=EARLY), pod("n", ready=LATE)], {"minReadySeconds": 15}, [], [],
            id="new one not ready for long enough",
        ),
        pytest.param(
            [pod("o", revision="old", ready=EARLY), pod("n", ready=LATE)], {"minReadySeconds": 5}, [], ["o"],
            id="new one ready for long enough",
        ),
        pytest.param([pod("o", revision="old", going=True)], {}, ["n"], [], id="does not wait for one that goes"),
        pytest.param(
            [pod("o", revision="old", ready=EARLY), pod("p", revision="old", ready=EARLY, created="2"), pod("n")], {}, [],
            ["p"], id="two old ones",
        ),
        pytest.param([pod("n"), pod("m", created="2")], {}, [], ["m"], id="two new ones"),
    ],
)  # fmt: skip
def test_while_surging_an_old_and_a_new_one_may_be_there(pods, spec, create, delete):
    assert decided(*pods, owner=surging(**spec)) == (create, delete)


def test_pods_that_ended_are_told():
    decision = manage(observed(pod("a", phase="Failed"), pod("b", phase="Succeeded")))

    assert decision.events == [
        ("Warning", "FailedDaemonPod", "Found failed daemon pod ns/a on node n, will try to kill it"),
        ("Normal", "SucceededDaemonPod", "Found succeeded daemon pod ns/b on node n, will try to delete it"),
    ]


def template(**spec):
    return daemon_set(template={"spec": spec})


def affinity(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}}


ZONE = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
OFFLINE = taint("node.kubernetes.io/network-unavailable", "NoSchedule")


@pytest.mark.parametrize(
    ("owner", "place", "expected"),
    [
        pytest.param(template(), node(), (True, True), id="any node"),
        pytest.param(template(nodeName="n"), node(), (True, True), id="the named node"),
        pytest.param(template(nodeName="other"), node(), (False, False), id="another node is named"),
        pytest.param(template(nodeSelector={"zone": "a"}), node(zone="a"), (True, True), id="selected"),
        pytest.param(template(nodeSelector={"zone": "b"}), node(zone="a"), (False, False), id="not selected"),
        pytest.param(template(affinity=affinity(ZONE)), node(zone="a"), (True, True), id="by affinity"),
        pytest.param(template(affinity=affinity(ZONE)), node(zone="b"), (False, False), id="against affinity"),
        pytest.param(template(), node("n", taint("x", "NoSchedule")), (False, True), id="tainted"),
        pytest.param(template(), node("n", taint("x", "PreferNoSchedule")), (True, True), id="preferably not"),
        pytest.param(template(), node("n", taint("x", "NoExecute")), (False, False), id="evicting"),
        pytest.param(
            template(tolerations=[{"operator": "Exists"}]), node("n", taint("x", "NoExecute")), (True, True),
            id="tolerated",
        ),
        pytest.param(
            template(), node("n", taint("node.kubernetes.io/disk-pressure", "NoSchedule")), (True, True), id="pressure"
        ),
        pytest.param(
            template(), node("n", taint("node.kubernetes.io/unschedulable", "NoSchedule")), (True, True), id="cordoned"
        ),
        pytest.param(template(), node("n", OFFLINE), (False, True), id="without network"),
        pytest.param(template(hostNetwork=True), node("n", OFFLINE), (True, True), id="on the host's network"),
    ],
)  # fmt: skip
def test_where_a_pod_should_run_and_may_stay(owner, place, expected):
    assert node_should_run_daemon_pod(owner, place) == expected


def test_a_pod_aims_at_its_node_by_name_alone():
    preferred = [{"weight": 1, "preference": ZONE}]
    own = affinity(ZONE, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["x"]}]})
    own["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = preferred

    aimed = pod_of(template(affinity=own), "n", "h")["spec"]["affinity"]["nodeAffinity"]

    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    assert aimed == {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }


def test_a_toleration_of_the_template_is_not_said_twice():
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}

    tolerations = tolerations_of({"spec": {"tolerations": [own]}})

    assert len(tolerations) == 6
    assert tolerations[0] == {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}


def test_the_status_counts_the_oldest_pod_of_each_node():
    nodes = [node("a"), node("b"), node("c"), node("d", taint("x", "NoSchedule"))]
    pods = [
        pod("a1", on="a", ready=EARLY),
        pod("b1", on="b", ready=LATE, revision="old"),
        pod("b2", on="b", ready=EARLY, created="2"),
        pod("c1", on="c", ready=EARLY, going=True),
        pod("d1", on="d"),
    ]

    status = status_of(observed(*pods, owner=daemon_set(minReadySeconds=60), nodes=nodes), 0, processed=True)

    assert {key: value for key, value in status.items() if value is not None} == {
        "observedGeneration": 2, "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "numberMisscheduled": 1,
        "numberReady": 3, "updatedNumberScheduled": 2, "numberAvailable": 2, "numberUnavailable": 1,
    }  # fmt: skip


def test_a_generation_that_was_not_acted_on_is_not_observed():
    owner = {**daemon_set(), "status": {"observedGeneration": 1}}

    assert status_of(observed(owner=owner), 0, processed=False)["observedGeneration"] == 1
