"""Limits of failures per index, after upstream's ``indexed_job_utils_test.go``."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.job.failed_indexes import (
    FAILURES,
    IGNORED_FAILURES,
    delayed_pods,
    failed_indexes,
    failure_annotations,
    split_by_backoff,
)
from hyperkube_controller.job.pods import COMPLETION_INDEX, FINALIZER

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, tzinfo=UTC)
POLICY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [3]}},
    ]
}


def job(limit=1, failed=None, **spec):
    status = {} if failed is None else {"failedIndexes": failed}
    return {
        "spec": {"completionMode": "Indexed", "completions": 6, "backoffLimitPerIndex": limit, **spec},
        "status": status,
    }


def pod(index, failures=None, *, phase="Failed", tracked=True, ignored=None, code=1, ago=0, conditions=()):
    annotations = {COMPLETION_INDEX: str(index)}
    annotations |= {} if failures is None else {FAILURES: str(failures)}
    annotations |= {} if ignored is None else {IGNORED_FAILURES: str(ignored)}
    finished = format_time(NOW - timedelta(seconds=ago))
    state = {"terminated": {"exitCode": code, "finishedAt": finished}}
    return {
        "metadata": {
            "name": f"p-{index}-{failures}",
            "namespace": "d",
            "uid": f"{index}-{failures}-{ago}",
            "annotations": annotations,
            "finalizers": [FINALIZER] if tracked else [],
        },
        "status": {
            "phase": phase,
            "containerStatuses": [{"name": "c", "state": state}],
            "conditions": [{"type": kind, "status": "True"} for kind in conditions],
        },
    }


@pytest.mark.parametrize(
    ("job", "pods", "expected"),
    [
        pytest.param(job(), [pod(0, 0), pod(1, 0)], set(), id="below-the-limit"),
        pytest.param(job(), [pod(0, 1), pod(1, 0)], {0}, id="at-the-limit"),
        pytest.param(job(failed="3,5"), [pod(0, 1)], {0, 3, 5}, id="beside-those-before"),
        pytest.param(job(), [pod(0, 1, tracked=False)], set(), id="counted-already"),
        pytest.param(job(), [pod(9, 1)], set(), id="beyond-the-completions"),
        pytest.param(job(), [pod(0, 1, phase="Running")], set(), id="running"),
        pytest.param(job(0), [pod(2)], {2}, id="limit-0-without-annotation"),
        pytest.param(job(), [pod(0, "x")], set(), id="unreadable-annotation"),
        pytest.param(job(4, podFailurePolicy=POLICY), [pod(0, 0, code=3)], {0}, id="fail-index"),
        pytest.param(
            job(podFailurePolicy=POLICY), [pod(0, 1, conditions=["DisruptionTarget"])], set(), id="ignored-failure"
        ),
    ],
)
def test_an_index_is_given_up_at_its_limit(job, pods, expected):
    assert failed_indexes(job, pods) == expected


@pytest.mark.parametrize(
    ("pods", "done", "expected"),
    [
        pytest.param([pod(0, 0)], set(), {0: "0-0-0"}, id="the-only-one"),
        pytest.param([pod(0, 0, ago=5), pod(0, 1)], set(), {0: "0-1-0"}, id="the-one-with-most-failures"),
        pytest.param([pod(0, 1, ago=5), pod(0, 1, ago=9)], set(), {0: "0-1-5"}, id="the-later-of-equals"),
        pytest.param([pod(0, 0)], {0}, {}, id="index-is-done"),
        pytest.param([pod(0, 0, tracked=False)], set(), {}, id="counted-already"),
        pytest.param([pod(0, 0, phase="Succeeded")], set(), {}, id="succeeded"),
    ],
)
def test_the_last_failed_pod_of_an_index_waits_for_the_next(pods, done, expected):
    found = delayed_pods(job(), pods, done)

    assert {index: each["metadata"]["uid"] for index, each in found.items()} == expected


@pytest.mark.parametrize(
    ("replaced", "expected"),
    [
        pytest.param(None, {FAILURES: "0"}, id="first"),
        pytest.param(pod(0, 2), {FAILURES: "3"}, id="one-more"),
        pytest.param(
            pod(0, 2, conditions=["DisruptionTarget"]), {FAILURES: "2", IGNORED_FAILURES: "1"}, id="one-more-ignored"
        ),
        pytest.param(pod(0, 2, ignored=1), {FAILURES: "3", IGNORED_FAILURES: "1"}, id="keeps-the-ignored-ones"),
    ],
)
def test_a_new_pod_carries_the_failures_of_its_index(replaced, expected):
    assert failure_annotations(job(podFailurePolicy=POLICY), replaced) == expected


@pytest.mark.parametrize(
    ("replaced", "expected"),
    [
        pytest.param({}, ([0, 1], 0.0), id="no-failures"),
        pytest.param({0: pod(0, 0)}, ([1], 0.0), id="one-waits"),
        pytest.param({0: pod(0, 1, ago=5), 1: pod(1, 0, ago=3)}, ([], 7.0), id="both-wait"),
        pytest.param({0: pod(0, 1, ago=21), 1: pod(1, 0, ignored=1)}, ([0], 0.0), id="ignored-failures-wait-too"),
    ],
)
def test_each_index_has_a_back_off_of_its_own(replaced, expected):
    assert split_by_backoff([0, 1], replaced, NOW) == expected
