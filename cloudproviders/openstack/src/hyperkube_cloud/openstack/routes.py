"""Routes to the nodes' pods: those of Neutron's router, and that the machines' ports may use pods' addresses.

Source: cloud-provider-openstack ``pkg/openstack/routes.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from hyperkube_cloud.openstack.apis import NEUTRON, Apis
from hyperkube_cloud.openstack.config import Networking
from hyperkube_cloud.openstack.instances import OpenStackInstances, addresses
from hyperkube_lib.cloud_provider.rest import Json, Missing

from hyperkube.hookspecs.cloud import CloudFailed, Route
from hyperkube.machinery.objects import NodeName


class OpenStackRoutes:
    """Extra routes of a router; implements `hyperkube.hookspecs.cloud.Routes`."""

    def __init__(self, apis: Apis, instances: OpenStackInstances, networking: Networking, router: str) -> None:
        self._apis, self._instances, self._networking = apis, instances, networking
        self._router = router

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the router's routes; one that leads to no machine has its next hop in place of a node."""
        rows = self._rows()
        names: dict[str, str] = {}
        if rows:
            for machine in self._instances.all():
                names |= {row["address"]: machine["name"] for row in addresses(machine, self._networking)}
        return [
            Route(
                name=row["destination"],
                target=NodeName(names.get(row["nexthop"]) or row["nexthop"]),
                destination=row["destination"],
            )
            for row in rows
        ]

    def create(self, cluster: str, route: Route) -> None:
        """Lead a range to a machine, and let its port send from there.

        Raises:
            CloudFailed: the machine has no address of that family.
        """
        version = ipaddress.ip_network(route.destination).version
        machine = self._instances.machine({"metadata": {"name": route.target}})
        hops = [
            row["address"]
            for row in addresses(machine, self._networking)
            if row["type"] == "InternalIP" and ipaddress.ip_address(row["address"]).version == version
        ]
        if not hops:
            raise CloudFailed(f"route {route.name!r}: no address found for host {route.target!r}")
        wanted = {"destination": route.destination, "nexthop": hops[0]}
        if wanted not in self._rows():
            self._change("add_extraroutes", [wanted])
        for port in self._instances.ports(machine["id"]):
            if any(fixed.get("ip_address") == hops[0] for fixed in port.get("fixed_ips") or ()):
                self._allow(port, route.destination)

    def delete(self, cluster: str, route: Route) -> None:
        """Remove the routes to that range, and its leave; no error if they are gone already."""
        gone = [row for row in self._rows() if row["destination"] == route.destination]
        if gone:
            self._change("remove_extraroutes", gone)
        for row in gone:
            query = {"fixed_ips": f"ip_address={row['nexthop']}"}
            for port in self._apis.listed(NEUTRON, "ports", "ports", **query):
                self._forbid(port, route.destination)

    def _rows(self) -> Sequence[Json]:
        found = self._apis.get(NEUTRON, f"routers/{self._router}", "router").get("routes") or ()
        return [{"destination": row["destination"], "nexthop": row["nexthop"]} for row in found]

    def _change(self, verb: str, rows: Sequence[Json]) -> None:
        body = {"router": {"routes": [*rows]}}
        self._apis.call(NEUTRON, "PUT", f"routers/{self._router}/{verb}", body)

    def _allow(self, port: Json, destination: str) -> None:
        pairs = [*(port.get("allowed_address_pairs") or ())]
        if port.get("port_security_enabled", True) and all(pair["ip_address"] != destination for pair in pairs):
            self._set_pairs(port, [*pairs, {"ip_address": destination}])

    def _forbid(self, port: Json, destination: str) -> None:
        pairs = [*(port.get("allowed_address_pairs") or ())]
        left = [pair for pair in pairs if pair["ip_address"] != destination]
        if left != pairs:
            try:
                self._set_pairs(port, left)
            except Missing:  # the machine went meanwhile, and its port with it
                return

    def _set_pairs(self, port: Json, pairs: Sequence[Json]) -> None:
        self._apis.call(NEUTRON, "PUT", f"ports/{port['id']}", {"port": {"allowed_address_pairs": [*pairs]}})
