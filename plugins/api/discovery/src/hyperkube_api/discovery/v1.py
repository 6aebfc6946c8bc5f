"""The types of discovery.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="discovery.k8s.io",
    version="v1",
    proto="k8s.io.api.discovery.v1",
    openapi="io.k8s.api.discovery.v1",
)


class Endpoint(KubeSchema):
    """Endpoint: part of EndpointSlice.endpoints."""

    addresses = f.List(
        f.String(),
        1,
        required=True,
        nullable=True,
        list_type="set",
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:maxItems=100'),
    )
    conditions = f.Struct(
        "EndpointConditions", 2, omitempty=True, doc="Aspects of the state, each true, false or unknown."
    )
    hostname = f.String(3, ptr=True, omitempty=True)
    targetRef = f.Struct("hyperkube_api.core.v1:ObjectReference", 4, ptr=True, omitempty=True)
    deprecatedTopology = f.Map(f.String(), 5, omitempty=True)
    nodeName = f.String(6, ptr=True, omitempty=True)
    zone = f.String(7, ptr=True, omitempty=True)
    hints = f.Struct("EndpointHints", 8, ptr=True, omitempty=True)


class EndpointConditions(KubeSchema):
    """Endpoint conditions: part of Endpoint.conditions."""

    ready = f.Bool(1, ptr=True, omitempty=True)
    serving = f.Bool(2, ptr=True, omitempty=True)
    terminating = f.Bool(3, ptr=True, omitempty=True)


class EndpointHints(KubeSchema):
    """Endpoint hints: part of Endpoint.hints."""

    forZones = f.List("ForZone", 1, omitempty=True, list_type="atomic")
    forNodes = f.List("ForNode", 2, omitempty=True, list_type="atomic")


class EndpointPort(KubeSchema, struct_type="atomic"):
    """Endpoint port: part of EndpointSlice.ports."""

    name = f.String(1, ptr=True, omitempty=True)
    protocol = f.String(2, ptr=True, omitempty=True, enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol")
    port = f.Int32(3, ptr=True, omitempty=True)
    appProtocol = f.String(4, ptr=True, omitempty=True)


class EndpointSlice(KubeObject):
    """A part of the addresses behind a Service."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    addressType = f.String(
        4,
        required=True,
        enum=("FQDN", "IPv4", "IPv6"),
        typedef="v1.AddressType",
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:immutable'),
    )
    endpoints = f.List("Endpoint", 2, nullable=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',))
    ports = f.List("EndpointPort", 3, nullable=True, list_type="atomic")


class EndpointSliceList(KubeObject):
    """A list of EndpointSlice objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("EndpointSlice", 2, required=True, nullable=True, doc="The objects.")


class ForNode(KubeSchema):
    """For node: part of EndpointHints.forNodes."""

    name = f.String(1, required=True)


class ForZone(KubeSchema):
    """For zone: part of EndpointHints.forZones."""

    name = f.String(1, required=True)
