"""A pod's status, computed from what the runtime has: container states, phase and conditions.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (getPhase, generateAPIPodStatus, convertToAPIContainerStatuses)
and ``pkg/kubelet/status/generate.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from hyperkube_host.kubelet.observation import NOTHING, Observed
from hyperkube_host.kubelet.plan import containers_of, ephemeral_containers_of, init_containers_of

from hyperkube.hookspecs.runtime import ContainerStatus
from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.pods import TERMINAL_PHASES, is_sidecar
from hyperkube.kinds.qos import qos_class
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import format_time

OWNED = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


class Waiting(NamedTuple):
    """Why a container does not run: a word and a sentence."""

    reason: str
    message: str = ""


def _never(_container_id: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusInput:
    """What a status is computed from, beside the pod.

    Attributes:
        seen: what the runtime has.
        waiting: container name → why its last start failed.
        messages: container id → termination message.
        is_ready, is_started: probe results of running containers, by container id.
        is_terminal: all containers have ended for good and none will be started again.
        failure: (reason, message) of a pod that the kubelet itself gave up or refused.
        host_ips: the node's addresses.
        runtime_name: what container ids begin with.
        now: for conditions that change.
    """

    seen: Observed = NOTHING
    waiting: Mapping[str, Waiting] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[str], bool] = _never
    is_started: Callable[[str], bool] = _never
    is_terminal: bool = False
    failure: tuple[str, str] | None = None
    host_ips: Sequence[str] = ()
    runtime_name: str = ""
    now: datetime


def pod_status(pod: Object, given: StatusInput) -> Object:
    """Return the whole status that the pod should have."""
    old = pod.get("status") or {}
    init = [_container_status(pod, c, old, given, init=True) for c in init_containers_of(pod)]
    regular = [_container_status(pod, c, old, given, init=False) for c in containers_of(pod)]
    status: Object = {}
    if "generation" in metadata(pod):
        status["observedGeneration"] = metadata(pod)["generation"]
    status["phase"] = _final_phase(old) or phase(pod, init, regular, is_terminal=given.is_terminal)
    if given.failure is not None:
        status |= {"phase": "Failed", "reason": given.failure[0], "message": given.failure[1]}
    elif old.get("reason") and status["phase"] == old.get("phase"):
        status |= {key: old[key] for key in ("reason", "message") if key in old}
    status["conditions"] = _conditions(pod, status["phase"], init, regular, given)
    _addresses(pod, status, old, given)
    status["startTime"] = old.get("startTime") or format_time(given.now)
    if init:
        status["initContainerStatuses"] = init
    status["containerStatuses"] = regular
    extra = [_container_status(pod, c, old, given, init=True) for c in ephemeral_containers_of(pod)]
    if extra:
        status["ephemeralContainerStatuses"] = extra
    status["qosClass"] = qos_class(pod)
    return status


def refused_status(pod: Object, reason: str, message: str, now: datetime) -> Object:
    """Return the status of a pod that the node did not admit."""
    old = pod.get("status") or {}
    return {
        "phase": "Failed",
        "reason": reason,
        "message": f"Pod was rejected: {message}",
        "conditions": old.get("conditions") or [],
        "startTime": old.get("startTime") or format_time(now),
        "qosClass": qos_class(pod),
    }


def _final_phase(old: Object) -> str:
    """Return the phase if it can never change again."""
    return old["phase"] if old.get("phase") in TERMINAL_PHASES else ""


def _addresses(pod: Object, status: Object, old: Object, given: StatusInput) -> None:
    if given.host_ips:
        status["hostIP"] = given.host_ips[0]
        status["hostIPs"] = [{"ip": address} for address in given.host_ips]
    sandbox = given.seen.sandbox
    ips: Sequence[str] = sandbox.ips if sandbox is not None and sandbox.ready else ()
    if pod["spec"].get("hostNetwork") and sandbox is not None:
        ips = given.host_ips
    if not ips and given.is_terminal:
        ips = [entry["ip"] for entry in old.get("podIPs") or []]
    if ips:
        status["podIP"] = ips[0]
        status["podIPs"] = [{"ip": address} for address in ips]


def _container_status(pod: Object, container: Object, old: Object, given: StatusInput, *, init: bool) -> Object:
    name = container["name"]
    found = given.seen.containers.get(name, ())
    known = _known(old, name, init=init)
    latest = found[0] if found else None
    status: Object = {
        "name": name,
        "state": _first_state(pod, init=init),
        "lastState": {},
        "ready": False,
        "restartCount": known.get("restartCount", 0),
        "image": container.get("image", ""),
        "imageID": "",
        "started": False,
    }
    if latest is None:
        _carry_over(status, known, given)
        return status
    status |= {
        "state": _state(latest, given, status["state"]),
        "restartCount": max(latest.attempt, known.get("restartCount", 0)),
        "image": latest.image or container.get("image", ""),
        "imageID": latest.image_id,
        "containerID": f"{given.runtime_name}://{latest.id}",
    }
    if len(found) > 1 and found[1].state == "exited":
        status["lastState"] = _state(found[1], given, {})
    elif known.get("lastState") and latest.attempt > 0:
        status["lastState"] = known["lastState"]
    waiting = given.waiting.get(name)
    if waiting is not None and latest.state != "running":
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        status["state"] = {"waiting": _why(waiting)}
    if latest.state == "running":
        status["started"] = given.is_started(latest.id)
        status["ready"] = (
            given.is_ready(latest.id) and status["started"] if not init or is_sidecar(container) else False
        )
    elif init and not is_sidecar(container) and latest.state == "exited":
        status["ready"] = latest.exit_code == 0
    return status


def _known(old: Object, name: str, *, init: bool) -> Object:
    keys = ("initContainerStatuses", "ephemeralContainerStatuses") if init else ("containerStatuses",)
    return next((entry for key in keys for entry in old.get(key) or [] if entry.get("name") == name), {})


def _carry_over(status: Object, known: Object, given: StatusInput) -> None:
    """Keep what is known of a container that the runtime has not (yet, or any more)."""
    state = known.get("state") or {}
    if "terminated" in state and (given.is_terminal or given.seen is NOTHING):
        status |= {key: known[key] for key in ("state", "lastState", "imageID", "containerID", "ready") if key in known}
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
        status["state"] = {"waiting": _why(waiting)}
    if known.get("lastState"):
        status["lastState"] = known["lastState"]


def _why(waiting: Waiting) -> Object:
    return {"reason": waiting.reason} | ({"message": waiting.message} if waiting.message else {})


def _first_state(pod: Object, *, init: bool) -> Object:
    initializes = bool(init_containers_of(pod))
    return {"waiting": {"reason": "PodInitializing" if initializes or init else "ContainerCreating"}}


def _state(status: ContainerStatus, given: StatusInput, waiting: Object) -> Object:
    if status.state == "running":
        return {"running": {"startedAt": _time(status.started_at)}}
    if status.state != "exited":
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


def phase(pod: Object, init: Sequence[Object], regular: Sequence[Object], *, is_terminal: bool) -> str:
    """Return the phase that the container statuses amount to."""
    policy = pod["spec"].get("restartPolicy") or "Always"
    early = _phase_of_init(pod, init, regular, is_final=policy == "Never" or is_terminal, is_terminal=is_terminal)
    if early:
        return early
    running = sum("running" in status["state"] for status in regular)
    ends = [end for end in map(_end_of, regular) if end is not None]
    succeeded = sum(status["state"].get("terminated", {}).get("exitCode") == 0 for status in regular)
    waiting = len(regular) - running - len(ends)
    if is_terminal and not running:
        return "Succeeded" if ends and len(ends) == succeeded and not waiting else "Failed"
    if waiting or not (running or ends):
        return "Pending"
    if running or policy == "Always":
        return "Running"
    if len(ends) == succeeded:
        return "Succeeded"
    return "Failed" if policy == "Never" else "Running"


def _end_of(status: Object) -> Object | None:
    """Return how a container that does not run ended, this time or, while it waits to start again, the last time."""
    if "running" in status["state"]:
        return None
    end: Object | None = status["state"].get("terminated") or status.get("lastState", {}).get("terminated")
    return end


def _phase_of_init(
    pod: Object, init: Sequence[Object], regular: Sequence[Object], *, is_final: bool, is_terminal: bool
) -> str:
    """Return Failed or Pending while the init containers decide about the pod, else the empty string."""
    for container, status in zip(init_containers_of(pod), init, strict=True):
        terminated = status["state"].get("terminated")
        if is_sidecar(container):
            if not (status["started"] or terminated or is_terminal):
                return "Pending"
        elif terminated is None or terminated["exitCode"] != 0:
            last = (terminated or status.get("lastState", {}).get("terminated")) if is_final else None
            if last is not None and last["exitCode"] != 0:
                return "Failed"
            if not any("running" in entry["state"] for entry in regular):
                return "Pending"
    return ""


def _conditions(
    pod: Object, phase_now: str, init: Sequence[Object], regular: Sequence[Object], given: StatusInput
) -> list[Object]:
    old = (pod.get("status") or {}).get("conditions") or []
    foreign = [entry for entry in old if entry.get("type") not in OWNED]
    known = [entry for entry in old if entry.get("type") in OWNED]
    sandbox = given.seen.sandbox
    started = sandbox is not None and sandbox.ready
    containers_ready = _containers_ready(pod, phase_now, init, regular)
    wanted = [
        {"type": "PodReadyToStartContainers", "status": "True" if started else "False"},
        _initialized(pod, phase_now, init, regular),
        _ready(pod, containers_ready),
        {"type": "ContainersReady", **containers_ready},
        {"type": "PodScheduled", "status": "True"},
    ]
    for entry in wanted:
        if "generation" in metadata(pod):
            entry = {**entry, "observedGeneration": metadata(pod)["generation"]}  # noqa: PLW2901  completes the entry
        previous = condition({"conditions": known}, entry["type"])
        keeps = previous is not None and all(
            previous.get(k, "") == entry.get(k, "") for k in ("status", "reason", "message")
        )
        if keeps and previous is not None:
            known = [{**previous, **entry} if p is previous else p for p in known]
        else:
            known = with_condition(known, entry, given.now)
    order = {name: index for index, name in enumerate(OWNED)}
    return [*foreign, *sorted(known, key=lambda entry: order[entry["type"]])]


def _initialized(pod: Object, phase_now: str, init: Sequence[Object], regular: Sequence[Object]) -> Object:
    if phase_now == "Succeeded":
        return {"type": "Initialized", "status": "True", "reason": "PodCompleted"}
    begun = any("running" in entry["state"] or "terminated" in entry["state"] for entry in regular)
    open_names = [
        status["name"]
        for container, status in zip(init_containers_of(pod), init, strict=True)
        if not (status["started"] if is_sidecar(container) else status["ready"])
    ]
    if not open_names or begun:
        return {"type": "Initialized", "status": "True"}
    message = f"containers with incomplete status: [{' '.join(open_names)}]"
    return {"type": "Initialized", "status": "False", "reason": "ContainersNotInitialized", "message": message}


def _containers_ready(pod: Object, phase_now: str, init: Sequence[Object], regular: Sequence[Object]) -> Object:
    if phase_now == "Succeeded":
        return {"status": "False", "reason": "PodCompleted"}
    if phase_now == "Failed":
        return {"status": "False", "reason": "PodFailed"}
    sidecars = [s for c, s in zip(init_containers_of(pod), init, strict=True) if is_sidecar(c)]
    unready = [status["name"] for status in [*sidecars, *regular] if not status["ready"]]
    if unready:
        message = f"containers with unready status: [{' '.join(unready)}]"
        return {"status": "False", "reason": "ContainersNotReady", "message": message}
    return {"status": "True"}


def _ready(pod: Object, containers_ready: Object) -> Object:
    if containers_ready["status"] != "True":
        return {"type": "Ready", **containers_ready}
    problems = []
    for gate in pod["spec"].get("readinessGates") or []:
        name = gate["conditionType"]
        found = condition(pod.get("status") or {}, name)
        if found is None:
            problems.append(f'corresponding condition of pod readiness gate "{name}" does not exist.')
        elif found.get("status") != "True":
            problems.append(f'the status of pod readiness gate "{name}" is not "True", but {found.get("status")}')
    if problems:
        reason, message = "ReadinessGatesNotReady", ", ".join(problems)
        return {"type": "Ready", "status": "False", "reason": reason, "message": message}
    return {"type": "Ready", "status": "True"}
