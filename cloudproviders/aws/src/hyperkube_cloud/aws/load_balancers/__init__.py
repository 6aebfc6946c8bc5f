"""Balancers for Services: classic ELBs, or network balancers where the Service's annotation says ``nlb``.

Source: kubernetes legacy-cloud-providers ``aws/aws.go`` (EnsureLoadBalancer …), ``aws/aws_loadbalancer.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_cloud.aws.load_balancers.annotations import TYPE, kind_of
from hyperkube_cloud.aws.load_balancers.classic import ClassicBalancers
from hyperkube_cloud.aws.load_balancers.network import NetworkBalancers
from hyperkube_lib.cloud_provider.services import balancer_name

from hyperkube.hookspecs.cloud import ImplementedElsewhere
from hyperkube.machinery.objects import Object, annotations_of


class AwsLoadBalancers:
    """Implements `hyperkube.hookspecs.cloud.LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(self, classic: ClassicBalancers, network: NetworkBalancers) -> None:
        self._classic, self._network = classic, network

    def name(self, cluster: str, service: Object) -> str:
        """Return the name of a Service's balancer."""
        return balancer_name(service)

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none."""
        return self._of(service).get(service)

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer as the Service wants it, and return its status."""
        return self._of(service).ensure(service, nodes)

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send the balancer's traffic to these nodes."""
        self._of(service).update(service, nodes)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer with all that was made for it."""
        self._of(service).ensure_deleted(service)

    def _of(self, service: Object) -> ClassicBalancers | NetworkBalancers:
        kind = kind_of(service)
        if kind in {"external", "nlb-ip"}:
            raise ImplementedElsewhere(f"{TYPE}: {annotations_of(service)[TYPE]}")
        return self._network if kind == "nlb" else self._classic
