"""One sync of jobs with policies, case by case, after upstream's ``job_controller_test.go`` (TestSyncJobWith…)."""

import pytest
from job_sync_rig import Sync

ENDLESS = 2**31 - 1
DONE = "SuccessCriteriaMet Complete"


def codes(action, *values, operator="In", container=None):
    rule = {"action": action, "onExitCodes": {"operator": operator, "values": [*values]}}
    if container:
        rule["onExitCodes"]["containerName"] = container
    return rule


def on(action, condition):
    return {"action": action, "onPodConditions": [{"type": condition, "status": "True"}]}


RULES = [codes("Ignore", 1, 2, 3), codes("FailJob", 5, 6, 7)]
FAIL_ON_5 = "Container c for pod d/mypod-0 failed with exit code 5 matching FailJob rule at index 1"


def announced(reason, message):
    return {"conditions": [{"type": "FailureTarget", "status": "True", "reason": reason, "message": message}]}


@pytest.mark.parametrize(
    ("pods", "told", "message", "given"),
    [
        pytest.param(
            "F=42",
            "active=1 ready=0 failed=1 terminating=0",
            None,
            {"rules": [codes("Ignore", 42, container="x")]},
            id="another-container",
        ),
        pytest.param("R=5", "active=1 ready=0 terminating=0", None, {}, id="running"),
        pytest.param("F=5", "ready=0 failed=1 terminating=0 FailureTarget Failed", FAIL_ON_5, {}, id="fail-job"),
        pytest.param(
            "F=5",
            "ready=0 failed=1 terminating=0 FailureTarget Failed",
            "of old",
            {"status": announced("PodFailurePolicy", "of old")},
            id="announced-before",
        ),
        pytest.param(
            "F=5 R",
            "ready=0 failed=2 terminating=1 FailureTarget",
            FAIL_ON_5,
            {"parallelism": 2, "completions": 2},
            id="pods-beside-it",
        ),
        pytest.param(
            "F0=5",
            "ready=0 failed=1 terminating=0 FailureTarget Failed",
            FAIL_ON_5,
            {"completionMode": "Indexed"},
            id="indexed",
        ),
        pytest.param(
            "F=42",
            "ready=0 failed=1 terminating=0 FailureTarget Failed",
            "Container c for pod d/mypod-0 failed with exit code 42 matching FailJob rule at index 0",
            {"rules": [codes("FailJob", 5, 6, 7, operator="NotIn")]},
            id="not-in",
        ),
        pytest.param(
            "F=5",
            "active=1 ready=0 failed=1 terminating=0",
            None,
            {"rules": [codes("FailJob", 5, 6, 7, operator="NotIn")]},
            id="not-in-excluded",
        ),
        pytest.param("F=1", "active=1 ready=0 terminating=0", None, {"backoffLimit": 0}, id="ignore"),
        pytest.param(
            "F=10",
            "ready=0 failed=1 terminating=0 FailureTarget Failed",
            "Job has reached the specified backoff limit",
            {"backoffLimit": 0},
            id="no-rule-matches",
        ),
        pytest.param(
            "F=2",
            "active=1 ready=0 failed=1 terminating=0",
            None,
            {"rules": [codes("Count", 1, 2), codes("Ignore", 2, 3)]},
            id="the-first-rule-counts",
        ),
        pytest.param(
            "Fd",
            "active=1 ready=0 terminating=0",
            None,
            {"backoffLimit": 0, "rules": [on("Ignore", "DisruptionTarget")]},
            id="ignore-a-disruption",
        ),
        pytest.param(
            "Fd",
            "ready=0 failed=1 terminating=0 FailureTarget Failed",
            "Pod d/mypod-0 has condition DisruptionTarget matching FailJob rule at index 0",
            {"rules": [on("FailJob", "DisruptionTarget")]},
            id="fail-on-a-disruption",
        ),
        pytest.param(
            "P-",
            "ready=0 terminating=1",
            None,
            {"backoffLimit": 0, "rules": [on("Count", "DisruptionTarget")], "completions": None},
            id="terminating-has-not-failed",
        ),
    ],
)
def test_pod_failure_policy(pods, told, message, given):
    given = {"parallelism": 1, "completions": 1, "podReplacementPolicy": "Failed", "rules": RULES, **given}
    done = Sync(pods, podFailurePolicy={"rules": given.pop("rules")}, **given)

    assert done.told == told
    assert {each["message"] for each in done.status.get("conditions") or []} == ({message} if message else set())


