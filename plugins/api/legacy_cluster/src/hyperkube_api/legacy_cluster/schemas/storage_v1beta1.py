"""The types of storage.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.storage import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="storage.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.storage.v1beta1",
    openapi="io.k8s.api.storage.v1beta1",
)

CSIDriver = alias(newer.CSIDriver, __name__)
CSIDriverList = list_alias(newer.CSIDriverList, __name__)
CSINode = alias(newer.CSINode, __name__)
CSINodeList = list_alias(newer.CSINodeList, __name__)
CSIStorageCapacity = alias(newer.CSIStorageCapacity, __name__)
CSIStorageCapacityList = list_alias(newer.CSIStorageCapacityList, __name__)
StorageClass = alias(newer.StorageClass, __name__)
StorageClassList = list_alias(newer.StorageClassList, __name__)
VolumeAttachment = alias(newer.VolumeAttachment, __name__)
VolumeAttachmentList = list_alias(newer.VolumeAttachmentList, __name__)
