"""Zones and regions, which in vSphere are tags: the nearest of a host, its cluster, its datacenter and its folders.

All hosts are looked at in one call and their tags in another, at most once in five minutes: hosts seldom move.
Source: cloud-provider-vsphere ``pkg/common/connectionmanager/zones.go``; kubernetes
``legacy-cloud-providers/vsphere/vsphere.go`` (GetZonesForDatastore, collapseZonesInRegion).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.vsphere.config import Labels
from hyperkube_cloud.vsphere.tags import Reference, Tag, Tags
from hyperkube_cloud.vsphere.vcenter import VCenter, ident, kind
from hyperkube_lib.cloud_provider.nodes import REGION, ZONE
from pyVmomi import vim

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass

FRESH: Final = 300.0
"""Seconds for which what was read of hosts holds."""
JOINT: Final = "__"
"""Between several zones in one label. Source: cloud-provider ``volume/helpers/zones.go``."""
_ON: Final = ("folder", "datacenter", "resource")
_WAYS: Final = {
    "folder": (vim.Folder, "childEntity", _ON),
    "datacenter": (vim.Datacenter, "hostFolder", _ON),
    "resource": (vim.ComputeResource, "host", ()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host: its zone and region, empty for none, and the ids of the datastores that it has."""

    zone: str
    region: str
    datastores: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    until: float
    hosts: Mapping[str, Host]


class Zones:
    """Tells zones of hosts and of datastores; thread-safe."""

    def __init__(self, labels: Labels, tags: Mapping[str, Tags], clock: Clock) -> None:
        """Take the categories, and the tags of each vCenter by its server."""
        self._labels, self._tags, self._clock = labels, tags, clock
        self._locks = {server: threading.Lock() for server in tags}  # a vCenter that hangs holds no other one up
        self._read: dict[str, _Read] = {}

    @property
    def are_used(self) -> bool:
        """Whether a category is named."""
        return bool(self._labels.zone or self._labels.region)

    def of_host(self, vcenter: VCenter, host: Any) -> tuple[str, str]:
        """Return zone and region of a machine's host.

        Raises:
            CloudFailed: a category is named, and the host has no tag of it.
        """
        if not self.are_used:
            return "", ""
        if host is None:
            raise CloudFailed("the machine has no host, so that its zone is not known")
        found = self.hosts(vcenter).get(ident(host)) or self.hosts(vcenter, anew=True).get(ident(host))
        for name, category, value in (
            ("region", self._labels.region, found and found.region),
            ("zone", self._labels.zone, found and found.zone),
        ):
            if category and not value:
                raise CloudFailed(f"vSphere {name} category {category} does not match any tags for mo: {ident(host)}")
        return (found.zone, found.region) if found else ("", "")

    def hosts(self, vcenter: VCenter, *, anew: bool = False) -> Mapping[str, Host]:
        """Return all hosts by id."""
        server = vcenter.config.server
        with self._locks[server]:  # who waits for it needs the same
            held = self._read.get(server)
            if held is None or anew or held.until <= self._clock.monotonic():
                held = _Read(until=self._clock.monotonic() + FRESH, hosts=self._read_hosts(vcenter))
                self._read[server] = held
            return held.hosts

    def datastores_of(self, vcenter: VCenter, zones: Sequence[str]) -> frozenset[str]:
        """Return the ids of the datastores that all hosts of the zones have."""
        of_zones = [host.datastores for host in self.hosts(vcenter).values() if host.zone in zones]
        return frozenset.intersection(*of_zones) if of_zones else frozenset()

    def labels_of(self, vcenter: VCenter, datastore: str) -> dict[str, str]:
        """Return the labels of what is on a datastore: the zones whose hosts all have it, of the first region."""
        if not (self._labels.zone and self._labels.region):
            return {}
        by_zone: dict[tuple[str, str], bool] = {}
        for host in self.hosts(vcenter).values():
            if host.zone and host.region:
                place = (host.region, host.zone)
                by_zone[place] = by_zone.get(place, True) and datastore in host.datastores
        within = sorted(place for place, is_whole in by_zone.items() if is_whole)
        if not within:
            return {}
        region = within[0][0]
        return {REGION: region, ZONE: JOINT.join(zone for each, zone in within if each == region)}

    def _read_hosts(self, vcenter: VCenter) -> dict[str, Host]:
        within = dict.fromkeys((vim.Folder, vim.Datacenter, vim.ComputeResource), ("parent",))
        wanted = {**within, vim.HostSystem: ("parent", "datastore")}
        parents: dict[Reference, Reference | None] = {}
        datastores: dict[Reference, frozenset[str]] = {}
        for ref, told in vcenter.walk(vcenter.content.rootFolder, _WAYS, wanted):
            place = (kind(ref), ident(ref))
            parent = told.get("parent")
            parents[place] = (kind(parent), ident(parent)) if parent is not None else None
            if isinstance(ref, vim.HostSystem):
                datastores[place] = frozenset(ident(each) for each in told.get("datastore") or ())
        tags = self._tags[vcenter.config.server]
        attached = tags.of(sorted(parents))
        described = tags.described(each for ids in attached.values() for each in ids)
        own = {place: [described[each] for each in ids if each in described] for place, ids in attached.items()}
        made: dict[str, Host] = {}
        for place, held in datastores.items():
            line = _ancestors(place, parents)
            made[place[1]] = Host(
                zone=_nearest(line, own, self._labels.zone),
                region=_nearest(line, own, self._labels.region),
                datastores=held,
            )
        return made


def _ancestors(place: Reference, parents: Mapping[Reference, Reference | None]) -> list[Reference]:
    """Return an object and what it is in, from the inside out."""
    line: list[Reference] = []
    at: Reference | None = place
    while at is not None and at not in line:
        line.append(at)
        at = parents.get(at)
    return line


def _nearest(line: Sequence[Reference], tags: Mapping[Reference, Sequence[Tag]], category: str) -> str:
    if not category:
        return ""
    return next((tag.name for place in line for tag in tags.get(place, ()) if tag.category == category), "")
