"""What Azure's metadata service tells a machine about itself.

Source: cloud-provider-azure ``pkg/provider/azure_instance_metadata.go``, ``azure_zones.go``.
"""

from __future__ import annotations

import json
from typing import Final

from hyperkube_lib.cloud_provider.rest import Request, Send

from hyperkube.hookspecs.cloud import CloudUnavailable

URL: Final = "http://169.254.169.254/metadata/instance?api-version=2021-10-01&format=json"


class Metadata:
    """Asks the metadata service."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def zone(self) -> tuple[str, str]:
        """Return this machine's zone, or without zones its fault domain, and its region.

        Raises:
            CloudUnavailable: this is no machine of Azure's.
        """
        answer = self._send(Request(method="GET", url=URL, headers={"Metadata": "true"}))
        try:
            compute = json.loads(answer.body)["compute"]
            region = str(compute["location"]).lower()
            zone = f"{region}-{compute['zone']}" if compute.get("zone") else str(compute["platformFaultDomain"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CloudUnavailable("the metadata service does not tell where this machine is") from None
        return zone, region
