"""Ingress of the versions before networking.k8s.io/v1: a backend is a service's name and port."""

# ruff: noqa: N815 -- members bear Kubernetes' own names

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="networking.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.networking.v1beta1",
    openapi="io.k8s.api.networking.v1beta1",
)


class IngressBackend(KubeSchema):
    """Where requests go: part of HTTPIngressPath.backend, IngressSpec.backend."""

    serviceName = f.String(1, omitempty=True)
    servicePort = f.IntOrString(2, ptr=True, omitempty=True)
    resource = f.Struct("hyperkube_api.core.v1:TypedLocalObjectReference", 3, ptr=True, omitempty=True)


class HTTPIngressPath(KubeSchema):
    """HTTP ingress path: part of HTTPIngressRuleValue.paths."""

    path = f.String(1, omitempty=True)
    pathType = f.String(3, ptr=True, omitempty=True, typedef="v1beta1.PathType")
    backend = f.Struct("IngressBackend", 2, required=True)


class HTTPIngressRuleValue(KubeSchema):
    """HTTP ingress rule value: part of IngressRuleValue.http."""

    paths = f.List("HTTPIngressPath", 1, required=True, nullable=True, list_type="atomic")


class IngressRuleValue(KubeSchema, published=False):
    """Ingress rule value: part of IngressRule."""

    http = f.Struct("HTTPIngressRuleValue", 1, ptr=True, omitempty=True)


class IngressRule(KubeSchema):
    """Ingress rule: part of IngressSpec.rules."""

    host = f.String(1, omitempty=True)
    ingress_rule_value = f.Inline("IngressRuleValue", 2)


class IngressSpec(KubeSchema):
    """What an Ingress should be."""

    ingressClassName = f.String(4, ptr=True, omitempty=True)
    backend = f.Struct("IngressBackend", 1, ptr=True, omitempty=True)
    tls = f.List("hyperkube_api.networking.v1:IngressTLS", 2, omitempty=True, list_type="atomic")
    rules = f.List("IngressRule", 3, omitempty=True, list_type="atomic")


class Ingress(KubeObject):
    """Routes HTTP from outside to Services by host and path."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("IngressSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("hyperkube_api.networking.v1:IngressStatus", 3, omitempty=True, doc="What is observed.")
