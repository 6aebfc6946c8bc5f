"""The project's clusters of Kubernetes Engine, zone by zone.

Source: kubernetes ``staging/src/k8s.io/legacy-cloud-providers/gce/gce_clusters.go``; the answer's shape is that of
``projects.locations.clusters.list`` in https://container.googleapis.com/$discovery/rest?version=v1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_cloud.gce.compute import explained
from hyperkube_cloud.gce.config import GceConfig
from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.rest import RestApi, Send

from hyperkube.hookspecs.cloud import CloudUnavailable


class GceClusters:
    """Clusters; implements `hyperkube.hookspecs.cloud.Clusters`."""

    def __init__(self, send: Send, config: GceConfig, location: Location, zones: Callable[[], Sequence[str]]) -> None:
        self._api = RestApi(send, explained)
        self._config, self._location, self._zones = config, location, zones

    def list(self) -> Sequence[str]:
        """Return the names of the clusters in the zones where the machines may stand.

        Raises:
            CloudUnavailable: a zone does not answer: its clusters would be missing.
        """
        names: list[str] = []
        for zone in self._zones():
            place = f"projects/{self._location.project}/locations/{zone}/clusters"
            answer = self._api.call("GET", f"{self._config.container_endpoint}v1/{place}")
            rows = answer.get("clusters") or []
            sound = isinstance(rows, list) and all(isinstance(row, dict) and row.get("name") for row in rows)
            if answer.get("missingZones") or not sound:
                raise CloudUnavailable(f"the API does not tell the clusters of zone {zone}")
            names += [str(row["name"]) for row in rows]
        return names

    def master(self, cluster: str) -> str:
        """Return the name by which the cluster's machines know its API server."""
        return f"k8s-{cluster}-master.internal"
