"""The status of a pod."""

from datetime import UTC, datetime
from functools import partial

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


def container(name="c", state="running", code=0, attempt=0, **more):
    return ContainerStatus(
        id=f"{name}{attempt}", sandbox_id="s", name=name, attempt=attempt, state=ContainerState(state), image="host", image_id="host",
        created_at=attempt + 1.0, started_at=100.0, finished_at=200.0 if state == "exited" else 0.0, exit_code=code, **more,
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


def only(status, kind="containerStatuses"):
    (found,) = status[kind]
    return found


def ended(code=0, **more):
    return {"terminated": {"exitCode": code, **more}}


RESTART_ALL = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [88]}}]


def restarting_pod(**status):
    spec = pod("Never", status=status)
    spec["spec"]["containers"][0] |= {"restartPolicy": "Never", "restartPolicyRules": RESTART_ALL}
    return spec


def test_a_container_without_probes_tells_its_user_and_signal():
    user = {"linux": {"uid": 7, "gid": 8, "supplemental_groups": [8, 9]}}

    found = only(compute(pod(), container(user=user, stop_signal="SIGINT")))

    assert found["user"] == {"linux": {"uid": 7, "gid": 8, "supplementalGroups": [8, 9]}}
    assert (found["stopSignal"], found["resources"]) == ("SIGINT", {})


def test_a_container_that_was_never_created_tells_neither_id_nor_resources():
    found = only(compute(pod()))

    assert (found["imageID"], "containerID" in found, "resources" in found) == ("", False, False)


@pytest.mark.parametrize(
    ("deleted", "count"), [(False, 1), (True, 0)], ids=["it will run again", "it will not, as its pod is deleted"]
)
def test_a_container_that_is_lost_has_ended_for_an_unknown_reason(deleted, count):
    spec = pod(status={"containerStatuses": [{"name": "c", "state": {"running": {}}, "restartCount": 0}]})
    spec["metadata"] |= {"deletionTimestamp": "2030-01-01T00:00:00Z"} if deleted else {}

    found = only(compute(spec))

    assert found["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert found["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert found["restartCount"] == count


def test_an_end_outlives_its_container():
    spec = pod("Never", status={"containerStatuses": [{"name": "c", "state": ended(3), "restartCount": 2}]})

    found = only(compute(spec))

    assert (found["state"], found["restartCount"]) == (ended(3), 2)


def test_a_reason_to_wait_is_not_shown_of_a_container_that_will_not_start():
    waiting = {"c": Waiting("CrashLoopBackOff")}

    found = only(compute(pod("Never"), container(state="exited", code=1), waiting=waiting))

    assert "terminated" in found["state"]


def test_an_ephemeral_container_has_no_readiness():
    spec = pod(ephemeralContainers=[{"name": "d", "image": "host"}])

    found = only(compute(spec, container(), container("d")), "ephemeralContainerStatuses")

    assert ("started" in found, found["ready"], list(found["state"])) == (False, False, ["running"])


def test_a_running_init_container_has_started_and_is_ready_once_it_succeeded():
    running = only(compute(pod(init=["i"]), container("i")), "initContainerStatuses")
    done = only(compute(pod(init=["i"]), container("i", "exited")), "initContainerStatuses")

    assert [(one["started"], one["ready"]) for one in (running, done)] == [(True, False), (False, True)]


def test_volume_mounts_tell_whether_they_are_read_only_all_the_way_down():
    spec = pod()
    mounts = {"Disabled": None, "Enabled": "Enabled", "asked": "IfPossible"}
    spec["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "v", "mountPath": "/w"},
        *(
            {"name": "v", "mountPath": f"/{name}", "readOnly": True, "recursiveReadOnly": mode}
            for name, mode in mounts.items()
        ),
    ]

    modes = [
        [
            mount.get("recursiveReadOnly")
            for mount in only(compute(spec, supports_recursive_read_only=partial(bool, can)))["volumeMounts"]
        ]
        for can in (False, True)
    ]

    assert modes == [[None, "Disabled", "Enabled", "Disabled"], [None, "Disabled", "Enabled", "Enabled"]]


def test_resources_are_those_in_force_while_a_container_runs():
    spec = pod()
    spec["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"},
    }  # fmt: skip
    linux = {"cpu_shares": 51, "cpu_quota": 15000, "cpu_period": 100000, "memory_limit_in_bytes": 192 << 20}

    running = only(compute(spec, container(resources={"linux": linux})))
    stopped = only(compute(spec, container(state="exited", resources={"linux": linux})))

    assert running["allocatedResources"] == {"cpu": "100m", "memory": "64Mi"}
    assert running["resources"] == {
        "limits": {"cpu": "150m", "memory": "192Mi"}, "requests": {"cpu": "50m", "memory": "64Mi"},
    }  # fmt: skip
    assert stopped["resources"] == spec["spec"]["containers"][0]["resources"]


