"""How many replicas a resource metric asks for, given the pods, what they request, and what they use.

Pods without metrics count as idle when more are wanted and as busy when fewer are; pods that are not ready count as
idle. Source: kubernetes ``pkg/controller/podautoscaler/replica_calculator.go``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hyperkube.kinds.pods import is_ready, is_sidecar, phase
from hyperkube.machinery import quantity
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object, is_being_deleted, name_of

TOLERANCE = 0.1


class NoMetric(HyperkubeError):
    """The metric cannot be had, or says nothing about the pods; the message says why, the reason names the kind."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one metric asks for, and what it was found to be, as ``status.currentMetrics`` has it."""

    replicas: int
    name: str
    current: Object


@dataclass(frozen=True, slots=True)
class Sample:
    """What is known about the pods of a target: uses in thousandths by pod, for those that have metrics."""

    pods: tuple[Object, ...]
    uses: Mapping[str, int]


def uses_of(metrics: Iterable[Object], resource: str, container: str = "") -> dict[str, int]:
    """Return pod name → use in thousandths of a unit; a pod of which a container has no value is left out."""
    found: dict[str, int] = {}
    for row in metrics:
        parts = [part for part in row.get("containers") or [] if not container or part.get("name") == container]
        values = [part["usage"][resource] for part in parts if resource in (part.get("usage") or {})]
        if values and len(values) == len(parts):
            found[name_of(row)] = sum(int(quantity.parse(value).milli_value()) for value in values)
    return found


def request_of(pod: Object, resource: str, container: str = "") -> int:
    """Return what a pod requests, in thousandths of a unit.

    Raises:
        NoMetric: a container requests none.
    """
    spec = pod.get("spec") or {}
    sidecars = [part for part in spec.get("initContainers") or [] if is_sidecar(part)]
    total = 0
    for part in [*(spec.get("containers") or []), *sidecars]:
        if container and part.get("name") != container:
            continue
        asked = ((part.get("resources") or {}).get("requests") or {}).get(resource)
        if asked is None:
            text = f"missing request for {resource} in container {part.get('name')} of Pod {name_of(pod)}"
            raise NoMetric("FailedGetResourceMetric", f"failed to get {resource} utilization: {text}")
        total += quantity.parse(asked).milli_value()
    return total


def propose(source: Object, sample: Sample, current: int, kind: str = "Resource") -> Proposal:
    """Return what a metric asks for.

    Args:
        source: ``resource`` or ``containerResource`` of the metric's spec.
        sample: what is known about the pods.
        current: how many replicas there are to be now.
        kind: ``Resource`` or ``ContainerResource``.

    Raises:
        NoMetric: nothing is known about any of the pods, or requests are missing.
    """
    resource, container, target = source["name"], source.get("container", ""), source["target"]
    failed = f"FailedGet{kind}Metric"
    if not sample.pods:
        raise NoMetric(failed, "no pods returned by selector while calculating replica count")
    living = [pod for pod in sample.pods if not is_being_deleted(pod) and phase(pod) != "Failed"]
    unready = {name_of(pod) for pod in living if phase(pod) == "Pending" or (resource == "cpu" and not is_ready(pod))}
    known = {name_of(pod) for pod in living if name_of(pod) in sample.uses} - unready
    missing = {name_of(pod) for pod in living} - known - unready
    if not known:
        raise NoMetric(failed, "did not receive metrics for targeted pods (pods might be unready)")
    used = sum(sample.uses[name] for name in known)
    by_name = {name_of(pod): pod for pod in living}
    if target["type"] == "Utilization":
        requests = {name: request_of(by_name[name], resource, container) for name in by_name}
        goal = target["averageUtilization"] / 100
        weights = {name: requests[name] * goal for name in by_name}
        asked = sum(requests[name] for name in known)
        if not asked:
            raise NoMetric(failed, "no metrics returned matched known pods")
        shown: Object = {"averageUtilization": used * 100 // asked, "averageValue": _milli(used // len(known))}
        name = f"{_called(resource, container)} utilization (percentage of request)"
        idle_share = max(1.0, 1 / goal)
    else:
        value = quantity.parse(target["averageValue"]).milli_value()
        weights = dict.fromkeys(by_name, float(value))
        shown = {"averageValue": _milli(used // len(known))}
        name = _called(resource, container)
        idle_share = 1.0
    replicas = _replicas(used, weights, (known, missing, unready), current, idle_share)
    row = {"name": resource, "current": shown} | ({"container": container} if container else {})
    field = "containerResource" if container else "resource"
    return Proposal(replicas, name, {"type": kind, field: row})


def _called(resource: str, container: str) -> str:
    return f"{resource} container resource" if container else f"{resource} resource"


def _milli(value: int) -> str:
    return str(quantity.from_milli(value))


def _replicas(
    used: int, weights: Mapping[str, float], groups: tuple[set[str], set[str], set[str]], current: int, idle: float
) -> int:
    """Return the replicas at which each would use its weight; stay when that is about as it is."""
    known, missing, unready = groups
    ratio = used / sum(weights[name] for name in known)
    rebalance = bool(unready) and ratio > 1
    if not rebalance and not missing:
        return current if abs(1 - ratio) <= TOLERANCE else math.ceil(round(ratio * len(known), 9))
    counted = set(known)
    total = float(used)
    if missing:
        counted |= missing
        if ratio < 1:
            total += sum(weights[name] * idle for name in missing)
    if rebalance:
        counted |= unready
    fresh = total / sum(weights[name] for name in counted)
    if abs(1 - fresh) <= TOLERANCE or (ratio < 1 < fresh) or (fresh < 1 < ratio):
        return current
    wanted = math.ceil(round(fresh * len(counted), 9))
    against = (fresh < 1 and wanted > current) or (fresh > 1 and wanted < current)
    return current if against else wanted
