"""The table of pods."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.pods.defaults import default_pod
from hyperkube_api.core.pods.table import pod_cells, row_conditions

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
READY = {"type": "Ready", "status": "True"}
INITIALIZED = {"type": "Initialized", "status": "True"}
SIDECAR = {"name": "i", "restartPolicy": "Always"}


def state(*, restarts=0, ago=0, ready=False, started=None, **state):
    """Return a container's status; `ago`: minutes since it last ended."""
    status = {"name": "c", "ready": ready, "restartCount": restarts, "state": state}
    if started is not None:
        status["started"] = started
    if ago:
        status["lastState"] = {"terminated": {"finishedAt": f"2026-01-01T11:{60 - ago:02}:00Z"}}
    return status


def init(**more):
    return {**state(**more), "name": "i"}


def running(**more):
    return state(running={}, ready=True, **more)


def ended(code=0, reason="", signal=0, **more):
    return state(terminated={"exitCode": code, "reason": reason, "signal": signal}, **more)


def waiting(reason):
    return state(waiting={"reason": reason})


def shown(status, init_containers=(), containers=2, **meta):
    spec = {"initContainers": list(init_containers), "containers": [{}] * containers}
    return pod_cells({"metadata": {"name": "a", **meta}, "spec": spec, "status": status}, NOW)[1:4]


@pytest.mark.parametrize(
    ("status", "row"),
    [
        ({"phase": "Running", "containerStatuses": [running(restarts=3), state(restarts=3)]}, ["1/2", "Running", "6"]),
        ({"phase": "Running", "containerStatuses": [running(), running()]}, ["2/2", "Running", "0"]),
        ({"phase": "Running", "reason": "Evicted"}, ["0/2", "Evicted", "0"]),
        ({"phase": "Running", "containerStatuses": [waiting("ImagePullBackOff"), running()]},
         ["1/2", "ImagePullBackOff", "0"]),
        ({"phase": "Pending", "containerStatuses": [waiting("ContainerCreating"), waiting("CreateFailed")]},
         ["0/2", "ContainerCreating", "0"]),
        ({"phase": "Pending", "containerStatuses": [waiting("")]}, ["0/2", "Pending", "0"]),
        ({"phase": "Running", "containerStatuses": [ended(reason="Completed"), running()]}, ["1/2", "NotReady", "0"]),
        ({"phase": "Running", "containerStatuses": [ended(reason="Completed"), running()], "conditions": [READY]},
         ["1/2", "Running", "0"]),
        ({"phase": "Running", "containerStatuses": [ended(reason="Completed"), ended(1, "Error")]},
         ["0/2", "Error", "0"]),
        ({"phase": "Running", "containerStatuses": [ended(reason="Completed"), ended(1, "Error"), running()]},
         ["1/2", "Error", "0"]),
        ({"phase": "Succeeded", "containerStatuses": [ended(reason="Completed")]}, ["0/2", "Completed", "0"]),
        ({"phase": "Failed", "containerStatuses": [ended(137, "OOMKilled")]}, ["0/2", "OOMKilled", "0"]),
        ({"phase": "Failed", "containerStatuses": [ended(137, signal=9)]}, ["0/2", "Signal:9", "0"]),
        ({"phase": "Failed", "containerStatuses": [ended(3)]}, ["0/2", "ExitCode:3", "0"]),
        ({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
         ["0/2", "SchedulingGated", "0"]),
        ({"phase": "Running", "containerStatuses": [running(restarts=3, ago=20), running(restarts=2, ago=10)]},
         ["2/2", "Running", "5 (10m ago)"]),
        ({"phase": "Running", "containerStatuses": [running(ago=20)]}, ["1/2", "Running", "0"]),
    ],
)  # fmt: skip
def test_a_row_says_what_the_containers_do(status, row):
    assert shown(status) == row


@pytest.mark.parametrize(
    ("containers", "statuses", "row"),
    [
        ([{"name": "i"}, {"name": "j"}], [init(running={})], ["0/2", "Init:0/2", "0"]),
        ([{"name": "i"}, {"name": "j"}], [init(terminated={"exitCode": 0}), init(waiting={})],
         ["0/2", "Init:1/2", "0"]),
        ([{"name": "i"}], [init(waiting={"reason": "PodInitializing"})], ["0/2", "Init:0/1", "0"]),
        ([{"name": "i"}], [init(waiting={"reason": "CrashLoopBackOff"}, restarts=4, ago=5)],
         ["0/2", "Init:CrashLoopBackOff", "4 (5m ago)"]),
        ([{"name": "i"}], [init(terminated={"exitCode": 1, "reason": "Error"})], ["0/2", "Init:Error", "0"]),
        ([{"name": "i"}], [init(terminated={"exitCode": 2})], ["0/2", "Init:ExitCode:2", "0"]),
        ([{"name": "i"}], [init(terminated={"exitCode": 2, "signal": 15})], ["0/2", "Init:Signal:15", "0"]),
        ([SIDECAR], [init(running={}, started=False)], ["0/3", "Init:0/1", "0"]),
        ([SIDECAR], [init(waiting={"reason": "Odd"})], ["0/3", "Init:Odd", "0"]),
        ([SIDECAR, {"name": "j"}], [init(running={}, started=True, ready=True, restarts=1), init(running={})],
         ["1/3", "Init:1/2", "1"]),
    ],
)  # fmt: skip
def test_a_row_says_how_far_initialization_is(containers, statuses, row):
    assert shown({"phase": "Pending", "initContainerStatuses": statuses}, containers) == row


@pytest.mark.parametrize(
    ("container", "status", "row"),
    [
        ({"name": "i"}, init(terminated={"exitCode": 0}, restarts=3, ago=30), ["1/2", "Running", "2 (20m ago)"]),
        (SIDECAR, init(running={}, started=True, ready=True, restarts=3, ago=30), ["2/3", "Running", "5 (20m ago)"]),
        (SIDECAR, init(running={}, started=True, restarts=3, ago=3), ["1/3", "Running", "5 (3m ago)"]),
        (SIDECAR, init(terminated={"exitCode": 0}, ready=True), ["1/3", "Running", "2 (20m ago)"]),
    ],
    ids=["initial", "sidecar", "sidecar-not-ready", "sidecar-ended"],
)
def test_restarts_of_what_came_before_do_not_count(container, status, row):
    statuses = {"initContainerStatuses": [status], "containerStatuses": [running(restarts=2, ago=20)]}

    assert shown({"phase": "Running", **statuses}, [container]) == row


def test_a_pod_that_was_initialized_shows_its_containers_though_a_sidecar_starts_again():
    statuses = {
        "initContainerStatuses": [init(waiting={"reason": "CrashLoopBackOff"})],
        "containerStatuses": [running()],
    }
    status = {"phase": "Running", **statuses}

    assert shown(status, [SIDECAR], 1) == ["0/2", "Init:CrashLoopBackOff", "0"]
    assert shown({**status, "conditions": [INITIALIZED]}, [SIDECAR], 1) == ["1/2", "Init:CrashLoopBackOff", "0"]


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({"phase": "Running"}, "Terminating"),
        ({"phase": "Running", "reason": "NodeLost"}, "Unknown"),
        ({"phase": "Succeeded"}, "Succeeded"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
    ],
    ids=["running", "lost", "done", "failed"],
)
def test_a_pod_that_is_to_go_says_so_unless_it_has_ended(status, word):
    assert shown(status, deletionTimestamp="2026-01-01T12:00:00Z")[1] == word


