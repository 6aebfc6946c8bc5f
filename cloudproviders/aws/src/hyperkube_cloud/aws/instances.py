"""Nodes' machines: found by provider id, else by their private DNS name.

Source: kubernetes legacy-cloud-providers ``aws/aws.go`` (Instances, NodeAddresses), ``aws/instances.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.metadata import Metadata
from hyperkube_cloud.aws.tags import as_map
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of

from hyperkube.hookspecs.cloud import CloudFailed, InstanceMetadata
from hyperkube.machinery.objects import NodeName, Object, name_of

Machine = Mapping[str, Any]
"""An instance as EC2 describes it."""

PROVIDER = "aws"
_ID = re.compile(r"i-[0-9a-f]+")
_NAMED = ("InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed")
_ALIVE = ("pending", "running", "shutting-down", "stopping", "stopped")


def instance_id(provider_id: str) -> str:
    """Return the instance of ``aws:///ZONE/ID``, ``aws:////ID`` or a bare id; empty for none.

    Raises:
        CloudFailed: it is the id of something else.
    """
    if not provider_id:
        return ""
    last = provider_id.rpartition("/")[2]
    if not _ID.fullmatch(last) or not (last == provider_id or provider_id.startswith(f"{PROVIDER}://")):
        raise CloudFailed(f"Invalid format for AWS instance ({provider_id})")
    return last


def addresses(machine: Machine) -> tuple[Object, ...]:
    """Return the rows of ``status.addresses``: each interface's private addresses, then public ones and names."""
    rows: list[Object] = []
    for card in sorted(machine.get("NetworkInterfaces") or (), key=_index):
        if card.get("Status", "in-use") != "in-use":
            continue
        rows += [_row("InternalIP", ip.get("PrivateIpAddress")) for ip in card.get("PrivateIpAddresses") or ()]
        rows += [_row("InternalIP", ip.get("Ipv6Address")) for ip in card.get("Ipv6Addresses") or ()]
    if not rows:
        rows.append(_row("InternalIP", machine.get("PrivateIpAddress")))
    rows += [
        _row("ExternalIP", machine.get("PublicIpAddress")),
        _row("InternalDNS", machine.get("PrivateDnsName")),
        _row("Hostname", machine.get("PrivateDnsName")),
        _row("ExternalDNS", machine.get("PublicDnsName")),
    ]
    return tuple(row for row in rows if row["address"])


def _index(card: Mapping[str, Any]) -> int:
    return int((card.get("Attachment") or {}).get("DeviceIndex", 0))


def _row(kind: str, address: object) -> Object:
    return {"type": kind, "address": str(address or "")}


def described(machine: Machine) -> InstanceMetadata:
    """Return what is told of a machine."""
    zone = str(machine["Placement"]["AvailabilityZone"])
    return InstanceMetadata(
        provider_id=f"{PROVIDER}:///{zone}/{machine['InstanceId']}",
        instance_type=str(machine.get("InstanceType", "")),
        addresses=addresses(machine),
        zone=zone,
        region=zone.rstrip("abcdefghijklmnopqrstuvwxyz"),
    )


class AwsInstances:
    """EC2 instances; implements `hyperkube.hookspecs.cloud.Instances` and `CurrentInstance`."""

    def __init__(self, calls: Calls, metadata: Metadata) -> None:
        self._calls, self._metadata = calls, metadata

    def exists(self, node: Object) -> bool:
        """Tell whether there is an instance that is not terminated."""
        return self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is stopped."""
        machine = self._find(node)
        return machine is not None and machine["State"]["Name"] == "stopped"

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it.

        Raises:
            InstanceNotFound: there is none.
        """
        return described(self.machine(node))

    def current_node_name(self, hostname: str) -> NodeName:
        """Return this machine's private DNS name: the metadata service's may be another in a private zone.

        Source: kubernetes legacy-cloud-providers ``aws/aws.go`` (buildSelfAWSInstance).
        """
        return NodeName(node_name(self._own()))

    def current_zone(self) -> tuple[str, str]:
        """Return this machine's zone and region."""
        found = described(self._own())
        return found.zone, found.region

    def machine(self, node: Object) -> Machine:
        """Return the instance as EC2 describes it.

        Raises:
            InstanceNotFound: there is none.
        """
        return found_for(node, self._find(node))

    def machines(self, nodes: Sequence[Object]) -> list[Machine]:
        """Return the running instances of nodes, those with a provider id in one call; unknown ones are left out."""
        ids = [found for node in nodes if (found := instance_id(provider_id_of(node)))]
        named = [node for node in nodes if not provider_id_of(node)]
        machines = self._describe(Filters=[{"Name": "instance-id", "Values": ids}]) if ids else []
        machines += [machine for node in named if (machine := self._find(node)) is not None]
        return [machine for machine in machines if machine["State"]["Name"] == "running"]

    def by_id(self, ids: Sequence[str]) -> dict[str, Machine]:
        """Return instances by id, those that there are."""
        found = self._describe(Filters=[{"Name": "instance-id", "Values": list(ids)}]) if ids else []
        return {machine["InstanceId"]: machine for machine in found}

    def _own(self) -> Machine:
        """Return the machine that this runs on.

        Raises:
            InstanceNotFound: EC2 does not know it.
        """
        ident = self._metadata.instance_id()
        return self.machine({"metadata": {"name": "this"}, "spec": {"providerID": ident}})

    def _find(self, node: Object) -> Machine | None:
        known = instance_id(provider_id_of(node))
        if known:
            try:
                found = self._describe(InstanceIds=[known])
            except Refused as error:
                if error.code not in _NAMED:
                    raise
                return None
        else:
            states = {"Name": "instance-state-name", "Values": list(_ALIVE)}
            found = self._describe(Filters=[{"Name": "private-dns-name", "Values": [name_of(node)]}, states])
        alive = [machine for machine in found if machine["State"]["Name"] != "terminated"]
        if len(alive) > 1:
            raise CloudFailed(f"multiple instances found for node {name_of(node)!r}")
        return alive[0] if alive else None

    def _describe(self, **arguments: Any) -> list[Machine]:
        reservations = self._calls.pages("ec2", "describe_instances", "Reservations", **arguments)
        return [machine for reservation in reservations for machine in reservation["Instances"]]


def node_name(machine: Machine) -> str:
    """Return the name that a machine's node has in a cluster whose kubelets ask the cloud."""
    return str(machine.get("PrivateDnsName") or as_map(machine.get("Tags")).get("Name") or machine["InstanceId"])
