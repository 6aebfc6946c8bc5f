"""What a deployment says of itself; the rows are those of upstream's ``progress_test.go``, ``deployment_util_test.go``."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.deployment import Deployment
from hyperkube_controller.deployment.decision import _cleanup_deployment
from hyperkube_controller.deployment.facts import Observed
from hyperkube_controller.deployment.status import (
    _deployment_progressing,
    deployment_complete,
    progress_deadline,
    status_of,
)

from hyperkube.kinds.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

NOW = datetime(2030, 1, 1, tzinfo=UTC)
STUCK_SINCE = "2017-02-15T18:49:00Z"
NEVER = 2**31 - 1


def numbers(replicas, updated, ready, available):
    named = {"replicas": replicas, "updatedReplicas": updated, "readyReplicas": ready, "availableReplicas": available}
    return {key: value for key, value in named.items() if value}


def progressing(status, reason):
    return {
        "type": "Progressing",
        "status": status,
        "reason": reason,
        "lastUpdateTime": STUCK_SINCE,
        "lastTransitionTime": STUCK_SINCE,
    }


def replica_set(name, size, count, available, *, image="old", conditions=()):
    return {
        "metadata": {"name": name, "annotations": {}, "creationTimestamp": STUCK_SINCE},
        "spec": {"replicas": size, "template": {"spec": {"containers": [{"image": image}]}}},
        "status": {"replicas": count, "availableReplicas": available, "conditions": [*conditions]},
    }


def observed(*sets, wanted=3, deadline=60, status=None, conditions=(), now=NOW, **spec):
    template = {"spec": {"containers": [{"image": "new"}]}}
    spec = {"replicas": wanted, "strategy": {"type": "Recreate"}, "template": template, **spec}
    if deadline is not None:
        spec["progressDeadlineSeconds"] = deadline
    owner = {
        "metadata": {"name": "web", "generation": 1},
        "spec": spec,
        "status": {**(status or {}), "conditions": [*conditions]},
    }
    return Observed(owner, sets, old_pods_left=False, now=now)


NEW_AVAILABLE = progressing("True", "NewReplicaSetAvailable")
UPDATED = progressing("True", "ReplicaSetUpdated")
TIMED_OUT = progressing("False", "ProgressDeadlineExceeded")
OLD = replica_set("old", 0, 1, 1)


def new(size, count, available, **more):
    return replica_set("new", size, count, available, image="new", **more)


TWO, THREE = numbers(2, 2, 0, 2), numbers(3, 3, 0, 3)


@pytest.mark.parametrize(
    ("seen", "expected", "moved"),
    [
        pytest.param(
            observed(replica_set("a", 3, 3, 3), status=THREE, conditions=[NEW_AVAILABLE]),
            ("True", "NewReplicaSetAvailable"),
            False,
            id="one-active-replica-set",
        ),
        pytest.param(
            observed(OLD, new(3, 2, 2), status=TWO, conditions=[UPDATED]),
            ("True", "ReplicaSetUpdated"),
            False,
            id="progressing-as-before",
        ),
        pytest.param(
            observed(OLD, new(3, 2, 2), status=TWO, conditions=[TIMED_OUT]),
            ("True", "ReplicaSetUpdated"),
            True,
            id="progressing-after-a-failure",
        ),
        pytest.param(
            observed(OLD, new(3, 2, 2), status=TWO), ("True", "ReplicaSetUpdated"), True, id="progressing-at-first"
        ),
        pytest.param(
            observed(new(3, 3, 3), status=THREE, conditions=[UPDATED]),
            ("True", "NewReplicaSetAvailable"),
            False,
            id="complete",
        ),
        pytest.param(
            observed(new(3, 3, 3), status=THREE, conditions=[TIMED_OUT]),
            ("True", "NewReplicaSetAvailable"),
            True,
            id="complete-after-a-failure",
        ),
        pytest.param(
            observed(new(3, 3, 3), status=THREE), ("True", "NewReplicaSetAvailable"), True, id="complete-at-first"
        ),
        pytest.param(
            observed(replica_set("a", 0, 0, 0), wanted=0, status=THREE, conditions=[UPDATED]),
            ("True", "NewReplicaSetAvailable"),
            False,
            id="complete-without-a-new-one",
        ),
        pytest.param(
            observed(new(3, 2, 2), status=TWO, conditions=[UPDATED]),
            ("False", "ProgressDeadlineExceeded"),
            True,
            id="timed-out",
        ),
        pytest.param(
            observed(new(3, 2, 2), status=TWO, conditions=[TIMED_OUT]),
            ("False", "ProgressDeadlineExceeded"),
            False,
            id="timed-out-before",
        ),
    ],
)
def test_the_condition_of_progress(seen, expected, moved):
    (found,) = (each for each in status_of(seen)["conditions"] if each["type"] == "Progressing")

    assert (found["status"], found["reason"]) == expected
    assert (found["lastTransitionTime"] == format_time(NOW)) == moved


@pytest.mark.parametrize("deadline", [None, NEVER])
def test_without_a_deadline_there_is_no_condition_of_progress(deadline):
    seen = observed(OLD, new(3, 2, 2), deadline=deadline, status=TWO, conditions=[UPDATED])

    assert [each["type"] for each in status_of(seen)["conditions"]] == ["Available"]


@pytest.mark.parametrize(
    ("deadline", "conditions", "due"),
    [
        pytest.param(None, [UPDATED], None, id="none"),
        pytest.param(NEVER, [UPDATED], None, id="infinite"),
        pytest.param(60, [], None, id="no-condition"),
        pytest.param(60, [NEW_AVAILABLE], None, id="complete"),
        pytest.param(60, [TIMED_OUT], None, id="failed"),
        pytest.param(60, [UPDATED], 60, id="stuck"),
    ],
)
def test_when_a_rollout_counts_as_stuck(deadline, conditions, due):
    since = datetime.fromisoformat(STUCK_SINCE)

    found = progress_deadline(observed(deadline=deadline), conditions)

    assert found == (None if due is None else since + timedelta(seconds=due))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param((10, 4, 4, 4), (10, 6, 4, 4), True, id="updated"),
        pytest.param((10, 4, 4, 4), (10, 4, 4, 4), False, id="nothing"),
        pytest.param((10, 4, 6, 6), (8, 4, 6, 6), True, id="old-ones-gone"),
        pytest.param((10, 7, 3, 3), (10, 6, 3, 3), False, id="fewer-new-ones"),
        pytest.param((10, 4, 7, 7), (8, 8, 5, 5), True, id="fewer-but-more-new-ones"),
        pytest.param((10, 10, 9, 8), (10, 10, 10, 8), True, id="more-ready"),
        pytest.param((10, 10, 10, 9), (10, 10, 10, 10), True, id="more-available"),
    ],
)
def test_what_counts_as_progress(before, after, expected):
    assert _deployment_progressing(observed(status=numbers(*before)), numbers(*after)) == expected


@pytest.mark.parametrize(
    ("wanted", "status", "expected"),
    [
        pytest.param(5, (5, 5, 0, 4), False, id="one-is-not-available"),
        pytest.param(5, (5, 5, 0, 3), False, id="too-few-are-available"),
        pytest.param(5, (5, 5, 0, 5), True, id="complete"),
        pytest.param(5, (5, 4, 0, 5), False, id="one-is-not-updated"),
        pytest.param(1, (2, 1, 0, 1), False, id="old-ones-are-left"),
        pytest.param(1, (1, 1, 0, 0), False, id="never-comes-up"),
    ],
)
def test_when_a_rollout_is_complete(wanted, status, expected):
    named = {"replicas": 0, "updatedReplicas": 0, "availableReplicas": 0, **numbers(*status)}

    assert deployment_complete(observed(wanted=wanted), named) == expected


FAILURE = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}


@pytest.mark.parametrize(("frozen", "told"), [(False, True), (True, False)], ids=["rolling", "frozen"])
def test_failures_of_replica_sets_are_told_by_a_rollout_alone(frozen, told):
    status = status_of(observed(OLD, new(3, 2, 2, conditions=[FAILURE])), frozen=frozen)

    assert ("ReplicaFailure" in [each["type"] for each in status["conditions"]]) == told


def test_while_frozen_a_failure_that_was_told_stays():
    status = status_of(observed(new(3, 3, 3), conditions=[FAILURE]), frozen=True)

    assert "ReplicaFailure" in [each["type"] for each in status["conditions"]]


def old_one(name, size, count=None, *, revision="", going=False):
    made = replica_set(name, size, size if count is None else count, 0)
    if revision:
        made["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = revision
    if going:
        made["metadata"]["deletionTimestamp"] = STUCK_SINCE
    return made


@pytest.mark.parametrize(
    ("sets", "limit", "gone"),
    [
        pytest.param([old_one(name, 0) for name in "abc"], 1, 2, id="two-too-many"),
        pytest.param(
            [old_one("a", 0), old_one("b", 0, 1), old_one("c", 1, 0), old_one("d", 1)], 0, {"a"}, id="empty-ones"
        ),
        pytest.param([old_one("a", 0), old_one("b", 0)], 0, 2, id="all"),
        pytest.param([old_one("a", 1), old_one("b", 1)], 0, 0, id="none-is-empty"),
        pytest.param([old_one("a", 0, going=True)], 0, 0, id="being-deleted"),
        pytest.param([old_one(name, 0) for name in "abc"], NEVER, 0, id="no-limit"),
        pytest.param([old_one("a", 0, revision="1"), old_one("b", 0, revision="2")], 1, {"a"}, id="older-revision"),
        pytest.param([old_one("a", 0, revision="2"), old_one("b", 0, revision="1")], 1, {"b"}, id="not-older-set"),
        pytest.param([old_one("a", 0, revision="1"), old_one("b", 0)], 1, {"b"}, id="without-a-revision"),
        pytest.param([old_one("a", 0), old_one("b", 0, revision="2")], 1, {"a"}, id="the-other-without"),
        pytest.param(
            [old_one("a", 1, revision="1"), old_one("b", 0, revision="2"), old_one("c", 0, revision="3")],
            1,
            {"b"},
            id="the-oldest-is-not-empty",
        ),
        pytest.param(
            [old_one("a", 1, revision="1"), old_one("b", 1, revision="2"), old_one("c", 0, revision="3")],
            1,
            0,
            id="two-are-not-empty",
        ),
        pytest.param(
            [old_one(name, 0, revision=revision) for name, revision in zip("abcd", "3142", strict=True)],
            2,
            {"b", "d"},
            id="four",
        ),
    ],
)
def test_which_old_replica_sets_go(sets, limit, gone):
    found = {action.name for action in _cleanup_deployment(observed(*sets, wanted=1, revisionHistoryLimit=limit))}

    assert (len(found) if isinstance(gone, int) else found) == gone


@pytest.mark.parametrize(
    ("count", "phases", "waits"),
    [
        pytest.param(None, [], False, id="no-old-one"),
        pytest.param(0, ["Running", "Running"], True, id="running"),
        pytest.param(1, [], True, id="the-status-says-so"),
        pytest.param(0, [], False, id="none-left"),
        pytest.param(0, ["Failed", "Succeeded"], False, id="ended"),
        pytest.param(0, ["Unknown"], True, id="unknown"),
        pytest.param(0, ["Pending"], True, id="pending"),
        pytest.param(0, ["Failed", "Succeeded", "Pending"], True, id="ended-and-pending"),
    ],
)
def test_recreate_waits_for_old_pods(count, phases, waits):
    rig = ControllerRig(Deployment)
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "new"}]}}
    spec = {"replicas": 1, "strategy": {"type": "Recreate"}, "selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "web", "namespace": "d", "uid": "1"}
    rig.client.seed(DEPLOYMENTS, {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": meta, "spec": spec})
    if count is not None:
        old = old_one("old", 0, count)
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1", "controller": True}
        old["metadata"] |= {"namespace": "d", "uid": "2", "labels": labels, "ownerReferences": [owner]}
        rig.client.seed(REPLICA_SETS, {"kind": "ReplicaSet", "apiVersion": "apps/v1", **old})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "old", "uid": "2", "controller": True}
    for place, phase in enumerate(phases):
        meta = {"name": f"p{place}", "namespace": "d", "labels": labels, "ownerReferences": [owner]}
        rig.client.seed(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "status": {"phase": phase}})

    rig.settle()

    made = [rs for rs in rig.client.objects(REPLICA_SETS) if rs["metadata"]["name"] != "old"]
    assert (made == []) == waits
