"""The types of resource.k8s.io/v1alpha3, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="resource.k8s.io",
    version="v1alpha3",
    proto="k8s.io.api.resource.v1alpha3",
    openapi="io.k8s.api.resource.v1alpha3",
)


class CELDeviceSelector(KubeSchema, published=False):
    """CEL device selector: part of DeviceSelector.cel."""

    expression = f.String(1, required=True)


class DeviceSelector(KubeSchema, published=False):
    """Device selector."""

    cel = f.Struct("CELDeviceSelector", 1, ptr=True, omitempty=True)


class DeviceTaint(KubeSchema):
    """Device taint: part of DeviceTaintRuleSpec.taint."""

    key = f.String(1, required=True)
    value = f.String(2, omitempty=True)
    effect = f.String(
        3,
        required=True,
        enum=("NoExecute", "NoSchedule", "None"),
        typedef="v1alpha3.DeviceTaintEffect",
        dv=("k8s:required",),
    )
    timeAdded = f.Time(4, ptr=True, omitempty=True)


class DeviceTaintRule(KubeObject):
    """Taints devices by a selector."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("DeviceTaintRuleSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("DeviceTaintRuleStatus", 3, omitempty=True, doc="What is observed.")


class DeviceTaintRuleList(KubeObject):
    """A list of DeviceTaintRule objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("DeviceTaintRule", 2, required=True, nullable=True, doc="The objects.")


class DeviceTaintRuleSpec(KubeSchema):
    """What a DeviceTaintRule should be."""

    deviceSelector = f.Struct("DeviceTaintSelector", 1, ptr=True, omitempty=True)
    taint = f.Struct("DeviceTaint", 2, required=True, omitempty=True)


class DeviceTaintRuleStatus(KubeSchema):
    """What is observed of a DeviceTaintRule."""

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


class DeviceTaintSelector(KubeSchema):
    """Device taint selector: part of DeviceTaintRuleSpec.deviceSelector."""

    driver = f.String(2, ptr=True, omitempty=True)
    pool = f.String(3, ptr=True, omitempty=True)
    device = f.String(4, ptr=True, omitempty=True)


class PoolStatus(KubeSchema):
    """Pool status: part of ResourcePoolStatusRequestStatus.pools."""

    driver = f.String(1, required=True, omitempty=True, dv=("k8s:required", "k8s:format=k8s-long-name-caseless"))
    poolName = f.String(2, required=True, omitempty=True, dv=("k8s:required", "k8s:format=k8s-resource-pool-name"))
    generation = f.Int64(9, required=True, dv=("k8s:required", "k8s:minimum=0"))
    resourceSliceCount = f.Int32(8, ptr=True, omitempty=True, dv=("k8s:minimum=1",))
    totalDevices = f.Int32(4, ptr=True, omitempty=True, dv=("k8s:minimum=0",))
    allocatedDevices = f.Int32(5, ptr=True, omitempty=True, dv=("k8s:minimum=0",))
    availableDevices = f.Int32(6, ptr=True, omitempty=True, dv=("k8s:minimum=0",))
    unavailableDevices = f.Int32(7, ptr=True, omitempty=True, dv=("k8s:minimum=0",))
    nodeName = f.String(3, ptr=True, omitempty=True, dv=("k8s:format=k8s-long-name",))
    validationError = f.String(10, ptr=True, omitempty=True, dv=("k8s:maxBytes=256",))


class ResourcePoolStatusRequest(KubeObject):
    """Asks for the state of a pool of devices."""

    metadata = f.Struct(
        "hyperkube_api.meta.v1:ObjectMeta", 1, required=True, omitempty=True, doc="Standard metadata of the object."
    )
    spec = f.Struct("ResourcePoolStatusRequestSpec", 2, required=True, dv=("k8s:immutable",), doc="What is wished for.")
    status = f.Struct("ResourcePoolStatusRequestStatus", 3, ptr=True, omitempty=True, doc="What is observed.")


class ResourcePoolStatusRequestList(KubeObject):
    """A list of ResourcePoolStatusRequest objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ResourcePoolStatusRequest", 2, required=True, nullable=True, doc="The objects.")


class ResourcePoolStatusRequestSpec(KubeSchema):
    """What a ResourcePoolStatusRequest should be."""

    driver = f.String(1, required=True, dv=("k8s:required", "k8s:format=k8s-long-name-caseless"))
    poolName = f.String(2, ptr=True, omitempty=True, dv=("k8s:format=k8s-resource-pool-name",))
    limit = f.Int32(3, ptr=True, omitempty=True, default=100, dv=("k8s:minimum=1", "k8s:maximum=1000"))


class ResourcePoolStatusRequestStatus(KubeSchema):
    """What is observed of a ResourcePoolStatusRequest."""

    poolCount = f.Int32(6, required=True, ptr=True, omitempty=True, dv=("k8s:required", "k8s:minimum=0"))
    pools = f.List("PoolStatus", 2, omitempty=True, list_type="atomic", dv=("k8s:maxItems=1000",))
    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        3,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        dv=("k8s:maxItems=10",),
        doc="Aspects of the state, each true, false or unknown.",
    )
