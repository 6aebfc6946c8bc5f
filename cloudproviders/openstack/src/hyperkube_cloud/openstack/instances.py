"""Nodes' machines: servers of Nova, found by provider id, else by name.

Source: cloud-provider-openstack ``pkg/openstack/instances.go``, ``instances_utils.go`` (nodeAddresses).
"""

from __future__ import annotations

import ipaddress
import os
import re
import threading
from collections.abc import Mapping
from typing import Any, Final

from hyperkube_cloud.openstack.apis import NEUTRON, NOVA, Apis
from hyperkube_cloud.openstack.config import Networking
from hyperkube_cloud.openstack.metadata import Metadata
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceMetadata
from hyperkube.machinery.objects import NodeName, Object, name_of

Machine = Mapping[str, Any]
"""A server as Nova describes it."""

PROVIDER: Final = "openstack"
HOST_LABEL: Final = "topology.openstack.org/host-id"
ZONE: Final = "OS-EXT-AZ:availability_zone"
_ID: Final = re.compile(r"openstack://([^/]*)/([^/]+)")
_LABEL: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def split_provider_id(provider_id: str) -> tuple[str, str]:
    """Return the region, which may be empty, and the server's id.

    Raises:
        CloudFailed: it is the id of something else.
    """
    found = _ID.fullmatch(provider_id if "://" in provider_id else f"{PROVIDER}://{provider_id}")
    if found is None:
        expected = f'didn\'t match expected format "{PROVIDER}://region/InstanceID"'
        raise CloudFailed(f'ProviderID "{provider_id}" {expected}')
    return found[1], found[2]


def sanitized(text: object) -> str:
    """Return a text as the value of a label. Source: ``pkg/util/util.go`` (SanitizeLabel)."""
    return re.sub(r"[^-A-Za-z0-9_.]", "-", str(text or ""))[:63].strip("-_.")


def addresses(machine: Machine, networking: Networking) -> tuple[Object, ...]:
    """Return the rows of ``status.addresses``: network by network, then the machine's access addresses and name."""
    rows: list[tuple[str, str]] = []
    for network, held in sorted((machine.get("addresses") or {}).items()):
        for each in held:
            address = str(each.get("addr") or "")
            if not address or (networking.ipv6_support_disabled and ipaddress.ip_address(address).version != 4):
                continue
            if each.get("OS-EXT-IPS:type") == "floating" or network in networking.public_network_name:
                rows.append(("ExternalIP", address))
            elif not networking.internal_network_name or network in networking.internal_network_name:
                rows.append(("InternalIP", address))
    rows += [("ExternalIP", str(machine.get(key) or "")) for key in ("accessIPv4", "accessIPv6")]
    rows.append(("Hostname", str((machine.get("metadata") or {}).get("Hostname") or "")))
    internal = {address for kind, address in rows if kind == "InternalIP"}
    kept = [row for row in dict.fromkeys(rows) if row[1] and not (row[0] == "ExternalIP" and row[1] in internal)]
    return tuple({"type": kind, "address": address} for kind, address in kept)


class OpenStackInstances:
    """Servers of Nova; implements `hyperkube.hookspecs.cloud.Instances` and `CurrentInstance`."""

    def __init__(self, apis: Apis, networking: Networking, region: str, metadata: Metadata) -> None:
        self._apis, self._networking, self._region = apis, networking, region
        self._metadata = metadata
        self._lock = threading.Lock()
        self._flavors: dict[str, str] = {}

    def exists(self, node: Object) -> bool:
        """Tell whether there is a server."""
        return self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is off: in that state alone disks can be detached at once."""
        machine = self._find(node)
        return machine is not None and machine["status"] == "SHUTOFF"

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it.

        Raises:
            InstanceNotFound: there is none.
        """
        machine = self.machine(node)
        region = self._region if os.environ.get("OS_CCM_REGIONAL") == "true" else ""
        host = sanitized(machine.get("hostId"))
        return InstanceMetadata(
            provider_id=f"{PROVIDER}://{region}/{machine['id']}",
            instance_type=self._flavor(machine.get("flavor") or {}),
            addresses=addresses(machine, self._networking),
            zone=sanitized(machine.get(ZONE)),
            region=self._region,
            labels={HOST_LABEL: host} if host else {},
        )

    def current_node_name(self, hostname: str) -> NodeName:
        """Return this server's name, which its host does not need to have."""
        return NodeName(self._metadata.name)

    def current_zone(self) -> tuple[str, str]:
        """Return this server's zone and region."""
        return sanitized(self._metadata.zone), self._region

    def machine(self, node: Object) -> Machine:
        """Return the server as Nova describes it.

        Raises:
            InstanceNotFound: there is none.
        """
        return found_for(node, self._find(node))

    def all(self) -> list[Json]:
        """Return all servers of the project."""
        return self._apis.listed(NOVA, "servers/detail", "servers")

    def subnet_of(self, machine: str, address: str) -> str:
        """Return the subnet in which a machine has an address.

        Raises:
            CloudFailed: it has not.
        """
        for port in self.ports(machine):
            for fixed in port.get("fixed_ips") or ():
                if fixed.get("ip_address") == address:
                    return str(fixed["subnet_id"])
        raise CloudFailed(f"instance {machine} has no address {address} in any subnet")

    def ports(self, machine: str) -> list[Json]:
        """Return a machine's ports as Neutron describes them."""
        return self._apis.listed(NEUTRON, "ports", "ports", device_id=machine)

    def _flavor(self, flavor: Machine) -> str:
        named = str(flavor.get("original_name") or "")
        if _LABEL.fullmatch(named):
            return named
        ident = str(flavor.get("id") or "")
        with self._lock:
            if ident and ident not in self._flavors:
                found = self._apis.find(NOVA, f"flavors/{ident}", "flavor")
                name = str((found or {}).get("name") or "")
                self._flavors[ident] = name if _LABEL.fullmatch(name) else ident
            return self._flavors.get(ident, "")

    def _find(self, node: Object) -> Machine | None:
        given = provider_id_of(node)
        if given:
            region, ident = split_provider_id(given)
            if region and region != self._region:
                raise CloudFailed(f'ProviderID "{given}" didn\'t match supported region "{self._region}"')
            found = self._apis.find(NOVA, f"servers/{ident}", "server")
            return _sound(found) if found is not None else None
        name = f"^{re.escape(name_of(node))}$"
        matching = self._apis.listed(NOVA, "servers/detail", "servers", name=name)
        if len(matching) > 1:
            raise CloudFailed(f"multiple instances found for node {name_of(node)!r}")
        return _sound(matching[0]) if matching else None


def _sound(machine: Machine) -> Machine:
    """Return a server that has what a server has; anything else is no word of the cloud's.

    Raises:
        CloudUnavailable: it has not.
    """
    if all(isinstance(machine.get(key), str) and machine[key] for key in ("id", "name", "status")):
        return machine
    raise CloudUnavailable("Nova describes a server without id, name or status")
