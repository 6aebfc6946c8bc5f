"""A pod's status, computed from its containers in the runtime: container statuses, phase, conditions, addresses.

Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (generateAPIPodStatus).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hyperkube_host.kubelet.status.container_statuses import container_status
from hyperkube_host.kubelet.status.generate import conditions
from hyperkube_host.kubelet.status.phase import phase
from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.types.pod_spec import containers_of, ephemeral_containers_of, init_containers_of
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.kinds.pods import TERMINAL_PHASES
from hyperkube.kinds.qos import qos_class
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import format_time


def api_pod_status(pod: Object, given: StatusInput) -> Object:
    """Return the status to write."""
    old = pod.get("status") or {}
    init = [container_status(pod, c, old, given, init=True) for c in init_containers_of(pod)]
    regular = [container_status(pod, c, old, given, init=False) for c in containers_of(pod)]
    status: Object = {}
    if "generation" in metadata(pod):
        status["observedGeneration"] = metadata(pod)["generation"]
    status["phase"] = _final_phase(old) or phase(pod, init, regular, is_terminal=given.is_terminal)
    if given.failure is not None:
        status |= {"phase": "Failed", "reason": given.failure.reason, "message": given.failure.message}
    elif old.get("reason") and status["phase"] == old.get("phase"):
        status |= {key: old[key] for key in ("reason", "message") if key in old}
    status["conditions"] = conditions(pod, status["phase"], init, regular, given)
    _addresses(pod, status, old, given)
    status["startTime"] = old.get("startTime") or format_time(given.now)
    if init:
        status["initContainerStatuses"] = init
    status["containerStatuses"] = regular
    extra = [container_status(pod, c, old, given, init=True) for c in ephemeral_containers_of(pod)]
    if extra:
        status["ephemeralContainerStatuses"] = extra
    status["qosClass"] = qos_class(pod)
    return status


def rejected_status(pod: Object, failure: Failure, now: datetime) -> Object:
    """Return the status of a pod that the node did not admit."""
    old = pod.get("status") or {}
    return {
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
    if pod["spec"].get("hostNetwork") and sandbox is not None:
        ips = given.host_ips
    if not ips and given.is_terminal:
        ips = [entry["ip"] for entry in old.get("podIPs") or []]
    if ips:
        status["podIP"] = ips[0]
        status["podIPs"] = [{"ip": address} for address in ips]
