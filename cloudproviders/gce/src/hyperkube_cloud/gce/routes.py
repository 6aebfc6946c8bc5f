"""Routes to the nodes' pods, in the cluster's network.

Source: cloud-provider-gcp ``providers/gce/gce_routes.go``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.gce.compute import Compute, name_of_link
from hyperkube_cloud.gce.instances import GceInstances
from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, Route
from hyperkube.machinery.objects import NodeName

TAG: Final = "k8s-node-route"
"""The description of the routes that clusters make."""
PRIORITY: Final = 1000
_CLUSTER: Final = 26
_NAME: Final = re.compile(r"[^a-z0-9-]+")


def prefix_of(cluster: str) -> str:
    """Return what the names of a cluster's routes begin with."""
    return cluster[:_CLUSTER]


class GceRoutes:
    """Static routes; implements `hyperkube.hookspecs.cloud.Routes`."""

    def __init__(self, compute: Compute, instances: GceInstances, location: Location) -> None:
        self._compute, self._instances, self._location = compute, instances, location

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the cluster's routes in its network."""
        return [
            Route(
                name=row["name"],
                target=NodeName(name_of_link(row.get("nextHopInstance"))),
                destination=row["destRange"],
            )
            for row in self._rows(cluster)
        ]

    def create(self, cluster: str, route: Route) -> None:
        """Lead a range to a machine; nothing if it is led there already."""
        machine = self._instances.named(route.target)
        if machine is None:
            raise CloudFailed(f"route {route.name!r}: instance of node {route.target!r} not found")
        cards = machine.get("networkInterfaces") or [{}]
        hint = _NAME.sub("-", route.name.lower()).strip("-")
        made = {
            "name": f"{prefix_of(cluster)}-{hint}"[:63].rstrip("-"),
            "destRange": route.destination,
            "nextHopInstance": f"zones/{name_of_link(machine['zone'])}/instances/{machine['name']}",
            "network": cards[0].get("network") or self._location.network,
            "priority": PRIORITY,
            "description": TAG,
        }
        self._compute.insert("global/routes", made)

    def delete(self, cluster: str, route: Route) -> None:
        """Delete the cluster's routes to that range; no error if they are gone already."""
        for row in self._rows(cluster):
            if row["name"] == route.name or row["destRange"] == route.destination:
                self._compute.delete(f"global/routes/{row['name']}")

    def _rows(self, cluster: str) -> Sequence[Json]:
        network = name_of_link(self._location.network)
        matching = f"(name eq {prefix_of(cluster)}-.*) (description eq {TAG})"
        found = self._compute.listed("global/routes", matching)
        return [row for row in found if name_of_link(row.get("network")) == network]
