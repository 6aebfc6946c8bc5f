"""How many replicas the value of a metric asks for, given the pods.

Pods without a value count as idle when more are wanted and as busy when fewer are; pods that are not ready count as
idle. Source: kubernetes ``pkg/controller/podautoscaler/replica_calculator.go``. All values are in thousandths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from hyperkube_controller.horizontalpodautoscaling.metrics_client import NoMetric, PodMetric, PodMetrics

from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_pod_level_resource, is_ready, is_sidecar, phase, pod_requests, spec_of, status_of
from hyperkube.machinery import quantity
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted, name_of
from hyperkube.machinery.times import parse_time

MAX_REPLICAS = 2**31 - 1
_MAX_VALUE = 2**63 - 1
_NO_PODS = "no pods returned by selector while calculating replica count"
_NO_METRICS = "did not receive metrics for targeted pods (pods might be unready)"


@dataclass(frozen=True, slots=True)
class Tolerances:
    """By how much a usage may differ from its target without a change."""

    scale_down: float = 0.1
    scale_up: float = 0.1

    def is_within(self, ratio: float) -> bool:
        """Tell whether a usage that is `ratio` times its target is as good as the target."""
        return 1.0 - self.scale_down <= ratio <= 1.0 + self.scale_up


@dataclass(frozen=True, slots=True)
class Result:
    """The replicas that a metric asks for, its value, and its share of the requests in percent where it has one."""

    replicas: int
    value: int
    utilization: int | None = None


@dataclass(frozen=True, slots=True)
class ReplicaCalculator:
    """Computes replicas for the pods of one target at one time.

    Attributes:
        pods: those that the target's selector selects.
        now: pods that started lately are judged otherwise.
        tolerances: within which nothing changes.
        cpu_initialization_period: seconds for which a pod's CPU counts only when it was ready all through the sample.
        initial_readiness_delay: seconds after its start in which a pod that is not ready has never been so.
    """

    pods: Sequence[Object]
    now: datetime
    tolerances: Tolerances = Tolerances()
    cpu_initialization_period: float = 300.0
    initial_readiness_delay: float = 30.0

    def utilization_replicas(
        self, current: int, target: int, resource: str, metrics: PodMetrics, container: str = ""
    ) -> Result:
        """Return what a share of the requests in percent asks for.

        Raises:
            NoMetric: the metrics say nothing about the pods, or requests are missing.
        """
        groups = self._group(metrics, resource)
        requests = {name_of(pod): request_of(pod, resource, container) for pod in self.pods}

        def usage(seen: Mapping[str, PodMetric]) -> tuple[float, int, int]:
            known = [name for name in seen if name in requests]
            total = sum(requests[name] for name in known)
            if not total:
                raise NoMetric("no metrics returned matched known pods")
            used = sum(seen[name].value for name in known)
            utilization = int(used * 100 / total)
            return utilization / target, utilization, used // len(known)

        ratio, utilization, raw = usage(groups.measured)
        busy = {name: requests[name] * max(100, target) // 100 for name in groups.missing}
        replicas = self._replicas(current, groups, ratio, busy, lambda seen: usage(seen)[0])
        return Result(replicas, raw, utilization)

    def plain_replicas(self, current: int, target: int, metrics: PodMetrics, resource: str = "") -> Result:
        """Return what an average value per pod asks for.

        Raises:
            NoMetric: the metrics say nothing about the pods.
        """
        groups = self._group(metrics, resource)

        def usage(seen: Mapping[str, PodMetric]) -> int:
            return sum(each.value for each in seen.values()) // len(seen)

        value = usage(groups.measured)
        busy = dict.fromkeys(groups.missing, target)
        replicas = self._replicas(current, groups, value / target, busy, lambda seen: usage(seen) / target)
        return Result(replicas, value)

    def total_replicas(self, current: int, target: int, value: int) -> Result:
        """Return what a value that the ready pods share asks for.

        Raises:
            NoMetric: there is no pod.
        """
        ratio = value / target
        if not current:  # from none to as many as it takes
            return Result(math.ceil(ratio), value)
        if self.tolerances.is_within(ratio):
            return Result(current, value)
        if not self.pods:
            raise NoMetric(f"unable to calculate ready pods: {_NO_PODS}")
        ready = sum(phase(pod) == "Running" and is_ready(pod) for pod in self.pods)
        return Result(min(math.ceil(ratio * ready), MAX_REPLICAS), value)

    def per_pod_replicas(self, replicas: int, target: int, value: int) -> Result:
        """Return what a value asks for of which each of the present `replicas` is to have `target`."""
        wanted = replicas
        share = target * replicas
        if not share or not self.tolerances.is_within(value / share):
            wanted = min(math.ceil(value / target), MAX_REPLICAS)
        if value >= _MAX_VALUE or not replicas:
            return Result(wanted, min(value, _MAX_VALUE))
        return Result(wanted, math.ceil(value / replicas))

    def _group(self, metrics: PodMetrics, resource: str) -> _Groups:
        if not self.pods:
            raise NoMetric(_NO_PODS)
        ready = 0
        unready: set[str] = set()
        missing: set[str] = set()
        ignored: set[str] = set()
        for pod in self.pods:
            name = name_of(pod)
            if is_being_deleted(pod) or phase(pod) == "Failed":
                ignored.add(name)
            elif phase(pod) == "Pending":
                unready.add(name)
            elif name not in metrics:
                missing.add(name)
            elif resource == "cpu" and self._is_starting(pod, metrics[name]):
                unready.add(name)
            else:
                ready += 1
        measured = {name: metric for name, metric in metrics.items() if name not in ignored | unready}
        if not measured:
            raise NoMetric(_NO_METRICS)
        return _Groups(measured, ready, unready, missing)

    def _is_starting(self, pod: Object, metric: PodMetric) -> bool:
        """Tell whether the pod's CPU is that of its start, which says nothing of what it will need."""
        ready = condition(status_of(pod), "Ready")
        if ready is None or not status_of(pod).get("startTime"):
            return True
        started = parse_time(status_of(pod)["startTime"])
        since = parse_time(ready["lastTransitionTime"]) if ready.get("lastTransitionTime") else None
        is_unready = ready.get("status") == "False"
        if started + timedelta(seconds=self.cpu_initialization_period) > self.now:
            # The sample must lie wholly in the time since it became ready.
            whole = (
                since is None
                or metric.timestamp is None
                or metric.timestamp >= since + timedelta(seconds=metric.window)
            )
            return is_unready or not whole
        # One that is not ready later counts, unless it has never been: its readiness changed last at its start.
        return is_unready and (since is None or started + timedelta(seconds=self.initial_readiness_delay) > since)

    def _replicas(
        self,
        current: int,
        groups: _Groups,
        ratio: float,
        busy: Mapping[str, int],
        ratio_of: Callable[[Mapping[str, PodMetric]], float],
    ) -> int:
        """Return the replicas; `busy` is what pods without a value count for when fewer are wanted."""
        counts_unready = bool(groups.unready) and ratio > 1.0
        if not counts_unready and not groups.missing:
            return current if self.tolerances.is_within(ratio) else math.ceil(ratio * groups.ready)
        measured = dict(groups.measured)
        if ratio < 1.0:
            measured |= {name: PodMetric(value) for name, value in busy.items()}
        elif ratio > 1.0:
            measured |= {name: PodMetric(0) for name in groups.missing}
        if counts_unready:
            measured |= {name: PodMetric(0) for name in groups.unready}
        fresh = ratio_of(measured)
        if self.tolerances.is_within(fresh) or (ratio < 1.0 < fresh) or (fresh < 1.0 < ratio):
            return current
        wanted = math.ceil(fresh * len(measured))
        against = (fresh < 1.0 and wanted > current) or (fresh > 1.0 and wanted < current)
        return current if against else wanted


