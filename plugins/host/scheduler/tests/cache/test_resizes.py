"""A node owes a pod that is resized the most of what it asks for, was allotted, and has.

Source of the first cases: kubernetes ``pkg/scheduler/framework/types_test.go`` (TestCalculatePodResourcesWithResize).
"""

import pytest

pytest.importorskip("numpy")

from hyperkube_host.scheduler.cache.assigned_pods import AssignedPodTransform
from hyperkube_host.scheduler.cache.requests import requests_of
from hyperkube_lib.resized_pods import resized_statuses, with_effective_requests
from hyperkube_testing.scheduling.tables import table

SMALL, LARGE = {"cpu": "500m", "memory": "500Mi"}, {"cpu": "700m", "memory": "800Mi"}
MEBIBYTE = 2**20
PENDING = {"type": "PodResizePending", "status": "True"}


def pod(asks, has, allotted=None, *, conditions=(), group="containers", **more):
    """Return a placed pod whose container asks for, has and was allotted these requests."""
    row = {"name": "c1", "resources": {"requests": asks}, **more}
    status = {"name": "c1", "state": {"running": {}}, "resources": {"requests": has}}
    if allotted is not None:
        status["allocatedResources"] = allotted
    statuses = "containerStatuses" if group == "containers" else "initContainerStatuses"
    spec = {"containers": [{"name": "c0"}], "nodeName": "n", group: [row]}
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "u"},
        "spec": spec,
        "status": {"phase": "Running", statuses: [status], "conditions": list(conditions)},
    }


def of(found):
    return found.amounts["cpu"], found.amounts["memory"], found.non_zero_cpu, found.non_zero_memory


@pytest.mark.parametrize(
    ("given", "cpu", "memory"),
    [
        pytest.param(pod(SMALL, SMALL, SMALL), 500, 500, id="nothing is pending"),
        pytest.param(
            pod(SMALL, SMALL, SMALL, conditions=[{"type": "PodResizeInProgress"}]), 500, 500, id="in progress"
        ),
        pytest.param(pod(LARGE, SMALL, SMALL, conditions=[{**PENDING, "reason": "Deferred"}]), 700, 800, id="deferred"),
        pytest.param(
            pod(LARGE, SMALL, SMALL, conditions=[{**PENDING, "reason": "Infeasible"}]), 500, 500, id="infeasible"
        ),
        pytest.param(pod(SMALL, LARGE, LARGE), 700, 800, id="made smaller, not yet there"),
        pytest.param(pod(SMALL, LARGE, SMALL), 700, 800, id="made smaller, allotted, not yet there"),
        pytest.param(pod(SMALL, SMALL, LARGE), 700, 800, id="allotted more"),
        pytest.param(pod(SMALL, LARGE), 700, 800, id="nothing is said of what was allotted"),
        pytest.param(pod({"cpu": "1"}, SMALL, SMALL), 1000, 500, id="the most of each"),
    ],
)
def test_what_a_node_owes(given, cpu, memory):
    expected = (cpu, memory * MEBIBYTE, cpu, memory * MEBIBYTE)

    assert of(requests_of(given)) == expected
    assert of(requests_of(AssignedPodTransform()(given))) == expected


@pytest.mark.parametrize(("more", "cpu"), [({"restartPolicy": "Always"}, 700), ({}, 500)])
def test_sidecars_are_resized_and_the_start_is_not(more, cpu):
    started = pod(SMALL, LARGE, LARGE, group="initContainers", **more)

    assert requests_of(started).amounts["cpu"] == cpu


def test_a_pod_as_it_should_be_is_taken_as_it_is():
    given = pod(SMALL, SMALL, SMALL)

    assert with_effective_requests(given) is given
    assert AssignedPodTransform()(given)["status"] == {"phase": "Running"}


def test_statuses_of_unknown_containers_and_of_old_kubelets_mean_nothing():
    strange, old = pod(SMALL, LARGE), pod(SMALL, LARGE)
    strange["status"]["containerStatuses"][0]["name"] = "other"
    del old["status"]["containerStatuses"][0]["resources"]

    assert resized_statuses(strange) == {}
    assert resized_statuses(old) == {}


def test_the_table_follows_a_resize():
    nodes = table({"name": "n"})
    taken = []
    refused = {**PENDING, "reason": "Infeasible"}
    for state in (pod(SMALL, SMALL), pod(LARGE, SMALL), pod(LARGE, SMALL, conditions=[refused]), pod(LARGE, LARGE)):
        nodes.put_pod(AssignedPodTransform()(state), "n")
        taken.append(int(nodes.requested[0, 0]))

    assert taken == [500, 700, 500, 700]
