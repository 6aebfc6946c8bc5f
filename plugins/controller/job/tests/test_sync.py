"""One sync of the job controller, case by case, after upstream's ``job_controller_test.go`` (TestControllerSyncJob …).

All feature gates are as they are: on, and locked.
"""

import pytest
from job_sync_rig import Sync

from hyperkube.machinery.times import format_time

LIMIT = "Job has reached the specified backoff limit"


def case(name, pods, requests, told, **given):
    return pytest.param(pods, requests, told, given, id=name)


FAILED = {"podReplacementPolicy": "Failed"}
EITHER = {"podReplacementPolicy": "TerminatingOrFailed"}
QUEUE = {"completions": None}
DONE = "SuccessCriteriaMet Complete"


@pytest.mark.parametrize(
    ("pods", "requests", "told", "given"),
    [
        case("start", "", (2, 0, 0), "active=2 ready=0 terminating=0"),
        case("queue-start", "", (2, 0, 0), "active=2 ready=0 terminating=0", **QUEUE),
        case("pending", "P P", (0, 0, 0), "active=2 ready=0 terminating=0"),
        case("right-number", "R* R* R", (0, 0, 0), "active=3 ready=2 terminating=0", parallelism=3),
        case("queue-right-number", "R R", (0, 0, 0), "active=2 ready=0 terminating=0", **QUEUE),
        case("too-few", "R S", (1, 0, 1), "active=2 ready=0 succeeded=1 terminating=0"),
        case(
            "queue-replaces-failed",
            "R F R-",
            (0, 0, 1),
            "active=1 ready=0 failed=1 terminating=1",
            parallelism=1,
            **QUEUE,
            **FAILED,
        ),
        case(
            "replacement-policy-unset",
            "R F R-",
            (0, 0, 2),
            "active=1 ready=0 failed=2 terminating=1",
            parallelism=1,
            completions=1,
        ),
        case(
            "queue-replaces-terminating",
            "R F R-",
            (0, 0, 2),
            "active=1 ready=0 failed=2 terminating=1",
            parallelism=1,
            **QUEUE,
            **EITHER,
        ),
        case(
            "more-terminating-than-parallelism",
            "R R R- R- R- R-",
            (0, 1, 1),
            "active=1 ready=0 terminating=5",
            parallelism=1,
            completions=1,
            **FAILED,
        ),
        case(
            "more-terminating-with-failure-policy",
            "R R R- R- R- R-",
            (0, 1, 1),
            "active=1 ready=0 terminating=5",
            parallelism=1,
            completions=1,
            podFailurePolicy={"rules": []},
        ),
        case("queue-too-few", "R", (1, 0, 0), "active=2 ready=0 terminating=0", **QUEUE),
        case("too-few-with-errors", "R S", (1, 0, 1), "active=1 ready=0 terminating=0", fail=("create", "patch")),
        case("too-many", "R R R", (0, 1, 1), "active=2 ready=0 terminating=1"),
        case("too-many-with-errors", "R R R", (0, 0, 1), "active=3 ready=0 terminating=0", fail=("patch",)),
        case("too-many-ready", "R* R* R*", (0, 1, 1), "active=2 ready=2 terminating=1"),
        case("a-success-resets-the-backoff", "R S F", (1, 0, 2), "active=2 ready=0 succeeded=1 failed=1 terminating=0"),
        case("new-failure", "R F", (1, 0, 1), "active=2 ready=0 failed=1 terminating=0"),
        case(
            "failure-counted-before",
            "R",
            (0, 0, 0),
            "active=1 ready=0 failed=1 terminating=0",
            parallelism=1,
            completions=1,
            status={"active": 1, "failed": 1},
        ),
        case("new-failure-with-errors", "R F", (1, 0, 1), "active=1 ready=0 terminating=0", fail=("create", "patch")),
        case("finish", "S S S S S", (0, 0, 5), f"ready=0 succeeded=5 terminating=0 {DONE}"),
        case("queue-finishing", "R S", (0, 0, 1), "active=1 ready=0 succeeded=1 terminating=0", **QUEUE),
        case("queue-finished", "S S", (0, 0, 2), f"ready=0 succeeded=2 terminating=0 {DONE}", **QUEUE),
        case(
            "queue-finished-with-a-failure",
            "S F",
            (0, 0, 2),
            f"ready=0 succeeded=1 failed=1 terminating=0 {DONE}",
            **QUEUE,
        ),
        case("far-too-many", " ".join("R" * 10), (0, 8, 8), "active=2 ready=0 terminating=8"),
        case(
            "more-than-completions-left",
            "R R R S S",
            (0, 1, 3),
            "active=2 ready=0 succeeded=2 terminating=1",
            parallelism=3,
            completions=4,
        ),
        case("successes-are-counted", "R R S S", (0, 0, 2), "active=2 ready=0 succeeded=2 terminating=0"),
        case("deleted", "P R S", (0, 0, 3), "active=2 ready=0 succeeded=1 terminating=0", deleted=True),
        case(
            "deleted-past-the-limit",
            "F",
            (0, 0, 1),
            "ready=0 failed=1 terminating=0 FailureTarget Failed",
            deleted=True,
            backoffLimit=0,
        ),
        case(
            "failed-with-expectations",
            "F",
            (0, 0, 1),
            "ready=0 failed=1 terminating=0",
            deleted=True,
            backoffLimit=0,
            expected=1,
        ),
        case(
            "failure-counts-with-ready-pods",
            "R* R* F",
            (0, 2, 3),
            "ready=0 failed=3 terminating=2 FailureTarget",
            backoffLimit=0,
        ),
        case("suspending", "R R", (0, 2, 2), "ready=0 terminating=2 Suspended", suspend=True),
        case("suspending-ready", "R* R*", (0, 2, 2), "ready=0 terminating=2 Suspended", suspend=True),
        case(
            "suspending-with-expectations",
            "R R R",
            (0, 0, 0),
            "active=3 ready=0 terminating=0",
            suspend=True,
            expected=-1,
        ),
        case(
            "suspending-ready-with-expectations",
            "R* R* R*",
            (0, 0, 0),
            "active=3 ready=3 terminating=0",
            suspend=True,
            expected=-1,
        ),
        case(
            "resuming",
            "",
            (2, 0, 0),
            "active=2 ready=0 terminating=0 !Suspended",
            status={
                "conditions": [
                    {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
                ]
            },
        ),
        case(
            "suspending-a-deleted-one", "R R", (0, 0, 2), "active=2 ready=0 terminating=0", suspend=True, deleted=True
        ),
        case(
            "failure-target-false",
            "R*",
            (0, 0, 0),
            "active=1 ready=1 terminating=0 !FailureTarget",
            parallelism=1,
            completions=1,
            started=0,
            status={"active": 1, "conditions": [{"type": "FailureTarget", "status": "False"}]},
        ),
        case(
            "success-criteria-met-false",
            "R*",
            (0, 0, 0),
            "active=1 ready=1 terminating=0 !SuccessCriteriaMet",
            parallelism=1,
            completions=1,
            started=0,
            status={"active": 1, "conditions": [{"type": "SuccessCriteriaMet", "status": "False"}]},
        ),
    ],
)
def test_one_sync(pods, requests, told, given):
    done = Sync(pods, **given)

    assert done.requests == requests
    assert done.told == told
    assert bool(done.status.get("startTime")) == (not given.get("suspend"))


@pytest.mark.parametrize(
    ("pods", "requests", "told", "indexes", "given"),
    [
        pytest.param(pods, requests, told, indexes, given, id=name)
        for name, pods, requests, told, indexes, given in [
            ("start", "", (2, 0, 0), "active=2 ready=0 terminating=0", [0, 1], {}),
            ("failed-only", "R-", (1, 0, 0), "active=1 ready=0 terminating=1", [0], FAILED),
            ("terminating-or-failed", "R-", (2, 0, 1), "active=2 ready=0 terminating=1", [0, 1], EITHER),
            (
                "completed",
                "S0 F1 S1 S2",
                (0, 0, 4),
                f"ready=0 succeeded=3 failed=1 terminating=0 completedIndexes=0-2 {DONE}",
                [],
                {"completions": 3},
            ),
            (
                "failed",
                "S0 F1 R2",
                (0, 1, 3),
                "ready=0 succeeded=1 failed=2 terminating=1 completedIndexes=0 FailureTarget",
                [],
                {"completions": 3, "backoffLimit": 0},
            ),
            (
                "repeated-completed-index",
                "S0 S1 S1",
                (1, 0, 3),
                "active=1 ready=0 succeeded=2 terminating=0 completedIndexes=0,1",
                [2],
                {"completions": 3},
            ),
            (
                "running-and-completed",
                "R0 S2 P3 S4 S5 S7 S8 S9",
                (6, 0, 6),
                "active=8 ready=0 succeeded=6 terminating=0 completedIndexes=2,4,5,7-9",
                [1, 6, 10, 11, 12, 13],
                {"parallelism": 8, "completions": 20},
            ),
            (
                "failed-pods",
                "F0 P1 F2",
                (2, 0, 2),
                "active=3 ready=0 failed=2 terminating=0",
                [0, 2],
                {"parallelism": 3, "completions": 4},
            ),
            (
                "pods-without-index",
                "R S F Rx Sx Fx Px S0 R1 R2",
                (0, 3, 8),
                "active=2 ready=0 succeeded=1 terminating=3 completedIndexes=0",
                [],
                {},
            ),
            (
                "repeated-indexes",
                "S F Rx S0 R1 R2 P2",
                (0, 2, 5),
                "active=2 ready=0 succeeded=1 terminating=2 completedIndexes=0",
                [],
                {"parallelism": 5},
            ),
            (
                "indexes-out-of-range",
                "S0 R5 S6 P7 F8",
                (0, 2, 5),
                "ready=0 succeeded=1 terminating=2 completedIndexes=0",
                [],
                {},
            ),
        ]
    ],
)
def test_one_sync_with_indexes(pods, requests, told, indexes, given):
    done = Sync(pods, completionMode="Indexed", **given)

    assert done.requests == requests
    assert done.told == told
    assert done.indexes == indexes


def test_a_quota_leaves_the_status_true():
    done = Sync(parallelism=4, fail=("create",))

    assert done.asked("create") == 1
    assert done.told == "ready=0 terminating=0"
    assert "FailedCreate" in done.reasons


def test_however_often_pods_were_refused_a_minute_later_they_are_tried_again():
    done = Sync(parallelism=1, fail=("create",))
    for _ in range(8):
        done.controllers[0].queue.add("d/j")
        done.drain()
    done.client._failures.clear()

    done.advance(61)

    assert done.status["active"] == 1


def test_an_unknown_completion_mode_is_told_and_left_alone():
    done = Sync("R", completionMode="Sideways")

    assert done.requests == (0, 0, 0)
    assert done.reasons == ["UnknownCompletionMode"]
    assert done.status == {}


@pytest.mark.parametrize(
    ("pods", "deleted", "told", "given"),
    [
        pytest.param("R", 1, "ready=0 failed=1 terminating=1 FailureTarget", {}, id="shorter-than-a-pod"),
        pytest.param(
            "R S", 1, "ready=0 succeeded=1 failed=1 terminating=1 FailureTarget", {"completions": 2}, id="longer"
        ),
        pytest.param("", 0, "ready=0 terminating=0 FailureTarget Failed", {"started": 10}, id="before-any-pod"),
        pytest.param("", 0, "ready=0 terminating=0 Suspended", {"suspend": True}, id="suspended"),
    ],
)
def test_a_deadline(pods, deleted, told, given):
    given = {"parallelism": 1, "completions": 1, "activeDeadlineSeconds": 10, "started": 15, **given}

    done = Sync(pods, **given)

    assert (done.asked("create"), done.asked("delete")) == (0, deleted)
    assert done.told == told
    assert {each["reason"] for each in done.status["conditions"]} <= {"DeadlineExceeded", "JobSuspended"}


def test_the_limit_goes_before_the_deadline():
    done = Sync("F", parallelism=1, completions=1, backoffLimit=0, activeDeadlineSeconds=1, started=10)

    assert {(each["reason"], each["message"]) for each in done.status["conditions"]} == {
        ("BackoffLimitExceeded", LIMIT)
    }


def test_a_failed_condition_that_is_false_is_turned_over():
    false = {"type": "Failed", "status": "False", "reason": "DeadlineExceeded", "message": "x"}

    done = Sync(parallelism=1, completions=1, activeDeadlineSeconds=10, started=15, status={"conditions": [false]})

    assert [each["status"] for each in done.status["conditions"] if each["type"] == "Failed"] == ["True"]


def test_the_status_is_written_before_the_finalizers_go_and_after():
    done = Sync("R S F S!", status={"uncountedTerminatedPods": {}, "succeeded": 1})

    verbs = [action[0] for action in done.client.actions if action[1] in {"pods", "jobs"}]
    assert verbs == ["create", "update", "patch", "patch", "update"]
    assert done.status["succeeded"] == 2


def test_pods_are_counted_once_while_the_cache_is_behind():
    done = Sync("S S R")
    assert done.status["succeeded"] == 2

    done.controllers[0].queue.add("d/j")
    done.drain()

    assert done.status["succeeded"] == 2
    assert done.asked("patch") == 2


def test_a_finalizer_that_stays_is_counted_with_the_next_sync():
    done = Sync("S F R", fail=("patch",))
    assert {key: len(uids) for key, uids in done.status["uncountedTerminatedPods"].items()} == {
        "succeeded": 1,
        "failed": 1,
    }

    done.client._failures.clear()
    done.advance(60)

    assert (done.status["succeeded"], done.status["failed"]) == (1, 1)
    assert done.status["uncountedTerminatedPods"] == {}


@pytest.mark.parametrize(
    ("status", "pods", "released", "told"),
    [
        pytest.param(
            {"active": 2, "succeeded": 1, "completedIndexes": "3"},
            "R0 R1",
            0,
            "active=2 ready=0 terminating=0",
            id="none-left",
        ),
        pytest.param(
            {"active": 2, "succeeded": 1, "completedIndexes": "3"},
            "R0 S1",
            1,
            "active=1 ready=0 succeeded=1 terminating=0 completedIndexes=1",
            id="one-in-range",
        ),
    ],
)
def test_indexes_that_fell_out_of_range_count_no_more(status, pods, released, told):
    done = Sync(pods, status=status, completionMode="Indexed", completions=2)

    assert done.asked("patch") == released
    assert done.told == told


def test_a_job_is_resumed_with_a_new_start():
    suspended = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}

    done = Sync(status={"conditions": [suspended]})

    assert done.status["startTime"] == format_time(done.clock.now())
    assert "Resumed" in done.reasons


