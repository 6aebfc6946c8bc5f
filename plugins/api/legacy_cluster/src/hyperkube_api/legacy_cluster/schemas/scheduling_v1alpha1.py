"""The types of scheduling.k8s.io/v1alpha1: as they are today, under their old name."""

from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.scheduling import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="scheduling.k8s.io",
    version="v1alpha1",
    proto="k8s.io.api.scheduling.v1alpha1",
    openapi="io.k8s.api.scheduling.v1alpha1",
)

PriorityClass = alias(newer.PriorityClass, __name__)
PriorityClassList = list_alias(newer.PriorityClassList, __name__)
