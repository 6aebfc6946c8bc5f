"""The conditions of a pod. Source: kubernetes ``pkg/kubelet/status/generate.go``."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_spec import could_restart_all, init_containers_of
from hyperkube_host.kubelet.types.pod_status import (
    ALL_CONTAINERS_RESTARTING,
    CONDITIONS_BY_KUBELET,
    READY_TO_START,
    foreign_conditions,
)

from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.pods import DISRUPTION_TARGET, is_sidecar
from hyperkube.machinery.objects import Object, metadata

POD_COMPLETED, POD_FAILED = "PodCompleted", "PodFailed"


def conditions(
    pod: Object, phase_now: str, init: Sequence[Object], regular: Sequence[Object], given: StatusInput
) -> list[Object]:
    """Return all conditions: those of other components first, as they are, then the kubelet's own."""
    old = (pod.get("status") or {}).get("conditions") or []
    own = [entry for entry in old if entry.get("type") in CONDITIONS_BY_KUBELET]
    sandbox = given.pod_status.sandbox
    started = sandbox is not None and sandbox.ready
    containers_ready = _containers_ready(pod, phase_now, init, regular)
    wanted = [
        *given.resize_conditions,
        {"type": READY_TO_START, "status": "True" if started else "False"},
        _initialized(pod, phase_now, init, regular, own),
        _ready(pod, containers_ready),
        {"type": "ContainersReady", **containers_ready},
        {"type": "PodScheduled", "status": "True"},
    ]
    if could_restart_all(pod):
        wanted.append(_all_containers_restarting(phase_now, given))
    types = {entry["type"] for entry in wanted}
    own = [entry for entry in own if entry["type"] in types]
    for entry in wanted:
        if "generation" in metadata(pod) and entry["type"] != ALL_CONTAINERS_RESTARTING:
            entry = {"observedGeneration": metadata(pod)["generation"], **entry}  # noqa: PLW2901  completes the entry
        previous = condition({"conditions": own}, entry["type"])
        keeps = previous is not None and all(
            previous.get(k, "") == entry.get(k, "") for k in ("status", "reason", "message")
        )
        if keeps and previous is not None:
            own = [{**previous, **entry} if p is previous else p for p in own]
        else:
            own = with_condition(own, entry, given.now)
    order = {name: index for index, name in enumerate(CONDITIONS_BY_KUBELET)}
    return [*_foreign(pod, given), *sorted(own, key=lambda entry: order[entry["type"]])]


def _foreign(pod: Object, given: StatusInput) -> list[Object]:
    """Return the conditions of others, and the one that the kubelet shares with them."""
    others = foreign_conditions(pod)
    if given.disruption is None or any(entry.get("type") == DISRUPTION_TARGET for entry in others):
        return others
    entry = dict(given.disruption)
    if "generation" in metadata(pod):
        entry["observedGeneration"] = metadata(pod)["generation"]
    return with_condition(others, entry, given.now)


def _all_containers_restarting(phase_now: str, given: StatusInput) -> Object:
    if phase_now in {"Succeeded", "Failed"}:
        reason = POD_COMPLETED if phase_now == "Succeeded" else POD_FAILED
        return {"type": ALL_CONTAINERS_RESTARTING, "status": "False", "reason": reason}
    if not given.restarts_all:
        return {"type": ALL_CONTAINERS_RESTARTING, "status": "False"}
    reason, message = "RestartAllContainersStarted", "container exited with restart policy rule"
    return {"type": ALL_CONTAINERS_RESTARTING, "status": "True", "reason": reason, "message": message}


def _initialized(
    pod: Object, phase_now: str, init: Sequence[Object], regular: Sequence[Object], own: Sequence[Object]
) -> Object:
    if phase_now == "Succeeded":
        return {"type": "Initialized", "status": "True", "reason": POD_COMPLETED}
    before = condition({"conditions": list(own)}, "Initialized") or {}
    # A pod stays initialized while its init containers run again, because all containers of it start anew.
    begun = any("running" in entry["state"] or "terminated" in entry["state"] for entry in regular) or (
        before.get("status") == "True" and could_restart_all(pod)
    )
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
    ended = ready_of_ended(phase_now)
    if ended is not None:
        return ended
    sidecars = [s for c, s in zip(init_containers_of(pod), init, strict=True) if is_sidecar(c)]
    unready = [status["name"] for status in [*sidecars, *regular] if not status["ready"]]
    if unready:
        message = f"containers with unready status: [{' '.join(unready)}]"
        return {"status": "False", "reason": "ContainersNotReady", "message": message}
    return {"status": "True"}


def ready_of_ended(phase_now: str) -> Object | None:
    """Return what Ready and ContainersReady say of a pod that has ended, None for any other."""
    reason = {"Succeeded": POD_COMPLETED, "Failed": POD_FAILED}.get(phase_now)
    return None if reason is None else {"status": "False", "reason": reason}


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
