"""What external and internal balancers have alike: a forwarding rule, an address, a check, a firewall for traffic."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hyperkube_cloud.gce.compute import Compute
from hyperkube_cloud.gce.instances import GceInstances
from hyperkube_cloud.gce.load_balancers import annotations as asked
from hyperkube_cloud.gce.load_balancers.addresses import Addresses
from hyperkube_cloud.gce.load_balancers.firewalls import Firewalls, Opening, traffic_description
from hyperkube_cloud.gce.load_balancers.health_checks import HealthChecks
from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.services import ports_of, protocol_of, service_name

from hyperkube.machinery.objects import Object


class ForwardingBalancers:
    """Balancers of one scheme."""

    def __init__(
        self,
        compute: Compute,
        location: Location,
        instances: GceInstances,
        firewalls: Firewalls,
        check_sources: Sequence[str],
        shared: threading.Lock,
    ) -> None:
        """Take `check_sources`, the ranges health is asked for from, and what keeps shared things from both ends."""
        self._compute, self._location, self._instances = compute, location, instances
        self._firewalls, self._check_sources, self._shared = firewalls, check_sources, shared
        self._addresses = Addresses(compute, location)
        self._checks = HealthChecks(compute)

    @property
    def _rules(self) -> str:
        return f"regions/{self._location.region}/forwardingRules"

    def _rule(self, name: str) -> str:
        return f"{self._rules}/{name}"

    def _open(self, service: Object, name: str, address: str, sources: Sequence[str], tags: Sequence[str]) -> None:
        """Let clients reach the machines with these tags through the balancer's address."""
        ports = ports_of(service)
        opening = Opening(
            name=f"k8s-fw-{name}",
            description=traffic_description(service_name(service), address),
            sources=sources,
            protocol=protocol_of(service),
            ports=asked.port_ranges(ports),
            tags=tags,
            destination=address,
        )
        self._firewalls.ensure(service, opening, [str(port) for port in ports])
