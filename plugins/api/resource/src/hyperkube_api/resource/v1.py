"""The types of resource.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="resource.k8s.io",
    version="v1",
    proto="k8s.io.api.resource.v1",
    openapi="io.k8s.api.resource.v1",
)


class AllocatedDeviceStatus(KubeSchema):
    """Allocated device status: part of ResourceClaimStatus.devices."""

    driver = f.String(1, required=True)
    pool = f.String(2, required=True)
    device = f.String(3, required=True)
    shareID = f.String(
        7,
        ptr=True,
        omitempty=True,
        gate="DRAConsumableCapacity",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-uuid'),
    )
    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        4,
        nullable=True,
        list_type="map",
        list_map_keys=("type",),
        doc="Aspects of the state, each true, false or unknown.",
    )
    data = f.RawExtension(5, ptr=True, omitempty=True)
    networkData = f.Struct(
        "NetworkDeviceData", 6, ptr=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )


class AllocationResult(KubeSchema):
    """Allocation result: part of ResourceClaimStatus.allocation."""

    devices = f.Struct("DeviceAllocationResult", 1, omitempty=True)
    nodeSelector = f.Struct("hyperkube_api.core.v1:NodeSelector", 3, ptr=True, omitempty=True)
    allocationTimestamp = f.Time(
        5, ptr=True, omitempty=True, gate="DRADeviceBindingConditions,DRAResourceClaimDeviceStatus"
    )


class CELDeviceSelector(KubeSchema):
    """CEL device selector: part of DeviceSelector.cel."""

    expression = f.String(1, required=True)


class CapacityRequestPolicy(KubeSchema):
    """Capacity request policy: part of DeviceCapacity.requestPolicy."""

    default = f.Quantity(1, ptr=True, nullable=True)
    validValues = f.List(f.Quantity(), 3, omitempty=True, list_type="atomic")
    validRange = f.Struct("CapacityRequestPolicyRange", 4, ptr=True, omitempty=True)


class CapacityRequestPolicyRange(KubeSchema):
    """Capacity request policy range: part of CapacityRequestPolicy.validRange."""

    min = f.Quantity(1, required=True, ptr=True, omitempty=True)
    max = f.Quantity(2, ptr=True, omitempty=True)
    step = f.Quantity(3, ptr=True, omitempty=True)


class CapacityRequirements(KubeSchema):
    """Capacity requirements: part of DeviceSubRequest.capacity, ExactDeviceRequest.capacity."""

    requests = f.Map(f.Quantity(), 1, omitempty=True, typedef="map[v1.QualifiedName]resource.Quantity")


class Counter(KubeSchema):
    """Counter: part of CounterSet.counters, DeviceCounterConsumption.counters."""

    value = f.Quantity(1, required=True)


class CounterSet(KubeSchema):
    """Counter set: part of ResourceSliceSpec.sharedCounters."""

    name = f.String(
        1,
        required=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-short-name'),
    )
    counters = f.Map(
        "Counter",
        2,
        required=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:eachKey=+k8s:format=k8s-short-name',
        ),
    )


class Device(KubeSchema):
    """Device: part of ResourceSliceSpec.devices."""

    name = f.String(1, required=True)
    attributes = f.Map(
        "DeviceAttribute",
        2,
        omitempty=True,
        typedef="map[v1.QualifiedName]v1.DeviceAttribute",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    capacity = f.Map("DeviceCapacity", 3, omitempty=True, typedef="map[v1.QualifiedName]v1.DeviceCapacity")
    consumesCounters = f.List(
        "DeviceCounterConsumption",
        4,
        omitempty=True,
        list_type="atomic",
        gate="DRAPartitionableDevices",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=counterSet',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=2',
        ),
    )
    nodeName = f.String(5, ptr=True, omitempty=True, gate="DRAPartitionableDevices")
    nodeSelector = f.Struct(
        "hyperkube_api.core.v1:NodeSelector", 6, ptr=True, omitempty=True, gate="DRAPartitionableDevices"
    )
    allNodes = f.Bool(7, ptr=True, omitempty=True, gate="DRAPartitionableDevices")
    taints = f.List(
        "DeviceTaint",
        8,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceTaints",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    bindsToNode = f.Bool(9, ptr=True, omitempty=True, gate="DRADeviceBindingConditions,DRAResourceClaimDeviceStatus")
    bindingConditions = f.List(
        f.String(),
        10,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceBindingConditions,DRAResourceClaimDeviceStatus",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=4'),
    )
    bindingFailureConditions = f.List(
        f.String(),
        11,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceBindingConditions,DRAResourceClaimDeviceStatus",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=4'),
    )
    allowMultipleAllocations = f.Bool(12, ptr=True, omitempty=True, gate="DRAConsumableCapacity")
    nodeAllocatableResourceMappings = f.Map(
        "NodeAllocatableResourceMapping", 13, omitempty=True, gate="DRANodeAllocatableResources"
    )


class DeviceAllocationConfiguration(KubeSchema):
    """Device allocation configuration: part of DeviceAllocationResult.config."""

    source = f.String(
        1,
        required=True,
        enum=("FromClaim", "FromClass"),
        typedef="v1.AllocationConfigSource",
        dv=('k8s:alpha(since: "1.36")=+k8s:required',),
    )
    requests = f.List(
        f.String(),
        2,
        omitempty=True,
        list_type="atomic",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=set',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=32',
        ),
    )
    device_configuration = f.Inline("DeviceConfiguration", 3)


class DeviceAllocationResult(KubeSchema):
    """Device allocation result: part of AllocationResult.devices."""

    results = f.List(
        "DeviceRequestAllocationResult",
        1,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )
    config = f.List(
        "DeviceAllocationConfiguration",
        2,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=64'),
    )


class DeviceAttribute(KubeSchema):
    """Device attribute: part of Device.attributes."""

    int = f.Int64(
        2,
        ptr=True,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    bool = f.Bool(
        3,
        ptr=True,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    string = f.String(
        4,
        ptr=True,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    version = f.String(
        5,
        ptr=True,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    ints = f.List(
        f.Int64(),
        6,
        omitempty=True,
        list_type="atomic",
        gate="DRAListTypeAttributes",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    bools = f.List(
        f.Bool(),
        7,
        omitempty=True,
        list_type="atomic",
        gate="DRAListTypeAttributes",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    strings = f.List(
        f.String(),
        8,
        omitempty=True,
        list_type="atomic",
        gate="DRAListTypeAttributes",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )
    versions = f.List(
        f.String(),
        9,
        omitempty=True,
        list_type="atomic",
        gate="DRAListTypeAttributes",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:unionMember'),
    )


class DeviceCapacity(KubeSchema):
    """Device capacity: part of Device.capacity."""

    value = f.Quantity(1, required=True)
    requestPolicy = f.Struct("CapacityRequestPolicy", 2, ptr=True, omitempty=True, gate="DRAConsumableCapacity")


class DeviceClaim(KubeSchema):
    """Device claim: part of ResourceClaimSpec.devices."""

    requests = f.List(
        "DeviceRequest",
        1,
        nullable=True,
        list_type="atomic",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=name',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=32',
        ),
    )
    constraints = f.List(
        "DeviceConstraint",
        2,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )
    config = f.List(
        "DeviceClaimConfiguration",
        3,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )


class DeviceClaimConfiguration(KubeSchema):
    """Device claim configuration: part of DeviceClaim.config."""

    requests = f.List(
        f.String(),
        1,
        omitempty=True,
        list_type="atomic",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=set',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=32',
        ),
    )
    device_configuration = f.Inline("DeviceConfiguration", 2)


class DeviceClass(KubeObject):
    """A kind of device that claims can ask for."""

    metadata = f.Struct(
        "hyperkube_api.meta.v1:ObjectMeta",
        1,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:subfield(name)=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:subfield(name)=+k8s:format=k8s-long-name',
        ),
        doc="Standard metadata of the object.",
    )
    spec = f.Struct("DeviceClassSpec", 2, required=True, doc="What is wished for.")


class DeviceClassConfiguration(KubeSchema):
    """Device class configuration: part of DeviceClassSpec.config."""

    device_configuration = f.Inline("DeviceConfiguration", 1)


class DeviceClassList(KubeObject):
    """A list of DeviceClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("DeviceClass", 2, required=True, nullable=True, doc="The objects.")


