"""The types of networking.k8s.io/v1beta1: Ingress as it was, and its class as it is."""

from hyperkube_api.legacy_workloads.schemas import ingresses
from hyperkube_api.meta.again import again, listed
from hyperkube_api.networking import v1 as newer

PACKAGE = ingresses.PACKAGE

Ingress = ingresses.Ingress
IngressList = listed(newer.IngressList, __name__)
IngressClass = again(newer.IngressClass, __name__)
IngressClassList = listed(newer.IngressClassList, __name__)
