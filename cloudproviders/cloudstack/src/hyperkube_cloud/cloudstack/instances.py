"""Nodes' machines: virtual machines of CloudStack, found by provider id, else by name.

A machine that is destroyed counts as gone, though an administrator may still see and recover it.
Source: kubernetes ``pkg/cloudprovider/providers/cloudstack/cloudstack_instances.go``, the same file and ``util.go`` of
cloudstack-kubernetes-provider.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.cloudstack.api import Api
from hyperkube_cloud.cloudstack.config import CloudStackConfig
from hyperkube_cloud.cloudstack.metadata import Metadata
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceMetadata
from hyperkube.machinery.objects import NodeName, Object, name_of

PROVIDER: Final = "cloudstack"
GONE: Final = frozenset({"Destroyed", "Expunging"})
STOPPED: Final = "Stopped"
DETAILS: Final = "min,nics"
"""What a list tells of each machine: without statistics of its use, which cost the management server much."""
_ID: Final = re.compile(r"(?:external-)?cloudstack://(?:/?([^/]*)/)?([^/]+)")


def split_provider_id(provider_id: str) -> str:
    """Return the machine's id, whichever of Kubernetes' and CloudStack's controllers wrote it.

    Raises:
        CloudFailed: it is the id of something else.
    """
    plain = provider_id if "://" in provider_id else f"{PROVIDER}://{provider_id.lstrip('/')}"
    found = _ID.fullmatch(plain)
    if found is None:
        expected = 'didn\'t match expected format "cloudstack://region/InstanceID"'
        raise CloudFailed(f'ProviderID "{provider_id}" {expected}')
    return found[2]


def sanitized(text: object) -> str:
    """Return a text as the value of a label."""
    return re.sub(r"[^-A-Za-z0-9_.]", "_", str(text or "")).strip("-_.")[:63].strip("-_.")


def offering(text: object) -> str:
    """Return the name of a service offering as an instance type: its letters and figures."""
    return re.sub(r"[^A-Za-z0-9]", "", str(text or ""))[:63]


def short_name(node_name: str) -> str:
    """Return the name that a node's machine has: machines' names have no domain, and no capitals that count."""
    return node_name.lower().partition(".")[0]


def first_nic(machine: Json) -> Json:
    """Return a machine's default network card.

    Raises:
        CloudFailed: it has none.
    """
    nics = machine.get("nic") or []
    if not nics:
        raise CloudFailed("instance does not have an internal IP")
    return dict(next((nic for nic in nics if nic.get("isdefault")), nics[0]))


def addresses(machine: Json) -> tuple[Object, ...]:
    """Return the rows of ``status.addresses``; a public address is one by static NAT."""
    rows = [
        ("InternalIP", first_nic(machine).get("ipaddress")),
        ("Hostname", machine.get("name")),
        ("ExternalIP", machine.get("publicip")),
    ]
    return tuple({"type": kind, "address": str(address)} for kind, address in rows if address)


class CloudStackInstances:
    """Virtual machines; implements `hyperkube.hookspecs.cloud.Instances` and `CurrentInstance`."""

    def __init__(self, api: Api, config: CloudStackConfig, metadata: Metadata) -> None:
        self._api, self._config, self._metadata = api, config, metadata

    def exists(self, node: Object) -> bool:
        """Tell whether there is a machine."""
        return self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is stopped."""
        machine = self._find(node)
        return machine is not None and machine["state"] == STOPPED

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it; without credentials that is the machine that a kubelet runs on, and describes its node.

        Raises:
            InstanceNotFound: there is none.
        """
        machine = found_for(node, self._find(node)) if self._config.can_ask else self._metadata.machine()
        zone = sanitized(machine.get("zonename"))
        return InstanceMetadata(
            provider_id=f"{PROVIDER}://{machine['id']}",
            instance_type=offering(machine.get("serviceofferingname")),
            addresses=addresses(machine),
            zone=zone,
            region=sanitized(self._config.region) or zone,
        )

    def current_node_name(self, hostname: str) -> NodeName:
        """Return the machine's own name: it is its host's."""
        return NodeName(hostname)

    def current_zone(self) -> tuple[str, str]:
        """Return this machine's zone, of the file or as its metadata tell, and region."""
        zone = sanitized(self._config.zone or self._metadata.zone())
        return zone, sanitized(self._config.region) or zone

    def machines(self, nodes: Sequence[Object]) -> list[Json]:
        """Return the machines of those nodes that have one, in the nodes' order; one list is read for all."""
        rows = [_sound(row) for row in self._api.listed("listVirtualMachines", "virtualmachine", details=DETAILS)]
        there = [row for row in rows if row["state"] not in GONE]
        by_id = {row["id"]: row for row in there}
        by_name = {row["name"].lower(): row for row in there}
        found = []
        for node in nodes:
            given = provider_id_of(node)
            found.append(by_id.get(split_provider_id(given)) if given else by_name.get(short_name(name_of(node))))
        return [row for row in found if row is not None]

    def _find(self, node: Object) -> Json | None:
        given = provider_id_of(node)
        if given:
            ident = split_provider_id(given)
            found = self._api.find("listVirtualMachines", "virtualmachine", ident)
            return _there(found)
        name = short_name(name_of(node))
        rows = [_sound(row) for row in self._api.listed("listVirtualMachines", "virtualmachine", name=name)]
        named = [row for row in rows if row["name"].lower() == name and row["state"] not in GONE]
        if len(named) > 1:
            raise CloudFailed(f"multiple instances found for node {name_of(node)!r}")
        return named[0] if named else None


def _there(machine: Json | None) -> Json | None:
    return machine if machine is not None and _sound(machine)["state"] not in GONE else None


def _sound(machine: Json) -> Json:
    """Return a machine that has what a machine has; anything else is no word of the cloud's.

    Raises:
        CloudUnavailable: it has not.
    """
    if all(isinstance(machine.get(key), str) and machine[key] for key in ("id", "name", "state")):
        return machine
    raise CloudUnavailable("CloudStack describes a machine without id, name or state")
