"""Routes to the nodes' pods in the cluster's route table, which is made at need.

Source: cloud-provider-azure ``pkg/provider/azure_routes.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from hyperkube_cloud.azure.arm import NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import AzureInstances
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, Route
from hyperkube.machinery.objects import NodeName

SEPARATOR: Final = "____"


def route_name(node: str, destination: str) -> str:
    """Return the name of a node's route: in clusters of both families, with its range."""
    return node if ":" not in destination else f"{node}{SEPARATOR}{destination.replace(':', '').replace('/', '')}"


class AzureRoutes:
    """Routes of one table; implements `hyperkube.hookspecs.cloud.Routes`."""

    def __init__(self, arm: Arm, config: AzureConfig, instances: AzureInstances) -> None:
        self._arm, self._config, self._instances = arm, config, instances
        self._table = arm.id(NETWORK, f"routeTables/{config.route_table_name}", config.route_table_resource_group)
        self._lock = threading.Lock()

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the routes of the table."""
        held = self._arm.find(self._table)
        return [
            Route(
                name=row["name"],
                target=NodeName(str(row["name"]).partition(SEPARATOR)[0].lower()),
                destination=properties(row)["addressPrefix"],
            )
            for row in properties(held).get("routes") or ()
        ]

    def create(self, cluster: str, route: Route) -> None:
        """Lead a range to a machine; nothing if it is led there already."""
        machine = self._instances.named(route.target)
        if machine is None:
            raise CloudFailed(f"route {route.name!r}: instance of node {route.target!r} not found")
        wanted = {
            "addressPrefix": route.destination,
            "nextHopType": "VirtualAppliance",
            "nextHopIpAddress": self._instances.private_address(machine),
        }
        name = route_name(route.target, route.destination)

        def with_it(rows: Sequence[Json]) -> Sequence[Json]:
            others = [row for row in rows if not same(row["name"], name)]
            held = next((properties(row) for row in rows if same(row["name"], name)), {})
            if all(same(held.get(key), value) for key, value in wanted.items()):
                return rows
            return [*others, {"name": name, "properties": wanted}]

        self._change(with_it)

    def delete(self, cluster: str, route: Route) -> None:
        """Delete the routes of that name or to that range; no error if they are gone already."""
        self._change(
            lambda rows: [
                row
                for row in rows
                if not same(row["name"], route.name) and properties(row)["addressPrefix"] != route.destination
            ]
        )

    def _change(self, change: Callable[[Sequence[Json]], Sequence[Json]]) -> None:
        with self._lock:  # the table is written whole
            table = self._arm.find(self._table)
            rows = properties(table).get("routes") or []
            wanted = list(change(rows))
            if table is not None and wanted == list(rows):
                return
            if table is None and not wanted:
                return
            body: Json = dict(table or {"location": self._config.location, "tags": parsed_tags(self._config.tags)})
            body["properties"] = {**properties(table), "routes": wanted}
            self._arm.put(self._table, body)
