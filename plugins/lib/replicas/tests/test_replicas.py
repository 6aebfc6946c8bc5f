"""How many pods to make, and which ones go first."""

from datetime import UTC, datetime

import pytest
from hyperkube_lib.replicas import BURST_REPLICAS, decide, status_of

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def pod(name, *, ready="", node="n1", phase="Running", cost="", restarts=0, created="2030-01-01T00:00:00Z"):
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": ready}] if ready else []
    return {
        "metadata": {
            "name": name, "namespace": "d", "uid": name, "creationTimestamp": created,
            "annotations": {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {},
        },
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, "conditions": conditions, "containerStatuses": [{"restartCount": restarts}]},
    }  # fmt: skip


OLD, NEW = "2030-01-01T01:00:00Z", "2030-01-01T11:00:00Z"


def test_missing_pods_are_created():
    assert decide(3, [pod("a")], list, NOW).create == 2


def test_enough_is_enough():
    decision = decide(1, [pod("a")], list, NOW)

    assert (decision.create, decision.delete) == (0, ())


def test_no_more_than_a_burst_at_once():
    assert decide(10_000, [], list, NOW).create == BURST_REPLICAS


@pytest.mark.parametrize(
    ("goes", "stays"),
    [
        (pod("x", node=""), pod("y", node="n1", phase="Pending")),
        (pod("x", phase="Pending"), pod("y", phase="Running")),
        (pod("x"), pod("y", ready=OLD)),
        (pod("x", ready=OLD, cost="1"), pod("y", ready=OLD, cost="5")),
        (pod("x", ready=NEW), pod("y", ready=OLD)),
        (pod("x", ready=OLD, restarts=3), pod("y", ready=OLD)),
        (pod("x", ready=OLD, created=NEW), pod("y", ready=OLD, created=OLD)),
    ],
    ids=["unassigned", "pending", "not ready", "cheaper", "ready for less long", "more restarts", "younger"],
)
def test_the_one_that_is_missed_least_goes_first(goes, stays):
    for order in ([goes, stays], [stays, goes]):
        (gone,) = decide(1, order, lambda order=order: order, NOW).delete
        assert gone["metadata"]["name"] == "x"


def test_a_node_with_more_of_its_like_loses_one():
    pods = [pod("a", ready=OLD, node="n1"), pod("b", ready=OLD, node="n2")]

    (gone,) = decide(1, pods, lambda: [*pods, pod("c", ready=OLD, node="n2")], NOW).delete

    assert gone["metadata"]["name"] == "b"


def test_the_status_counts_ready_and_available_pods():
    owner = {"metadata": {"generation": 4}, "spec": {"replicas": 2, "minReadySeconds": 7200}}

    status = status_of(owner, [pod("a", ready=OLD), pod("b", ready=NEW), pod("c")], "", NOW)

    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (3, 2, 1)
    assert status["observedGeneration"] == 4
    assert status["conditions"] == []


def test_a_refusal_shows_in_the_status_until_it_is_over():
    owner = {"metadata": {}, "spec": {"replicas": 2}}

    failed = status_of(owner, [], "quota exceeded", NOW)
    healed = status_of({**owner, "status": failed}, [], "", NOW)

    (condition,) = failed["conditions"]
    assert (condition["type"], condition["reason"], condition["message"]) == (
        "ReplicaFailure",
        "FailedCreate",
        "quota exceeded",
    )
    assert healed["conditions"] == []


PRODUCTION = {"name": "foo", "type": "production"}
FAILED = {"type": "ReplicaFailure", "status": "True"}


def owner(replicas=2, labels=PRODUCTION, **more):
    spec = {"replicas": replicas, "template": {"metadata": {"labels": labels}}, **more}
    return {"metadata": {"generation": 1}, "spec": spec}


def labelled(name, labels=PRODUCTION, ready=OLD):
    made = pod(name, ready=ready)
    made["metadata"]["labels"] = labels
    return made


@pytest.mark.parametrize(
    ("given", "pods", "counts"),
    [
        pytest.param(owner(), [labelled("a")], (1, 1, 1, 1), id="one"),
        pytest.param(owner(1), [labelled("a", {"name": "foo"})], (1, None, 1, 1), id="one-without-a-label"),
        pytest.param(owner(), [labelled("a"), labelled("b")], (2, 2, 2, 2), id="two"),
        pytest.param(owner(), [labelled("a", {}), labelled("b", {})], (2, None, 2, 2), id="two-without-labels"),
        pytest.param(owner(), [labelled("a"), labelled("b", {})], (2, 1, 2, 2), id="one-of-each"),
        pytest.param(owner(), [labelled("a", ready="")], (1, 1, None, None), id="not-ready"),
        pytest.param(owner(minReadySeconds=86_400), [labelled("a")], (1, 1, 1, None), id="not-available"),
    ],
)
def test_the_counts(given, pods, counts):
    status = status_of(given, pods, "", NOW)

    keys = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    assert tuple(status[key] for key in keys) == counts


@pytest.mark.parametrize(
    ("before", "replicas", "pods", "failure", "reasons"),
    [
        pytest.param([], 2, 1, "no", ["FailedCreate"], id="too-few"),
        pytest.param([], 2, 3, "no", ["FailedDelete"], id="too-many"),
        pytest.param([FAILED], 10, 1, "", [], id="healed"),
        pytest.param([FAILED], 10, 1, "no", [None], id="failed-before"),
        pytest.param([], 2, 1, "", [], id="well"),
    ],
)
def test_the_condition_of_failure(before, replicas, pods, failure, reasons):
    given = {**owner(replicas), "status": {"conditions": before}}

    status = status_of(given, [labelled(str(number)) for number in range(pods)], failure, NOW)

    assert [each.get("reason") for each in status["conditions"]] == reasons
