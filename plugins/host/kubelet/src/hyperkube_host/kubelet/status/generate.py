"""The conditions of a pod. Source: kubernetes ``pkg/kubelet/status/generate.go``."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_spec import init_containers_of
from hyperkube_host.kubelet.types.pod_status import CONDITIONS_BY_KUBELET, foreign_conditions

from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object, metadata


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
        {"type": "PodReadyToStartContainers", "status": "True" if started else "False"},
        _initialized(pod, phase_now, init, regular),
        _ready(pod, containers_ready),
        {"type": "ContainersReady", **containers_ready},
        {"type": "PodScheduled", "status": "True"},
    ]
    for entry in wanted:
        if "generation" in metadata(pod):
            entry = {**entry, "observedGeneration": metadata(pod)["generation"]}  # noqa: PLW2901  completes the entry
        previous = condition({"conditions": own}, entry["type"])
        keeps = previous is not None and all(
            previous.get(k, "") == entry.get(k, "") for k in ("status", "reason", "message")
        )
        if keeps and previous is not None:
            own = [{**previous, **entry} if p is previous else p for p in own]
        else:
            own = with_condition(own, entry, given.now)
    order = {name: index for index, name in enumerate(CONDITIONS_BY_KUBELET)}
    return [*foreign_conditions(pod), *sorted(own, key=lambda entry: order[entry["type"]])]


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