SUCCESS = {"rules": [{"succeededIndexes": "0,1", "succeededCount": 1}]}
DISRUPTED = {"rules": [on("FailJob", "DisruptionTarget")]}
MET = {
    "conditions": [
        {
            "type": "SuccessCriteriaMet",
            "status": "True",
            "reason": "SuccessPolicy",
            "message": "Matched rules at index 0",
        }
    ]
}
ONE = {"parallelism": 2, "completions": 2}
COUNTED = {"succeeded": 1, "terminating": 0, "completedIndexes": "1", "uncountedTerminatedPods": {}}


@pytest.mark.parametrize(
    ("pods", "told", "reason", "given"),
    [
        pytest.param(
            "F0 R0 S1 R2",
            "ready=0 succeeded=1 failed=1 terminating=2 completedIndexes=1 SuccessCriteriaMet",
            "SuccessPolicy",
            {},
            id="pods-still-go",
        ),
        pytest.param(
            "F0 R0 S1",
            "ready=0 succeeded=1 failed=1 terminating=1 completedIndexes=1 SuccessCriteriaMet",
            "SuccessPolicy",
            {**ONE, "podFailurePolicy": DISRUPTED},
            id="beside-a-failure-policy",
        ),
        pytest.param(
            "F0(0) R0(1) S1(0)",
            "ready=0 succeeded=1 failed=1 terminating=1 completedIndexes=1 failedIndexes= SuccessCriteriaMet",
            "SuccessPolicy",
            {**ONE, "backoffLimitPerIndex": 2},
            id="beside-a-limit-per-index",
        ),
        pytest.param(
            "F0(0) S1(0)",
            f"ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 failedIndexes= {DONE}",
            "SuccessPolicy",
            {**ONE, "backoffLimitPerIndex": 2, "status": MET},
            id="announced-and-all-gone",
        ),
        pytest.param(
            "F0(0) R1(0) S1(0) R2(0)",
            "ready=0 succeeded=1 failed=1 terminating=2 completedIndexes=1 failedIndexes= SuccessCriteriaMet",
            "SuccessPolicy",
            {"backoffLimitPerIndex": 3, "status": MET},
            id="announced-and-pods-run",
        ),
        pytest.param(
            "F0d R0 S1",
            "ready=0 succeeded=1 failed=2 terminating=1 completedIndexes=1 FailureTarget",
            "PodFailurePolicy",
            {**ONE, "podFailurePolicy": DISRUPTED},
            id="the-failure-policy-goes-before",
        ),
        pytest.param(
            "F0(1) S1(0)",
            "ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 failedIndexes=0 FailureTarget Failed",
            "FailedIndexes",
            {**ONE, "backoffLimitPerIndex": 1},
            id="failed-indexes-go-before",
        ),
        pytest.param(
            "F0 F0 S1",
            "ready=0 succeeded=1 failed=2 terminating=0 completedIndexes=1 FailureTarget Failed",
            "BackoffLimitExceeded",
            {**ONE, "backoffLimit": 1},
            id="the-limit-goes-before",
        ),
        pytest.param(
            "F0d S1",
            f"ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 {DONE}",
            "SuccessPolicy",
            {**ONE, "podFailurePolicy": DISRUPTED, "status": {**COUNTED, **MET}},
            id="a-success-is-not-undone-by-the-failure-policy",
        ),
        pytest.param(
            "F0(1) S1(0)",
            f"ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 failedIndexes=0 {DONE}",
            "SuccessPolicy",
            {**ONE, "backoffLimitPerIndex": 1, "status": {**COUNTED, **MET}},
            id="a-success-is-not-undone-by-failed-indexes",
        ),
        pytest.param(
            "F0 S1",
            f"ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 {DONE}",
            "SuccessPolicy",
            {**ONE, "backoffLimit": 1, "status": {**COUNTED, **MET}},
            id="a-success-is-not-undone-by-the-limit",
        ),
        pytest.param(
            "F0d! S1",
            "ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 FailureTarget Failed",
            "PodFailurePolicy",
            {
                **ONE,
                "podFailurePolicy": DISRUPTED,
                "status": {**COUNTED, "succeeded": 0, "failed": 1, **announced("PodFailurePolicy", "x")},
            },
            id="a-failure-is-not-undone",
        ),
        pytest.param(
            "S0",
            f"ready=0 succeeded=1 terminating=0 completedIndexes=0 {DONE}",
            "CompletionsReached",
            {"parallelism": 1, "completions": 1, "successPolicy": None},
            id="without-a-policy",
        ),
    ],
)
def test_success_policy(pods, told, reason, given):
    spec = {"parallelism": 3, "completions": 3, "backoffLimit": ENDLESS, "successPolicy": SUCCESS, **given}

    done = Sync(pods, completionMode="Indexed", **spec)

    assert done.told == told
    assert {each["reason"] for each in done.status["conditions"]} == {reason}


