"""Which pod goes first: the rows of upstream's TestSortingActivePodsWithRanks, in pairs."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_lib.pod_control import deletion_order

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
RECENTLY, MONTH = timedelta(minutes=1), timedelta(days=30)


def pod(name, *, node="n", phase="Running", ready=None, cost=None, restarts=0, sidecar_restarts=0, age=MONTH):
    conditions = [{"type": "Ready", "status": "True"}] if ready is not None else []
    if conditions and ready is not False:
        conditions[0]["lastTransitionTime"] = format_time(NOW - ready)
    init = {"name": "proxy", "restartPolicy": "Always"}
    return {
        "metadata": {
            "name": name, "namespace": "d", "uid": name, "creationTimestamp": format_time(NOW - age) if age else None,
            "annotations": {"controller.kubernetes.io/pod-deletion-cost": cost} if cost is not None else {},
        },
        "spec": {"initContainers": [init]} | ({"nodeName": node} if node else {}),
        "status": {
            "phase": phase, "conditions": conditions, "containerStatuses": [{"restartCount": restarts}],
            "initContainerStatuses": [{"name": "proxy", "restartCount": sidecar_restarts}],
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(pod("x", node="", phase="Pending"), pod("a", phase="Pending"), id="unassigned"),
        pytest.param(pod("x", phase="Pending"), pod("a", phase="Unknown"), id="pending before unknown"),
        pytest.param(pod("x", phase="Unknown"), pod("a"), id="unknown before running"),
        pytest.param(pod("x"), pod("a", ready=MONTH), id="not ready"),
        pytest.param(pod("x", ready=False), pod("a", ready=RECENTLY), id="ready since an unknown time"),
        pytest.param(pod("x", ready=RECENTLY), pod("a", ready=MONTH), id="ready for a shorter time"),
        pytest.param(pod("x", ready=MONTH, cost="-5"), pod("a", ready=RECENTLY, cost="0"), id="cheaper"),
        pytest.param(pod("x", ready=MONTH, cost="1"), pod("a", ready=RECENTLY, cost="2"), id="cheaper than another"),
        pytest.param(pod("x", ready=RECENTLY, cost="many"), pod("a", ready=MONTH), id="a cost that is no number is 0"),
        pytest.param(pod("x", ready=MONTH, restarts=8), pod("a", ready=MONTH, restarts=5), id="more restarts"),
        pytest.param(
            pod("x", ready=MONTH, sidecar_restarts=2), pod("a", ready=MONTH, sidecar_restarts=1), id="sidecar restarts"
        ),
        pytest.param(
            pod("x", ready=MONTH, restarts=2), pod("a", ready=MONTH, restarts=1, sidecar_restarts=9),
            id="restarts of containers count before those of sidecars",
        ),
        pytest.param(pod("x", ready=MONTH, age=None), pod("a", ready=MONTH, age=RECENTLY), id="created just now"),
        pytest.param(pod("x", ready=MONTH, age=RECENTLY), pod("a", ready=MONTH, age=MONTH), id="younger"),
        pytest.param(
            pod("a", ready=timedelta(minutes=10), restarts=0), pod("x", ready=timedelta(minutes=11), restarts=9),
            id="about as old: by uid",
        ),
        pytest.param(
            pod("a", ready=timedelta(minutes=11)), pod("x", ready=timedelta(minutes=10)), id="about as old, the other way"
        ),
    ],
)  # fmt: skip
def test_the_one_that_is_missed_least_goes_first(first, second):
    for order in ([first, second], [second, first]):
        assert deletion_order(order, [], NOW) == [first, second]


def test_a_node_with_more_of_its_like_loses_one():
    pods = [pod("a", ready=RECENTLY, node="n1"), pod("b", ready=MONTH, node="n2")]

    order = deletion_order(pods, [*pods, pod("c", node="n2"), pod("gone", node="n1", phase="Failed")], NOW)

    assert [each["metadata"]["name"] for each in order] == ["b", "a"]
