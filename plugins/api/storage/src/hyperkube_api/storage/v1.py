"""The types of storage.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="storage.k8s.io",
    version="v1",
    proto="k8s.io.api.storage.v1",
    openapi="io.k8s.api.storage.v1",
)


class CSIDriver(KubeObject):
    """What a storage driver can do."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("CSIDriverSpec", 2, required=True, doc="What is wished for.")


class CSIDriverList(KubeObject):
    """A list of CSIDriver objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CSIDriver", 2, required=True, nullable=True, doc="The objects.")


class CSIDriverSpec(KubeSchema):
    """What a CSIDriver should be."""

    attachRequired = f.Bool(1, ptr=True, omitempty=True)
    podInfoOnMount = f.Bool(2, ptr=True, omitempty=True)
    volumeLifecycleModes = f.List(f.String(typedef="v1.VolumeLifecycleMode"), 3, omitempty=True, list_type="set")
    storageCapacity = f.Bool(4, ptr=True, omitempty=True, gate="CSIStorageCapacity")
    fsGroupPolicy = f.String(5, ptr=True, omitempty=True, typedef="v1.FSGroupPolicy")
    tokenRequests = f.List("TokenRequest", 6, omitempty=True, list_type="atomic")
    requiresRepublish = f.Bool(7, ptr=True, omitempty=True)
    seLinuxMount = f.Bool(8, ptr=True, omitempty=True, gate="SELinuxMountReadWriteOncePod")
    nodeAllocatableUpdatePeriodSeconds = f.Int64(9, ptr=True, omitempty=True, gate="MutableCSINodeAllocatableCount")
    serviceAccountTokenInSecrets = f.Bool(10, ptr=True, omitempty=True, gate="CSIServiceAccountTokenSecrets")
    preventPodSchedulingIfMissing = f.Bool(11, ptr=True, omitempty=True, gate="VolumeLimitScaling")


class CSINode(KubeObject):
    """The storage drivers of a node."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("CSINodeSpec", 2, required=True, doc="What is wished for.")


class CSINodeDriver(KubeSchema):
    """CSI node driver: part of CSINodeSpec.drivers."""

    name = f.String(1, required=True)
    nodeID = f.String(2, required=True)
    topologyKeys = f.List(f.String(), 3, nullable=True, list_type="atomic")
    allocatable = f.Struct("VolumeNodeResources", 4, ptr=True, omitempty=True)


class CSINodeList(KubeObject):
    """A list of CSINode objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CSINode", 2, required=True, nullable=True, doc="The objects.")


class CSINodeSpec(KubeSchema):
    """What a CSINode should be."""

    drivers = f.List(
        "CSINodeDriver",
        1,
        required=True,
        nullable=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )


class CSIStorageCapacity(KubeObject):
    """How much storage a driver can still make for a class in a part of the cluster."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    nodeTopology = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True)
    storageClassName = f.String(3, required=True)
    capacity = f.Quantity(4, ptr=True, omitempty=True)
    maximumVolumeSize = f.Quantity(5, ptr=True, omitempty=True)


class CSIStorageCapacityList(KubeObject):
    """A list of CSIStorageCapacity objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CSIStorageCapacity", 2, required=True, nullable=True, doc="The objects.")


class StorageClass(KubeObject):
    """A kind of storage that claims can ask for, with the provisioner that makes it."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    provisioner = f.String(
        2, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:immutable')
    )
    parameters = f.Map(
        f.String(),
        3,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:immutable', 'k8s:alpha(since: "1.36")=+k8s:optional'),
    )
    reclaimPolicy = f.String(
        4,
        ptr=True,
        omitempty=True,
        enum=("Delete", "Recycle", "Retain"),
        dv=('k8s:alpha(since: "1.36")=+k8s:immutable', 'k8s:alpha(since: "1.36")=+k8s:optional'),
        typedef="v1.PersistentVolumeReclaimPolicy",
    )
    mountOptions = f.List(f.String(), 5, omitempty=True, list_type="atomic")
    allowVolumeExpansion = f.Bool(6, ptr=True, omitempty=True)
    volumeBindingMode = f.String(
        7,
        ptr=True,
        omitempty=True,
        enum=("Immediate", "WaitForFirstConsumer"),
        typedef="v1.VolumeBindingMode",
        dv=('k8s:alpha(since: "1.36")=+k8s:immutable', 'k8s:alpha(since: "1.36")=+k8s:optional'),
    )
    allowedTopologies = f.List("hyperkube_api.core.v1:TopologySelectorTerm", 8, omitempty=True, list_type="atomic")


class StorageClassList(KubeObject):
    """A list of StorageClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("StorageClass", 2, required=True, nullable=True, doc="The objects.")


class TokenRequest(KubeSchema):
    """Asks for a token of a service account."""

    audience = f.String(1, required=True)
    expirationSeconds = f.Int64(2, ptr=True, omitempty=True)


class VolumeAttachment(KubeObject):
    """The wish to have a volume attached to a node, and how far that is."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct(
        "VolumeAttachmentSpec",
        2,
        required=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:immutable',),
        doc="What is wished for.",
    )
    status = f.Struct("VolumeAttachmentStatus", 3, omitempty=True, doc="What is observed.")


class VolumeAttachmentList(KubeObject):
    """A list of VolumeAttachment objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("VolumeAttachment", 2, required=True, nullable=True, doc="The objects.")


class VolumeAttachmentSource(KubeSchema):
    """Volume attachment source: part of VolumeAttachmentSpec.source."""

    persistentVolumeName = f.String(1, ptr=True, omitempty=True)
    inlineVolumeSpec = f.Struct("hyperkube_api.core.v1:PersistentVolumeSpec", 2, ptr=True, omitempty=True)


class VolumeAttachmentSpec(KubeSchema):
    """What a VolumeAttachment should be."""

    attacher = f.String(
        1,
        required=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:format="k8s-long-name-caseless"',
            'k8s:alpha(since: "1.36")=+k8s:maxLength=63',
        ),
    )
    source = f.Struct("VolumeAttachmentSource", 2, required=True)
    nodeName = f.String(3, required=True)


class VolumeAttachmentStatus(KubeSchema):
    """What is observed of a VolumeAttachment."""

    attached = f.Bool(1, required=True)
    attachmentMetadata = f.Map(f.String(), 2, omitempty=True)
    attachError = f.Struct("VolumeError", 3, ptr=True, omitempty=True)
    detachError = f.Struct("VolumeError", 4, ptr=True, omitempty=True)


class VolumeAttributesClass(KubeObject):
    """Changeable attributes of volumes under a name."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    driverName = f.String(2, required=True)
    parameters = f.Map(f.String(), 3, omitempty=True)


class VolumeAttributesClassList(KubeObject):
    """A list of VolumeAttributesClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("VolumeAttributesClass", 2, required=True, nullable=True, doc="The objects.")


class VolumeError(KubeSchema):
    """Volume error: part of VolumeAttachmentStatus.attachError, VolumeAttachmentStatus.detachError."""

    time = f.Time(1, omitempty=True)
    message = f.String(2, omitempty=True, doc="Why, for people.")
    errorCode = f.Int32(3, ptr=True, omitempty=True, gate="MutableCSINodeAllocatableCount")


class VolumeNodeResources(KubeSchema):
    """Volume node resources: part of CSINodeDriver.allocatable."""

    count = f.Int32(1, ptr=True, omitempty=True)
