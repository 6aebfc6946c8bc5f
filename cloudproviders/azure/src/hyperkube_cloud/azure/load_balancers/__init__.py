"""Balancers for Services: frontends and rules in a standard load balancer of the cluster, or in an internal one.

Services share the balancer, its pool and the security group, so one change is made at a time here, and a change by
somebody else in between is refused by Azure (``If-Match``) and tried again. The rule comes after all that it refers to.
Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.azure.arm import NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.load_balancers import private_links, wanted
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_cloud.azure.load_balancers.balancers import Balancers, own_pool
from hyperkube_cloud.azure.load_balancers.frontends import Frontends
from hyperkube_cloud.azure.load_balancers.private_links import PrivateLinks
from hyperkube_cloud.azure.load_balancers.public_ips import PublicIps
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import balancer_name

from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere
from hyperkube.machinery.objects import Object

_REFERENCES: Final = ("inboundNatRules", "inboundNatPools", "outboundRules")


class AzureLoadBalancers:
    """Implements `hyperkube.hookspecs.cloud.LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(
        self, arm: Arm, config: AzureConfig, balancers: Balancers, addresses: PublicIps, frontends: Frontends
    ) -> None:
        self._arm, self._config, self._balancers = arm, config, balancers
        self._addresses, self._frontends, self._links = addresses, frontends, PrivateLinks(arm, config)
        self._lock = threading.Lock()

    def name(self, cluster: str, service: Object) -> str:
        """Return the name that begins the names of all that is a Service's."""
        return balancer_name(service)

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none; an empty one if only its address is there."""
        ident = self._balancers.of(cluster, service)
        frontend = self._frontends.of(self._arm.find(ident) if ident else None, service)
        if frontend is not None:
            return self._frontends.status(service, frontend)
        return {} if self._addresses.exists(cluster, service) else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer as the Service wants it, and return its status.

        Raises:
            CloudFailed: the Service asks for what Azure does not have.
        """
        if (service.get("spec") or {}).get("loadBalancerClass"):
            raise ImplementedElsewhere(f"load balancer class {service['spec']['loadBalancerClass']!r}")
        wanted.check(service)
        private_links.check(service)
        is_internal = asked.is_internal(service)
        with self._lock:
            ident, before = self._balancers.chosen(cluster, service)
            for each in before:  # an address is in one balancer only
                self._remove(cluster, service, each)
            held = self._reconciled(cluster, service, ident, nodes)
            frontend = self._frontends.of(held, service)
            if frontend is None:
                raise CloudFailed(f"load balancer {held['name']} has no frontend of this Service")
            self._links.ensure(cluster, service, frontend)
            status = self._frontends.status(service, frontend)
            addresses = [row["ip"] for row in status.get("ingress") or ()]
            if not addresses:
                raise CloudFailed("no load balancer IP for setting up security rules")
            self._secure(service, wanted.security_rules(service, addresses), addresses)
            for each in self._balancers.all(cluster):
                if not same(each, ident):
                    self._remove(cluster, service, each)
            kept = "" if is_internal else str((properties(frontend).get("publicIPAddress") or {}).get("id") or "")
            self._addresses.release(cluster, service, keep=kept)
        return status

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send the balancer's traffic to these nodes; nothing if the Service has none."""
        with self._lock:
            ident = self._balancers.of(cluster, service)
            held = self._arm.find(ident) if ident else None
            if held is not None and self._frontends.of(held, service) and not self._is_preconfigured(service):
                self._balancers.fill(cluster, service, held, nodes)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer with all that was made for the Service."""
        with self._lock:
            for ident in self._balancers.all(cluster):
                frontend = self._frontends.of(self._arm.find(ident), service)
                status = self._frontends.status(service, frontend)
                addresses = [row["ip"] for row in status.get("ingress") or ()]
                self._secure(service, [], addresses)
                self._remove(cluster, service, ident)
            self._secure(service, [], [])
            self._addresses.release(cluster, service)

    def _reconciled(self, cluster: str, service: Object, ident: str, nodes: Sequence[Object]) -> Json:
        """Give the balancer a Service's frontend, rules and probes, and the pool its machines; return the balancer."""
        held = self._arm.find(ident)
        pool = self._balancers.pool(cluster, service)
        frontends = self._frontends.wanted(cluster, service, ident, held)
        place = wanted.Place(
            balancer=ident,
            frontend=str(self._frontends.own(service, frontends)["id"]),
            pool=f"{ident}/backendAddressPools/{pool}",
            disable_outbound_snat=self._config.disable_outbound_snat,
        )
        rules, probes = wanted.rules_and_probes(service, place)
        self._check_conflicts(service, held, rules)
        pools = _without_own(properties(held).get("backendAddressPools") or (), service, but=pool)
        if not any(same(each["name"], pool) for each in pools):
            pools.append({"name": pool})
        changes = {
            "frontendIPConfigurations": frontends,
            "backendAddressPools": pools,
            "loadBalancingRules": wanted.merged(properties(held).get("loadBalancingRules") or (), service, rules),
            "probes": wanted.merged(properties(held).get("probes") or (), service, probes),
        }
        body = self._changed(held, changes)
        if body is not None:
            kept = {str(row["id"]).lower() for row in frontends}
            rows = properties(held).get("frontendIPConfigurations") or ()
            self._links.release(cluster, service, [row for row in rows if str(row["id"]).lower() not in kept])
            held = self._arm.put(ident, body)
        if not self._is_preconfigured(service):
            self._balancers.fill(cluster, service, held or {}, nodes)
        return self._arm.get(ident)

    def _changed(self, held: Json | None, changes: Json) -> Json | None:
        """Return a balancer with what has changed (None has not), None if that is nothing."""
        told = {key: value for key, value in changes.items() if value is not None}
        tags = {**((held or {}).get("tags") or {}), **parsed_tags(self._config.tags)}
        is_same = all(properties(held).get(key, []) == value for key, value in told.items())
        if held is not None and is_same and tags == (held.get("tags") or {}):
            return None
        base: Json = held or {"location": self._config.location, "sku": {"name": "Standard"}}
        return {**base, **({"tags": tags} if tags else {}), "properties": {**properties(held), **told}}

    def _check_conflicts(self, service: Object, held: Json | None, rules: Sequence[Json]) -> None:
        """Refuse a port that another Service's rule takes at the same frontend."""
        for row in properties(held).get("loadBalancingRules") or ():
            if asked.owns(service, row["name"]):
                continue
            taken = properties(row)
            for rule in rules:
                body = rule["properties"]
                if (
                    same(taken["frontendIPConfiguration"]["id"], body["frontendIPConfiguration"]["id"])
                    and same(taken["protocol"], body["protocol"])
                    and taken["frontendPort"] == body["frontendPort"]
                ):
                    problem = f"port {body['frontendPort']} is being referenced by an existing loadBalancing rule"
                    raise CloudFailed(f"{problem} {row['name']} with the same protocol {body['protocol']}")

    def _remove(self, cluster: str, service: Object, ident: str) -> None:
        """Take a Service out of a balancer, and the balancer away if it was the last."""
        held = self._arm.find(ident)
        if held is None:
            return
        rules = wanted.merged(properties(held).get("loadBalancingRules") or (), service, ())
        probes = wanted.merged(properties(held).get("probes") or (), service, ())
        rows = properties(held).get("frontendIPConfigurations") or []
        shared = self._frontends.shared(service, rows)  # another's that is gone may have left it to this one
        own = [row for row in rows if asked.owns(service, row["name"]) or row is shared]
        left = [row for row in rows if row not in own or self._is_used(held, service, row)]
        self._links.release(cluster, service, [row for row in rows if row not in left])
        if not left:
            self._balancers.empty(cluster, held)
            self._arm.delete(ident)
            return
        pools = _without_own(properties(held).get("backendAddressPools") or (), service)
        changes = {"frontendIPConfigurations": left, "loadBalancingRules": rules, "probes": probes}
        body = self._changed(held, {**changes, "backendAddressPools": pools})
        if body is not None:
            self._arm.put(ident, body)

    def _is_used(self, held: Json, service: Object, frontend: Json) -> bool:
        """Tell whether rules of others refer to a frontend."""
        others = [
            row for row in properties(held).get("loadBalancingRules") or () if not asked.owns(service, row["name"])
        ]
        others += [row for kind in _REFERENCES for row in properties(held).get(kind) or ()]
        told = [properties(row) for row in others]
        used = [each.get("frontendIPConfiguration") or {} for each in told]
        used += [one for each in told for one in each.get("frontendIPConfigurations") or ()]
        return any(same(each.get("id"), frontend["id"]) for each in used)

    def _secure(self, service: Object, rules: Sequence[Json], addresses: Sequence[str]) -> None:
        """Give the machines' security group the rules of a Service."""
        group = self._config.security_group_resource_group
        ident = self._arm.id(NETWORK, f"networkSecurityGroups/{self._config.security_group_name}", group)
        held = self._arm.get(ident)
        rows = wanted.merged_security(properties(held).get("securityRules") or (), service, rules, addresses)
        if rows is not None:
            self._arm.put(ident, {**held, "properties": {**properties(held), "securityRules": rows}})

    def _is_preconfigured(self, service: Object) -> bool:
        kind = "internal" if asked.is_internal(service) else "external"
        return self._config.pre_configured_backend_pool_load_balancer_types in {kind, "all"}


def _without_own(pools: Sequence[Json], service: Object, but: str = "") -> list[Json]:
    """Return a balancer's pools without that of a Service alone."""
    own = own_pool(service)
    return [each for each in pools if not same(each["name"], own) or same(each["name"], but)]
