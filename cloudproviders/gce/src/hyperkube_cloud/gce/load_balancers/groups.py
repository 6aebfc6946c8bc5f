"""Instance groups of the cluster, one in each zone: what internal balancers send traffic to, all of them the same.

Source: cloud-provider-gcp ``providers/gce/gce_loadbalancer_internal.go`` (ensureInternalInstanceGroups).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from hyperkube_cloud.gce.compute import Compute, name_of_link
from hyperkube_cloud.gce.instances import GceInstances, host_path, instance_name, zone_of
from hyperkube_lib.cloud_provider.rest import Json, Missing, Refused

from hyperkube.machinery.objects import Object, labels_of, name_of

MOST: Final = 1000
"""Machines that a group can have: further ones are left out, by name."""
SUBNET_LABEL: Final = "cloud.google.com/gke-node-pool-subnet"
_MEMBER: Final = "memberAlreadyExists"


def group_name(cluster_id: str) -> str:
    """Return the name of the cluster's groups, which the ingress controller shares."""
    return f"k8s-ig--{cluster_id}" if cluster_id else "k8s-ig"


def by_zone(nodes: Sequence[Object], subnet: str) -> dict[str, set[str]]:
    """Return the names of the nodes' machines by zone, those of other subnetworks left out; '' for unknown zones."""
    found: dict[str, set[str]] = {}
    for node in nodes:
        told = labels_of(node).get(SUBNET_LABEL)
        if not told or not subnet or told == subnet:
            found.setdefault(zone_of(node), set()).add(instance_name(name_of(node)))
    return found


class InstanceGroups:
    """The cluster's groups."""

    def __init__(self, compute: Compute, instances: GceInstances, shared: threading.Lock) -> None:
        self._compute, self._instances, self._shared = compute, instances, shared

    def ensure(self, name: str, nodes: Sequence[Object], subnet: str) -> list[str]:
        """Make the groups of the nodes' zones, with just those machines; return their URLs."""
        zoned = by_zone(nodes, subnet)
        unknown = zoned.pop("", set())
        with self._shared:
            return [self._ensure(name, zone, zoned[zone], unknown) for zone in sorted(zoned)]

    def ensure_deleted(self, name: str) -> None:
        """Delete the groups in all zones of the region that no balancer uses any more."""
        with self._shared:
            for zone in sorted(self._instances.zones_of_region()):
                self._compute.delete_unused(f"zones/{zone}/instanceGroups/{name}")

    def _ensure(self, name: str, zone: str, wanted: set[str], unknown: set[str]) -> str:
        path = f"zones/{zone}/instanceGroups/{name}"
        kept = set(sorted(wanted)[:MOST])
        held: set[str] = set()
        if self._compute.find(path) is None:
            self._compute.insert(f"zones/{zone}/instanceGroups", {"name": name})
        else:
            rows = self._compute.query(f"{path}/listInstances", {"instanceState": "ALL"}, "items")
            held = {name_of_link(row["instance"]) for row in rows}
        if gone := held - kept - unknown:
            with suppress(Missing):  # a machine that no longer exists has left already
                self._compute.change("POST", f"{path}/removeInstances", self._rows(zone, gone))
        if new := kept - held:
            try:
                self._compute.change("POST", f"{path}/addInstances", self._rows(zone, new))
            except Refused as error:
                if error.code != _MEMBER:
                    raise
        return self._compute.url(path)

    def _rows(self, zone: str, names: set[str]) -> Json:
        return {"instances": [{"instance": self._compute.url(host_path(zone, name)[1:])} for name in sorted(names)]}
