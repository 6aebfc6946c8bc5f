"""Balancers for Services: load balancer rules of CloudStack, one for each port, on a public address.

A rule is found again by its balancer's name, and by its address and port: rules of the in-tree provider, whose names
have no protocol, are adopted and renamed. What cannot be changed in a rule (ports, network, sources) makes a new one.
Obsolete rules go last, those at an address that the Service has left go first.
Source: cloudstack-kubernetes-provider ``cloudstack_loadbalancer.go``, kubernetes
``pkg/cloudprovider/providers/cloudstack/cloudstack_loadbalancer.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from hyperkube_cloud.cloudstack.api import Api
from hyperkube_cloud.cloudstack.config import CloudStackConfig
from hyperkube_cloud.cloudstack.instances import CloudStackInstances, first_nic
from hyperkube_cloud.cloudstack.load_balancers.addresses import Addresses
from hyperkube_cloud.cloudstack.load_balancers.openings import Openings
from hyperkube_cloud.cloudstack.load_balancers.wanted import (
    Wanted,
    WantedRule,
    cidrs_of,
    is_of,
    status,
    transport_of,
    wanted,
)
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import balancer_name, service_name

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.machinery.objects import Object

GOING: Final = "Revoke"


class CloudStackLoadBalancers:
    """Implements `hyperkube.hookspecs.cloud.LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(
        self, api: Api, config: CloudStackConfig, instances: CloudStackInstances, client: Client | None
    ) -> None:
        self._api, self._instances = api, instances
        self._addresses, self._openings = Addresses(api, config, client), Openings(api)

    def name(self, cluster: str, service: Object) -> str:
        """Return what the names of a Service's rules begin with."""
        return balancer_name(service)

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if it has no rules."""
        rules = [rule for rule in self._rules(service) if rule.get("state") != GOING]
        return status(service, str(rules[0]["publicip"])) if rules else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer as the Service wants it, and return its status.

        Raises:
            CloudFailed: the Service wants what there is not.
            RetryLater: a part of it is not ready yet.
        """
        asked = wanted(service)
        if not nodes:
            raise CloudFailed(f"there are no available nodes for LoadBalancer service {service_name(service)}")
        hosts, network = self._hosts(nodes)
        rules = self._rules(service)
        if asked.address:
            rules = self._moved_from(service, asked, rules)
        address = self._address(service, asked, network, rules)
        left = {str(rule["id"]): rule for rule in rules}
        for each in asked.rules:
            held = self._held(left.values(), each, str(address["id"]))
            if held is not None and not _may_stay(held, each, asked, network):
                self._delete_rule(asked.name, held)
                left.pop(str(held["id"]))
                held = None
            kept = self._ensure_rule(held, each, asked, network, str(address["id"]))
            left.pop(str(kept["id"]), None)
            self._ensure_members(str(kept["id"]), hosts)
            self._open(asked, network, each, kept, str(address["id"]))
        for rule in left.values():
            self._delete_rule(asked.name, rule)
        return status(service, str(address["ipaddress"]))

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send the balancer's traffic to these nodes.

        Raises:
            CloudFailed: there is no balancer.
        """
        rules = [rule for rule in self._rules(service) if rule.get("state") != GOING]
        if not rules:
            raise CloudFailed(f"load balancer {balancer_name(service)} not found")
        hosts = self._hosts(nodes)[0] if nodes else []
        for rule in rules:
            self._ensure_members(str(rule["id"]), hosts)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the rules with what opened their ports, and the address if it was acquired for the Service."""
        name, rules = balancer_name(service), self._rules(service)
        addresses = {str(rule["publicipid"]) for rule in rules}
        if noted := self._addresses.noted(service):
            addresses.add(str(noted["id"]))
        elif rules:  # as the last rule goes nothing else says which address was the balancer's
            self._addresses.note(service, rules[0])
        for rule in rules:
            self._delete_rule(name, rule)
        for address in sorted(addresses):
            self._addresses.release(service, address, name)
        self._addresses.forget(service)

    def _rules(self, service: Object) -> list[Json]:
        name = balancer_name(service)
        found = self._api.listed("listLoadBalancerRules", "loadbalancerrule", keyword=name)
        rules = [rule for rule in found if is_of(rule, name)]
        if not all(rule.get("publicip") and rule.get("publicipid") and rule.get("publicport") for rule in rules):
            raise CloudUnavailable("CloudStack describes a load balancer rule without address or port")
        return sorted(rules, key=lambda rule: str(rule["id"]))

    def _hosts(self, nodes: Sequence[Object]) -> tuple[list[str], Json]:
        """Return the ids of the nodes' machines, and the one network that they are in.

        Raises:
            CloudFailed: they are in several, or there are none.
        """
        machines = self._instances.machines(nodes)
        networks = {str(first_nic(machine).get("networkid") or "") for machine in machines}
        if not machines or "" in networks:
            raise CloudFailed("none of the hosts matched the list of VMs retrieved from CS API")
        if len(networks) > 1:
            raise CloudFailed("found hosts that belong to different networks")
        (ident,) = networks
        network = self._network(ident)
        if network is None:
            raise CloudFailed(f"could not find network {ident}")
        return [str(machine["id"]) for machine in machines], network

    def _network(self, ident: str) -> Json | None:
        return self._api.find("listNetworks", "network", ident) if ident else None

    def _moved_from(self, service: Object, asked: Wanted, rules: Sequence[Json]) -> list[Json]:
        """Take away what stands at another address than the one that the Service asks for; return the rest.

        It goes first, since the Service has room for a note of one address only.
        """
        old = [rule for rule in rules if rule["publicip"] != asked.address]
        for rule in old:
            self._delete_rule(asked.name, rule)
        for ident in sorted({str(rule["publicipid"]) for rule in old}):
            self._addresses.release(service, ident, asked.name, is_left=True)
        return [rule for rule in rules if rule["publicip"] == asked.address]

    def _address(self, service: Object, asked: Wanted, network: Json, rules: Sequence[Json]) -> Json:
        if not rules:
            return self._addresses.ensure(service, asked, network)
        self._addresses.note(service, rules[0])
        return {"id": rules[0]["publicipid"], "ipaddress": rules[0]["publicip"]}

    def _held(self, rules: Iterable[Json], each: WantedRule, address: str) -> Json | None:
        """Return the rule that stands at the wanted port of the address."""
        place = (address, str(each.public_port))
        for rule in rules:
            if (rule["publicipid"], str(rule["publicport"])) == place:
                return dict(rule)
        return None

    def _ensure_rule(self, held: Json | None, each: WantedRule, asked: Wanted, network: Json, address: str) -> Json:
        if held is None:
            made = self._api.run(
                "createLoadBalancerRule",
                algorithm=asked.algorithm,
                name=each.name,
                privateport=each.private_port,
                publicport=each.public_port,
                networkid=network["id"],
                publicipid=address,
                protocol=each.protocol,
                openfirewall=False,  # each port is opened for the sources that are wanted
                cidrlist=list(asked.rule_sources or ()),
            ).get("loadbalancer")
            if not isinstance(made, dict) or not made.get("id"):
                raise CloudUnavailable("createLoadBalancerRule: answered with no rule")
            return made
        should = {"algorithm": asked.algorithm, "name": each.name, "protocol": each.protocol}
        if any(str(held.get(key) or "").lower() != value for key, value in should.items()):
            self._api.run("updateLoadBalancerRule", id=held["id"], **should)
        return held

    def _open(self, asked: Wanted, network: Json, each: WantedRule, kept: Json, address: str) -> None:
        """Open a rule's port.

        An opening is found by its rule. Another manager may have deleted that since it was seen, and could not see the
        opening yet; so who has opened a port looks once more, and shuts it again if the rule is gone.
        """
        place = (address, each.transport, each.public_port)
        if not self._openings.open(asked.name, network, *place, asked.sources):
            return
        if self._api.find("listLoadBalancerRules", "loadbalancerrule", str(kept["id"])) is None:
            self._openings.shut(asked.name, network, *place)
            raise CloudFailed(f"load balancer rule {each.name} was deleted by another")

    def _ensure_members(self, rule: str, hosts: Sequence[str]) -> None:
        rows = self._api.listed("listLoadBalancerRuleInstances", "loadbalancerruleinstance", id=rule)
        held = {str(row["id"]) for row in rows}
        if new := [host for host in hosts if host not in held]:
            self._api.run("assignToLoadBalancerRule", id=rule, virtualmachineids=new)
        if old := sorted(held - set(hosts)):
            self._api.run("removeFromLoadBalancerRule", id=rule, virtualmachineids=old)

    def _delete_rule(self, name: str, rule: Json) -> None:
        network = self._network(str(rule.get("networkid") or ""))
        transport, port = transport_of(rule), int(rule["publicport"])
        self._openings.shut(name, network, str(rule["publicipid"]), transport, port)
        self._api.delete("deleteLoadBalancerRule", str(rule["id"]))


def _may_stay(held: Json, each: WantedRule, asked: Wanted, network: Json) -> bool:
    """Tell whether a rule can be made what is wanted by an update."""
    sources = cidrs_of(",".join(asked.rule_sources or ()))
    return bool(
        held.get("state") != GOING
        and str(held.get("privateport")) == str(each.private_port)
        and transport_of(held) == each.transport
        and held.get("networkid") == network["id"]
        and cidrs_of(held.get("cidrlist")) == sources
    )
