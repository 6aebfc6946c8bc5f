"""The types of coordination.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.coordination import v1 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="coordination.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.coordination.v1beta1",
    openapi="io.k8s.api.coordination.v1beta1",
)

Lease = alias(newer.Lease, __name__)
LeaseList = list_alias(newer.LeaseList, __name__)
