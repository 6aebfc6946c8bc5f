"""The types of policy/v1beta1: as they are today, under their old name."""

from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.policy import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="policy",
    version="v1beta1",
    proto="k8s.io.api.policy.v1beta1",
    openapi="io.k8s.api.policy.v1beta1",
)

PodDisruptionBudget = alias(newer.PodDisruptionBudget, __name__)
PodDisruptionBudgetList = list_alias(newer.PodDisruptionBudgetList, __name__)
