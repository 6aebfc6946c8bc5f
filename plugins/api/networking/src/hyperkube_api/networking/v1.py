"""The types of networking.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="networking.k8s.io",
    version="v1",
    proto="k8s.io.api.networking.v1",
    openapi="io.k8s.api.networking.v1",
)


class HTTPIngressPath(KubeSchema):
    """HTTP ingress path: part of HTTPIngressRuleValue.paths."""

    path = f.String(1, omitempty=True)
    pathType = f.String(
        3,
        required=True,
        ptr=True,
        nullable=True,
        enum=("Exact", "ImplementationSpecific", "Prefix"),
        typedef="v1.PathType",
    )
    backend = f.Struct("IngressBackend", 2, required=True)


class HTTPIngressRuleValue(KubeSchema):
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


class IPBlock(KubeSchema):
    """IP block: part of NetworkPolicyPeer.ipBlock."""

    cidr = f.String(1, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    except_ = f.List(f.String(), 2, name="except", omitempty=True, list_type="atomic")


class Ingress(KubeObject):
    """Routes HTTP from outside to Services by host and path."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("IngressSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("IngressStatus", 3, omitempty=True, doc="What is observed.")


class IngressBackend(KubeSchema):
    """Ingress backend: part of HTTPIngressPath.backend, IngressSpec.defaultBackend."""

    service = f.Struct("IngressServiceBackend", 4, ptr=True, omitempty=True)
    resource = f.Struct("hyperkube_api.core.v1:TypedLocalObjectReference", 3, ptr=True, omitempty=True)


class IngressClass(KubeObject):
    """Names the controller that serves Ingresses of a class."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("IngressClassSpec", 2, omitempty=True, doc="What is wished for.")


class IngressClassList(KubeObject):
    """A list of IngressClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("IngressClass", 2, required=True, nullable=True, doc="The objects.")


class IngressClassParametersReference(KubeSchema):
    """Ingress class parameters reference: part of IngressClassSpec.parameters."""

    apiGroup = f.String(1, ptr=True, omitempty=True)
    kind = f.String(2, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    name = f.String(3, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    scope = f.String(4, ptr=True, nullable=True)
    namespace = f.String(5, ptr=True, omitempty=True)


class IngressClassSpec(KubeSchema):
    """What a IngressClass should be."""

    controller = f.String(1, omitempty=True)
    parameters = f.Struct(
        "IngressClassParametersReference", 2, ptr=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )


class IngressList(KubeObject):
    """A list of Ingress objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Ingress", 2, required=True, nullable=True, doc="The objects.")


class IngressLoadBalancerIngress(KubeSchema):
    """Ingress load balancer ingress: part of IngressLoadBalancerStatus.ingress."""

    ip = f.String(1, omitempty=True)
    hostname = f.String(2, omitempty=True)
    ports = f.List("IngressPortStatus", 4, omitempty=True, list_type="atomic")


class IngressLoadBalancerStatus(KubeSchema):
    """Ingress load balancer status: part of IngressStatus.loadBalancer."""

    ingress = f.List("IngressLoadBalancerIngress", 1, omitempty=True, list_type="atomic")


class IngressPortStatus(KubeSchema):
    """Ingress port status: part of IngressLoadBalancerIngress.ports."""

    port = f.Int32(1, required=True)
    protocol = f.String(2, required=True, enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol")
    error = f.String(3, ptr=True, omitempty=True)


class IngressRule(KubeSchema):
    """Ingress rule: part of IngressSpec.rules."""

    host = f.String(1, omitempty=True)
    ingress_rule_value = f.Inline("IngressRuleValue", 2)


class IngressRuleValue(KubeSchema, published=False):
    """Ingress rule value: part of IngressRule."""

    http = f.Struct("HTTPIngressRuleValue", 1, ptr=True, omitempty=True)


class IngressServiceBackend(KubeSchema):
    """Ingress service backend: part of IngressBackend.service."""

    name = f.String(1, required=True)
    port = f.Struct("ServiceBackendPort", 2, omitempty=True)


class IngressSpec(KubeSchema):
    """What a Ingress should be."""

    ingressClassName = f.String(4, ptr=True, omitempty=True)
    defaultBackend = f.Struct("IngressBackend", 1, ptr=True, omitempty=True)
    tls = f.List("IngressTLS", 2, omitempty=True, list_type="atomic")
    rules = f.List("IngressRule", 3, omitempty=True, list_type="atomic")


class IngressStatus(KubeSchema):
    """What is observed of a Ingress."""

    loadBalancer = f.Struct("IngressLoadBalancerStatus", 1, omitempty=True)


class IngressTLS(KubeSchema):
    """Ingress TLS: part of IngressSpec.tls."""

    hosts = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    secretName = f.String(2, omitempty=True)


class NetworkPolicy(KubeObject):
    """Tells which traffic may reach and leave a set of pods."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("NetworkPolicySpec", 2, omitempty=True, doc="What is wished for.")


class NetworkPolicyEgressRule(KubeSchema):
    """Network policy egress rule: part of NetworkPolicySpec.egress."""

    ports = f.List("NetworkPolicyPort", 1, omitempty=True, list_type="atomic")
    to = f.List(
        "NetworkPolicyPeer", 2, omitempty=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )


class NetworkPolicyIngressRule(KubeSchema):
    """Network policy ingress rule: part of NetworkPolicySpec.ingress."""

    ports = f.List("NetworkPolicyPort", 1, omitempty=True, list_type="atomic")
    from_ = f.List(
        "NetworkPolicyPeer",
        2,
        name="from",
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )


class NetworkPolicyList(KubeObject):
    """A list of NetworkPolicy objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("NetworkPolicy", 2, required=True, nullable=True, doc="The objects.")


class NetworkPolicyPeer(KubeSchema):
    """Network policy peer: part of NetworkPolicyEgressRule.to, NetworkPolicyIngressRule.from."""

    podSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 1, ptr=True, omitempty=True)
    namespaceSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True)
    ipBlock = f.Struct("IPBlock", 3, ptr=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:optional',))


class NetworkPolicyPort(KubeSchema):
    """Network policy port: part of NetworkPolicyEgressRule.ports, NetworkPolicyIngressRule.ports."""

    protocol = f.String(1, ptr=True, omitempty=True, enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol")
    port = f.IntOrString(2, ptr=True, omitempty=True)
    endPort = f.Int32(3, ptr=True, omitempty=True)


class NetworkPolicySpec(KubeSchema):
    """What a NetworkPolicy should be."""

    podSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 1)
    ingress = f.List(
        "NetworkPolicyIngressRule",
        2,
        omitempty=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:optional',),
    )
    egress = f.List(
        "NetworkPolicyEgressRule", 3, omitempty=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',)
    )
    policyTypes = f.List(
        f.String(typedef="v1.PolicyType"), 4, omitempty=True, enum=("Egress", "Ingress"), list_type="atomic"
    )


class ParentReference(KubeSchema):
    """Parent reference: part of IPAddressSpec.parentRef."""

    group = f.String(1, omitempty=True)
    resource = f.String(2, required=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    namespace = f.String(3, omitempty=True)
    name = f.String(4, required=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))


class ServiceBackendPort(KubeSchema, struct_type="atomic"):
    """Service backend port: part of IngressServiceBackend.port."""

    name = f.String(1, omitempty=True)
    number = f.Int32(2, omitempty=True)


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
