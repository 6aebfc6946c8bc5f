"""The address under which the world reaches a balancer: a floating IP on the balancer's port.

Source: cloud-provider-openstack ``pkg/openstack/loadbalancer.go`` (getServiceAddress, ensureLoadBalancerDeleted).
"""

from __future__ import annotations

import fnmatch
import re
from typing import Final

from hyperkube_cloud.openstack.apis import NEUTRON, Apis
from hyperkube_cloud.openstack.load_balancers.wanted import Wanted
from hyperkube_lib.cloud_provider.rest import Json, Refused
from hyperkube_lib.cloud_provider.services import service_name

from hyperkube.hookspecs.cloud import CloudFailed

OURS: Final = "Floating IP for Kubernetes external service"
"""What the descriptions begin with of those that are made for Services: those go with them, others stay."""


class FloatingIps:
    """Floating IPs of balancers."""

    def __init__(self, apis: Apis) -> None:
        self._apis = apis

    def of_port(self, port: str) -> Json | None:
        """Return the floating IP on a port, None if there is none."""
        found = self._apis.listed(NEUTRON, "floatingips", "floatingips", port_id=port) if port else []
        return found[0] if found else None

    def ensure(self, wanted: Wanted, cluster: str, port: str) -> str:
        """Return the floating IP on a balancer's port, made or put there; empty where there is no outer network.

        Raises:
            CloudFailed: the address that the Service wants is another's.
        """
        held = self.of_port(port)
        if held is not None:
            return str(held["floating_ip_address"])
        asked = str((wanted.service.get("spec") or {}).get("loadBalancerIP") or "")
        if asked:
            query = {"floating_ip_address": asked}
            for each in self._apis.listed(NEUTRON, "floatingips", "floatingips", **query):
                if each.get("port_id"):
                    raise CloudFailed(f"floating IP {asked} is not available")
                self._apis.call(NEUTRON, "PUT", f"floatingips/{each['id']}", {"floatingip": {"port_id": port}})
                return asked
        network = wanted.floating_network or self._outer_network()
        if not network:
            return ""
        body: Json = {
            "floating_network_id": network,
            "port_id": port,
            "description": f"{OURS} {service_name(wanted.service)} from cluster {cluster}",
        }
        if asked:
            body["floating_ip_address"] = asked
        elif wanted.floating_pattern:
            return self._made_in_any(body, network, wanted.floating_pattern)
        if wanted.floating_subnet:
            body["subnet_id"] = wanted.floating_subnet
        return self._made(body)

    def release(self, port: str) -> None:
        """Delete the floating IP on a balancer's port if it was made for a Service."""
        held = self.of_port(port)
        if held is not None and str(held.get("description") or "").startswith(OURS):
            self._apis.delete(NEUTRON, f"floatingips/{held['id']}")

    def _made(self, body: Json) -> str:
        return str(
            self._apis.call(NEUTRON, "POST", "floatingips", {"floatingip": body})["floatingip"]["floating_ip_address"]
        )

    def _made_in_any(self, body: Json, network: str, pattern: str) -> str:
        fitting = [
            each
            for each in self._apis.listed(NEUTRON, "subnets", "subnets", network_id=network)
            if matches(pattern, str(each.get("name") or ""))
        ]
        if not fitting:
            raise CloudFailed(f"no subnet matching {pattern!r} found for network {network}")
        last: Refused | None = None
        for each in fitting:
            try:
                return self._made({**body, "subnet_id": each["id"]})
            except Refused as error:  # it has no free address: another may
                last = error
        raise CloudFailed(f"no free subnet matching {pattern!r} found for network {network} (last error {last})")

    def _outer_network(self) -> str:
        found = self._apis.listed(NEUTRON, "networks", "networks", **{"router:external": "true"})
        return str(found[0]["id"]) if found else ""


def matches(pattern: str, name: str) -> bool:
    """Tell whether a subnet's name matches a glob, or a regular expression after ``~``; ``!`` before it denies."""
    denied = pattern.startswith("!")
    plain = pattern.removeprefix("!")
    if plain.startswith("~"):
        try:
            found = re.fullmatch(plain[1:], name) is not None
        except re.error as error:
            raise CloudFailed(f"invalid subnet regexp pattern {plain[1:]!r}: {error}") from error
    else:
        found = fnmatch.fnmatchcase(name, plain)
    return found != denied
