"""The types of policy/v1beta1: as they are today, under their old name."""

from hyperkube_api.meta.again import again, listed
from hyperkube_api.policy import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="policy",
    version="v1beta1",
    proto="k8s.io.api.policy.v1beta1",
    openapi="io.k8s.api.policy.v1beta1",
)

PodDisruptionBudget = again(newer.PodDisruptionBudget, __name__)
PodDisruptionBudgetList = listed(newer.PodDisruptionBudgetList, __name__)
