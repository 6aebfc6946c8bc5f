"""The table of pods: what a pod is doing, in one word, and how often its containers had to start again.

Source: kubernetes pkg/printers/internalversion/printers.go (printPod).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.pods import TERMINAL_PHASES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

NODE_LOST = "NodeLost"
_ENDS = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


@dataclass(slots=True)
class _Progress:
    """What is learnt on the way through the container statuses."""

    reason: str
    restarts: int = 0
    last_restart: str = ""
    ready: int = 0

    def count(self, status: Object) -> None:
        """Add a container's restarts, and when the last one was."""
        self.restarts += status.get("restartCount") or 0
        finished = ((status.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        self.last_restart = max(self.last_restart, finished)


def pod_cells(obj: Object, now: datetime) -> list[Any]:
    """Return name, readiness, status, restarts and age; wide: addresses, nodes and readiness gates."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    progress = _Progress(status.get("reason") or status.get("phase") or "")
    always = [item.get("name") for item in spec.get("initContainers") or () if item.get("restartPolicy") == "Always"]
    sidecars = set(always)
    total = len(spec.get("containers") or ()) + len(always)
    if _is_gated(status):
        progress.reason = "SchedulingGated"
    beside = _Progress("")
    initializing = _initial(progress, beside, spec, status, sidecars)
    if not initializing or _initialized(status):
        progress.restarts, progress.last_restart = beside.restarts, beside.last_restart
        _running(progress, status)
    if obj["metadata"].get("deletionTimestamp"):
        if status.get("reason") == NODE_LOST:
            progress.reason = "Unknown"
        elif status.get("phase") not in TERMINAL_PHASES:
            progress.reason = "Terminating"
    restarts = str(progress.restarts)
    if progress.restarts and progress.last_restart:
        restarts = f"{restarts} ({cells.since(progress.last_restart, now)} ago)"
    row = [cells.name(obj), f"{progress.ready}/{total}", progress.reason, restarts, cells.age(obj, now)]
    return row + _wide(spec, status)


def row_conditions(obj: Object) -> list[Object]:
    """Return what is said of a pod's row: that the pod has come to its end."""
    phase = cells.status_of(obj).get("phase")
    if phase not in _ENDS:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDS[phase]}]


def _is_gated(status: Object) -> bool:
    return any(
        item.get("type") == "PodScheduled" and item.get("reason") == "SchedulingGated"
        for item in status.get("conditions") or ()
    )


def _initialized(status: Object) -> bool:
    return any(
        item.get("type") == "Initialized" and item.get("status") == "True" for item in status.get("conditions") or ()
    )


def _initial(progress: _Progress, beside: _Progress, spec: Object, status: Object, sidecars: set[str | None]) -> bool:
    """Walk through the init containers; tell whether the pod is still busy with one.

    `beside` counts the sidecars' restarts alone: those of the others are of no interest once they are done.
    """
    total = len(spec.get("initContainers") or ())
    for index, item in enumerate(status.get("initContainerStatuses") or ()):
        sidecar = item.get("name") in sidecars
        progress.count(item)
        if sidecar:
            beside.count(item)
        state = item.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if ended is not None and not ended.get("exitCode"):
            continue
        if sidecar and item.get("started"):
            progress.ready += bool(item.get("ready"))
            continue
        if ended is not None:
            progress.reason = "Init:" + _end(ended)
        elif waiting is not None and waiting.get("reason") and waiting["reason"] != "PodInitializing":
            progress.reason = "Init:" + waiting["reason"]
        else:
            progress.reason = f"Init:{index}/{total}"
        return True
    return False


def _end(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode') or 0}"


def _running(progress: _Progress, status: Object) -> None:
    """Walk through the containers, the last one first: the first one has the last word."""
    statuses: Sequence[Object] = status.get("containerStatuses") or ()
    has_running = False
    failure = ""
    for item in reversed(statuses):
        progress.count(item)
        state = item.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if waiting is not None and waiting.get("reason"):
            progress.reason = waiting["reason"]
        elif ended is not None:
            progress.reason = _end(ended)
            failure = progress.reason if ended.get("exitCode") else failure
        elif item.get("ready") and state.get("running") is not None:
            has_running = True
            progress.ready += 1
    if progress.reason == "Completed":
        if has_running and is_true(status, "Ready"):
            progress.reason = "Running"
        elif failure or has_running:
            progress.reason = failure or "NotReady"


def _wide(spec: Object, status: Object) -> list[Any]:
    addresses = [item.get("ip") for item in status.get("podIPs") or ()]
    address = status.get("podIP") or (addresses[0] if addresses else "") or cells.NONE
    gates = spec.get("readinessGates") or []
    ready = cells.NONE
    if gates:
        true = {item.get("type") for item in status.get("conditions") or () if item.get("status") == "True"}
        ready = f"{sum(gate.get('conditionType') in true for gate in gates)}/{len(gates)}"
    return [address, spec.get("nodeName") or cells.NONE, status.get("nominatedNodeName") or cells.NONE, ready]
