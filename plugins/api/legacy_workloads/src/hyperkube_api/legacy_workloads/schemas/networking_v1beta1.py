"""The types of networking.k8s.io/v1beta1: Ingress as it was, and its class as it is."""

from hyperkube_api.legacy_workloads.schemas import ingresses
from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.networking import v1 as newer

PACKAGE = ingresses.PACKAGE

Ingress = ingresses.Ingress
IngressList = list_alias(newer.IngressList, __name__)
IngressClass = alias(newer.IngressClass, __name__)
IngressClassList = list_alias(newer.IngressClassList, __name__)
