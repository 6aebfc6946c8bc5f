"""The statuses of containers. Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (convertToAPIContainerStatuses)."""

from __future__ import annotations

from datetime import UTC, datetime

from hyperkube_host.kubelet.container.pod_status import NO_STATUS
from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_spec import init_containers_of
from hyperkube_host.kubelet.types.pod_status import Waiting

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time


def container_status(pod: Object, container: Object, old: Object, given: StatusInput, *, init: bool) -> Object:
    """Return the status of one container.

    Args:
        pod: the pod.
        container: one of its containers.
        old: the status of the pod so far.
        given: the inputs.
        init: whether it is an init or ephemeral container rather than a regular one.
    """
    name = container["name"]
    found = given.pod_status.containers.get(name, ())
    previous = _previous(old, name, init=init)
    latest = found[0] if found else None
    status: Object = {
        "name": name,
        "state": _initial_state(pod, init=init),
        "lastState": {},
        "ready": False,
        "restartCount": previous.get("restartCount", 0),
        "image": container.get("image", ""),
        "imageID": "",
        "started": False,
    }
    if latest is None:
        _carry_over(status, previous, given)
        return status
    status |= {
        "state": _state(latest, given, status["state"]),
        "restartCount": max(latest.attempt, previous.get("restartCount", 0)),
        "image": latest.image or container.get("image", ""),
        "imageID": latest.image_id,
        "containerID": f"{given.runtime_name}://{latest.id}",
    }
    if len(found) > 1 and found[1].state == ContainerState.EXITED:
        status["lastState"] = _state(found[1], given, {})
    elif previous.get("lastState") and latest.attempt > 0:
        status["lastState"] = previous["lastState"]
    waiting = given.waiting.get(name)
    if waiting is not None and latest.state != ContainerState.RUNNING:
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        status["state"] = {"waiting": _waiting_state(waiting)}
    if latest.state == ContainerState.RUNNING:
        status["started"] = given.is_started(latest.id)
        status["ready"] = (
            given.is_ready(latest.id) and status["started"] if not init or is_sidecar(container) else False
        )
    elif init and not is_sidecar(container) and latest.state == ContainerState.EXITED:
        status["ready"] = latest.exit_code == 0
    return status


def _previous(old: Object, name: str, *, init: bool) -> Object:
    keys = ("initContainerStatuses", "ephemeralContainerStatuses") if init else ("containerStatuses",)
    return next((entry for key in keys for entry in old.get(key) or [] if entry.get("name") == name), {})


def _carry_over(status: Object, previous: Object, given: StatusInput) -> None:
    """Keep the previous status of a container that the runtime does not have, yet or any more."""
    state = previous.get("state") or {}
    if "terminated" in state and (given.is_terminal or given.pod_status is NO_STATUS):
        status |= {
            key: previous[key] for key in ("state", "lastState", "imageID", "containerID", "ready") if key in previous
        }
        return
    if "running" in state and given.is_terminal:
        ended = {
            "exitCode": 137,
            "reason": "ContainerStatusUnknown",
            "message": "The container could not be located when the pod was terminated",
            "startedAt": None,
            "finishedAt": None,
        }
        status["state"] = {"terminated": ended}
        return
    waiting = given.waiting.get(status["name"])
    if waiting is not None:
        status["state"] = {"waiting": _waiting_state(waiting)}
    if previous.get("lastState"):
        status["lastState"] = previous["lastState"]


def _waiting_state(waiting: Waiting) -> Object:
    return {"reason": waiting.reason} | ({"message": waiting.message} if waiting.message else {})


def _initial_state(pod: Object, *, init: bool) -> Object:
    initializes = bool(init_containers_of(pod))
    return {"waiting": {"reason": "PodInitializing" if initializes or init else "ContainerCreating"}}


def _state(status: ContainerStatus, given: StatusInput, waiting: Object) -> Object:
    if status.state == ContainerState.RUNNING:
        return {"running": {"startedAt": _time(status.started_at)}}
    if status.state != ContainerState.EXITED:
        return waiting
    ended: Object = {"exitCode": status.exit_code, "reason": status.reason or "Error"}
    if status.exit_code == 0 and not status.reason:
        ended["reason"] = "Completed"
    message = given.messages.get(status.id) or status.message
    if message:
        ended["message"] = message
    ended |= {
        "startedAt": _time(status.started_at),
        "finishedAt": _time(status.finished_at),
        "containerID": f"{given.runtime_name}://{status.id}",
    }
    return {"terminated": ended}


def _time(seconds: float) -> str | None:
    return format_time(datetime.fromtimestamp(seconds, UTC)) if seconds else None
