"""Nodes' machines: found by provider id, else by name in the cluster's zones.

Source: cloud-provider-gcp ``providers/gce/gce_instances.go``, ``gce_util.go`` (splitProviderID), ``gce_zones.go``.
"""

from __future__ import annotations

import ipaddress
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.gce.compute import Compute, name_of_link
from hyperkube_cloud.gce.config import GceConfig
from hyperkube_cloud.gce.location import Location, Metadata, region_of
from hyperkube_cloud.gce.ssh_keys import add_key
from hyperkube_lib.cloud_provider.nodes import ZONE, found_for, provider_id_of

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceMetadata, InstanceNotFound
from hyperkube.machinery.objects import NodeName, Object, labels_of, name_of

Machine = Mapping[str, Any]
"""An instance as Compute Engine describes it."""

PROVIDER: Final = "gce"
ZONE_LABELS: Final = (ZONE, "failure-domain.beta.kubernetes.io/zone")
_ID: Final = re.compile(r"gce://([^/]+)/([^/]+)/([^/]+)")
_OFF: Final = frozenset({"TERMINATED", "STOPPED", "SUSPENDED"})


def split_provider_id(provider_id: str) -> tuple[str, str, str]:
    """Return project, zone and name.

    Raises:
        CloudFailed: it is the id of something else.
    """
    found = _ID.fullmatch(provider_id)
    if found is None:
        raise CloudFailed(f"error splitting providerID: {provider_id!r} is not gce://PROJECT/ZONE/NAME")
    return found[1], found[2], found[3]


def instance_name(node_name: str) -> str:
    """Return a machine's name: a node's name up to its first dot."""
    return node_name.partition(".")[0]


def zone_of(node: Object) -> str:
    """Return the zone that a node's labels or its provider id tell; empty if neither does."""
    labels = labels_of(node)
    told = next((labels[name] for name in ZONE_LABELS if labels.get(name)), "")
    return told or (split_provider_id(provider_id_of(node))[1] if _ID.fullmatch(provider_id_of(node)) else "")


def addresses(machine: Machine, stack_type: str) -> tuple[Object, ...]:
    """Return the rows of ``status.addresses``; those of IPv6 come first in a cluster of that alone."""
    rows: list[Object] = []
    for card in machine.get("networkInterfaces") or ():
        rows.append(_row("InternalIP", card.get("networkIP")))
        rows += [_row("ExternalIP", each.get("natIP")) for each in card.get("accessConfigs") or ()]
        outer = [each.get("externalIpv6") for each in card.get("ipv6AccessConfigs") or ()]
        external = outer[-1] if outer and card.get("ipv6AccessType") == "EXTERNAL" else ""
        rows.append(_row("InternalIP", card.get("ipv6Address") or external))
    first = 6 if stack_type == "IPV6" else 4
    kept = [row for row in rows if row["address"]]
    return tuple(sorted(kept, key=lambda row: ipaddress.ip_address(row["address"]).version != first))


def _row(kind: str, address: object) -> Object:
    return {"type": kind, "address": str(address or "")}


def host_path(zone: str, name: str) -> str:
    """Return what links to machines are compared by, whatever host of Google's they name."""
    return f"/zones/{zone}/instances/{name}"