@pytest.mark.parametrize(
    ("spec", "status", "row"),
    [
        ({}, {}, ["<none>"] * 4),
        (
            {"nodeName": "n"},
            {"podIPs": [{"ip": "1.1.1.1"}, {"ip": "2001:db8::1"}], "nominatedNodeName": "m"},
            ["1.1.1.1", "n", "m", "<none>"],
        ),
        ({}, {"podIP": "2.2.2.2"}, ["2.2.2.2", *["<none>"] * 3]),
        ({"readinessGates": [{"conditionType": "A"}]}, {}, [*["<none>"] * 3, "0/1"]),
        (
            {"readinessGates": [{"conditionType": "A"}, {"conditionType": "B"}]},
            {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "False"}]},
            [*["<none>"] * 3, "1/2"],
        ),
    ],
    ids=["least", "placed", "old-address", "gate", "gates"],
)
def test_a_wide_row_says_where_a_pod_is(spec, status, row):
    assert pod_cells({"metadata": {"name": "a"}, "spec": spec, "status": status}, NOW)[5:] == row


@pytest.mark.parametrize(
    ("phase", "text"),
    [("Succeeded", "The pod has completed successfully."), ("Failed", "The pod failed."), ("Running", None)],
)
def test_the_row_of_a_pod_that_ended_says_so_to_programs(phase, text):
    said = [{"type": "Completed", "status": "True", "reason": phase, "message": text}] if text else []

    assert row_conditions({"status": {"phase": phase}}) == said


def a_pod(**spec):
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "creationTimestamp": "2026-01-01T11:58:00Z"},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.25", "resources": {}}], **spec},
        "status": {},
    }
    default_pod(made)
    return made


def running_container(ready=True, restarts=0, **more):
    return {"name": "c", "ready": ready, "restartCount": restarts, "state": {"running": {}}, **more}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({}, {"phase": "Pending"}, ["0/1", "Pending", "0"]),
        ({}, {"phase": "Running", "containerStatuses": [running_container()]}, ["1/1", "Running", "0"]),
        (
            {},
            {
                "phase": "Running",
                "containerStatuses": [
                    running_container(restarts=3, lastState={"terminated": {"finishedAt": "2026-01-01T11:57:00Z"}})
                ],
            },
            ["1/1", "Running", "3 (3m ago)"],
        ),
        (
            {"initContainers": [{"name": "i", "image": "x"}, {"name": "j", "image": "x"}]},
            {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]},
            ["0/1", "Init:0/2", "0"],
        ),
        (
            {},
            {
                "phase": "Running",
                "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
            },
            ["0/1", "CrashLoopBackOff", "0"],
        ),
        (
            {},
            {"phase": "Failed", "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 3}}}]},
            ["0/1", "ExitCode:3", "0"],
        ),
    ],
    ids=["pending", "running", "restarted", "initializing", "crashing", "failed"],
)
def test_a_row_says_what_the_pod_is_doing(spec, status, shown):
    pod = a_pod(**spec)
    pod["status"] = status

    assert pod_cells(pod, NOW)[1:4] == shown


def test_a_pod_that_was_told_to_go_is_terminating():
    pod = a_pod()
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"

    assert pod_cells(pod, NOW)[2:5] == ["Terminating", "0", "2m"]