@pytest.mark.parametrize(
    ("restarts", "phase", "told", "given"),
    [
        pytest.param([0], "R", "active=1 ready=0 terminating=0", {"backoffLimit": 0}, id="limit-0-none"),
        pytest.param([0], "R", "active=1 ready=0 terminating=0", {"backoffLimit": 1}, id="limit-1-none"),
        pytest.param([1], "R", "ready=0 failed=1 terminating=1 FailureTarget", {"backoffLimit": 1}, id="limit-1-one"),
        pytest.param(
            [1], "P", "ready=0 failed=1 terminating=1 FailureTarget", {"backoffLimit": 1}, id="limit-1-pending"
        ),
        pytest.param([2], "R", "ready=0 failed=1 terminating=1 FailureTarget", {"completions": 5}, id="one-pod"),
        pytest.param(
            [2], "P", "ready=0 failed=1 terminating=1 FailureTarget", {"completions": 5}, id="one-pending-pod"
        ),
        pytest.param(
            [1, 1],
            "R",
            "ready=0 failed=2 terminating=2 FailureTarget",
            {"parallelism": 2, "completions": 5},
            id="two-pods",
        ),
        pytest.param(
            [1, 1],
            "P",
            "ready=0 failed=2 terminating=2 FailureTarget",
            {"parallelism": 2, "completions": 5},
            id="two-pending",
        ),
        pytest.param(
            [1, 1],
            "R",
            "active=2 ready=0 terminating=0",
            {"parallelism": 2, "completions": 5, "backoffLimit": 3},
            id="not-enough",
        ),
        pytest.param(
            [1, 1],
            "R",
            "ready=0 terminating=2 Suspended",
            {"parallelism": 2, "completions": 4, "backoffLimit": 6, "suspend": True},
            id="suspended",
        ),
        pytest.param(
            [1, 1, 2, 0],
            "S",
            f"ready=0 succeeded=4 terminating=0 {DONE}",
            {"parallelism": 2, "completions": 4, "backoffLimit": 6, "suspend": True},
            id="finished",
        ),
    ],
)
def test_restarts_in_place(restarts, phase, told, given, monkeypatch):
    built = Sync.pod

    def restarted(self, place, word):
        pod = built(self, place, word)
        pod["status"]["containerStatuses"][0]["restartCount"] = restarts[place]
        return pod

    monkeypatch.setattr(Sync, "pod", restarted)
    given = {"parallelism": 1, "completions": 1, "backoffLimit": 2, "restart_policy": "OnFailure", **given}

    assert Sync(" ".join(phase * len(restarts)), **given).told == told


@pytest.mark.parametrize(
    ("pods", "told", "given"),
    [
        pytest.param("R", "active=1 ready=0 terminating=0", {"backoffLimit": 0}, id="limit-0"),
        pytest.param("F", "active=1 ready=0 failed=1 terminating=0", {"backoffLimit": 1}, id="limit-1"),
        pytest.param(
            "F F", "ready=0 failed=2 terminating=0 FailureTarget Failed", {"backoffLimit": 1}, id="past-limit-1"
        ),
        pytest.param(
            "R F F F F F F",
            "active=2 ready=0 failed=6 terminating=0",
            {"parallelism": 2, "completions": 2},
            id="limit-6",
        ),
        pytest.param(
            "F F F F F F F",
            "ready=0 failed=7 terminating=0 FailureTarget Failed",
            {"parallelism": 2, "completions": 2},
            id="past-limit-6",
        ),
    ],
)
def test_failures_against_the_limit(pods, told, given):
    assert Sync(pods, **{"parallelism": 1, "completions": 1, **given}).told == told
