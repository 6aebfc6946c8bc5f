"""The pod failure policy: which rule matches which failure, after upstream's ``pod_failure_policy_test.go``."""

import pytest
from hyperkube_controller.job.pod_failure_policy import NO_MATCH, PolicyMatch, match_pod_failure_policy


def pod(*, code=None, init_code=None, conditions=()):
    def statuses(name, exit_code):
        if exit_code is None:
            return []
        return [{"name": name, "state": {"terminated": {"exitCode": exit_code}}}]

    return {
        "metadata": {"namespace": "default", "name": "mypod"},
        "status": {
            "phase": "Failed",
            "containerStatuses": statuses("main", code),
            "initContainerStatuses": statuses("init", init_code),
            "conditions": [{"type": kind, "status": status} for kind, status in conditions],
        },
    }


def codes(action, operator, *values, container=None):
    on = {"operator": operator, "values": list(values)}
    return {"action": action, "onExitCodes": on | ({"containerName": container} if container else {})}


def conditions(action, kind, status="True"):
    return {"action": action, "onPodConditions": [{"type": kind, "status": status}]}


FAILED_WITH_2 = "Container main for pod default/mypod failed with exit code 2 matching FailJob rule at index"


@pytest.mark.parametrize(
    ("rules", "failed", "expected"),
    [
        pytest.param(
            [codes("FailJob", "In", 1, 2)], pod(code=2), PolicyMatch("FailJob", f"{FAILED_WITH_2} 0"), id="in"
        ),
        pytest.param([codes("FailJob", "In", 1, 2)], pod(code=3), NO_MATCH, id="not-in"),
        pytest.param(
            [codes("FailJob", "NotIn", 5)],
            pod(code=2),
            PolicyMatch("FailJob", f"{FAILED_WITH_2} 0"),
            id="operator-not-in",
        ),
        pytest.param([codes("FailJob", "NotIn", 2)], pod(code=2), NO_MATCH, id="operator-not-in-excluded"),
        pytest.param(
            [codes("Sideways", "In", 2), codes("FailJob", "In", 2)],
            pod(code=2),
            PolicyMatch("FailJob", f"{FAILED_WITH_2} 1"),
            id="unknown-action-is-skipped",
        ),
        pytest.param(
            [codes("Ignore", "Near", 2), codes("FailJob", "In", 2)],
            pod(code=2),
            PolicyMatch("FailJob", f"{FAILED_WITH_2} 1"),
            id="unknown-operator-is-skipped",
        ),
        pytest.param([codes("Ignore", "In", -5, -3)], pod(code=-3), PolicyMatch("Ignore"), id="negative-codes"),
        pytest.param([codes("FailJob", "NotIn", 5)], pod(code=0), NO_MATCH, id="success-never-matches"),
        pytest.param([codes("Ignore", "In", 2)], pod(code=2), PolicyMatch("Ignore"), id="ignore"),
        pytest.param([codes("FailIndex", "In", 2)], pod(code=2), PolicyMatch("FailIndex"), id="fail-index"),
        pytest.param(
            [codes("Count", "In", 2), codes("FailJob", "In", 2)],
            pod(code=2),
            PolicyMatch("Count"),
            id="first-rule-decides",
        ),
        pytest.param(
            [codes("Ignore", "In", 7), codes("FailJob", "In", 2)],
            pod(code=2),
            PolicyMatch("FailJob", f"{FAILED_WITH_2} 1"),
            id="second-rule",
        ),
        pytest.param(
            [codes("FailJob", "In", 2, container="other")], pod(code=2), NO_MATCH, id="another-container-is-named"
        ),
        pytest.param(
            [codes("Ignore", "In", 5, container="init")],
            pod(code=0, init_code=5),
            PolicyMatch("Ignore"),
            id="init-container",
        ),
        pytest.param(
            [conditions("FailJob", "DisruptionTarget")],
            pod(conditions=[("DisruptionTarget", "True")]),
            PolicyMatch("FailJob", "Pod default/mypod has condition DisruptionTarget matching FailJob rule at index 0"),
            id="condition",
        ),
        pytest.param(
            [conditions("Ignore", "DisruptionTarget")],
            pod(conditions=[("DisruptionTarget", "False")]),
            NO_MATCH,
            id="condition-with-another-status",
        ),
        *(
            pytest.param(
                [conditions("Ignore", "DisruptionTarget", pattern)],
                pod(conditions=[("DisruptionTarget", actual)]),
                PolicyMatch("Ignore") if pattern == actual else NO_MATCH,
                id=f"pattern-{pattern}-actual-{actual}",
            )
            for pattern in ("True", "False", "Unknown")
            for actual in ("True", "False", "Unknown")
        ),
        pytest.param(
            [conditions("Count", "DisruptionTarget")],
            pod(conditions=[("DisruptionTarget", "True")]),
            PolicyMatch("Count"),
            id="count-by-condition",
        ),
        pytest.param(
            [
                codes("Count", "NotIn", 8),
                codes("Ignore", "In", 1, 2, 3),
                codes("FailJob", "NotIn", 5, 6, 7),
                conditions("Count", "ResourceLimitExceeded"),
                conditions("Ignore", "DisruptionTarget"),
            ],
            pod(code=32),
            PolicyMatch("Count"),
            id="the-first-of-many",
        ),
        pytest.param(
            [conditions("FailJob", "MaxFailedIndexesExceeded"), conditions("Ignore", "DisruptionTarget")],
            pod(conditions=[("DisruptionTarget", "True")]),
            PolicyMatch("Ignore"),
            id="the-second-by-condition",
        ),
        pytest.param([], pod(code=2), NO_MATCH, id="no-rules"),
    ],
)
def test_the_first_rule_that_matches_decides(rules, failed, expected):
    job = {"spec": {"podFailurePolicy": {"rules": rules}}}

    assert match_pod_failure_policy(job, failed) == expected


def test_only_ignored_failures_do_not_count():
    assert [PolicyMatch(action).counts for action in ("", "Count", "FailJob", "FailIndex", "Ignore")] == [True] * 4 + [
        False
    ]
