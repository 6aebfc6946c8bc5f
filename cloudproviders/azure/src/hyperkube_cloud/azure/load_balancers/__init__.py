"""Balancers for Services: frontends and rules in one standard load balancer of the cluster, or in its internal one.

All Services share the balancer, its pool and the security group, so one change is made at a time here, and a change by
somebody else in between is refused by Azure (``If-Match``) and tried again. The rule comes after all that it refers to.
Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.azure.arm import NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import network_id
from hyperkube_cloud.azure.load_balancers import private_links, wanted
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_cloud.azure.load_balancers.pools import Pools
from hyperkube_cloud.azure.load_balancers.private_links import PrivateLinks
from hyperkube_cloud.azure.load_balancers.public_ips import PublicIps
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import balancer_name

from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere
from hyperkube.machinery.objects import Object

INTERNAL_SUFFIX: Final = "-internal"
_REFERENCES: Final = ("inboundNatRules", "inboundNatPools", "outboundRules")


class AzureLoadBalancers:
    """Implements `hyperkube.hookspecs.cloud.LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(self, arm: Arm, config: AzureConfig, pools: Pools) -> None:
        self._arm, self._config, self._pools = arm, config, pools
        self._addresses, self._links = PublicIps(arm, config), PrivateLinks(arm, config)
        self._lock = threading.Lock()

    def name(self, cluster: str, service: Object) -> str:
        """Return the name that begins the names of all that is a Service's."""
        return balancer_name(service)

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none; an empty one if only its address is there."""
        held = self._arm.find(self._id(cluster, asked.is_internal(service)))
        frontend = self._frontend(held, service)
        if frontend is not None:
            return self._status(service, frontend)
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
            held = self._reconciled(cluster, service, nodes)
            frontend = self._frontend(held, service)
            if frontend is None:
                raise CloudFailed(f"load balancer {held['name']} has no frontend of this Service")
            self._links.ensure(cluster, service, frontend)
            status = self._status(service, frontend)
            addresses = [row["ip"] for row in status.get("ingress") or ()]
            if not addresses:
                raise CloudFailed("no load balancer IP for setting up security rules")
            self._secure(service, wanted.security_rules(service, addresses), addresses)
            self._remove(cluster, service, internal=not is_internal)
            kept = "" if is_internal else str((properties(frontend).get("publicIPAddress") or {}).get("id") or "")
            self._addresses.release(cluster, service, keep=kept)
        return status

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send the balancer's traffic to these nodes; nothing if the Service has none."""
        ident = self._id(cluster, asked.is_internal(service))
        with self._lock:
            held = self._arm.find(ident)
            if held is not None and self._frontend(held, service) is not None and not self._is_preconfigured(service):
                self._pools.ensure(self._pool(cluster, ident), self._held_pool(cluster, held), nodes)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer with all that was made for the Service."""
        with self._lock:
            for is_internal in (False, True):
                frontend = self._frontend(self._arm.find(self._id(cluster, is_internal)), service)
                status = self._status(service, frontend) if frontend is not None else {}
                addresses = [row["ip"] for row in status.get("ingress") or ()]
                self._secure(service, [], addresses)
                self._remove(cluster, service, internal=is_internal)
            self._addresses.release(cluster, service)

    def _reconciled(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Json:
        """Give the balancer a Service's frontend, rules and probes, and the pool its machines; return the balancer."""
        ident = self._id(cluster, asked.is_internal(service))
        held = self._arm.find(ident)
        pool = self._pool(cluster, ident)
        frontends = self._wanted_frontends(cluster, service, ident, held)
        own = self._own(service, frontends)
        place = wanted.Place(
            balancer=ident, frontend=str(own["id"]), pool=pool, disable_outbound_snat=self._config.disable_outbound_snat
        )
        rules, probes = wanted.rules_and_probes(service, place)
        self._check_conflicts(service, held, rules)
        pools = list(properties(held).get("backendAddressPools") or ())
        if not any(same(each["name"], pool.rpartition("/")[2]) for each in pools):
            pools.append({"name": pool.rpartition("/")[2]})
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
            self._pools.ensure(pool, self._held_pool(cluster, held), nodes)
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

    def _wanted_frontends(self, cluster: str, service: Object, ident: str, held: Json | None) -> list[Json]:
        """Return the frontends, the Service's own among them: kept if it fits, else anew."""
        rows = [dict(row) for row in properties(held).get("frontendIPConfigurations") or ()]
        body = self._wanted_frontend(cluster, service)
        name = asked.frontend_name(service)
        kept = [row for row in rows if not asked.owns(service, row["name"]) or _fits(row, name, body)]
        if self._shared(service, kept) is None and not any(same(row["name"], name) for row in kept):
            row: Json = {"name": name, "id": f"{ident}/frontendIPConfigurations/{name}", "properties": body}
            if asked.is_internal(service) and (zones := self._addresses.zones()):
                row["zones"] = zones
            kept.append(row)
        return kept

    def _wanted_frontend(self, cluster: str, service: Object) -> Json:
        if not asked.is_internal(service):
            return {"publicIPAddress": {"id": self._addresses.ensure(cluster, service)["id"]}}
        subnet = asked.subnet_of(service) or self._config.subnet_name
        body: Json = {"subnet": {"id": network_id(self._arm, self._config, subnet)}}
        address = str((service.get("spec") or {}).get("loadBalancerIP") or "")
        method = {"privateIPAllocationMethod": "Static" if address else "Dynamic"}
        return {**body, **method, **({"privateIPAddress": address} if address else {})}

    def _own(self, service: Object, rows: Sequence[Json]) -> Json:
        own = next((row for row in rows if asked.owns(service, row["name"])), None)
        return own or self._shared(service, rows) or {}

    def _shared(self, service: Object, rows: Sequence[Json]) -> Json | None:
        """Return another Service's frontend at the address that this one asks for, None if there is none."""
        address = str((service.get("spec") or {}).get("loadBalancerIP") or "")
        if not address:
            return None
        for row in rows:
            if asked.is_internal(service):
                found = properties(row).get("privateIPAddress")
            else:
                outer = self._addresses.find(str((properties(row).get("publicIPAddress") or {}).get("id") or ""))
                found = properties(outer).get("ipAddress")
            if found == address and not asked.owns(service, row["name"]):
                return row
        return None

    def _frontend(self, held: Json | None, service: Object) -> Json | None:
        return self._own(service, properties(held).get("frontendIPConfigurations") or ()) or None

    def _status(self, service: Object, frontend: Json) -> Object:
        outer = (properties(frontend).get("publicIPAddress") or {}).get("id")
        held = properties(self._addresses.find(str(outer)) if outer else None)
        address = held.get("ipAddress") if outer else properties(frontend).get("privateIPAddress")
        if not address:
            return {}
        return {"ingress": [{"ip": each} for each in [address, *asked.listed(service, "additional-public-ips")]]}

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

    def _remove(self, cluster: str, service: Object, *, internal: bool) -> None:
        """Take a Service out of a balancer, and the balancer away if it was the last."""
        ident = self._id(cluster, internal)
        held = self._arm.find(ident)
        if held is None:
            return
        rules = wanted.merged(properties(held).get("loadBalancingRules") or (), service, ())
        probes = wanted.merged(properties(held).get("probes") or (), service, ())
        rows = properties(held).get("frontendIPConfigurations") or []
        shared = self._shared(service, rows)  # another's that is gone may have left it to this one
        own = [row for row in rows if asked.owns(service, row["name"]) or row is shared]
        left = [row for row in rows if row not in own or self._is_used(held, service, row)]
        self._links.release(cluster, service, [row for row in rows if row not in left])
        if not left:
            pool = self._pool(cluster, ident)
            self._pools.empty(pool, self._held_pool(cluster, held))
            self._arm.delete(ident)
            return
        body = self._changed(held, {"frontendIPConfigurations": left, "loadBalancingRules": rules, "probes": probes})
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

    def _id(self, cluster: str, internal: bool) -> str:
        name = (self._config.load_balancer_name or cluster) + (INTERNAL_SUFFIX if internal else "")
        return self._arm.id(NETWORK, f"loadBalancers/{name}", self._config.load_balancer_resource_group)

    def _pool(self, cluster: str, balancer: str) -> str:
        return f"{balancer}/backendAddressPools/{cluster}"

    def _held_pool(self, cluster: str, held: Json | None) -> Json | None:
        pools = properties(held).get("backendAddressPools") or ()
        return next((each for each in pools if same(each["name"], cluster)), None)

    def _is_preconfigured(self, service: Object) -> bool:
        kind = "internal" if asked.is_internal(service) else "external"
        return self._config.pre_configured_backend_pool_load_balancer_types in {kind, "all"}


def _fits(row: Json, name: str, wanted_body: Json) -> bool:
    """Tell whether a Service's frontend may stay: its name, subnet and address are those that are wanted."""
    if not same(row["name"], name):
        return False
    held = properties(row)
    for key, value in wanted_body.items():
        if isinstance(value, dict):
            if not same((held.get(key) or {}).get("id"), value["id"]):
                return False
        elif not same(held.get(key), value):
            return False
    return True
