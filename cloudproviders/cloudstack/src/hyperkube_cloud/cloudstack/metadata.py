"""What a machine's virtual router tells it of itself, without credentials.

The router that leases a machine its address serves its metadata, too; its DNS server knows it as ``data-server.``.
Source: kubernetes ``pkg/cloudprovider/providers/cloudstack/metadata.go`` (which finds the router by a DHCP request of
its own, for which a kubelet needs raw sockets), cloud-init ``doc/rtd/reference/datasources/cloudstack.rst``
(the name).
"""

from __future__ import annotations

import re
from typing import Final

from hyperkube_lib.cloud_provider.rest import Json, Request, Send

from hyperkube.hookspecs.cloud import CloudUnavailable

URL: Final = "http://data-server./latest/meta-data/"
_VALUE: Final = re.compile(rb"[\w][\w .:-]{0,127}")
"""Names, ids and addresses; a page of something else is none."""


class Metadata:
    """Asks the virtual router."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def zone(self) -> str:
        """Return the name of this machine's zone.

        Raises:
            CloudUnavailable: this is no machine of CloudStack's.
        """
        return self._told("availability-zone")

    def machine(self) -> Json:
        """Return what the API would show of this machine, as far as the router knows it.

        The public address is that of the router where the machine has none by static NAT.

        Raises:
            CloudUnavailable: this is no machine of CloudStack's.
        """
        return {
            "id": self._told("instance-id"),
            "name": self._told("local-hostname"),
            "serviceofferingname": self._told("service-offering"),
            "zonename": self._told("availability-zone"),
            "publicip": self._told("public-ipv4"),
            "nic": [{"ipaddress": self._told("local-ipv4")}],
        }

    def _told(self, name: str) -> str:
        answer = self._send(Request(method="GET", url=f"{URL}{name}", headers={}))
        if answer.status != 200 or not _VALUE.fullmatch(answer.body.strip()):
            raise CloudUnavailable(f"the metadata service does not tell this machine's {name}")
        return answer.body.strip().decode()
