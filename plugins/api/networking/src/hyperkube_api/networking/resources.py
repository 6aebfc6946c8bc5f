"""The networking group: who may reach which pods, from outside and from within."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import Version, columns
from hyperkube_api.networking import tables
from hyperkube_api.networking.strategies import (
    IngressClassStrategy,
    IngressStrategy,
    IPAddressStrategy,
    NetworkPolicyStrategy,
    ServiceCIDRStrategy,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("networking.k8s.io", "v1", "hyperkube_api.networking.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "ingressclasses",
            "IngressClass",
            namespaced=False,
            storage_prefix="ingressclasses",
            storage_version_hash="l/iqIbDgFyQ=",
            strategy=IngressClassStrategy(),
            columns=columns(
                "Controller -- Controller that is responsible for handling this class",
                "Parameters -- A reference to a resource with additional parameters",
                "Age",
            ),
            cells=tables.ingress_class,
        ),
        V1.resource(
            "ingresses",
            "Ingress",
            short_names=("ing",),
            storage_prefix="ingress",
            storage_version_hash="39NQlfNR+bo=",
            strategy=IngressStrategy(),
            columns=columns(
                "Class -- The name of the IngressClass resource that should be used for additional configuration",
                "Hosts -- Hosts that incoming requests are matched against before the ingress rule",
                "Address -- Address is a list containing ingress points for the load-balancer",
                "Ports -- Ports of TLS configurations that open",
                "Age",
            ),
            cells=tables.ingress,
            subresources=(V1.status("Ingress"),),
        ),
        V1.resource(
            "ipaddresses",
            "IPAddress",
            namespaced=False,
            short_names=("ip",),
            storage_prefix="ipaddresses",
            storage_version_hash="3f/plJFChNE=",
            strategy=IPAddressStrategy(),
            columns=columns("ParentRef=spec.parentRef"),
            cells=tables.ip_address,
        ),
        V1.resource(
            "networkpolicies",
            "NetworkPolicy",
            short_names=("netpol",),
            storage_prefix="networkpolicies",
            storage_version_hash="YpfwF18m1G8=",
            strategy=NetworkPolicyStrategy(),
            columns=columns("Pod-Selector=spec.podSelector", "Age"),
            cells=tables.network_policy,
        ),
        V1.resource(
            "servicecidrs",
            "ServiceCIDR",
            namespaced=False,
            storage_prefix="servicecidrs",
            storage_version_hash="gNLvruQhW2g=",
            strategy=ServiceCIDRStrategy(),
            columns=columns("CIDRs=spec.cidrs", "Age"),
            cells=tables.service_cidr,
            subresources=(V1.status("ServiceCIDR"),),
        ),
    )


class NetworkingApi(Plugin):
    """The networking group: who may reach which pods, from outside and from within."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve networking.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="networking.k8s.io", version="v1", resources=_v1(), group_priority=17_200, version_priority=15
            ),
        ]