class DeviceClassSpec(KubeSchema):
    """What a DeviceClass should be."""

    selectors = f.List(
        "DeviceSelector",
        1,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )
    config = f.List(
        "DeviceClassConfiguration",
        2,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )
    extendedResourceName = f.String(
        4,
        ptr=True,
        omitempty=True,
        gate="DRAExtendedResource",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:format=k8s-extended-resource-name',
        ),
    )


class DeviceConfiguration(KubeSchema, published=False):
    """Device configuration: part of DeviceAllocationConfiguration, DeviceClaimConfiguration, DeviceClassConfiguration."""

    opaque = f.Struct(
        "OpaqueDeviceConfiguration", 1, ptr=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )


class DeviceConstraint(KubeSchema):
    """Device constraint: part of DeviceClaim.constraints."""

    requests = f.List(
        f.String(),
        1,
        omitempty=True,
        list_type="atomic",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=set',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=32',
        ),
    )
    matchAttribute = f.String(
        2,
        ptr=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:format=k8s-resource-fully-qualified-name',
        ),
        typedef="v1.FullyQualifiedName",
    )
    distinctAttribute = f.String(
        3, ptr=True, omitempty=True, gate="DRAConsumableCapacity", typedef="v1.FullyQualifiedName"
    )


class DeviceCounterConsumption(KubeSchema):
    """Device counter consumption: part of Device.consumesCounters."""

    counterSet = f.String(
        1,
        required=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-short-name'),
    )
    counters = f.Map(
        "Counter",
        2,
        required=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:eachKey=+k8s:format=k8s-short-name',
        ),
    )


