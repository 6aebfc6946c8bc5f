"""The types of policy/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="policy",
    version="v1",
    proto="k8s.io.api.policy.v1",
    openapi="io.k8s.api.policy.v1",
)


class Eviction(KubeObject):
    """Asks for a pod to be deleted if disruption budgets allow it."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    deleteOptions = f.Struct("hyperkube_api.meta.v1:DeleteOptions", 2, ptr=True, omitempty=True)


class PodDisruptionBudget(KubeObject):
    """Limits how many pods of a set may be evicted at a time."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PodDisruptionBudgetSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("PodDisruptionBudgetStatus", 3, omitempty=True, doc="What is observed.")


class PodDisruptionBudgetList(KubeObject):
    """A list of PodDisruptionBudget objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodDisruptionBudget", 2, required=True, nullable=True, doc="The objects.")


class PodDisruptionBudgetSpec(KubeSchema):
    """What a PodDisruptionBudget should be."""

    minAvailable = f.IntOrString(1, ptr=True, omitempty=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True, patch_strategy="replace")
    maxUnavailable = f.IntOrString(3, ptr=True, omitempty=True)
    unhealthyPodEvictionPolicy = f.String(
        4,
        ptr=True,
        omitempty=True,
        enum=("AlwaysAllow", "IfHealthyBudget"),
        typedef="v1.UnhealthyPodEvictionPolicyType",
    )


class PodDisruptionBudgetStatus(KubeSchema):
    """What is observed of a PodDisruptionBudget."""

    observedGeneration = f.Int64(1, omitempty=True, doc="The generation that the status speaks of.")
    disruptedPods = f.Map(f.Time(), 2, omitempty=True)
    disruptionsAllowed = f.Int32(3)
    currentHealthy = f.Int32(4)
    desiredHealthy = f.Int32(5)
    expectedPods = f.Int32(6)
    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        7,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