@pytest.mark.parametrize(
    ("pods", "told", "given"),
    [
        pytest.param(
            "F0(0) S0(1) S1(0)",
            f"ready=0 succeeded=2 failed=1 terminating=0 completedIndexes=0,1 failedIndexes= {DONE}",
            {},
            id="succeeds-after-a-failure",
        ),
        pytest.param("F0(0)", "active=2 ready=0 terminating=0 failedIndexes=", {}, id="counted-when-replaced"),
        pytest.param(
            "F0(0) P0(1)", "active=2 ready=0 failed=1 terminating=0 failedIndexes=", {}, id="replaced-already"
        ),
        pytest.param("F0(1)", "active=1 ready=0 failed=1 terminating=0 failedIndexes=0", {}, id="given-up"),
        pytest.param(
            "F0(0)=3",
            "active=1 ready=0 failed=1 terminating=0 failedIndexes=0",
            {"podFailurePolicy": {"rules": [codes("FailIndex", 3)]}},
            id="fail-index",
        ),
        pytest.param(
            "F0(0)=3",
            "ready=0 failed=1 terminating=0 failedIndexes= FailureTarget Failed",
            {"backoffLimit": 6, "podFailurePolicy": {"rules": [codes("FailJob", 3)]}},
            id="fail-job",
        ),
        pytest.param(
            "F0(0)=3",
            "active=2 ready=0 terminating=0 failedIndexes=",
            {"backoffLimit": 6, "podFailurePolicy": {"rules": [codes("Ignore", 3)]}},
            id="ignore",
        ),
        pytest.param(
            "F0(0) F1(0)",
            "ready=0 failed=2 terminating=0 failedIndexes= FailureTarget Failed",
            {"backoffLimit": 1},
            id="the-limit-of-the-job",
        ),
        pytest.param(
            "F0(1) S1(0)",
            "ready=0 succeeded=1 failed=1 terminating=0 completedIndexes=1 failedIndexes=0 FailureTarget Failed",
            {},
            id="all-done-but-one-failed",
        ),
        pytest.param(
            "F0(1) S1(0) F2(1) R3(0)",
            "ready=0 succeeded=1 failed=3 terminating=1 completedIndexes=1 failedIndexes=0,2 FailureTarget",
            {"parallelism": 4, "completions": 4, "maxFailedIndexes": 1},
            id="too-many-failed",
        ),
    ],
)
def test_backoff_limit_per_index(pods, told, given):
    spec = {"parallelism": 2, "completions": 2, "backoffLimit": ENDLESS, "backoffLimitPerIndex": 1, **given}

    assert Sync(pods, completionMode="Indexed", **spec).told == told