class DeviceRequest(KubeSchema):
    """Device request: part of DeviceClaim.requests."""

    name = f.String(1, required=True)
    exactly = f.Struct(
        "ExactDeviceRequest", 2, ptr=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )
    firstAvailable = f.List(
        "DeviceSubRequest",
        3,
        omitempty=True,
        list_type="atomic",
        gate="DRAPrioritizedList",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=name',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=8',
        ),
    )


class DeviceRequestAllocationResult(KubeSchema):
    """Device request allocation result: part of DeviceAllocationResult.results."""

    request = f.String(1, required=True)
    driver = f.String(
        2,
        required=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:format=k8s-long-name-caseless',
            'k8s:alpha(since: "1.36")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:maxLength=63',
        ),
    )
    pool = f.String(
        3,
        required=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-resource-pool-name'),
    )
    device = f.String(4, required=True)
    adminAccess = f.Bool(5, ptr=True, omitempty=True, gate="DRAAdminAccess")
    tolerations = f.List(
        "DeviceToleration",
        6,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceTaints",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    bindingConditions = f.List(
        f.String(),
        7,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceBindingConditions,DRAResourceClaimDeviceStatus",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=4'),
    )
    bindingFailureConditions = f.List(
        f.String(),
        8,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceBindingConditions,DRAResourceClaimDeviceStatus",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=4'),
    )
    shareID = f.String(
        9,
        ptr=True,
        omitempty=True,
        gate="DRAConsumableCapacity",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-uuid'),
    )
    consumedCapacity = f.Map(
        f.Quantity(), 10, omitempty=True, typedef="map[v1.QualifiedName]resource.Quantity", gate="DRAConsumableCapacity"
    )


