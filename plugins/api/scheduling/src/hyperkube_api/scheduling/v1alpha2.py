"""The types of scheduling.k8s.io/v1alpha2, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="scheduling.k8s.io",
    version="v1alpha2",
    proto="k8s.io.api.scheduling.v1alpha2",
    openapi="io.k8s.api.scheduling.v1alpha2",
)


class BasicSchedulingPolicy(KubeSchema):
    """Basic scheduling policy: part of PodGroupSchedulingPolicy.basic."""


class GangSchedulingPolicy(KubeSchema):
    """Gang scheduling policy: part of PodGroupSchedulingPolicy.gang."""

    minCount = f.Int32(1, required=True, dv=("k8s:required", "k8s:minimum=1"))


class PodGroup(KubeObject):
    """Pods that are scheduled together."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PodGroupSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("PodGroupStatus", 3, omitempty=True, doc="What is observed.")


class PodGroupList(KubeObject):
    """A list of PodGroup objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodGroup", 2, required=True, nullable=True, doc="The objects.")


class PodGroupResourceClaim(KubeSchema):
    """Pod group resource claim: part of PodGroupSpec.resourceClaims, PodGroupTemplate.resourceClaims."""

    name = f.String(1, required=True, dv=("k8s:required", "k8s:format=k8s-short-name"))
    resourceClaimName = f.String(2, ptr=True, omitempty=True, dv=("k8s:unionMember", "k8s:format=k8s-long-name"))
    resourceClaimTemplateName = f.String(
        3, ptr=True, omitempty=True, dv=("k8s:unionMember", "k8s:format=k8s-long-name")
    )


class PodGroupResourceClaimStatus(KubeSchema):
    """What is observed of a PodGroupResourceClaim."""

    name = f.String(1, required=True)
    resourceClaimName = f.String(2, ptr=True, omitempty=True, dv=("k8s:format=k8s-long-name",))


class PodGroupSchedulingConstraints(KubeSchema):
    """Pod group scheduling constraints: part of PodGroupSpec.schedulingConstraints, PodGroupTemplate.schedulingConstraints."""

    topology = f.List("TopologyConstraint", 1, omitempty=True, list_type="atomic", dv=("k8s:maxItems=1",))


class PodGroupSchedulingPolicy(KubeSchema, unions=(f.Union("", {"basic": "Basic", "gang": "Gang"}),)):
    """Pod group scheduling policy: part of PodGroupSpec.schedulingPolicy, PodGroupTemplate.schedulingPolicy."""

    basic = f.Struct("BasicSchedulingPolicy", 1, ptr=True, omitempty=True, dv=("k8s:unionMember",))
    gang = f.Struct("GangSchedulingPolicy", 2, ptr=True, omitempty=True, dv=("k8s:unionMember",))


class PodGroupSpec(KubeSchema):
    """What a PodGroup should be."""

    podGroupTemplateRef = f.Struct("PodGroupTemplateReference", 1, ptr=True, nullable=True, dv=("k8s:immutable",))
    schedulingPolicy = f.Struct("PodGroupSchedulingPolicy", 2, required=True, dv=("k8s:immutable",))
    schedulingConstraints = f.Struct(
        "PodGroupSchedulingConstraints",
        3,
        ptr=True,
        omitempty=True,
        gate="TopologyAwareWorkloadScheduling",
        dv=(
            "k8s:ifDisabled(TopologyAwareWorkloadScheduling)=+k8s:forbidden",
            "k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:optional",
            "k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:immutable",
        ),
    )
    resourceClaims = f.List(
        "PodGroupResourceClaim",
        4,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        gate="DRAWorkloadResourceClaims",
        dv=("k8s:maxItems=4", "k8s:immutable"),
    )
    disruptionMode = f.String(
        5,
        ptr=True,
        omitempty=True,
        default="Pod",
        enum=("Pod", "PodGroup"),
        typedef="v1alpha2.DisruptionMode",
        gate="WorkloadAwarePreemption",
        dv=(
            'k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:immutable',
        ),
    )
    priorityClassName = f.String(
        6,
        omitempty=True,
        gate="WorkloadAwarePreemption",
        dv=(
            'k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:format=k8s-long-name',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:immutable',
        ),
    )
    priority = f.Int32(
        7,
        ptr=True,
        omitempty=True,
        gate="WorkloadAwarePreemption",
        dv=(
            'k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:immutable',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:maximum=1000000000',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:minimum=-2147483648',
        ),
    )


class PodGroupStatus(KubeSchema):
    """What is observed of a PodGroup."""

    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    resourceClaimStatuses = f.List(
        "PodGroupResourceClaimStatus",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        gate="DRAWorkloadResourceClaims",
        dv=("k8s:maxItems=4",),
    )


class PodGroupTemplate(KubeSchema):
    """Pod group template: part of WorkloadSpec.podGroupTemplates."""

    name = f.String(1, required=True, dv=("k8s:required", "k8s:format=k8s-short-name"))
    schedulingPolicy = f.Struct("PodGroupSchedulingPolicy", 2, required=True)
    schedulingConstraints = f.Struct(
        "PodGroupSchedulingConstraints",
        3,
        ptr=True,
        nullable=True,
        gate="TopologyAwareWorkloadScheduling",
        dv=(
            "k8s:ifDisabled(TopologyAwareWorkloadScheduling)=+k8s:forbidden",
            "k8s:ifEnabled(TopologyAwareWorkloadScheduling)=+k8s:optional",
        ),
    )
    resourceClaims = f.List(
        "PodGroupResourceClaim",
        4,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        gate="DRAWorkloadResourceClaims",
        dv=("k8s:maxItems=4", "k8s:immutable"),
    )
    disruptionMode = f.String(
        5,
        ptr=True,
        omitempty=True,
        enum=("Pod", "PodGroup"),
        typedef="v1alpha2.DisruptionMode",
        gate="WorkloadAwarePreemption",
        dv=(
            'k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional',
        ),
    )
    priorityClassName = f.String(
        6,
        omitempty=True,
        gate="WorkloadAwarePreemption",
        dv=(
            'k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:format=k8s-long-name',
        ),
    )
    priority = f.Int32(
        7,
        ptr=True,
        omitempty=True,
        gate="WorkloadAwarePreemption",
        dv=(
            'k8s:ifDisabled("WorkloadAwarePreemption")=+k8s:forbidden',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:optional',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:maximum=1000000000',
            'k8s:ifEnabled("WorkloadAwarePreemption")=+k8s:minimum=-2147483648',
        ),
    )


class PodGroupTemplateReference(KubeSchema, unions=(f.Union("", {"workload": "Workload"}),)):
    """Pod group template reference: part of PodGroupSpec.podGroupTemplateRef."""

    workload = f.Struct("WorkloadPodGroupTemplateReference", 1, ptr=True, nullable=True, dv=("k8s:unionMember",))


class TopologyConstraint(KubeSchema):
    """Topology constraint: part of PodGroupSchedulingConstraints.topology."""

    key = f.String(1, required=True, dv=("k8s:required", "k8s:format=k8s-label-key"))


class TypedLocalObjectReference(KubeSchema):
    """Typed local object reference: part of WorkloadSpec.controllerRef."""

    apiGroup = f.String(1, omitempty=True, dv=("k8s:format=k8s-long-name",))
    kind = f.String(2, required=True, dv=("k8s:required", "k8s:format=k8s-path-segment-name"))
    name = f.String(3, required=True, dv=("k8s:required", "k8s:format=k8s-path-segment-name"))


class Workload(KubeObject):
    """Describes how the pods of a workload are scheduled together."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("WorkloadSpec", 2, required=True, doc="What is wished for.")


class WorkloadList(KubeObject):
    """A list of Workload objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Workload", 2, required=True, nullable=True, doc="The objects.")


class WorkloadPodGroupTemplateReference(KubeSchema):
    """Workload pod group template reference: part of PodGroupTemplateReference.workload."""

    workloadName = f.String(1, required=True, dv=("k8s:required", "k8s:format=k8s-long-name"))
    podGroupTemplateName = f.String(2, required=True, dv=("k8s:required", "k8s:format=k8s-short-name"))


class WorkloadSpec(KubeSchema):
    """What a Workload should be."""

    controllerRef = f.Struct("TypedLocalObjectReference", 1, ptr=True, omitempty=True, dv=("k8s:immutable",))
    podGroupTemplates = f.List(
        "PodGroupTemplate",
        2,
        required=True,
        nullable=True,
        list_type="map",
        list_map_keys=("name",),
        dv=("k8s:required", "k8s:maxItems=8", "k8s:immutable"),
    )
