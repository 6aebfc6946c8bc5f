"""The types of autoscaling/v2beta2: as they are today, under their old name."""

from hyperkube_api.autoscaling import v2 as newer
from hyperkube_api.meta.again import again, listed

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="autoscaling",
    version="v2beta2",
    proto="k8s.io.api.autoscaling.v2beta2",
    openapi="io.k8s.api.autoscaling.v2beta2",
)

HorizontalPodAutoscaler = again(newer.HorizontalPodAutoscaler, __name__)
HorizontalPodAutoscalerList = listed(newer.HorizontalPodAutoscalerList, __name__)
