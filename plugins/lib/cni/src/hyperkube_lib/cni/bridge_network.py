"""The network of a node whose pods hang on one bridge: what is written to a configuration of CNI."""

from __future__ import annotations

import json
from enum import StrEnum

from hyperkube_lib.cni.network_list import NetworkList, parse_network

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

VERSION = "1.0.0"


class HairpinMode(StrEnum):
    """How a pod reaches itself by way of a service. Source: kubernetes ``pkg/kubelet/apis/config`` (HairpinMode)."""

    PROMISCUOUS_BRIDGE = "promiscuous-bridge"
    HAIRPIN_VETH = "hairpin-veth"
    NONE = "none"


def hairpin_mode(text: str) -> HairpinMode:
    """Return the mode that ``--hairpin-mode`` names.

    Raises:
        UsageError: there is no such mode.
    """
    try:
        return HairpinMode(text)
    except ValueError as error:
        known = ", ".join(HairpinMode)
        raise UsageError(f"--hairpin-mode: unknown value {text!r} (known: {known})") from error


class BridgeNetwork(Record):
    """A bridge with an address of each range, and what its pods get.

    Attributes:
        cidrs: the ranges of the pods, one per family.
        mtu: of the pods' interfaces; 0 for the kernel's choice.
        addresses: the folder in which host-local remembers who has which address; empty for its own choice.
    """

    name: str
    bridge: str
    cidrs: tuple[str, ...]
    mtu: int = 0
    hairpin: HairpinMode = HairpinMode.HAIRPIN_VETH
    addresses: str = ""

    def text(self) -> str:
        """Return the configuration."""
        ipam = {
            "type": "host-local",
            "ranges": [[{"subnet": cidr}] for cidr in self.cidrs],
            "routes": [{"dst": default_route(cidr)} for cidr in self.cidrs],
        }
        if self.addresses:
            ipam["dataDir"] = self.addresses
        plugins = [
            {
                "type": "bridge",
                "bridge": self.bridge,
                "isGateway": True,
                "mtu": self.mtu,
                "hairpinMode": self.hairpin is HairpinMode.HAIRPIN_VETH,
                "promiscMode": self.hairpin is HairpinMode.PROMISCUOUS_BRIDGE,
                "ipam": ipam,
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
            {"type": "bandwidth", "capabilities": {"bandwidth": True}},
        ]
        return json.dumps({"cniVersion": VERSION, "name": self.name, "plugins": plugins}, indent=2) + "\n"

    def network(self) -> NetworkList:
        """Return the network."""
        return parse_network(self.text())


def default_route(cidr: str) -> str:
    """Return the default route of a range's family."""
    return "::/0" if ":" in cidr else "0.0.0.0/0"


def split_cidrs(text: str) -> tuple[str, ...]:
    """Return ranges that are separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