@dataclass(frozen=True, slots=True)
class _Groups:
    """Metrics that count, how many pods are ready and have one, and the names of pods that are not or have none."""

    measured: PodMetrics
    ready: int
    unready: set[str]
    missing: set[str]


def request_of(pod: Object, resource: str, container: str = "") -> int:
    """Return what a pod, or one container of it, requests.

    Raises:
        NoMetric: it requests none, or there is no such container.
    """
    spec = spec_of(pod)
    pod_level = (spec.get("resources") or {}).get("requests") or {}
    if not container and any(map(is_pod_level_resource, pod_level)):
        asked = pod_requests(pod).get(resource)
        if asked is None:
            raise NoMetric(f"missing pod-level request for {resource} in Pod {name_of(pod)}")
        return asked.milli_value()
    sidecars = [part for part in spec.get("initContainers") or [] if is_sidecar(part)]
    parts = [*(spec.get("containers") or []), *sidecars]
    chosen = [part for part in parts if not container or part.get("name") == container]
    if container and not chosen:
        raise NoMetric(f"container {container} not found in Pod {name_of(pod)}")
    total = 0
    for part in chosen:
        text = ((part.get("resources") or {}).get("requests") or {}).get(resource)
        if text is None:
            raise NoMetric(f"missing request for {resource} in container {part.get('name')} of Pod {name_of(pod)}")
        total += quantity.parse(text).milli_value()
    return total
