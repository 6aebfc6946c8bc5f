"""The types of autoscaling/v2beta2: as they are today, under their old name."""

from hyperkube_api.autoscaling import v2 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="autoscaling",
    version="v2beta2",
    proto="k8s.io.api.autoscaling.v2beta2",
    openapi="io.k8s.api.autoscaling.v2beta2",
)

HorizontalPodAutoscaler = alias(newer.HorizontalPodAutoscaler, __name__)
HorizontalPodAutoscalerList = list_alias(newer.HorizontalPodAutoscalerList, __name__)
