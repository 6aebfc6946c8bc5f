"""What each metric of an autoscaler asks for, by its type, and what is said of it.

Source: kubernetes ``pkg/controller/podautoscaler/horizontal.go`` (computeReplicasForMetric and what it calls).
"""

from __future__ import annotations

from hyperkube_controller.horizontalpodautoscaling.metrics_client import MetricsClient, NoMetric
from hyperkube_controller.horizontalpodautoscaling.replica_calculator import ReplicaCalculator, Result
from hyperkube_lib.go_strings import label_selector_string

from hyperkube.machinery import quantity
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.labels import Selector, from_label_selector
from hyperkube.machinery.objects import Object


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one metric asks for, its name for people, and its value as ``status.currentMetrics`` has it."""

    replicas: int
    name: str
    current: Object


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a metric asks for nothing: the reason of condition and event, their text, and that of the summary."""

    reason: str
    message: str
    summary: str


@dataclass(frozen=True, slots=True)
class BadSelector:
    """Why the pods of the target are not known: reason and message of the event, and those of the condition."""

    reason: str
    message: str
    condition_reason: str
    condition: str


@dataclass(frozen=True, slots=True)
class Target:
    """What is scaled: its namespace, the selector of its pods, how many replicas it is to have and has."""

    namespace: str
    selector: Selector
    spec_replicas: int
    status_replicas: int


