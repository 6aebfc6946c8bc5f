"""Nodes' machines: virtual machines of oVirt, found by provider id, else by their guest's host name or their own.

The provider of 1.5 knew running machines alone, and so took one that was off for one that was gone; here a machine is
gone when the engine does not find it any more.
Source: kubernetes 1.5 ``pkg/cloudprovider/providers/ovirt/ovirt.go``; oVirt API model, ``Vm`` and ``ReportedDevice``.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from hyperkube_cloud.ovirt.engine import Engine
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceMetadata
from hyperkube.machinery.objects import NodeName, Object, name_of

PROVIDER: Final = "ovirt"
DOWN: Final = "down"
_ID: Final = re.compile(r"ovirt://(?:[^/]*/)?([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})")

Resolve = Callable[[str], Sequence[str]]
"""Returns the addresses of a host name; OSError if there are none."""


def resolved(name: str) -> Sequence[str]:
    """Ask the system's resolver."""
    return [str(row[4][0]) for row in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]


def split_provider_id(provider_id: str) -> str:
    """Return the machine's id.

    Raises:
        CloudFailed: it is the id of something else.
    """
    found = _ID.fullmatch(provider_id)
    if found is None:
        raise CloudFailed(f"provider id {provider_id!r} is no ovirt:///UUID")
    return found[1]


def guest_addresses(machine: Element) -> list[str]:
    """Return what the guest says of its addresses, in its order: those of the machine's own network cards.

    A guest tells of bridges and tunnels as well, which are the cluster's; they have none of the machine's cards' MACs.
    """
    cards = {_mac(nic) for nic in machine.iterfind("nics/nic")} - {""}
    found = []
    for device in machine.iterfind("reported_devices/reported_device"):
        if cards and _mac(device) not in cards:
            continue
        found += [text for text in (ip.findtext("address", "") for ip in device.iterfind("ips/ip")) if _is_usable(text)]
    return found


class OVirtInstances:
    """Virtual machines; implements `hyperkube.hookspecs.cloud.Instances` and `CurrentInstance`."""

    def __init__(self, engine: Engine, search: str, resolve: Resolve = resolved) -> None:
        """Take the search that machines without a provider id are found by."""
        self._engine, self._search, self._resolve = engine, search, resolve

    def exists(self, node: Object) -> bool:
        """Tell whether there is a machine, running or not."""
        return self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is off."""
        machine = self._find(node)
        return machine is not None and machine.findtext("status") == DOWN

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it: its first address of each family is the cluster's and the world's.

        Raises:
            InstanceNotFound: there is none.
        """
        machine = found_for(node, self._find(node, with_devices=True))
        rows: list[Object] = []
        for address in self._addresses(machine, name_of(node)):
            rows += [{"type": kind, "address": address} for kind in ("InternalIP", "ExternalIP")]
        rows.append({"type": "Hostname", "address": machine.findtext("fqdn") or name_of(node)})
        return InstanceMetadata(provider_id=f"{PROVIDER}:///{machine.get('id')}", addresses=tuple(rows))

    def current_node_name(self, hostname: str) -> NodeName:
        """Return the host's own name, as the machine's guest tells it."""
        return NodeName(hostname)

    def current_zone(self) -> tuple[str, str]:
        """Return nothing: oVirt has no zones."""
        return "", ""

    def _addresses(self, machine: Element, name: str) -> list[str]:
        told = guest_addresses(machine)
        if not told:
            try:
                told = [address for address in self._resolve(name) if _is_usable(address)]
            except (OSError, UnicodeError):
                told = []
        if not told:
            raise CloudFailed(f"couldn't lookup address: {name}")
        by_family: dict[int, str] = {}
        for address in told:
            by_family.setdefault(ipaddress.ip_address(address).version, address)
        return list(by_family.values())

    def _find(self, node: Object, *, with_devices: bool = False) -> Element | None:
        given = provider_id_of(node)
        if given:
            ident = split_provider_id(given)
            found = self._engine.machines(f"id={ident}", with_devices=with_devices)
            if any(machine.get("id") != ident for machine in found):
                raise CloudUnavailable("GET vms: answered with another machine than was asked for")
            return found[0] if found else None
        name = name_of(node)
        there = self._engine.machines(self._search, with_devices=with_devices)
        for key in ("fqdn", "name"):
            named = [machine for machine in there if machine.findtext(key, "").lower() == name.lower()]
            if len(named) > 1:
                raise CloudFailed(f"multiple instances found for node {name!r}")
            if named:
                return named[0]
        return None


def _mac(device: Element) -> str:
    return (device.findtext("mac/address") or "").lower()


def _is_usable(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_link_local or address.is_loopback or address.is_unspecified)
