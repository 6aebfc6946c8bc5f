"""The autoscaling group: how many replicas there should be."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.autoscaling.conversion import ANNOTATIONS, v1_to_v2, v2_to_v1
from hyperkube_api.autoscaling.strategy import HorizontalPodAutoscalerStrategy
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.plugin import Plugin

V2 = Version("autoscaling", "v2", "hyperkube_api.autoscaling.v2")
V1 = Version("autoscaling", "v1", "hyperkube_api.autoscaling.v1")


def _v2() -> tuple[ResourceSpec, ...]:
    return (
        V2.resource(
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            short_names=("hpa",),
            categories=("all",),
            storage_prefix="horizontalpodautoscalers",
            storage_version_hash="qwQve8ut294=",
            strategy=HorizontalPodAutoscalerStrategy(),
            columns=(
                NAME,
                column("Reference", field="spec.scaleTargetRef"),
                column("Targets", field="spec.metrics"),
                column("MinPods", field="spec.minReplicas"),
                column("MaxPods", field="spec.maxReplicas"),
                column("Replicas", field="status.currentReplicas"),
                AGE,
            ),
            cells=OnFirstUse("hyperkube_api.autoscaling.table:horizontal_pod_autoscaler_cells"),
            subresources=(V2.status("HorizontalPodAutoscaler"),),
        ),
    )


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            short_names=("hpa",),
            categories=("all",),
            storage_prefix="horizontalpodautoscalers",
            storage_version_hash="qwQve8ut294=",
            storage_kind=GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
            strategy=HorizontalPodAutoscalerStrategy(),
            columns=(
                NAME,
                column("Reference", field="hyperkube_api.autoscaling.v2:HorizontalPodAutoscaler/spec.scaleTargetRef"),
                column("Targets", field="hyperkube_api.autoscaling.v2:HorizontalPodAutoscaler/spec.metrics"),
                column("MinPods", field="hyperkube_api.autoscaling.v2:HorizontalPodAutoscaler/spec.minReplicas"),
                column("MaxPods", field="hyperkube_api.autoscaling.v2:HorizontalPodAutoscaler/spec.maxReplicas"),
                column("Replicas", field="hyperkube_api.autoscaling.v2:HorizontalPodAutoscaler/status.currentReplicas"),
                AGE,
            ),
            cells=OnFirstUse("hyperkube_api.autoscaling.table:horizontal_pod_autoscaler_cells"),
            own_annotations=ANNOTATIONS,
            to_storage=v1_to_v2,
            from_storage=v2_to_v1,
            subresources=(V1.status("HorizontalPodAutoscaler"),),
        ),
    )


class AutoscalingApi(Plugin):
    """The autoscaling group: how many replicas there should be."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve autoscaling/v2 and autoscaling/v1."""
        return [
            ApiGroupVersion(
                group="autoscaling", version="v2", resources=_v2(), group_priority=17_500, version_priority=30
            ),
            ApiGroupVersion(
                group="autoscaling", version="v1", resources=_v1(), group_priority=17_500, version_priority=15
            ),
        ]
