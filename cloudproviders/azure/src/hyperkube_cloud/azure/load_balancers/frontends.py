"""Frontends of balancers: a Service's own, kept if it fits, or another Service's at an address that it asks for.

Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go`` (serviceOwnsFrontendIP, isFrontendIPChanged,
reconcileFrontendIPConfigs).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_cloud.azure.arm import Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import network_id
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_cloud.azure.load_balancers.public_ips import PublicIps
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.machinery.objects import Object


class Frontends:
    """What Services' frontends are, and are to be."""

    def __init__(self, arm: Arm, config: AzureConfig, addresses: PublicIps) -> None:
        self._arm, self._config, self._addresses = arm, config, addresses

    def wanted(self, cluster: str, service: Object, ident: str, held: Json | None) -> list[Json]:
        """Return a balancer's frontends, the Service's own among them: kept if it fits, else anew."""
        rows = [dict(row) for row in properties(held).get("frontendIPConfigurations") or ()]
        body = self._body(cluster, service)
        name = asked.frontend_name(service)
        kept = [row for row in rows if not asked.owns(service, row["name"]) or _fits(row, name, body)]
        if self.shared(service, kept) is None and not any(same(row["name"], name) for row in kept):
            row: Json = {"name": name, "id": f"{ident}/frontendIPConfigurations/{name}", "properties": body}
            if asked.is_internal(service) and (zones := self._addresses.zones()):
                row["zones"] = zones
            kept.append(row)
        return kept

    def _body(self, cluster: str, service: Object) -> Json:
        if not asked.is_internal(service):
            return {"publicIPAddress": {"id": self._addresses.ensure(cluster, service)["id"]}}
        subnet = asked.subnet_of(service) or self._config.subnet_name
        body: Json = {"subnet": {"id": network_id(self._arm, self._config, subnet)}}
        address = str((service.get("spec") or {}).get("loadBalancerIP") or "")
        method = {"privateIPAllocationMethod": "Static" if address else "Dynamic"}
        return {**body, **method, **({"privateIPAddress": address} if address else {})}

    def own(self, service: Object, rows: Sequence[Json]) -> Json:
        """Return the frontend of a Service among others, an empty one if it has none."""
        own = next((row for row in rows if asked.owns(service, row["name"])), None)
        return own or self.shared(service, rows) or {}

    def shared(self, service: Object, rows: Sequence[Json]) -> Json | None:
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

    def of(self, held: Json | None, service: Object) -> Json | None:
        """Return a Service's frontend of a balancer, None if it has none there."""
        return self.own(service, properties(held).get("frontendIPConfigurations") or ()) or None

    def status(self, service: Object, frontend: Json | None) -> Object:
        """Return what the Service is told of a frontend; nothing before it has an address."""
        outer = (properties(frontend).get("publicIPAddress") or {}).get("id")
        held = properties(self._addresses.find(str(outer)) if outer else None)
        address = held.get("ipAddress") if outer else properties(frontend).get("privateIPAddress")
        if not address:
            return {}
        return {"ingress": [{"ip": each} for each in [address, *asked.listed(service, "additional-public-ips")]]}


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
