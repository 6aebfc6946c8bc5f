"""autoscaling/v2beta1 and autoscaling/v2beta2: autoscalers on their way to autoscaling/v2.

Source: kubernetes v1.24 pkg/apis/autoscaling/v2beta1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import orjson
from hyperkube_api.autoscaling.conversion import BEHAVIOR, current_of, flat_current, flat_metric, metric_of, taken
from hyperkube_api.autoscaling.resources import AutoscalingApi
from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_GROUP = "autoscaling"
_V2BETA1 = OlderVersion(
    version=Version(_GROUP, "v2beta1", "hyperkube_api.legacy_workloads.schemas.autoscaling_v2beta1"),
    lifecycle=Lifecycle(22, 25, "autoscaling/v2"),
)
_V2BETA2 = OlderVersion(
    version=Version(_GROUP, "v2beta2", "hyperkube_api.legacy_workloads.schemas.autoscaling_v2beta2"),
    lifecycle=Lifecycle(23, 26, "autoscaling/v2"),
)


def newer_autoscaler(autoscaler: Object) -> Object:
    """Return an autoscaler whose metrics have identities and targets, and whose behaviour is a member."""
    shifted = _metrics(autoscaler, metric_of, current_of)
    annotations = dict((autoscaler.get("metadata") or {}).get("annotations") or {})
    behavior = taken(annotations, BEHAVIOR)
    if behavior:
        shifted["spec"]["behavior"] = behavior
    return _annotated(shifted, annotations)


def older_autoscaler(autoscaler: Object) -> Object:
    """Return an autoscaler with flat metrics, and with its behaviour in an annotation."""
    shifted = _metrics(autoscaler, flat_metric, flat_current)
    annotations = dict((autoscaler.get("metadata") or {}).get("annotations") or {})
    annotations.pop(BEHAVIOR, None)
    behavior = shifted["spec"].pop("behavior", None)
    if behavior is not None:
        annotations[BEHAVIOR] = orjson.dumps(behavior).decode()
    return _annotated(shifted, annotations)


def _metrics(
    autoscaler: Object, convert: Callable[[Object], Object], convert_current: Callable[[Object], Object]
) -> Object:
    spec, status = dict(autoscaler.get("spec") or {}), dict(autoscaler.get("status") or {})
    if spec.get("metrics"):
        spec["metrics"] = [convert(metric) for metric in spec["metrics"]]
    if status.get("currentMetrics"):
        status["currentMetrics"] = [convert_current(metric) for metric in status["currentMetrics"]]
    parts: Object = {"spec": spec}
    if "status" in autoscaler:
        parts["status"] = status
    return {**autoscaler, **parts}


def _annotated(autoscaler: Object, annotations: dict[str, str]) -> Object:
    meta: Object = {key: value for key, value in (autoscaler.get("metadata") or {}).items() if key != "annotations"}
    return {**autoscaler, "metadata": {**meta, "annotations": annotations} if annotations else meta}


class LegacyAutoscalingApi(Plugin):
    """autoscaling/v2beta1 and autoscaling/v2beta2: autoscalers on their way to autoscaling/v2."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve both where they are asked for."""
        newer = newest_resources(AutoscalingApi, self.context)["horizontalpodautoscalers"]
        flat = Differences(newer=newer_autoscaler, older=older_autoscaler)
        return [
            _V2BETA1.group_version([_V2BETA1.resource(newer, flat)], group_priority=17_500, version_priority=9),
            _V2BETA2.group_version([_V2BETA2.resource(newer)], group_priority=17_500, version_priority=1),
        ]