def test_a_pod_tells_its_resources_as_a_whole():
    spec = pod()
    spec["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000m"}, "limits": {"memory": "1Gi"}}

    status = compute(spec, container())

    assert status["allocatedResources"] == {"cpu": "1"}
    assert status["resources"] == {"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}


def test_a_pod_has_not_ended_before_its_containers_have():
    spec = pod("Never", status={"phase": "Running"})

    assert compute(spec, container(state="exited"), could_run=True)["phase"] == "Running"
    assert compute(spec, container(state="exited"), could_run=False)["phase"] == "Succeeded"


def test_a_sidecar_keeps_the_phase_running_but_is_no_success_to_wait_for():
    spec = pod("Never", init=["s"])
    spec["spec"]["initContainers"][0]["restartPolicy"] = "Always"

    assert compute(spec, container("s"), container(state="exited"))["phase"] == "Running"
    assert compute(spec, container("s", "exited", 137), container(state="exited"))["phase"] == "Succeeded"


def test_a_pod_that_ended_before_it_began_has_failed():
    status = compute(pod(init=["i"]), sandbox=False, terminal=True)

    assert status["phase"] == "Failed"
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert status["initContainerStatuses"][0]["state"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_a_pod_that_was_deleted_before_it_began_still_tells_what_it_waited_for():
    status = compute(pod(), sandbox=False, terminal=True)

    assert (status["phase"], only(status)["state"]["terminated"]["exitCode"]) == ("Failed", 137)
    ready = condition(status, "Ready")
    assert (ready["reason"], ready["message"]) == ("ContainersNotReady", "containers with unready status: [c]")


def test_a_pod_that_ended_is_not_ready_whatever_its_containers_show():
    ready = condition(compute(pod(), container(), terminal=True), "Ready")

    assert (ready["status"], ready["reason"]) == ("False", "PodFailed")


def test_an_ephemeral_container_waits_for_the_init_containers_too():
    spec = pod(init=["i"], ephemeralContainers=[{"name": "e", "image": "host"}])

    (ephemeral,) = compute(spec, container("i"))["ephemeralContainerStatuses"]

    assert ephemeral["state"] == {"waiting": {"reason": "PodInitializing"}}


def test_what_is_lost_of_a_pod_that_ended_has_failed():
    spec = pod(status={"containerStatuses": [{"name": "c", "state": {"running": {}}}]})

    status = compute(spec, sandbox=False, terminal=True)

    assert (status["phase"], only(status)["state"]["terminated"]["reason"]) == ("Failed", "ContainerStatusUnknown")


def test_the_restart_of_all_containers_is_a_condition():
    before = compute(restarting_pod(), container(state="exited", code=88), restarts_all=True)

    found = condition(before, "AllContainersRestarting")
    assert (found["status"], found["reason"]) == ("True", "RestartAllContainersStarted")
    assert condition(compute(pod(), container()), "AllContainersRestarting") is None


def test_containers_removed_for_the_restart_of_all_wait_and_count_it():
    old = {"containerStatuses": [{"name": "c", "state": ended(88), "restartCount": 0}]}

    status = compute(restarting_pod(**old), is_restarting_all=True)

    found = only(status)
    assert (found["state"]["waiting"]["reason"], found["restartCount"]) == ("RestartingAllContainers", 1)
    assert found["lastState"]["terminated"]["exitCode"] == 137
    assert status["phase"] == "Running"


def test_a_pod_that_makes_room_is_a_disruption():
    status = compute(pod(), container(), disruption={"type": "DisruptionTarget", "status": "True", "reason": "r"})

    assert condition(status, "DisruptionTarget")["reason"] == "r"
