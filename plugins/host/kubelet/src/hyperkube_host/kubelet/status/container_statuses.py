"""The statuses of containers. Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (convertToAPIContainerStatuses)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hyperkube_host.kubelet.container.restart import should_be_started
from hyperkube_host.kubelet.status.container_resources import container_resources_status, volume_mount_statuses
from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_spec import (
    containers_of,
    ephemeral_containers_of,
    init_containers_of,
)
from hyperkube_host.kubelet.types.pod_status import RESTARTING_ALL_CONTAINERS, Waiting

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object, is_being_deleted
from hyperkube.machinery.times import format_time

STATUS_UNKNOWN = "ContainerStatusUnknown"
KILLED_EXIT_CODE = 137
_REMOVED_FOR_RESTART = "The container is removed because RestartAllContainers in place"
_LOST = "The container could not be located when the pod was deleted.  The container used to be Running"
_NOT_LOCATED = "The container could not be located when the pod was terminated"


def container_statuses(pod: Object, old: Object, given: StatusInput) -> Object:
    """Return the three lists of container statuses, as fields of the pod's status.

    Args:
        pod: the pod.
        old: the status of the pod so far.
        given: the inputs.
    """
    waits_for_init = bool(init_containers_of(pod))
    found: Object = {}
    if waits_for_init:
        init = _statuses(pod, init_containers_of(pod), old.get("initContainerStatuses"), given, init=True)
        for container, status in zip(init_containers_of(pod), init, strict=True):
            _set_init_readiness(container, status, given)
        found["initContainerStatuses"] = init
    regular = _statuses(pod, containers_of(pod), old.get("containerStatuses"), given, init=waits_for_init)
    for status in regular:
        _set_readiness(status, given)
    found["containerStatuses"] = regular
    if ephemeral_containers_of(pod):
        known = old.get("ephemeralContainerStatuses")
        ephemeral = ephemeral_containers_of(pod)
        found["ephemeralContainerStatuses"] = _statuses(pod, ephemeral, known, given, init=waits_for_init)
    return found


def _statuses(
    pod: Object, containers: Iterable[Object], old: Sequence[Object] | None, given: StatusInput, *, init: bool
) -> list[Object]:
    known = {entry["name"]: entry for entry in old or []}
    reason = "PodInitializing" if init else "ContainerCreating"
    return [_status(pod, container, known.get(container["name"], {}), given, reason) for container in containers]


def _status(pod: Object, container: Object, old: Object, given: StatusInput, reason: str) -> Object:
    name = container["name"]
    found = given.pod_status.containers.get(name, ())
    latest = found[0] if found else None
    status = _missing(pod, container, old, given, reason) if latest is None else _known(container, latest, old, given)
    if len(found) > 1 and found[1].state != ContainerState.CREATED:
        status["lastState"] = _state(found[1], {}, given)
    waiting = given.waiting.get(name)
    if waiting is not None and should_be_started(pod, container, latest):
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        status["state"] = {"waiting": _waiting_state(waiting)}
    mounts = volume_mount_statuses(container, given.supports_recursive_read_only)
    if mounts:
        status["volumeMounts"] = mounts
    return status


def _missing(pod: Object, container: Object, old: Object, given: StatusInput, reason: str) -> Object:
    """Return the status of a container that the runtime does not have, yet or any more."""
    state = old.get("state") or {}
    status: Object = {
        "name": container["name"],
        "state": {"waiting": {"reason": reason}},
        "lastState": old.get("lastState") or {},
        "ready": False,
        "restartCount": old.get("restartCount", 0),
        "image": container.get("image", ""),
        "imageID": "",
    }
    if given.is_restarting_all and state and "waiting" not in state:
        ended = _killed(RESTARTING_ALL_CONTAINERS, _REMOVED_FOR_RESTART)
        status["state"] = {"waiting": {"reason": RESTARTING_ALL_CONTAINERS, "message": _REMOVED_FOR_RESTART}}
        status["lastState"] = {"terminated": ended}
        status["restartCount"] += 1
    elif "terminated" in state:
        status |= {key: value for key, value in old.items() if key not in {"ready", "started"}}
    elif "running" in state and "terminated" not in status["lastState"]:
        status["lastState"] = {"terminated": _killed(STATUS_UNKNOWN, _LOST)}
        if not is_being_deleted(pod):
            status["restartCount"] += 1  # it was not deleted, so it will run again
    return status


def _known(container: Object, latest: ContainerStatus, old: Object, given: StatusInput) -> Object:
    """Return the status of a container that the runtime has."""
    container_id = f"{given.runtime_name}://{latest.id}"
    old_state, old_last = old.get("state") or {}, old.get("lastState") or {}
    state = _state(latest, old_state, given)
    status: Object = {
        "name": latest.name,
        "state": state,
        "lastState": {},
        "ready": False,
        "restartCount": max(latest.attempt, old.get("restartCount", 0)),
        "image": latest.image or container.get("image", ""),
        "imageID": latest.image_ref or latest.image_id,
        "containerID": container_id,
    }
    if old.get("containerID") != container_id and "terminated" in old_state:
        status["lastState"] = {"terminated": old_state["terminated"]}
    elif "terminated" in old_last:
        status["lastState"] = {"terminated": old_last["terminated"]}
    status |= container_resources_status(container, latest, old)
    if latest.user.get("linux"):
        status["user"] = _user(latest.user)
    if latest.stop_signal:
        status["stopSignal"] = latest.stop_signal
    return status


def _state(status: ContainerStatus, old_state: Object, given: StatusInput) -> Object:
    if status.state == ContainerState.RUNNING:
        return {"running": {"startedAt": _time(status.started_at)}}
    if status.state == ContainerState.CREATED:
        return {"waiting": {}}
    if status.state == ContainerState.UNKNOWN:
        return {"terminated": _killed(STATUS_UNKNOWN, _NOT_LOCATED)} if "running" in old_state else {"waiting": {}}
    ended: Object = {"exitCode": status.exit_code, "reason": status.reason or "Error"}
    if status.exit_code == 0 and not status.reason:
        ended["reason"] = "Completed"
    message = given.messages.get(status.id) or status.message
    if message:
        ended["message"] = message
    ended |= {
        # A container that never started has done so at the epoch, as Go's time of no seconds says.
        "startedAt": _time(status.started_at),
        "finishedAt": _time(status.finished_at),
        "containerID": f"{given.runtime_name}://{status.id}",
    }
    return {"terminated": ended}


def _killed(reason: str, message: str) -> Object:
    """Return the end of a container whose own end is not known."""
    return {
        "exitCode": KILLED_EXIT_CODE,
        "reason": reason,
        "message": message,
        "startedAt": None,
        "finishedAt": None,
    }


def unknown_end() -> Object:
    """Return the end of a container that was lost with its pod."""
    return _killed(STATUS_UNKNOWN, _NOT_LOCATED)


def _waiting_state(waiting: Waiting) -> Object:
    return {"reason": waiting.reason} | ({"message": waiting.message} if waiting.message else {})


def _user(user: Mapping[str, Any]) -> Object:
    linux = user["linux"]
    groups = list(linux.get("supplemental_groups") or [])
    shown = {"uid": int(linux.get("uid", 0)), "gid": int(linux.get("gid", 0))}
    return {"linux": {**shown, "supplementalGroups": groups} if groups else shown}


def _container_id(status: Object) -> str:
    return str(status.get("containerID", "")).partition("://")[2]


def _set_readiness(status: Object, given: StatusInput) -> None:
    """Set whether a container has started and is ready, by its probes."""
    running, container_id = "running" in status["state"], _container_id(status)
    status["started"] = running and given.is_started(container_id)
    status["ready"] = status["started"] and given.is_ready(container_id)


def _set_init_readiness(container: Object, status: Object, given: StatusInput) -> None:
    if is_sidecar(container):
        _set_readiness(status, given)
        return
    status["started"] = "running" in status["state"]
    status["ready"] = (status["state"].get("terminated") or {}).get("exitCode") == 0


def _time(seconds: float) -> str:
    return format_time(datetime.fromtimestamp(seconds, UTC))
