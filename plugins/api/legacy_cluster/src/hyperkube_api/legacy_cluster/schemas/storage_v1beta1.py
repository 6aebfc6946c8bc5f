"""The types of storage.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.meta.again import again, listed
from hyperkube_api.storage import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="storage.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.storage.v1beta1",
    openapi="io.k8s.api.storage.v1beta1",
)

CSIDriver = again(newer.CSIDriver, __name__)
CSIDriverList = listed(newer.CSIDriverList, __name__)
CSINode = again(newer.CSINode, __name__)
CSINodeList = listed(newer.CSINodeList, __name__)
CSIStorageCapacity = again(newer.CSIStorageCapacity, __name__)
CSIStorageCapacityList = listed(newer.CSIStorageCapacityList, __name__)
StorageClass = again(newer.StorageClass, __name__)
StorageClassList = listed(newer.StorageClassList, __name__)
VolumeAttachment = again(newer.VolumeAttachment, __name__)
VolumeAttachmentList = listed(newer.VolumeAttachmentList, __name__)
