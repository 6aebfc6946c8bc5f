"""What holds for a pod that is resized: the most of what it asks for, was allotted, and has."""

import pytest
from hyperkube_lib.resized_pods import with_effective_limits, with_effective_requests

SMALL, LARGE = {"cpu": "1"}, {"cpu": "2"}


def pod(asks, has, *, why="", group="containers", **more):
    """Return a pod whose container asks for one thing and has another, as requests and as limits."""
    statuses = "containerStatuses" if group == "containers" else "initContainerStatuses"
    both = [{"requests": amount, "limits": amount} for amount in (asks, has)]
    conditions = [{"type": "PodResizePending", "status": "True", "reason": why}]
    return {
        "spec": {"containers": [], group: [{"name": "c", "resources": both[0], **more}]},
        "status": {statuses: [{"name": "c", "resources": both[1]}], "conditions": conditions},
    }


@pytest.mark.parametrize(
    ("given", "amount"),
    [
        (pod(SMALL, SMALL), SMALL),
        (pod(LARGE, SMALL), LARGE),
        (pod(SMALL, LARGE), LARGE),
        (pod(LARGE, SMALL, why="Deferred"), LARGE),
        (pod(LARGE, SMALL, why="Infeasible"), SMALL),
        (pod(SMALL, LARGE, group="initContainers", restartPolicy="Always"), LARGE),
        (pod(SMALL, LARGE, group="initContainers"), SMALL),
    ],
    ids=["as it should be", "made larger", "made smaller", "deferred", "infeasible", "sidecar", "start"],
)
def test_the_more_of_both_holds(given, amount):
    group = "containers" if given["spec"]["containers"] else "initContainers"

    (requests,) = with_effective_requests(given)["spec"][group]
    (limits,) = with_effective_limits(given)["spec"][group]

    assert requests["resources"]["requests"] == amount
    assert limits["resources"]["limits"] == amount


def test_a_pod_of_which_nothing_is_told_is_taken_as_it_is():
    given = {"spec": {"containers": [{"name": "c", "resources": {"limits": SMALL}}]}, "status": {}}

    assert with_effective_limits(given) is given
    assert with_effective_requests(given) is given
