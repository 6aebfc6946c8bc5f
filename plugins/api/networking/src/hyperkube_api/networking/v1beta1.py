"""The types of networking.k8s.io/v1beta1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="networking.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.networking.v1beta1",
    openapi="io.k8s.api.networking.v1beta1",
)


class HTTPIngressPath(KubeSchema, published=False):
    """HTTP ingress path: part of HTTPIngressRuleValue.paths."""

    path = f.String(1, omitempty=True)
    pathType = f.String(3, ptr=True, omitempty=True, typedef="v1beta1.PathType")
    backend = f.Struct("IngressBackend", 2, required=True)


class HTTPIngressRuleValue(KubeSchema, published=False):
    """HTTP ingress rule value: part of IngressRuleValue.http."""

    paths = f.List("HTTPIngressPath", 1, required=True, nullable=True, list_type="atomic")


class IPAddress(KubeObject):
    """An address in use by a Service."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("IPAddressSpec", 2, required=True, omitempty=True, doc="What is wished for.")


class IPAddressList(KubeObject):
    """A list of IPAddress objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("IPAddress", 2, required=True, nullable=True, doc="The objects.")


class IPAddressSpec(KubeSchema):
    """What a IPAddress should be."""

    parentRef = f.Struct(
        "ParentReference",
        1,
        required=True,
        ptr=True,
        omitempty=True,
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:immutable'),
    )


class Ingress(KubeObject, published=False):
    """Routes HTTP from outside to Services by host and path."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("IngressSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("IngressStatus", 3, omitempty=True, doc="What is observed.")


class IngressBackend(KubeSchema, published=False):
    """Ingress backend: part of HTTPIngressPath.backend, IngressSpec.backend."""

    serviceName = f.String(1, omitempty=True)
    servicePort = f.IntOrString(2, omitempty=True)
    resource = f.Struct("hyperkube_api.core.v1:TypedLocalObjectReference", 3, ptr=True, omitempty=True)


class IngressClass(KubeObject, published=False):
    """Names the controller that serves Ingresses of a class."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("IngressClassSpec", 2, omitempty=True, doc="What is wished for.")


class IngressClassList(KubeObject, published=False):
    """A list of IngressClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("IngressClass", 2, required=True, nullable=True, doc="The objects.")


class IngressClassParametersReference(KubeSchema, published=False):
    """Ingress class parameters reference: part of IngressClassSpec.parameters."""

    apiGroup = f.String(1, ptr=True, omitempty=True)
    kind = f.String(2, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    name = f.String(3, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    scope = f.String(4, required=True, ptr=True, nullable=True)
    namespace = f.String(5, ptr=True, omitempty=True)


class IngressClassSpec(KubeSchema, published=False):
    """What a IngressClass should be."""

    controller = f.String(1, omitempty=True)
    parameters = f.Struct(
        "IngressClassParametersReference", 2, ptr=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )


class IngressList(KubeObject, published=False):
    """A list of Ingress objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Ingress", 2, required=True, nullable=True, doc="The objects.")


class IngressLoadBalancerIngress(KubeSchema, published=False):
    """Ingress load balancer ingress: part of IngressLoadBalancerStatus.ingress."""

    ip = f.String(1, omitempty=True)
    hostname = f.String(2, omitempty=True)
    ports = f.List("IngressPortStatus", 4, omitempty=True, list_type="atomic")


class IngressLoadBalancerStatus(KubeSchema, published=False):
    """Ingress load balancer status: part of IngressStatus.loadBalancer."""

    ingress = f.List("IngressLoadBalancerIngress", 1, omitempty=True, list_type="atomic")


class IngressPortStatus(KubeSchema, published=False):
    """Ingress port status: part of IngressLoadBalancerIngress.ports."""

    port = f.Int32(1, required=True)
    protocol = f.String(2, required=True, enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol")
    error = f.String(3, ptr=True, omitempty=True)


class IngressRule(KubeSchema, published=False):
    """Ingress rule: part of IngressSpec.rules."""

    host = f.String(1, omitempty=True)
    ingress_rule_value = f.Inline("IngressRuleValue", 2)


class IngressRuleValue(KubeSchema, published=False):
    """Ingress rule value: part of IngressRule."""

    http = f.Struct("HTTPIngressRuleValue", 1, ptr=True, omitempty=True)


class IngressSpec(KubeSchema, published=False):
    """What a Ingress should be."""

    ingressClassName = f.String(4, ptr=True, omitempty=True)
    backend = f.Struct("IngressBackend", 1, ptr=True, omitempty=True)
    tls = f.List("IngressTLS", 2, omitempty=True, list_type="atomic")
    rules = f.List("IngressRule", 3, omitempty=True, list_type="atomic")


class IngressStatus(KubeSchema, published=False):
    """What is observed of a Ingress."""

    loadBalancer = f.Struct("IngressLoadBalancerStatus", 1, omitempty=True)


class IngressTLS(KubeSchema, published=False):
    """Ingress TLS: part of IngressSpec.tls."""

    hosts = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    secretName = f.String(2, omitempty=True)


class ParentReference(KubeSchema):
    """Parent reference: part of IPAddressSpec.parentRef."""

    group = f.String(1, omitempty=True)
    resource = f.String(2, required=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    namespace = f.String(3, omitempty=True)
    name = f.String(4, required=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))


class ServiceCIDR(KubeObject):
    """A range from which Services get their addresses."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ServiceCIDRSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ServiceCIDRStatus", 3, omitempty=True, doc="What is observed.")


class ServiceCIDRList(KubeObject):
    """A list of ServiceCIDR objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ServiceCIDR", 2, required=True, nullable=True, doc="The objects.")


class ServiceCIDRSpec(KubeSchema):
    """What a ServiceCIDR should be."""

    cidrs = f.List(f.String(), 1, omitempty=True, list_type="atomic")


class ServiceCIDRStatus(KubeSchema):
    """What is observed of a ServiceCIDR."""

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