@dataclass(frozen=True, slots=True)
class MetricSources:
    """Computes what the metrics of an autoscaler ask for, for one target at one time."""

    client: MetricsClient
    calculator: ReplicaCalculator
    target: Target

    def proposal(self, spec: Object) -> Proposal | Failure:
        """Return what a metric asks for, or why that is not known."""
        kind = spec["type"]
        if kind == "Resource":
            source = spec["resource"]
            return self._resource(kind, source, f"failed to get {source['name']} resource metric value")
        if kind == "ContainerResource":
            source = spec["containerResource"]
            return self._resource(kind, source, f"failed to get {source['container']} container metric value")
        if kind == "Pods":
            return self._pods(spec["pods"])
        if kind == "Object":
            return self._object(spec["object"])
        if kind == "External":
            return self._external(spec["external"])
        text = f'unknown metric source type "{kind}"'
        return Failure("InvalidMetricSourceType", text, text)

    def _resource(self, kind: str, source: Object, failed: str) -> Proposal | Failure:
        resource, container, target = source["name"], source.get("container", ""), source["target"]
        value, share = target.get("averageValue"), target.get("averageUtilization")
        part = "container resource" if container else "resource"
        if value is None and share is None:
            neither = "neither an average utilization target nor an average value (usage) target was set"
            text = f"invalid resource metric source: {neither}"
            return Failure(f"FailedGet{kind}Metric", text, f"{failed}: {text}")
        try:
            found = self._used(resource, container, value, share)
        except NoMetric as error:
            return Failure(f"FailedGet{kind}Metric", str(error), f"{failed}: {error}")
        current: Object = {"averageValue": _quantity(found.value)}
        name = f"{resource} resource"
        if found.utilization is not None:
            current["averageUtilization"] = found.utilization
            name = f"{resource} {part} utilization (percentage of request)"
        row = {"name": resource, "current": current} | ({"container": container} if container else {})
        field = "containerResource" if container else "resource"
        return Proposal(found.replicas, name, {"type": kind, field: row})

    def _used(self, resource: str, container: str, value: str | None, share: int | None) -> Result:
        where = self.target
        called = "utilization" if value is None else "usage"
        try:
            try:
                metrics = self.client.resource_metrics(resource, where.namespace, where.selector, container)
            except NoMetric as error:
                raise NoMetric(f"unable to get metrics for resource {resource}: {error}") from error
            if value is not None:
                return self.calculator.plain_replicas(where.spec_replicas, _milli(value), metrics, resource)
            return self.calculator.utilization_replicas(where.spec_replicas, share or 0, resource, metrics, container)
        except NoMetric as error:
            raise NoMetric(f"failed to get {resource} {called}: {error}") from error

    def _pods(self, source: Object) -> Proposal | Failure:
        metric, where = source["metric"], self.target
        try:
            try:
                metrics = self.client.pods_metric(metric["name"], where.namespace, where.selector, _selector(metric))
            except NoMetric as error:
                raise NoMetric(f"unable to get metric {metric['name']}: {error}") from error
            target = _milli(source["target"]["averageValue"])
            found = self.calculator.plain_replicas(where.spec_replicas, target, metrics)
        except NoMetric as error:
            return Failure("FailedGetPodsMetric", str(error), f"failed to get pods metric value: {error}")
        current = {"metric": metric, "current": {"averageValue": _quantity(found.value)}}
        return Proposal(found.replicas, f"pods metric {metric['name']}", {"type": "Pods", "pods": current})

    def _object(self, source: Object) -> Proposal | Failure:
        metric, described, where = source["metric"], source["describedObject"], self.target
        value, average = _target_of(source)
        failed = "failed to get object metric value"
        if value is None and average is None:
            text = "invalid object metric source: neither a value target nor an average value target was set"
            return Failure("FailedGetObjectMetric", text, f"{failed}: {text}")
        try:
            try:
                seen = self.client.object_metric(metric["name"], where.namespace, described, _selector(metric))
            except NoMetric as error:
                # The error stands where one would expect it least; clients know the text as it is.
                about = f"{described['kind']} on {where.namespace} {described['name']}/{error}"
                raise NoMetric(f"unable to get metric {metric['name']}: {about}") from error
            found = self._shared(value, average, seen)
        except NoMetric as error:
            inner = str(error) if value is not None else f"failed to get {metric['name']} object metric: {error}"
            return Failure("FailedGetObjectMetric", str(error), f"{failed}: {inner}")
        current = {"metric": metric, "describedObject": described, "current": _shown(value, found)}
        name = f"{described['kind']} metric {metric['name']}"
        if value is None:
            name = f"external metric {metric['name']}({label_selector_string(metric.get('selector'))})"
        return Proposal(found.replicas, name, {"type": "Object", "object": current})

    def _external(self, source: Object) -> Proposal | Failure:
        metric, where = source["metric"], self.target
        value, average = _target_of(source, average_first=True)
        selector = label_selector_string(metric.get("selector"))
        failed = f"failed to get {metric['name']} external metric value"
        if value is None and average is None:
            text = "invalid external metric source: neither a value target nor an average value target was set"
            return Failure("FailedGetExternalMetric", text, f"{failed}: {text}")
        try:
            try:
                seen = self.client.external_metric(metric["name"], where.namespace, _selector(metric))
            except NoMetric as error:
                about = f"{where.namespace}/{metric['name']}/{selector}"
                raise NoMetric(f"unable to get external metric {about}: {error}") from error
            found = self._shared(value, average, sum(seen))
        except NoMetric as error:
            called = f"{metric['name']} external metric" if value is None else f"external metric {metric['name']}"
            return Failure("FailedGetExternalMetric", str(error), f"{failed}: failed to get {called}: {error}")
        current = {"metric": metric, "current": _shown(value, found)}
        name = f"external metric {metric['name']}({selector})"
        return Proposal(found.replicas, name, {"type": "External", "external": current})

    def _shared(self, value: str | None, average: str | None, seen: int) -> Result:
        """Return what a value asks for that all pods share, or of which each is to have an average."""
        if average is not None:
            return self.calculator.per_pod_replicas(self.target.status_replicas, _milli(average), seen)
        return self.calculator.total_replicas(self.target.spec_replicas, _milli(value or "0"), seen)


def _target_of(source: Object, *, average_first: bool = False) -> tuple[str | None, str | None]:
    """Return (value, average value), of which at most one is set."""
    target = source["target"]
    value, average = target.get("value"), target.get("averageValue")
    if average_first:
        return (None, average) if average is not None else (value, None)
    return (value if target.get("type") == "Value" else None, average if target.get("type") == "AverageValue" else None)


def _shown(value: str | None, found: Result) -> Object:
    return {"averageValue" if value is None else "value": _quantity(found.value)}


def _selector(metric: Object) -> str:
    """Return the metric's own selector as a query has it; empty if it has none."""
    return str(from_label_selector(metric["selector"])) if metric.get("selector") else ""


def _milli(value: str) -> int:
    return quantity.parse(value).milli_value()


def _quantity(value: int) -> str:
    return str(quantity.from_milli(value))
