"""The types of apiregistration.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="apiregistration.k8s.io",
    version="v1",
    proto="k8s.io.kube_aggregator.pkg.apis.apiregistration.v1",
    openapi="io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
)


class APIService(KubeObject):
    """Tells which server answers for a group and version."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("APIServiceSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("APIServiceStatus", 3, omitempty=True, doc="What is observed.")


class APIServiceCondition(KubeSchema):
    """API service condition: part of APIServiceStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.APIServiceConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class APIServiceList(KubeObject):
    """A list of APIService objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("APIService", 2, required=True, nullable=True, doc="The objects.")


class APIServiceSpec(KubeSchema):
    """What a APIService should be."""

    service = f.Struct("ServiceReference", 1, ptr=True, omitempty=True)
    group = f.String(2, omitempty=True)
    version = f.String(3, omitempty=True)
    insecureSkipTLSVerify = f.Bool(4, omitempty=True)
    caBundle = f.Bytes(5, omitempty=True, list_type="atomic", format="byte")
    groupPriorityMinimum = f.Int32(7, required=True)
    versionPriority = f.Int32(8, required=True)


class APIServiceStatus(KubeSchema):
    """What is observed of a APIService."""

    conditions = f.List(
        "APIServiceCondition",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class ServiceReference(KubeSchema):
    """Service reference: part of APIServiceSpec.service."""

    namespace = f.String(1, omitempty=True)
    name = f.String(2, omitempty=True)
    port = f.Int32(3, ptr=True, omitempty=True)
