"""The types of discovery.k8s.io/v1beta1: where an endpoint is, is one map."""

# ruff: noqa: N815 -- members bear Kubernetes' own names

from hyperkube_api.discovery import v1 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="discovery.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.discovery.v1beta1",
    openapi="io.k8s.api.discovery.v1beta1",
)


class Endpoint(KubeSchema):
    """Endpoint: part of EndpointSlice.endpoints."""

    addresses = f.List(f.String(), 1, required=True, nullable=True, list_type="set")
    conditions = f.Struct(
        "hyperkube_api.discovery.v1:EndpointConditions", 2, omitempty=True, doc="Aspects of its state."
    )
    hostname = f.String(3, ptr=True, omitempty=True)
    targetRef = f.Struct("hyperkube_api.core.v1:ObjectReference", 4, ptr=True, omitempty=True)
    topology = f.Map(f.String(), 5, omitempty=True)
    nodeName = f.String(6, ptr=True, omitempty=True)
    hints = f.Struct("hyperkube_api.discovery.v1:EndpointHints", 7, ptr=True, omitempty=True)


EndpointSlice = alias(newer.EndpointSlice, __name__, endpoints=f.List("Endpoint", 2, nullable=True, list_type="atomic"))
EndpointSliceList = list_alias(newer.EndpointSliceList, __name__)