class DeviceSelector(KubeSchema):
    """Device selector: part of DeviceClassSpec.selectors, DeviceSubRequest.selectors, ExactDeviceRequest.selectors."""

    cel = f.Struct("CELDeviceSelector", 1, ptr=True, omitempty=True)


class DeviceSubRequest(KubeSchema):
    """Device sub request: part of DeviceRequest.firstAvailable."""

    name = f.String(1, required=True)
    deviceClassName = f.String(
        2,
        required=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-long-name'),
    )
    selectors = f.List(
        "DeviceSelector",
        3,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )
    allocationMode = f.String(
        4,
        omitempty=True,
        enum=("All", "ExactCount"),
        typedef="v1.DeviceAllocationMode",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    count = f.Int64(5, omitempty=True)
    tolerations = f.List(
        "DeviceToleration",
        6,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceTaints",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    capacity = f.Struct("CapacityRequirements", 7, ptr=True, omitempty=True, gate="DRAConsumableCapacity")


class DeviceTaint(KubeSchema):
    """Device taint: part of Device.taints."""

    key = f.String(1, required=True)
    value = f.String(2, omitempty=True)
    effect = f.String(
        3,
        required=True,
        enum=("NoExecute", "NoSchedule", "None"),
        typedef="v1.DeviceTaintEffect",
        dv=('k8s:alpha(since: "1.36")=+k8s:required',),
    )
    timeAdded = f.Time(4, ptr=True, omitempty=True)


class DeviceToleration(KubeSchema):
    """Device toleration: part of DeviceRequestAllocationResult.tolerations, DeviceSubRequest.tolerations, ExactDeviceRequest.tolerations."""

    key = f.String(
        1,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:format=k8s-label-key'),
    )
    operator = f.String(
        2,
        omitempty=True,
        default="Equal",
        enum=("Equal", "Exists"),
        typedef="v1.DeviceTolerationOperator",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    value = f.String(3, omitempty=True)
    effect = f.String(
        4,
        omitempty=True,
        enum=("NoExecute", "NoSchedule", "None"),
        typedef="v1.DeviceTaintEffect",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    tolerationSeconds = f.Int64(5, ptr=True, omitempty=True)


class ExactDeviceRequest(KubeSchema):
    """Exact device request: part of DeviceRequest.exactly."""

    deviceClassName = f.String(1, required=True)
    selectors = f.List(
        "DeviceSelector",
        2,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxItems=32'),
    )
    allocationMode = f.String(
        3,
        omitempty=True,
        enum=("All", "ExactCount"),
        typedef="v1.DeviceAllocationMode",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    count = f.Int64(4, omitempty=True)
    adminAccess = f.Bool(5, ptr=True, omitempty=True, gate="DRAAdminAccess")
    tolerations = f.List(
        "DeviceToleration",
        6,
        omitempty=True,
        list_type="atomic",
        gate="DRADeviceTaints",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    capacity = f.Struct("CapacityRequirements", 7, ptr=True, omitempty=True, gate="DRAConsumableCapacity")


class NetworkDeviceData(KubeSchema):
    """Network device data: part of AllocatedDeviceStatus.networkData."""

    interfaceName = f.String(
        1, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxBytes=256')
    )
    ips = f.List(
        f.String(),
        2,
        omitempty=True,
        list_type="atomic",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=set',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=16',
        ),
    )
    hardwareAddress = f.String(
        3, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:maxBytes=128')
    )


class NodeAllocatableResourceMapping(KubeSchema):
    """Node allocatable resource mapping: part of Device.nodeAllocatableResourceMappings."""

    capacityKey = f.String(1, ptr=True, omitempty=True)
    allocationMultiplier = f.Quantity(2, ptr=True, omitempty=True)


class OpaqueDeviceConfiguration(KubeSchema):
    """Opaque device configuration: part of DeviceConfiguration.opaque."""

    driver = f.String(
        1,
        required=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:format=k8s-long-name-caseless',
            'k8s:alpha(since: "1.36")=+k8s:maxLength=63',
        ),
    )
    parameters = f.RawExtension(2, required=True, nullable=True)


class ResourceClaim(KubeObject):
    """A wish for devices that a pod needs."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct(
        "ResourceClaimSpec",
        2,
        required=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:immutable',),
        doc="What is wished for.",
    )
    status = f.Struct("ResourceClaimStatus", 3, omitempty=True, doc="What is observed.")


class ResourceClaimConsumerReference(KubeSchema):
    """Resource claim consumer reference: part of ResourceClaimStatus.reservedFor."""

    apiGroup = f.String(1, omitempty=True)
    resource = f.String(3, required=True)
    name = f.String(4, required=True)
    uid = f.String(5, required=True, typedef="types.UID")


class ResourceClaimList(KubeObject):
    """A list of ResourceClaim objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ResourceClaim", 2, required=True, nullable=True, doc="The objects.")


class ResourceClaimSpec(KubeSchema):
    """What a ResourceClaim should be."""

    devices = f.Struct("DeviceClaim", 1)


class ResourceClaimStatus(KubeSchema):
    """What is observed of a ResourceClaim."""

    allocation = f.Struct(
        "AllocationResult",
        1,
        ptr=True,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:update=NoModify'),
    )
    reservedFor = f.List(
        "ResourceClaimConsumerReference",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("uid",),
        patch_strategy="merge",
        patch_merge_key="uid",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:listType=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=uid',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=256',
        ),
    )
    devices = f.List(
        "AllocatedDeviceStatus",
        4,
        omitempty=True,
        list_type="map",
        list_map_keys=("driver", "device", "pool", "shareID"),
        gate="DRAResourceClaimDeviceStatus",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:listType=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=driver',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=device',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=pool',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=shareID',
        ),
    )


class ResourceClaimTemplate(KubeObject):
    """A template for the ResourceClaims of pods."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ResourceClaimTemplateSpec", 2, required=True, doc="What is wished for.")


class ResourceClaimTemplateList(KubeObject):
    """A list of ResourceClaimTemplate objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ResourceClaimTemplate", 2, required=True, nullable=True, doc="The objects.")


class ResourceClaimTemplateSpec(KubeSchema):
    """What a ResourceClaimTemplate should be."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ResourceClaimSpec", 2, required=True, doc="What is wished for.")


class ResourcePool(KubeSchema):
    """Resource pool: part of ResourceSliceSpec.pool."""

    name = f.String(1, required=True)
    generation = f.Int64(2, required=True)
    resourceSliceCount = f.Int64(3, required=True)


class ResourceSlice(KubeObject):
    """Devices that a driver offers on a node or in a pool."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ResourceSliceSpec", 2, required=True, doc="What is wished for.")


class ResourceSliceList(KubeObject):
    """A list of ResourceSlice objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ResourceSlice", 2, required=True, nullable=True, doc="The objects.")


class ResourceSliceSpec(KubeSchema):
    """What a ResourceSlice should be."""

    driver = f.String(1, required=True)
    pool = f.Struct("ResourcePool", 2, required=True)
    nodeName = f.String(3, ptr=True, omitempty=True)
    nodeSelector = f.Struct("hyperkube_api.core.v1:NodeSelector", 4, ptr=True, omitempty=True)
    allNodes = f.Bool(5, ptr=True, omitempty=True)
    devices = f.List("Device", 6, omitempty=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',))
    perDeviceNodeSelection = f.Bool(7, ptr=True, omitempty=True, gate="DRAPartitionableDevices")
    sharedCounters = f.List(
        "CounterSet",
        8,
        omitempty=True,
        list_type="atomic",
        gate="DRAPartitionableDevices",
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:unique=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=name',
            'k8s:alpha(since: "1.36")=+k8s:maxItems=8',
        ),
    )
