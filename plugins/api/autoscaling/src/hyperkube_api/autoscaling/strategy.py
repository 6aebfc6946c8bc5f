"""Autoscalers: what happens when one is created, changed or deleted.

Source: kubernetes pkg/registry/autoscaling/horizontalpodautoscaler.
"""

from __future__ import annotations

from hyperkube_api.autoscaling.conversion import v1_to_v2
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class HorizontalPodAutoscalerStrategy(StatusStrategy):
    """How many replicas there should be, judged by metrics; checked in its newest version."""

    metadata_checks = ("change",)

    def default(self, obj: Object) -> None:
        """Fill in bounds, metrics and behaviour."""
        from hyperkube_api.autoscaling.defaults import default_autoscaler

        default_autoscaler(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the target, the bounds and the metrics."""
        from hyperkube_api.autoscaling.validation import validate_autoscaler

        return validate_autoscaler(v1_to_v2(obj) if obj.get("apiVersion") == "autoscaling/v1" else obj)
