"""Decisions on a job, case by case, after upstream's ``job_controller_test.go``."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.job.backoff import BackoffRecord
from hyperkube_controller.job.decision import decide
from hyperkube_controller.job.pods import COMPLETION_INDEX, FINALIZER
from hyperkube_controller.job.tracking import counted, finished, track
from hyperkube_lib.pod_control import Outcome

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, tzinfo=UTC)
STARTED = format_time(NOW - timedelta(seconds=10))


def job(status=None, restart_policy="Never", **spec):
    return {
        "metadata": {"name": "j", "namespace": "d"},
        "spec": {
            "parallelism": 2,
            "completions": 5,
            "backoffLimit": 6,
            "template": {"spec": {"restartPolicy": restart_policy}},
            **spec,
        },
        "status": {"startTime": STARTED, **(status or {})},
    }


def pods(*phases, tracked=True, restarts=0, deleted=False, **more):
    return [pod(position, phase, tracked, restarts, deleted, **more) for position, phase in enumerate(phases)]


def pod(position, phase, tracked=True, restarts=0, deleted=False, index=None, ready=False):
    meta = {"name": f"p{position}", "namespace": "d", "uid": f"{phase[0]}{position}", "creationTimestamp": STARTED}
    meta["finalizers"] = [FINALIZER] if tracked else []
    meta["annotations"] = {} if index is None else {COMPLETION_INDEX: str(index)}
    if deleted:
        meta["deletionTimestamp"] = format_time(NOW)
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": STARTED}] if ready else []
    containers = [{"name": "c", "restartCount": restarts, "state": {}}]
    return {"metadata": meta, "status": {"phase": phase, "conditions": conditions, "containerStatuses": containers}}


def indexed(*pairs):
    return [pod(position, phase, index=index) for position, (index, phase) in enumerate(pairs)]


def tracked(given, have):
    """The first of the two statuses that a sync writes, when all that was to be done to pods was done."""
    decision = decide(given, have, NOW)
    return track(decision, given, Outcome(len(decision.create), decision.delete), NOW)


def ended(given, have):
    """The second, when all pods lost their finalizer, with the events."""
    first = tracked(given, have)
    released = {each["metadata"]["uid"] for each in first.release}
    return finished(given, first, counted(first.status, released), NOW)


@pytest.mark.parametrize(
    ("given", "have", "created", "deleted"),
    [
        pytest.param(job(), [], 2, 0, id="starts"),
        pytest.param(job(), pods("Running", "Pending"), 0, 0, id="runs"),
        pytest.param(job(), pods("Running", "Pending", "Pending"), 0, 1, id="too-many"),
        pytest.param(job({"succeeded": 4}), [], 1, 0, id="one-completion-left"),
        pytest.param(job(parallelism=0), pods("Running"), 0, 1, id="parallelism-0"),
        pytest.param(job(completions=None), pods("Running"), 1, 0, id="work-queue"),
        pytest.param(job({"succeeded": 1}, completions=None), pods("Running"), 0, 0, id="work-queue-after-a-success"),
        pytest.param(job(), pods("Running", tracked=False, deleted=True), 2, 0, id="terminating-are-replaced"),
        pytest.param(
            job(podReplacementPolicy="Failed"), pods("Running", deleted=True), 1, 0, id="only-failed-are-replaced"
        ),
        pytest.param(job(suspend=True), pods("Running", "Pending"), 0, 2, id="suspended"),
        pytest.param(job(parallelism=900, completions=900), [], 500, 0, id="bursts"),
    ],
)
def test_active_pods_follow_parallelism_and_completions(given, have, created, deleted):
    decision = decide(given, have, NOW)

    assert (len(decision.create), len(decision.delete)) == (created, deleted)
    status = tracked(given, have).status
    assert "failed" not in status
    assert (
        status.get("active", 0)
        == sum(not each["metadata"].get("deletionTimestamp") for each in have) + created - deleted
    )


@pytest.mark.parametrize(
    ("given", "have", "created", "deleted"),
    [
        pytest.param(job(), [], [0, 1], [], id="starts"),
        pytest.param(job({"completedIndexes": "0,2"}), indexed((3, "Running")), [1], [], id="fills-gaps"),
        pytest.param(job(), indexed((0, "Running"), (0, "Pending")), [], ["p1"], id="doubles"),
        pytest.param(job(), indexed((9, "Running"), (0, "Running")), [], ["p0"], id="beyond-the-completions"),
        pytest.param(job(), [pod(0, "Running"), *indexed((1, "Running"))][:1], [], ["p0"], id="without-an-index"),
        pytest.param(
            job(backoffLimitPerIndex=1, status={"failedIndexes": "0-2"}), [], [3, 4], [], id="failed-indexes-stay-empty"
        ),
    ],
)
def test_indexes_are_filled_from_the_lowest(given, have, created, deleted):
    given["spec"]["completionMode"] = "Indexed"

    decision = decide(given, have, NOW)

    assert [new.index for new in decision.create] == created
    assert [each["metadata"]["name"] for each in decision.delete] == deleted


@pytest.mark.parametrize(
    ("given", "have", "expected"),
    [
        pytest.param(job({"failed": 7}), [], ("Failed", "BackoffLimitExceeded"), id="past-the-limit"),
        pytest.param(job({"failed": 6}), [], None, id="at-the-limit"),
        pytest.param(
            job(restart_policy="OnFailure"),
            pods("Running", restarts=6),
            ("FailureTarget", "BackoffLimitExceeded"),
            id="restarts-reach-the-limit",
        ),
        pytest.param(job(restart_policy="OnFailure"), pods("Running", restarts=5), None, id="restarts-below-the-limit"),
        pytest.param(
            job(restart_policy="OnFailure", backoffLimit=0), pods("Running", restarts=0), None, id="limit-0-no-restart"
        ),
        pytest.param(
            job(restart_policy="OnFailure", backoffLimit=0),
            pods("Running", restarts=1),
            ("FailureTarget", "BackoffLimitExceeded"),
            id="limit-0-one-restart",
        ),
        pytest.param(job(activeDeadlineSeconds=10), [], ("Failed", "DeadlineExceeded"), id="deadline"),
        pytest.param(job(activeDeadlineSeconds=10, suspend=True), [], None, id="no-deadline-while-suspended"),
        pytest.param(job({"succeeded": 5}), [], ("Complete", "CompletionsReached"), id="complete"),
        pytest.param(job(completions=0), [], ("Complete", "CompletionsReached"), id="nothing-to-do"),
        pytest.param(
            job({"succeeded": 1}, completions=None), pods("Running"), None, id="work-queue-waits-for-the-others"
        ),
        pytest.param(
            job({"succeeded": 5}),
            pods("Running", deleted=True),
            ("SuccessCriteriaMet", "CompletionsReached"),
            id="waits-for-terminating-pods",
        ),
        pytest.param(
            job({"succeeded": 4}),
            pods("Succeeded"),
            ("Complete", "CompletionsReached"),
            id="counts-and-ends",
        ),
        pytest.param(
            job(
                {
                    "conditions": [{"type": "FailureTarget", "status": "True", "reason": "PodFailurePolicy"}],
                    "succeeded": 5,
                }
            ),
            [],
            ("Failed", "PodFailurePolicy"),
            id="an-announced-failure-stands",
        ),
        pytest.param(
            job(
                {
                    "conditions": [{"type": "SuccessCriteriaMet", "status": "True", "reason": "SuccessPolicy"}],
                    "failed": 9,
                }
            ),
            [],
            ("Complete", "SuccessPolicy"),
            id="an-announced-success-stands",
        ),
    ],
)
def test_how_a_job_ends(given, have, expected):
    status, _ = ended(given, have)

    conditions = [each for each in status.get("conditions") or [] if each["type"] != "Suspended"]
    assert ((conditions[-1]["type"], conditions[-1]["reason"]) if conditions else None) == expected
    assert bool(status.get("completionTime")) == (expected is not None and expected[0] == "Complete")


@pytest.mark.parametrize(
    ("status", "have", "listed", "counted", "released"),
    [
        pytest.param(
            {}, pods("Succeeded", "Failed"), (["S0"], ["F1"]), (0, 0), ["p0", "p1"], id="ended-pods-are-listed"
        ),
        pytest.param(
            {"uncountedTerminatedPods": {"succeeded": ["S0"], "failed": ["F1"]}},
            pods("Succeeded", "Failed"),
            (["S0"], ["F1"]),
            (0, 0),
            ["p0", "p1"],
            id="listed-once",
        ),
        pytest.param(
            {"uncountedTerminatedPods": {"succeeded": ["S0"], "failed": ["F1"]}, "succeeded": 1},
            pods("Succeeded", "Failed", tracked=False),
            ([], []),
            (2, 1),
            [],
            id="counted-once-they-lost-the-finalizer",
        ),
        pytest.param({}, pods("Running", deleted=True), ([], ["R0"]), (0, 0), ["p0"], id="deleted-pods-fail"),
        pytest.param({"succeeded": 1}, pods("Succeeded", tracked=False), ([], []), (1, 0), [], id="counted-before"),
        pytest.param(
            {"failed": 7}, pods("Running", "Pending"), ([], ["R0", "P1"]), (0, 7), ["p0", "p1"], id="killed-pods-fail"
        ),
    ],
)
def test_each_pod_is_counted_once(status, have, listed, counted, released):
    decision = tracked(job(status), have)

    uncounted = decision.status["uncountedTerminatedPods"]
    assert (uncounted.get("succeeded", []), uncounted.get("failed", [])) == listed
    assert (decision.status.get("succeeded", 0), decision.status.get("failed", 0)) == counted
    assert [each["metadata"]["name"] for each in decision.release] == released


def test_not_more_than_500_pods_are_listed_at_a_time():
    decision = tracked(job(completions=900, parallelism=0), pods(*["Succeeded"] * 600))

    assert len(decision.status["uncountedTerminatedPods"]["succeeded"]) == 500
    assert len(decision.release) == 500


def test_ready_and_terminating_pods_are_told_apart():
    have = [pod(0, "Running", ready=True), pod(1, "Running"), pod(2, "Running", deleted=True, ready=True)]

    status = tracked(job(), have).status

    assert (status["active"], status["ready"], status["terminating"]) == (2, 1, 1)


def test_a_failure_makes_the_next_pod_wait():
    decision = decide(job(), [], NOW, BackoffRecord(2, NOW - timedelta(seconds=5)))

    assert decision.create == []
    assert decision.again == 15


def test_more_successes_than_asked_for_are_told():
    _, events = ended(job({"succeeded": 6}), [])

    assert [event[1] for event in events] == ["TooManySucceededPods", "Completed"]
