"""What lets traffic through to a balancer's ports: rules of a network's firewall, or items of a VPC tier's ACL.

Which of them a network has stands in its services. An item of an ACL is a Service's own if its reason says so; one that
someone else made for the same port stays as it is, and the port is left to it. Lists that come with every VPC cannot be
changed, so a tier that has one has its ports open, or shut, already.
Source: cloudstack-kubernetes-provider ``cloudstack_loadbalancer.go`` (updateFirewallRule, updateNetworkACL) and
``README.md`` ("VPC Networks").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.cloudstack.api import Api
from hyperkube_cloud.cloudstack.load_balancers.wanted import cidrs_of
from hyperkube_lib.cloud_provider.rest import Json

REASON: Final = "Managed by the CloudStack Kubernetes Provider for "
FIXED: Final = frozenset({"default_allow", "default_deny"})


def has_service(network: Json, name: str) -> bool:
    """Tell whether a network offers a service."""
    return any(each.get("name") == name for each in network.get("service") or ())


class Openings:
    """Opens and shuts ports."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def open(
        self, balancer: str, network: Json, address: str, transport: str, port: int, sources: Sequence[str]
    ) -> bool:
        """Let those sources, and no others, through to a port of a public address, whose id is given.

        Returns:
            Whether something had to be made for that.
        """
        if has_service(network, "Firewall"):
            return self._open_firewall(address, transport, port, sources)
        return has_service(network, "NetworkACL") and self._open_acl(balancer, network, transport, port, sources)

    def shut(self, balancer: str, network: Json | None, address: str, transport: str, port: int) -> None:
        """Take away what `open` made; no error if it is gone, or the network is."""
        if network is None:
            return
        if has_service(network, "Firewall"):
            for rule in self._firewall_rules(address, transport, port):
                self._api.delete("deleteFirewallRule", rule["id"])
        elif has_service(network, "NetworkACL") and network.get("aclid"):
            for item in self._acl_items(str(network["aclid"]), transport, port):
                if item.get("reason") == f"{REASON}{balancer}":
                    self._api.delete("deleteNetworkACL", item["id"])

    def _open_firewall(self, address: str, transport: str, port: int, sources: Sequence[str]) -> bool:
        held = self._firewall_rules(address, transport, port)
        fitting = [rule for rule in held if cidrs_of(rule.get("cidrlist")) == cidrs_of(",".join(sources))]
        for rule in held:  # first: CloudStack takes no second rule of the same port
            if rule not in fitting[:1]:
                self._api.delete("deleteFirewallRule", rule["id"])
        if fitting:
            return False
        self._api.run(
            "createFirewallRule",
            ipaddressid=address,
            protocol=transport,
            cidrlist=list(sources),
            startport=port,
            endport=port,
        )
        return True

    def _open_acl(self, balancer: str, network: Json, transport: str, port: int, sources: Sequence[str]) -> bool:
        acl = self._changeable_acl(network)
        if acl is None:
            return False
        items = self._acl_items(str(acl["id"]), transport, port)
        own = [item for item in items if item.get("reason") == f"{REASON}{balancer}"]
        fitting = [item for item in own if cidrs_of(item.get("cidrlist")) == cidrs_of(",".join(sources))]
        for item in own:
            if item not in fitting[:1]:
                self._api.delete("deleteNetworkACL", item["id"])
        if fitting or any(not str(item.get("reason") or "").startswith(REASON) for item in items):
            return False
        self._api.run(
            "createNetworkACL",
            aclid=acl["id"],
            protocol=transport,
            action="Allow",
            traffictype="Ingress",
            cidrlist=list(sources),
            startport=port,
            endport=port,
            reason=f"{REASON}{balancer}",
        )
        return True

    def _changeable_acl(self, network: Json) -> Json | None:
        ident = str(network.get("aclid") or "")
        acl = self._api.find("listNetworkACLLists", "networkacllist", ident) if ident else None
        return None if acl is None or acl.get("name") in FIXED else acl

    def _acl_items(self, acl: str, transport: str, port: int) -> list[Json]:
        found = self._api.listed("listNetworkACLs", "networkacl", aclid=acl, traffictype="Ingress")
        return [item for item in found if _is_for(item, transport, port)]

    def _firewall_rules(self, address: str, transport: str, port: int) -> list[Json]:
        found = self._api.listed("listFirewallRules", "firewallrule", ipaddressid=address)
        return [rule for rule in found if _is_for(rule, transport, port)]


def _is_for(rule: Json, transport: str, port: int) -> bool:
    ports = {str(rule.get("startport")), str(rule.get("endport"))}
    return str(rule.get("protocol")).lower() == transport and ports == {str(port)}
