"""Jobs and autoscalers as extensions/v1beta1 had them: the same stored objects as in batch and autoscaling.

Source: kubernetes v1.4 ``pkg/apis/extensions/v1beta1/{conversion,defaults}.go``,
``pkg/genericapiserver/storage_factory.go`` (AddCohabitatingResources).
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube_api.autoscaling.conversion import CURRENT_METRICS, v1_to_v2, v2_to_v1
from hyperkube_api.legacy_workloads.workloads import default_labels
from hyperkube_api.meta.defaults import set_defaults
from hyperkube_api.meta.older_versions import Differences

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.machinery.objects import Object

SUBRESOURCE = "scale"
DEFAULT_PERCENTAGE = 80
MIN_REPLICAS = 1


def newer_job(job: Object) -> Object:
    """Return a job whose selector is its author's unless it said ``autoSelector``: the two members are opposites."""
    spec = dict(job.get("spec") or {})
    if not spec.pop("autoSelector", None):
        spec["manualSelector"] = True
    return {**job, "spec": spec}


def older_job(job: Object) -> Object:
    """Return a job with ``autoSelector`` where its selector is the server's."""
    spec = dict(job.get("spec") or {})
    if not spec.pop("manualSelector", None):
        spec["autoSelector"] = True
    return {**job, "spec": spec}


def default_job(job: Object) -> None:
    """Fill in the selector and the labels from those of the template, unless the server makes the selector."""
    if not job["spec"].get("autoSelector"):
        default_labels(job)


def newer_autoscaler(autoscaler: Object) -> Object:
    """Return an autoscaler with a target of today and a list of metrics."""
    spec = dict(autoscaler.get("spec") or {})
    target = spec.pop("scaleRef", None)
    cpu = spec.pop("cpuUtilization", None)
    if target is not None:
        spec["scaleTargetRef"] = {key: value for key, value in target.items() if key != "subresource"}
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = cpu.get("targetPercentage", 0)
    return v1_to_v2({**autoscaler, "spec": spec})


def older_autoscaler(autoscaler: Object) -> Object:
    """Return an autoscaler with one target for CPU; what it cannot say is in annotations, as in autoscaling/v1."""
    plain = v2_to_v1(autoscaler)
    if len((autoscaler.get("status") or {}).get("currentMetrics") or ()) == 1 and _shows_all_metrics(plain):
        plain = {**plain, "metadata": _without(plain["metadata"], CURRENT_METRICS)}
    spec = dict(plain["spec"])
    target = spec.pop("scaleTargetRef", None)
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if target is not None:
        spec["scaleRef"] = {**target, "subresource": SUBRESOURCE}
    if percentage is not None:
        spec["cpuUtilization"] = {"targetPercentage": percentage}
    return {**plain, "spec": spec}


def _shows_all_metrics(plain: Object) -> bool:
    return plain["status"].get("currentCPUUtilizationPercentage") is not None


def _without(meta: Object, annotation: str) -> Object:
    annotations = {key: text for key, text in (meta.get("annotations") or {}).items() if key != annotation}
    rest = {key: value for key, value in meta.items() if key != "annotations"}
    return {**rest, "annotations": annotations} if annotations else rest


def default_autoscaler(autoscaler: Object) -> None:
    """Fill in one replica at least, and 80 % of the CPU that is requested."""
    set_defaults(autoscaler["spec"], minReplicas=MIN_REPLICAS, cpuUtilization={"targetPercentage": DEFAULT_PERCENTAGE})


def described(spec: ResourceSpec) -> ResourceSpec:
    """Return a resource whose columns say whose fields they show: an older version may lack them."""
    columns = (
        replace(column, field=f"{spec.schema}/{column.field}") if column.field else column for column in spec.columns
    )
    return replace(spec, columns=tuple(columns))


JOB = Differences(newer=newer_job, older=older_job, default=default_job)
AUTOSCALER = Differences(newer=newer_autoscaler, older=older_autoscaler, default=default_autoscaler)
