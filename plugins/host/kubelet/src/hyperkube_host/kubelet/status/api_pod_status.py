"""A pod's status, computed from its containers in the runtime: container statuses, phase, conditions, addresses.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (generateAPIPodStatus), ``pkg/kubelet/status/status_manager.go``
(mergePodStatus, TerminatePod).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hyperkube_host.kubelet.status.container_statuses import container_statuses, unknown_end
from hyperkube_host.kubelet.status.generate import conditions
from hyperkube_host.kubelet.status.phase import has_pod_initialized, last_end, phase
from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_status import Failure
from hyperkube_host.kubelet.types.pod_update import is_static

from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.pods import TERMINAL_PHASES, pod_limits, pod_requests
from hyperkube.kinds.qos import qos_class
from hyperkube.kinds.resource_lists import write
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import format_time


def api_pod_status(pod: Object, given: StatusInput) -> Object:
    """Return the status to write."""
    old = pod.get("status") or {}
    containers = container_statuses(pod, old, given)
    init: Sequence[Object] = containers.get("initContainerStatuses") or ()
    regular: Sequence[Object] = containers["containerStatuses"]
    now = _phase_by_containers(pod, init, regular, given)
    found = conditions(pod, now, init, regular, given)
    if given.is_terminal:
        # Only now: the conditions of a pod that never ran still say what it waited for.
        _set_terminated(pod, init, regular)
        now = phase_of(pod, init, regular, given)
        if any(is_true({"conditions": found}, kind) for kind in ("Ready", "ContainersReady")):
            found = conditions(pod, now, init, regular, given)
    status: Object = {}
    if "generation" in metadata(pod):
        status["observedGeneration"] = metadata(pod)["generation"]
    # A pod is not reported as ended while containers of it may run: others would use what it still holds.
    delayed = given.could_run and now in TERMINAL_PHASES and not _final_phase(old)
    status["phase"] = shown = (old.get("phase") or "Pending") if delayed else now
    if given.failure is not None and not delayed:
        status |= {"reason": given.failure.reason, "message": given.failure.message}
    elif old.get("reason") and shown == old.get("phase"):
        status |= {key: old[key] for key in ("reason", "message") if key in old}
    status["conditions"] = found
    _addresses(pod, status, old, given)
    status["startTime"] = old.get("startTime") or format_time(given.now)
    # In the order of their names; the init containers stay in the order in which they run.
    status |= containers | {
        key: sorted(containers[key], key=name_of_status) for key in SORTED_BY_NAME & containers.keys()
    }
    status["qosClass"] = qos_class(pod)
    status |= _resources(pod, old)
    return status


SORTED_BY_NAME = frozenset({"containerStatuses", "ephemeralContainerStatuses"})


def name_of_status(status: Object) -> str:
    """Return the name of the container that a status is of."""
    return str(status["name"])


def phase_of(pod: Object, init: Sequence[Object], regular: Sequence[Object], given: StatusInput) -> str:
    """Return the phase that a pod has come to, also when it is too early to report it."""
    found = _phase_by_containers(pod, init, regular, given)
    if given.is_terminal and found not in TERMINAL_PHASES and not is_static(pod):
        return "Failed"
    return found


def _phase_by_containers(pod: Object, init: Sequence[Object], regular: Sequence[Object], given: StatusInput) -> str:
    """Return the phase by the containers alone: it may be Pending for a pod that will never run."""
    final = _final_phase(pod.get("status") or {})
    if final:
        return final
    if given.failure is not None:
        return "Failed"
    has_initialized = has_pod_initialized(pod, init, regular)
    return phase(pod, init, regular, is_terminal=given.is_terminal, has_initialized=has_initialized)


def _set_terminated(pod: Object, init: Sequence[Object], regular: Sequence[Object]) -> None:
    """Let every container whose turn had come count as ended: what happened to one that is lost is not known.

    The turn of a regular container comes with the last init container's end, and that of the first init container at
    once, so they count as ended though they may never have been there.
    """
    lost = list(regular) if has_pod_initialized(pod, init, regular) else []
    last = max((index for index, status in enumerate(init) if _has_begun(status)), default=0)
    for status in [*lost, *init[: last + 1]]:
        if "terminated" not in status["state"]:
            status["state"] = {"terminated": unknown_end()}


def _has_begun(status: Object) -> bool:
    return "running" in status["state"] or last_end(status) is not None


def rejected_status(pod: Object, failure: Failure, now: datetime) -> Object:
    """Return the status of a pod that the node did not admit."""
    old = pod.get("status") or {}
    generation = metadata(pod).get("generation")
    return {
        **({} if generation is None else {"observedGeneration": generation}),
        "phase": "Failed",
        "reason": failure.reason,
        "message": f"Pod was rejected: {failure.message}",
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
    sandbox = given.pod_status.sandbox
    ips: Sequence[str] = sandbox.ips if sandbox is not None and sandbox.ready else ()
    if pod["spec"].get("hostNetwork") and given.host_ips:
        ips = given.host_ips
    if not ips and given.is_terminal:
        ips = [entry["ip"] for entry in old.get("podIPs") or []]
    if ips:
        status["podIP"] = ips[0]
        status["podIPs"] = [{"ip": address} for address in ips]


def _resources(pod: Object, old: Object) -> Object:
    """Return the resources of the whole pod: what was granted, and what is in force.

    No cgroup tells a request for memory, so the one that was reported first stays.
    """
    requests, limits = write(pod_requests(pod)), write(pod_limits(pod))
    if not requests and not limits:
        return {}
    before = ((old.get("resources") or {}).get("requests") or {}).get("memory")
    in_force = {**requests, "memory": before} if before and "memory" in requests else requests
    resources = {key: value for key, value in (("limits", limits), ("requests", in_force)) if value}
    return ({"allocatedResources": requests} if requests else {}) | {"resources": resources}
