"""The phase of a pod, from the statuses of its containers.

Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (getPhase).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.types.pod_spec import init_containers_of

from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object


def phase(pod: Object, init: Sequence[Object], regular: Sequence[Object], *, is_terminal: bool) -> str:
    """Return the phase that follows from the container statuses."""
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
