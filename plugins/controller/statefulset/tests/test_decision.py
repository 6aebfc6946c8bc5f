"""What one sync does; the rows are those of upstream's ``stateful_set_control_test.go``."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.statefulset.decision import CreatePod, DeletePod, decide
from hyperkube_controller.statefulset.observed import Observed
from hyperkube_controller.statefulset.pods import ordinal_of, revision_for
from hyperkube_controller.statefulset.rolling_update import max_unavailable, outdated
from hyperkube_controller.statefulset.status import status_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
OLD, NEW = {"metadata": {"name": "old"}}, {"metadata": {"name": "new"}}
LONG_AGO, JUST_NOW = "2029-12-31T00:00:00Z", "2029-12-31T23:59:50Z"


def stateful_set(replicas=3, **spec):
    return {
        "metadata": {"name": "db", "namespace": "d", "uid": "u", "generation": 7},
        "spec": {"replicas": replicas, **spec},
    }


def pod(ordinal, how, revision="new"):
    """Make a pod that is ``ready``, ``fresh`` (ready just now), ``unready``, ``pending``, ``going`` or of a phase."""
    phase = {"failed": "Failed", "succeeded": "Succeeded", "pending": "Pending"}.get(how, "Running")
    ready = how in {"ready", "fresh", "going"}
    since = JUST_NOW if how == "fresh" else LONG_AGO
    made = {
        "metadata": {
            "name": f"db-{ordinal}", "namespace": "d", "uid": f"p{ordinal}",
            "labels": {
                "controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": f"db-{ordinal}",
                "apps.kubernetes.io/pod-index": str(ordinal),
            },
        },
        "status": {
            "phase": phase,
            "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": since}],
        },
    }  # fmt: skip
    if how == "going":
        made["metadata"]["deletionTimestamp"] = LONG_AGO
    return made


def pods(*hows):
    """Make a pod for each word, ``old:…`` for one of the old revision; an empty one stands for no pod."""
    made = []
    for ordinal, how in enumerate(hows):
        if how:
            revision, _, state = how.rpartition(":")
            made.append(pod(ordinal, state, revision or "new"))
    return made


def observed(owner, seen, *, gate=False):
    return Observed(owner, seen, OLD, NEW, lambda _name: None, NOW, has_max_unavailable=gate)


def decided(owner, seen, *, gate=False):
    """Return (ordinals created, names deleted to scale or to restart, names deleted to update)."""
    decision = decide(observed(owner, seen, gate=gate))
    created = [step.ordinal for step in decision.replicas if isinstance(step, CreatePod)]
    steps = decision.replicas + decision.condemned
    deleted = [step.pod["metadata"]["name"] for step in steps if isinstance(step, DeletePod)]
    return created, deleted, [each["metadata"]["name"] for each in decision.update]


PARALLEL = {"podManagementPolicy": "Parallel"}


@pytest.mark.parametrize(
    ("spec", "seen", "created", "deleted"),
    [
        pytest.param({}, ["", "", ""], [0], [], id="the first one first"),
        pytest.param({}, ["ready", "", ""], [1], [], id="the next when it is ready"),
        pytest.param({}, ["pending", "", ""], [], [], id="not while it is pending"),
        pytest.param({}, ["unready", "", ""], [], [], id="not while it is not ready"),
        pytest.param({"minReadySeconds": 30}, ["fresh", "", ""], [], [], id="not before it is available"),
        pytest.param({"minReadySeconds": 5}, ["fresh", "", ""], [1], [], id="when it is available"),
        pytest.param({}, ["going", "", ""], [], [], id="not while it is being deleted"),
        pytest.param({}, ["ready", "", "ready"], [1], [], id="a gap is filled"),
        pytest.param({}, ["failed", "", ""], [], ["db-0"], id="a failed one is deleted, nothing else"),
        pytest.param({}, ["ready", "succeeded", ""], [], ["db-1"], id="one that succeeded, too"),
        pytest.param({}, ["ready", "failed", "failed"], [], ["db-1"], id="one after the other"),
        pytest.param({}, ["ready"] * 4 + ["ready"], [], ["db-4"], id="scale down: the last first"),
        pytest.param({}, ["ready"] * 4 + ["going"], [], [], id="scale down: waits for the one that goes"),
        pytest.param({}, ["ready"] * 4 + ["unready"], [], ["db-4"], id="scale down: the only unhealthy one"),
        pytest.param({}, ["ready"] * 3 + ["unready", "unready"], [], [], id="scale down: an earlier one is unhealthy"),
        pytest.param({}, ["ready"] * 3 + ["unready", "ready"], [], ["db-4"], id="scale down: a healthy one goes before"),
        pytest.param({}, ["ready", "ready", "unready", "ready"], [], [], id="scale down: a wanted one is unhealthy"),
        pytest.param({"replicas": 0}, ["unready", "unready"], [], [], id="to none: the last waits for the first"),
        pytest.param({"replicas": 0}, ["unready"], [], ["db-0"], id="to none: the first unhealthy one"),
        pytest.param({"ordinals": {"start": 2}}, ["ready", "ready"], [2], [], id="start: new ones first"),
        pytest.param(
            {"ordinals": {"start": 2}}, ["ready"] * 5, [], ["db-1"], id="start: then the ones before, the last first"
        ),
        pytest.param(PARALLEL, ["", "", ""], [0, 1, 2], [], id="parallel: all at once"),
        pytest.param(PARALLEL, ["pending", "", "unready"], [1], [], id="parallel: nothing waits"),
        pytest.param(PARALLEL, ["failed", "", "succeeded"], [1], ["db-0", "db-2"], id="parallel: restarts beside"),
        pytest.param(
            PARALLEL | {"replicas": 0}, ["unready", "ready", "going"], [], ["db-1", "db-0"], id="parallel: down at once"
        ),
    ],
)  # fmt: skip
def test_pods_are_created_and_deleted(spec, seen, created, deleted):
    assert decided(stateful_set(**spec), pods(*seen)) == (created, deleted, [])


def rolling(partition=0, **more):
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition, **more}}}


@pytest.mark.parametrize(
    ("spec", "seen", "updated"),
    [
        pytest.param(rolling(), ["old:ready"] * 3, ["db-2"], id="the last first"),
        pytest.param(rolling(), ["old:ready", "old:ready", "ready"], ["db-1"], id="the next when it is available"),
        pytest.param(rolling(), ["old:ready", "old:ready", "unready"], [], id="not before"),
        pytest.param(rolling() | {"minReadySeconds": 30}, ["old:ready", "old:ready", "fresh"], [], id="long enough"),
        pytest.param(rolling(2), ["old:ready"] * 3, ["db-2"], id="down to the partition"),
        pytest.param(rolling(2), ["old:ready", "old:ready", "ready"], [], id="and no further"),
        pytest.param(rolling(3), ["old:ready"] * 3, [], id="a partition of all"),
        pytest.param(rolling() | PARALLEL, ["old:ready"] * 3, ["db-2"], id="in parallel one at a time, too"),
        pytest.param(rolling() | PARALLEL, ["old:ready", "old:unready", "ready"], ["db-1"], id="one that is not ready"),
        pytest.param(rolling() | PARALLEL, ["old:ready", "old:ready", "old:going"], [], id="one that is going"),
        pytest.param(rolling(maxUnavailable=2), ["old:ready"] * 3, ["db-2"], id="the gate is off: one at a time"),
        pytest.param({"updateStrategy": {"type": "OnDelete"}}, ["old:ready"] * 3, [], id="on delete"),
    ],
)
def test_pods_of_an_old_revision_are_replaced(spec, seen, updated):
    assert decided(stateful_set(**spec), pods(*seen)) == ([], [], updated)


@pytest.mark.parametrize(
    ("spec", "seen", "updated"),
    [
        pytest.param(rolling(maxUnavailable=2), ["old:ready"] * 3, ["db-2", "db-1"], id="as many as may be"),
        pytest.param(rolling(maxUnavailable="50%"), ["old:ready"] * 3, ["db-2"], id="a share is rounded down"),
        pytest.param(rolling(maxUnavailable="10%"), ["old:ready"] * 3, ["db-2"], id="but is one at least"),
        pytest.param(rolling(2, maxUnavailable=3), ["old:ready"] * 3, ["db-2"], id="down to the partition"),
        pytest.param(rolling(maxUnavailable=2) | PARALLEL, ["old:ready"] * 3, ["db-2", "db-1"], id="in parallel"),
        pytest.param(
            rolling(maxUnavailable=2) | PARALLEL, ["old:ready", "old:ready", "unready"], ["db-1"], id="one is unavailable"
        ),
        pytest.param(
            rolling(maxUnavailable=1) | PARALLEL, ["old:unready", "old:ready", "unready"], ["db-0"],
            id="in parallel unavailable old ones go whatever the limit",
        ),
        pytest.param(
            rolling(maxUnavailable=2) | PARALLEL, ["old:unready", "old:unready", "old:ready"], ["db-1", "db-0"],
            id="and count against it",
        ),
        pytest.param(rolling(maxUnavailable=1) | PARALLEL, ["old:ready", "old:ready", "unready"], [], id="no room"),
    ],
)  # fmt: skip
def test_with_the_gate_as_many_are_replaced_as_may_be_unavailable(spec, seen, updated):
    assert decided(stateful_set(**spec), pods(*seen), gate=True)[2] == updated


STALE = ("old:ready", "old:unready", "old:going", "old:fresh")


@pytest.mark.parametrize(
    ("policy", "most", "partition", "seen", "updated"),
    [
        # R: ready, U: unready, G: being deleted, F: ready just now; all of the old revision.
        pytest.param("Parallel", 1, 0, "U", "0", id="the only one"),
        pytest.param("Parallel", 1, 0, "RRU", "2", id="the last one of three"),
        pytest.param("Parallel", 2, 0, "RRRUU", "43", id="both that are unready"),
        pytest.param("Ordered", 1, 0, "U", "", id="ordered: the only one counts"),
        pytest.param("Ordered", 1, 0, "RRU", "", id="ordered: the last one counts"),
        pytest.param("Ordered", 2, 0, "RRRRU", "4", id="ordered: one counts"),
        pytest.param("Parallel", 1, 0, "RRG", "", id="one that goes already counts"),
        pytest.param("Ordered", 1, 0, "RRG", "", id="ordered: one that goes already"),
        pytest.param("Parallel", 3, 0, "RRRUG", "32", id="one unready, one that goes, one more"),
        pytest.param("Parallel", 3, 0, "RRRGU", "42", id="the other way around"),
        pytest.param("Ordered", 3, 0, "RRRUG", "3", id="ordered: one unready, one that goes"),
        pytest.param("Ordered", 3, 0, "RRRGU", "4", id="ordered: the other way around"),
        pytest.param("Parallel", 1, 0, "RRF", "2", id="one that is not available yet"),
        pytest.param("Ordered", 1, 0, "RRF", "", id="ordered: one that is not available yet"),
        pytest.param("Parallel", 1, 2, "RRRRU", "4", id="partition: the last one"),
        pytest.param("Parallel", 1, 2, "RRURR", "2", id="partition: the one at it, no other"),
        pytest.param("Parallel", 1, 2, "RURRR", "", id="partition: one below it counts"),
        pytest.param("Ordered", 1, 2, "RRRRU", "", id="ordered, partition: the last one counts"),
        pytest.param("Parallel", 2, 3, "RRRUU", "43", id="partition: both above it"),
        pytest.param("Parallel", 2, 3, "RURRU", "4", id="partition: one below, one above"),
        pytest.param("Parallel", 2, 0, "UURR", "10", id="the first ones go, good ones stay"),
        pytest.param("Parallel", 3, 0, "UURRR", "104", id="the first ones, then one good one"),
        *(
            pytest.param("Ordered", 2, 3, "".join("G" if each in going else "R" for each in range(6)), rest, id=f"going: {going}")
            for going, rest in [
                ((), "54"), ((5,), "4"), ((3,), "5"), ((4,), "5"), ((5, 4), ""), ((5, 3), ""), ((4, 3), ""),
                ((5, 4, 3), ""), ((2,), "5"), ((1,), "5"),
            ]
        ),
    ],
)  # fmt: skip
def test_with_the_gate_old_pods_that_are_unavailable(policy, most, partition, seen, updated):
    owner = stateful_set(
        len(seen), **rolling(partition, maxUnavailable=most), podManagementPolicy=policy, minReadySeconds=30
    )
    words = dict(zip("RUGF", STALE, strict=True))

    replaced = outdated(observed(owner, made := pods(*(words[each] for each in seen)), gate=True), made)

    assert "".join(each["metadata"]["name"][-1] for each in replaced) == updated


@pytest.mark.parametrize(
    ("limit", "replicas", "expected"),
    [(None, 5, 1), (2, 5, 2), ("10%", 5, 1), ("50%", 5, 2), ("100%", 5, 5), ("1%", 50, 1)],
)
def test_what_max_unavailable_amounts_to(limit, replicas, expected):
    assert max_unavailable(stateful_set(**rolling(maxUnavailable=limit)), replicas) == expected


@pytest.mark.parametrize(
    ("spec", "current_replicas", "ordinal", "expected"),
    [
        (rolling(), 3, 0, "new"),
        (rolling(2), 3, 1, "old"),
        (rolling(2), 3, 2, "new"),
        (rolling(2) | {"ordinals": {"start": 5}}, 3, 6, "old"),
        (rolling(2) | {"ordinals": {"start": 5}}, 3, 7, "new"),
        ({"updateStrategy": {"type": "RollingUpdate"}}, 2, 1, "old"),
        ({"updateStrategy": {"type": "RollingUpdate"}}, 2, 2, "new"),
        ({"updateStrategy": {"type": "OnDelete"}}, 3, 0, "new"),
    ],
)
def test_of_which_revision_a_new_pod_is(spec, current_replicas, ordinal, expected):
    owner = {**stateful_set(**spec), "status": {"currentReplicas": current_replicas}}

    assert revision_for(owner, ordinal, OLD, NEW)["metadata"]["name"] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("db-0", 0), ("db-12", 12), ("db", -1), ("db-", -1), ("x-db-1", -1), ("db-1x", -1), ("db-99999999999", -1)],
)
def test_the_ordinal_is_the_number_at_the_end_of_the_name(name, expected):
    assert ordinal_of(stateful_set(), {"metadata": {"name": name}}) == expected


def shown(owner, seen, replaced=0):
    status = status_of(observed(owner, seen), 0, replaced)
    counts = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas")
    return [status[each] or 0 for each in counts], status["currentRevision"]


@pytest.mark.parametrize(
    ("spec", "seen", "counts", "current"),
    [
        pytest.param({}, [], [0, 0, 0, 0, 0], "old", id="none"),
        pytest.param({}, ["old:ready", "old:unready", ""], [2, 1, 1, 2, 0], "old", id="on the way up"),
        pytest.param({}, ["old:ready", "ready", "going"], [3, 3, 3, 1, 1], "old", id="on the way over"),
        pytest.param({}, ["ready"] * 3, [3, 3, 3, 3, 3], "new", id="complete"),
        pytest.param({}, ["ready", "ready", "unready"], [3, 2, 2, 0, 3], "old", id="not complete before all are ready"),
        pytest.param({}, ["ready"] * 4, [4, 4, 4, 0, 4], "old", id="not complete with too many"),
        pytest.param(
            {"minReadySeconds": 30}, ["fresh", "ready", "ready"], [3, 3, 2, 3, 3], "new", id="available later"
        ),
        pytest.param({"updateStrategy": {"type": "OnDelete"}}, ["ready"] * 3, [3, 3, 3, 0, 3], "old", id="on delete"),
        pytest.param({}, ["old:pending"], [1, 0, 0, 1, 0], "old", id="pending"),
    ],
)
def test_the_status_counts_pods_and_completes_updates(spec, seen, counts, current):
    assert shown(stateful_set(**spec), pods(*seen)) == (counts, current)


def test_a_pod_that_is_deleted_for_an_update_is_no_current_one():
    assert shown(stateful_set(), pods("old:ready", "old:ready", "old:ready"), replaced=1)[0] == [3, 3, 3, 2, 0]
