"""The pauses between failures, after upstream's ``backoff_utils_test.go``."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.job.backoff import NO_FAILURES, BackoffRecord, remaining
from hyperkube_controller.job.pods import finished_at

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def at(seconds):
    return NOW + timedelta(seconds=seconds)


def ended(uid, seconds):
    terminated = {"state": {"terminated": {"finishedAt": format_time(at(seconds))}}}
    return {"metadata": {"uid": uid}, "status": {"containerStatuses": [terminated]}}


@pytest.mark.parametrize(
    ("before", "succeeded", "failed", "expected"),
    [
        pytest.param(NO_FAILURES, [], [], (0, None), id="nothing-ended"),
        pytest.param(BackoffRecord(2, at(-9)), [], [], (2, at(-9)), id="as-before"),
        pytest.param(NO_FAILURES, [], [ended("a", -3)], (1, at(-3)), id="a-failure"),
        pytest.param(BackoffRecord(2, at(-9)), [], [ended("a", -3), ended("b", -5)], (4, at(-3)), id="two-more"),
        pytest.param(BackoffRecord(2, at(-9)), [ended("s", -3)], [], (0, None), id="a-success-ends-the-run"),
        pytest.param(NO_FAILURES, [ended("s", -3)], [ended("a", -4)], (0, None), id="failed-before-the-success"),
        pytest.param(
            BackoffRecord(5, at(-9)), [ended("s", -3)], [ended("a", -4), ended("b", -2)], (1, at(-2)), id="and-after-it"
        ),
        pytest.param(BackoffRecord(1, at(-3), frozenset("a")), [], [ended("a", -3)], (1, at(-3)), id="seen-before"),
    ],
)
def test_failures_since_the_last_success_are_counted_once(before, succeeded, failed, expected):
    record = before.with_finished(succeeded, failed)

    assert (record.failures, record.last) == expected


@pytest.mark.parametrize(
    ("failures", "ago", "expected"),
    [(0, 0, 0), (1, 0, 10), (1, 4, 6), (1, 11, 0), (2, 0, 20), (3, 5, 35), (7, 0, 600), (100, 0, 600)],
)
def test_the_pause_doubles_with_each_failure(failures, ago, expected):
    assert remaining(failures, at(-ago), NOW) == expected


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            {
                "spec": {"initContainers": [{"name": "side", "restartPolicy": "Always"}, {"name": "once"}]},
                "status": {
                    "containerStatuses": [{"state": {"terminated": {"finishedAt": format_time(at(1))}}}],
                    "initContainerStatuses": [
                        {"name": "side", "state": {"terminated": {"finishedAt": format_time(at(4))}}},
                        {"name": "once", "state": {"terminated": {"finishedAt": format_time(at(9))}}},
                    ],
                },
            },
            at(4),
            id="sidecars-end-last",
        ),
        pytest.param(
            {
                "status": {
                    "containerStatuses": [{"state": {"running": {}}}],
                    "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": format_time(at(2))}],
                }
            },
            at(2),
            id="not-ready-since",
        ),
        pytest.param(
            {"metadata": {"deletionTimestamp": format_time(at(30)), "deletionGracePeriodSeconds": 30}},
            at(0),
            id="deletion-asked-for",
        ),
        pytest.param({"metadata": {"creationTimestamp": format_time(at(-5))}}, at(-5), id="creation"),
    ],
)
def test_when_a_pod_ended(pod, expected):
    assert finished_at({"metadata": {}, **pod}) == expected
