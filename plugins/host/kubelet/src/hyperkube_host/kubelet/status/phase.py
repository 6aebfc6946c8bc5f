"""The phase of a pod, from the statuses of its containers.

Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (getPhase).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of, should_restart
from hyperkube_host.kubelet.types.pod_status import RESTARTING_ALL_CONTAINERS
from hyperkube_host.kubelet.types.pod_update import is_static

from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@dataclass(slots=True)
class _Counts:
    """The containers of a pod by what they do.

    Attributes:
        pending_init: init containers that have not come to an end.
        pending_sidecars: sidecars that have not started.
        failed_init: init containers that failed for good.
        running, waiting, stopped: regular containers; sidecars too, but for stopped.
        succeeded: stopped containers whose present state is exit code 0.
        restarting: stopped containers that will run again.
    """

    pending_init: int = 0
    pending_sidecars: int = 0
    failed_init: int = 0
    running: int = 0
    waiting: int = 0
    stopped: int = 0
    succeeded: int = 0
    restarting: int = 0


def phase(
    pod: Object, init: Sequence[Object], regular: Sequence[Object], *, is_terminal: bool, has_initialized: bool
) -> str:
    """Return the phase that follows from the container statuses.

    Args:
        pod: the pod.
        init: the statuses of its init containers.
        regular: those of its regular containers.
        is_terminal: none of its containers will be started again.
        has_initialized: its regular containers have run: a sidecar that restarts does not make it pending again.
    """
    counts = _count(pod, init, regular)
    if counts.failed_init:
        return "Failed"
    if counts.pending_init or counts.waiting or (counts.pending_sidecars and not has_initialized):
        return "Pending"
    if counts.running:
        return "Running"
    if not counts.stopped:
        return "Pending"
    if counts.restarting and not (is_terminal and not is_static(pod)):
        return "Running"
    return "Succeeded" if counts.stopped == counts.succeeded else "Failed"


def _count(pod: Object, init: Sequence[Object], regular: Sequence[Object]) -> _Counts:
    counts = _Counts()
    for container, status in zip(init_containers_of(pod), init, strict=True):
        if is_sidecar(container):
            _count_sidecar(status, counts)
        else:
            _count_init(pod, container, status, counts)
    for container, status in zip(containers_of(pod), regular, strict=True):
        _count_regular(pod, container, status, counts)
    return counts


def _count_init(pod: Object, container: Object, status: Object, counts: _Counts) -> None:
    end = last_end(status)
    if end is None:
        counts.pending_init += 1
    elif end["exitCode"] != 0 and not (_is_restarting_all(end) or should_restart(pod, container, end["exitCode"])):
        counts.failed_init += 1
    elif _is_restarting_all(end) and "terminated" not in status["state"]:
        counts.pending_init += 1


def _count_sidecar(status: Object, counts: _Counts) -> None:
    state = status["state"]
    if "running" in state:
        counts.running += 1
        counts.pending_sidecars += not status.get("started")
    elif last_end(status) is None:
        counts.waiting += 1
        counts.pending_sidecars += 1


def _count_regular(pod: Object, container: Object, status: Object, counts: _Counts) -> None:
    end = last_end(status)
    if "running" in status["state"]:
        counts.running += 1
    elif end is None:
        counts.waiting += 1
    else:
        counts.stopped += 1
        counts.succeeded += "terminated" in status["state"] and end["exitCode"] == 0
        counts.restarting += _is_restarting_all(end) or should_restart(pod, container, end["exitCode"])


def last_end(status: Object) -> Object | None:
    """Return how a container that does not run ended, this time or, while it waits to start again, the last time."""
    if "running" in status["state"]:
        return None
    end: Object | None = status["state"].get("terminated") or (status.get("lastState") or {}).get("terminated")
    return end


def _is_restarting_all(end: Object) -> bool:
    return end.get("reason") == RESTARTING_ALL_CONTAINERS


def has_pod_initialized(pod: Object, init: Sequence[Object], regular: Iterable[Object]) -> bool:
    """Tell whether the statuses show that the init containers are done, or that a regular container has run.

    Source: kubernetes ``pkg/kubelet/status/status_manager.go`` (hasPodInitialized).
    """
    if any("running" in status["state"] or last_end(status) is not None for status in regular):
        return True
    if not init:
        return True
    container, status = init_containers_of(pod)[-1], init[-1]
    if is_sidecar(container):
        return bool(status.get("started"))
    return (status["state"].get("terminated") or {}).get("exitCode") == 0
