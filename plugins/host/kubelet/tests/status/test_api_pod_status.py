"""The status of a pod."""

from datetime import UTC, datetime

import pytest
from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.status.api_pod_status import api_pod_status, rejected_status
from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_status import Failure, Waiting

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, SandboxStatus
from hyperkube.kinds.conditions import condition

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def pod(policy="Always", init=(), status=None, **spec):
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u", "generation": 2},
        "spec": {
            "restartPolicy": policy,
            "containers": [{"name": "c", "image": "host"}],
            "initContainers": [{"name": name, "image": "host"} for name in init],
            **spec,
        },
        "status": status or {},
    }


def container(name="c", state="running", code=0, attempt=0):
    return ContainerStatus(
        id=f"{name}{attempt}", sandbox_id="s", name=name, attempt=attempt, state=ContainerState(state), image="host", image_id="host",
        created_at=attempt + 1.0, started_at=100.0, finished_at=200.0 if state == "exited" else 0.0, exit_code=code,
    )  # fmt: skip


def compute(spec, *containers, ready=True, terminal=False, waiting=None, failure=None, sandbox=True, **more):
    box = SandboxStatus(
        id="s", namespace="ns", name="p", uid="u", attempt=0, ready=True, created_at=1, ips=("127.9.0.2",)
    )
    return api_pod_status(
        spec,
        StatusInput(
            pod_status=PodStatus.of([box] if sandbox else [], containers),
            is_ready=lambda _id: ready,
            is_started=lambda _id: True,
            is_terminal=terminal,
            waiting=waiting or {},
            failure=failure,
            host_ips=("10.0.0.1",),
            runtime_name="process",
            now=NOW,
            **more,
        ),
    )


def test_a_running_pod():
    status = compute(pod(), container())

    assert status["phase"] == "Running"
    assert (status["podIP"], status["hostIP"], status["startTime"]) == ("127.9.0.2", "10.0.0.1", "2030-01-01T00:00:00Z")
    (only,) = status["containerStatuses"]
    assert only["state"] == {"running": {"startedAt": "1970-01-01T00:01:40Z"}}
    assert (only["ready"], only["started"], only["containerID"]) == (True, True, "process://c0")
    assert status["observedGeneration"] == 2


def test_the_conditions_come_in_kubernetes_order():
    status = compute(pod(), container())

    assert [(entry["type"], entry["status"]) for entry in status["conditions"]] == [
        ("PodReadyToStartContainers", "True"), ("Initialized", "True"), ("Ready", "True"),
        ("ContainersReady", "True"), ("PodScheduled", "True"),
    ]  # fmt: skip


def test_an_unready_container_is_named():
    ready = condition(compute(pod(), container(), ready=False), "Ready")

    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert ready["message"] == "containers with unready status: [c]"


def test_a_readiness_gate_holds_the_pod_back():
    spec = pod(readinessGates=[{"conditionType": "example.com/ok"}])

    ready = condition(compute(spec, container()), "Ready")

    assert ready["reason"] == "ReadinessGatesNotReady"
    assert ready["message"] == 'corresponding condition of pod readiness gate "example.com/ok" does not exist.'


def test_all_readiness_gates_that_do_not_hold_are_named():
    spec = pod(readinessGates=[{"conditionType": "a"}, {"conditionType": "b"}])
    spec["status"] = {"conditions": [{"type": "b", "status": "False"}]}

    ready = condition(compute(spec, container()), "Ready")

    assert ready["message"] == (
        'corresponding condition of pod readiness gate "a" does not exist., '
        'the status of pod readiness gate "b" is not "True", but False'
    )


def test_the_conditions_of_others_stay():
    mine = {"type": "example.com/ok", "status": "True"}

    status = compute(pod(status={"conditions": [mine]}), container())

    assert condition(status, "example.com/ok") == mine


def test_a_condition_keeps_its_time_while_it_holds():
    old = {"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}

    status = compute(pod(status={"conditions": [old]}), container())

    assert condition(status, "Ready")["lastTransitionTime"] == "2020-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("policy", "code", "phase"),
    [("Always", 0, "Running"), ("OnFailure", 1, "Running"), ("OnFailure", 0, "Succeeded"), ("Never", 1, "Failed")],
)
def test_the_phase_of_an_ended_container(policy, code, phase):
    assert compute(pod(policy), container(state="exited", code=code))["phase"] == phase


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (143, "Failed")])
def test_the_phase_of_a_terminated_pod(code, phase):
    assert compute(pod(), container(state="exited", code=code), terminal=True)["phase"] == phase


def test_a_final_phase_never_changes():
    assert compute(pod(status={"phase": "Failed"}), container())["phase"] == "Failed"


def test_a_pod_without_containers_yet_is_pending():
    status = compute(pod(), sandbox=False)

    assert status["phase"] == "Pending"
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}


def test_a_pod_that_initializes_is_pending():
    status = compute(pod(init=["i"]), container("i"))

    assert status["phase"] == "Pending"
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert condition(status, "Initialized")["message"] == "containers with incomplete status: [i]"


def test_a_crash_loop_shows_the_last_end():
    waiting = {"c": Waiting("CrashLoopBackOff", "back-off 10s restarting failed container=c pod=p_ns(u)")}

    status = compute(pod(), container(state="exited", code=3), waiting=waiting)

    (only,) = status["containerStatuses"]
    assert only["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert only["lastState"]["terminated"]["exitCode"] == 3
    assert status["phase"] == "Running"


def test_a_restarted_container_shows_count_and_last_end():
    status = compute(pod(), container(state="exited", code=3), container(attempt=1), messages={"c0": "bye"})

    (only,) = status["containerStatuses"]
    assert only["restartCount"] == 1
    assert only["lastState"]["terminated"] == {
        "exitCode": 3, "reason": "Error", "message": "bye", "startedAt": "1970-01-01T00:01:40Z",
        "finishedAt": "1970-01-01T00:03:20Z", "containerID": "process://c0",
    }  # fmt: skip


def test_a_pod_given_up_has_failed():
    status = compute(pod(), container(state="exited"), terminal=True, failure=Failure("DeadlineExceeded", "too long"))

    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "DeadlineExceeded", "too long")


def test_a_refused_pod_says_so():
    status = rejected_status(pod(), Failure("OutOfcpu", "Node didn't have enough resource: cpu"), NOW)

    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert status["message"] == "Pod was rejected: Node didn't have enough resource: cpu"
