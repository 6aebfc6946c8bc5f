"""The subnetwork of the cluster: the file's, or in a network of mode ``auto`` the region's own.

Source: cloud-provider-gcp ``providers/gce/gce.go`` (initializeSubnetworkURLAndIsLegacyNetwork, determineSubnetURL).
"""

from __future__ import annotations

import ipaddress
import threading
from typing import Final

from hyperkube_cloud.gce.compute import Compute, name_of_link
from hyperkube_cloud.gce.location import Location

AUTO: Final = ipaddress.IPv4Network("10.128.0.0/9")
"""The range from which networks of mode ``auto`` give each region a part."""


class Subnetworks:
    """Finds the cluster's subnetwork once."""

    def __init__(self, compute: Compute, location: Location) -> None:
        self._compute, self._location = compute, location
        self._lock = threading.Lock()
        self._known: str | None = None

    def default(self) -> str:
        """Return its URL; empty where Google chooses, or the network has none."""
        with self._lock:
            if self._known is None:
                self._known = self._location.configured_subnetwork or self._found()
            return self._known

    def _found(self) -> str:
        network = name_of_link(self._location.network)
        held = self._compute.find(f"global/networks/{network}")
        if held is None or not held.get("autoCreateSubnetworks"):
            return ""
        rows = self._compute.listed(f"regions/{self._location.region}/subnetworks")
        own = [
            str(row["selfLink"])
            for row in rows
            if name_of_link(row.get("network")) == network and _within(row["ipCidrRange"])
        ]
        return own[0] if len(own) == 1 else ""


def _within(text: str) -> bool:
    return ipaddress.IPv4Network(text).subnet_of(AUTO)
