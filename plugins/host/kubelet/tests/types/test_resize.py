"""Resizes as decisions: granted or not, told of, and what has to change."""

import pytest
from hyperkube_host.kubelet.cm.unmanaged import UnmanagedContainerManager
from hyperkube_host.kubelet.kuberuntime.linux_resources import ResourceSettings, linux_resources
from hyperkube_host.kubelet.types.resize import Change, InProgress, Pending, change_of, event_message, exceeds_node

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.resource_lists import read

SETTINGS = ResourceSettings(memory_capacity=1 << 30, container_manager=UnmanagedContainerManager())
NODE = {"status": {"allocatable": {"cpu": "2", "memory": "1Gi"}}}


def container(limits=None, requests=None, **more):
    return {"name": "c", "resources": {"limits": limits or {}, "requests": requests or {}}, **more}


def pod(**resources):
    return {"metadata": {"name": "p"}, "spec": {"containers": [container(**resources)]}}


def running(state="running", **linux):
    resources = {"linux": linux} if linux else {}
    return ContainerStatus(
        id="c", sandbox_id="s", name="c", attempt=0, state=ContainerState(state), image="i", resources=resources
    )


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        ({"cpu": "2", "memory": "1Gi"}, ""),
        ({"cpu": "3"}, "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000"),
        (
            {"cpu": "3", "memory": "2Gi"},
            "Node didn't have enough capacity: memory, requested: 2147483648, capacity: 1073741824",
        ),
    ],
)
def test_more_than_the_whole_node_has_is_never_granted(requests, text):
    assert exceeds_node(pod(requests=requests), NODE) == text


@pytest.mark.parametrize(
    ("limits", "requests", "linux", "resource", "changed"),
    [
        ({"cpu": "200m"}, {"cpu": "50m"}, {"cpu_quota": 20000, "cpu_period": 100000, "cpu_shares": 51}, "cpu", False),
        ({"cpu": "300m"}, {"cpu": "50m"}, {"cpu_quota": 20000, "cpu_period": 100000, "cpu_shares": 51}, "cpu", True),
        ({"cpu": "200m"}, {"cpu": "80m"}, {"cpu_quota": 20000, "cpu_period": 100000, "cpu_shares": 51}, "cpu", True),
        ({}, {"cpu": "1m"}, {"cpu_period": 100000, "cpu_shares": 2}, "cpu", False),
        ({"cpu": "5m"}, {"cpu": "1m"}, {"cpu_quota": 1000, "cpu_period": 100000, "cpu_shares": 2}, "cpu", False),
        ({"memory": "128Mi"}, {}, {"memory_limit_in_bytes": 128 << 20, "cpu_shares": 2}, "memory", False),
        ({"memory": "192Mi"}, {}, {"memory_limit_in_bytes": 128 << 20, "cpu_shares": 2}, "memory", True),
        ({"cpu": "300m"}, {"cpu": "80m"}, {}, "cpu", False),
    ],
    ids=["in force", "limit", "request", "least request", "least limit", "memory in force", "memory", "unknown"],
)
def test_a_change_is_what_the_runtime_does_not_have_yet(limits, requests, linux, resource, changed):
    found = change_of(container(), linux_resources(read(requests), read(limits), SETTINGS), running(**linux), resource)

    assert found is (Change.IN_PLACE if changed else Change.NONE)


def test_a_policy_may_want_a_restart():
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    wanted = container({"memory": "192Mi"}, resizePolicy=policy)

    linux = {"memory_limit_in_bytes": 192 << 20}

    assert change_of(wanted, linux, running(memory_limit_in_bytes=1), "memory") is Change.RESTART
    assert change_of(wanted, linux, running("exited", memory_limit_in_bytes=1), "memory") is Change.NONE


def test_events_show_the_resources_as_json():
    asking = pod(requests={"cpu": "1200m"})

    assert event_message("Pod resize OutOfcpu", asking, 2, "too little") == (
        'Pod resize OutOfcpu: {"containers":[{"name":"c","resources":{"requests":{"cpu":"1200m"}}}],"generation":2,"error":"too little"}'
    )


def test_conditions_name_the_generation_that_asks():
    pending = Pending("Deferred", "too little", "OutOfcpu", 3).condition()

    assert (pending["type"], pending["reason"], pending["observedGeneration"]) == ("PodResizePending", "Deferred", 3)
    assert InProgress(3).condition() == {"type": "PodResizeInProgress", "status": "True", "observedGeneration": 3}
    assert InProgress(3, "no").condition()["reason"] == "Error"