class GceInstances:
    """Instances; those of `hyperkube.hookspecs.cloud`, with `CurrentInstance`, `AddsPodRanges` and `AddsSshKeys`."""

    def __init__(self, compute: Compute, config: GceConfig, location: Location, metadata: Metadata) -> None:
        self._compute, self._config, self._location, self._metadata = compute, config, location, metadata
        self._lock = threading.Lock()
        self._zones: tuple[str, ...] = ()

    def exists(self, node: Object) -> bool:
        """Tell whether there is an instance, in whatever state."""
        return self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is stopped or suspended."""
        machine = self._find(node)
        return machine is not None and machine["status"] in _OFF

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it.

        Raises:
            InstanceNotFound: there is none.
        """
        machine = self.machine(node)
        zone = name_of_link(machine["zone"])
        project = split_provider_id(provider_id_of(node))[0] if provider_id_of(node) else self._location.project
        return InstanceMetadata(
            provider_id=f"{PROVIDER}://{project}/{zone}/{machine['name']}",
            instance_type=name_of_link(machine.get("machineType")),
            addresses=addresses(machine, self._config.stack_type),
            zone=zone,
            region=region_of(zone),
        )

    def current_node_name(self, hostname: str) -> NodeName:
        """Return the host's name: on Google's machines it is the instance's."""
        return NodeName(hostname)

    def current_zone(self) -> tuple[str, str]:
        """Return this machine's zone and region."""
        zone = name_of_link(self._metadata.get("instance/zone"))
        return zone, region_of(zone)

    def pod_ranges(self, node: Object) -> list[str]:
        """Return the alias ranges of its interfaces.

        Source: cloud-provider-gcp ``providers/gce/gce_instances.go`` (AliasRangesByProviderID).

        Raises:
            InstanceNotFound: there is none.
        """
        cards = self.machine(node).get("networkInterfaces") or ()
        return [str(row["ipCidrRange"]) for card in cards for row in card.get("aliasIpRanges") or ()]

    def add_pod_range(self, node: Object, cidr: str) -> None:
        """Give its first interface an alias range, of the subnetwork's secondary range that the file names.

        The API refuses it (``fingerprint``) if the interface has changed in between.
        Source: cloud-provider-gcp ``providers/gce/gce_instances.go`` (AddAliasToInstanceByProviderID).

        Raises:
            InstanceNotFound: there is none.
            CloudFailed: it has no interface.
        """
        machine = self.machine(node)
        cards = machine.get("networkInterfaces") or ()
        if not cards:
            raise CloudFailed(f"instance {machine['name']!r} has no network interfaces")
        if any(row.get("ipCidrRange") == cidr for row in cards[0].get("aliasIpRanges") or ()):
            return
        named = self._config.secondary_range_name
        alias = {"ipCidrRange": cidr, **({"subnetworkRangeName": named} if named else {})}
        body = {"name": cards[0]["name"], "fingerprint": cards[0].get("fingerprint"), "aliasIpRanges": [alias]}
        place = f"zones/{name_of_link(machine['zone'])}/instances/{machine['name']}/updateNetworkInterface"
        self._compute.change("PATCH", f"{place}?networkInterface={cards[0]['name']}", body)

    def add_ssh_key(self, user: str, public_key: str) -> None:
        """Open all machines of the project to a key; see `add_key`."""
        add_key(self._compute, user, public_key)

    def machine(self, node: Object) -> Machine:
        """Return the instance as Compute Engine describes it.

        Raises:
            InstanceNotFound: there is none.
        """
        return found_for(node, self._find(node))

    def named(self, node_name: str) -> Machine | None:
        """Return the instance of that name in the cluster's zones, None if there is none."""
        return self._find({"metadata": {"name": node_name}})

    def machines(self, nodes: Sequence[Object]) -> list[Machine]:
        """Return the instances of nodes by name, in one list of each zone; unknown ones are left out.

        Raises:
            InstanceNotFound: none of them is known: a balancer is not emptied by that.
        """
        wanted = {instance_name(name_of(node)) for node in nodes}
        prefix = self._config.node_instance_prefix
        matching = f"name eq {prefix}.*" if prefix and all(name.startswith(prefix) for name in wanted) else ""
        told = {zone_of(node) for node in nodes}
        found: dict[str, Machine] = {}
        for zone in self.zones() if "" in told else sorted(told):
            for machine in self._compute.listed(f"zones/{zone}/instances", matching):
                if _sound(machine)["name"] in wanted:
                    found.setdefault(str(machine["name"]), machine)
        if wanted and not found:
            raise InstanceNotFound("none of the nodes' instances was found")
        return [found[name] for name in sorted(found)]

    def zones(self) -> tuple[str, ...]:
        """Return the zones where the cluster's machines may stand."""
        if not (self._config.multizone or self._config.regional):
            return (self._location.zone,)
        with self._lock:
            if not self._zones:
                self._zones = tuple(sorted(self.zones_of_region()))
            return self._zones

    def zones_of_region(self) -> list[str]:
        """Return all zones of the region."""
        region = self._location.region
        return [str(zone["name"]) for zone in self._compute.listed("zones") if name_of_link(zone["region"]) == region]

    def node_tags(self, machines: Iterable[Machine]) -> list[str]:
        """Return the tags by which firewalls know machines: the file's, or the longest that begins each one's name.

        Raises:
            CloudFailed: a machine has no such tag.
        """
        if self._config.node_tags:
            return list(self._config.node_tags)
        tags = set()
        for machine in machines:
            fitting = [tag for tag in (machine.get("tags") or {}).get("items") or () if machine["name"].startswith(tag)]
            if not fitting:
                problem = "could not find any tag that is a prefix of instance name for instance"
                raise CloudFailed(f"{problem} {machine['name']}")
            tags.add(str(max(fitting, key=len)))
        return sorted(tags)

    def _find(self, node: Object) -> Machine | None:
        given = provider_id_of(node)
        if given:
            _, zone, name = split_provider_id(given)
            places = [zone]
        else:
            name, places = instance_name(name_of(node)), list(self.zones())
        for zone in places:
            machine = self._compute.find(f"zones/{zone}/instances/{name}")
            if machine is not None:
                return _sound(machine)
        return None


def _sound(machine: Machine) -> Machine:
    """Return an instance that has what an instance has; anything else is no word of the cloud's.

    Raises:
        CloudUnavailable: it has not.
    """
    if all(isinstance(machine.get(key), str) and machine[key] for key in ("name", "status", "zone")):
        return machine
    raise CloudUnavailable("the API describes an instance without name, status or zone")
