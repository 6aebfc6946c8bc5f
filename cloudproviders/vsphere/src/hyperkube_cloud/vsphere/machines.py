"""Nodes' virtual machines, over all vCenters: by provider id, by the firmware's uuid, else by the guest's name.

A machine is gone only if each vCenter says so: one that cannot be asked may have it. Where a machine was found is
remembered, so that what is asked of it next costs one call; that it is the same machine still is looked at each time.
Source: cloud-provider-vsphere ``pkg/common/connectionmanager/search.go``, ``pkg/cloudprovider/vsphere/util.go``;
kubernetes ``legacy-cloud-providers/vsphere/nodemanager.go``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from hyperkube_cloud.vsphere.soap import ObjectGone
from hyperkube_cloud.vsphere.vcenter import Properties, VCenter
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object, name_of

PROVIDER: Final = "vsphere"
UUID: Final = "config.uuid"
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOST_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A virtual machine: its vCenter, and pyVmomi's reference to it."""

    vcenter: VCenter
    ref: Any


def uuid_of(provider_id: str) -> str:
    """Return the uuid of a provider id, empty for none.

    Raises:
        CloudFailed: it is the id of something else.
    """
    if not provider_id:
        return ""
    found = provider_id.removeprefix(f"{PROVIDER}://").strip().lower()
    if not _UUID.fullmatch(found):
        raise CloudFailed(f"provider id {provider_id!r} is no machine of vSphere's: {PROVIDER}://UUID")
    return found


def turned(uuid: str) -> str:
    """Return a uuid with the bytes of its first three groups in the other order: firmware differs in that.

    Source: DMTF DSP0134 (SMBIOS) 7.2.1; cloud-provider-vsphere ``util.go`` (ConvertK8sUUIDtoNormal).
    """
    groups = uuid.split("-")
    first = ["".join(reversed(re.findall("..", group))) for group in groups[:3]]
    return "-".join([*first, *groups[3:]])


def system_uuid(node: Object) -> str:
    """Return the uuid that the node's firmware tells, empty if that is none."""
    info = (node.get("status") or {}).get("nodeInfo") or {}
    told = str(info.get("systemUUID") or "").strip().lower()
    return told if _UUID.fullmatch(told) else ""


class Machines:
    """Finds machines; thread-safe."""

    def __init__(self, vcenters: Sequence[VCenter], client: Client | None) -> None:
        self._vcenters, self._client = vcenters, client
        self._found: dict[str, Machine] = {}  # by uuid; replaced as a whole entry, so no lock is needed

    def find(self, node: Object) -> Machine | None:
        """Return a node's machine, None if no vCenter has it.

        Raises:
            CloudUnavailable: one vCenter cannot be asked, and no other one has it.
        """
        known = self._found.get(uuid_of(provider_id_of(node)))
        order = sorted(self._vcenters, key=lambda each: known is None or each is not known.vcenter)
        return next(filter(None, (_in_all(find, order) for find in _ways(node))), None)

    def need(self, node: Object) -> Machine:
        """Return a node's machine.

        Raises:
            InstanceNotFound: there is none.
        """
        return found_for(node, self.find(node))

    def named(self, node_name: str) -> Machine | None:
        """Return the machine of the node of that name, None if there is none.

        The node is asked for where there is an API: only it tells for certain which machine it is.
        """
        node: Object = {"metadata": {"name": node_name}}
        if self._client is not None:
            try:
                node = self._client.get(NODES, node_name)
            except NotFound:
                pass  # its machine may have outlived it
            except ApiError as error:
                raise CloudFailed(f"node {node_name!r} is not known: {error}") from error
        return self.find(node)

    def described(self, node: Object, *paths: str) -> tuple[Machine, Properties] | None:
        """Return a node's machine and some of its properties; None if there is none."""
        uuid = uuid_of(provider_id_of(node))
        known = self._found.get(uuid) if uuid else None
        if known is not None:
            told = _told(known, paths)
            if told is not None and str(told.get(UUID, "")).lower() in {uuid, turned(uuid)}:
                return known, told
            self._found.pop(uuid, None)
        machine = self.find(node)
        told = _told(machine, paths) if machine is not None else None
        if machine is None or told is None:
            return None
        if UUID not in told:
            raise CloudUnavailable("the vCenter describes a machine without a uuid")
        if uuid and len(self._found) < _MOST_REMEMBERED:
            self._found[uuid] = machine
        return machine, told


def _in_all(find: Callable[[VCenter], Any], vcenters: Sequence[VCenter]) -> Machine | None:
    failed: CloudFailed | None = None
    for vcenter in vcenters:
        try:
            ref = find(vcenter)
        except CloudFailed as error:
            failed = failed or error
            continue
        if ref is not None:
            return Machine(vcenter=vcenter, ref=ref)
    if failed is not None:
        raise failed
    return None


def _ways(node: Object) -> Iterator[Callable[[VCenter], Any]]:
    """Yield how a node's machine is looked for, the surest way first; by nothing but its provider id if it has one."""
    known = uuid_of(provider_id_of(node))
    for uuid in (known, turned(known)) if known else ():
        yield partial(_by_uuid, uuid)
    if known:
        return
    told = system_uuid(node)
    for uuid in (told, turned(told)) if told else ():
        yield partial(_by_uuid, uuid)
    name = name_of(node)
    yield lambda vcenter: vcenter.by_name(name)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return
    yield lambda vcenter: vcenter.by_address(name)


def _by_uuid(uuid: str, vcenter: VCenter) -> Any:
    return vcenter.by_uuid(uuid)


def _told(machine: Machine, paths: Sequence[str]) -> Properties | None:
    try:
        return machine.vcenter.properties(machine.ref, UUID, *paths)
    except ObjectGone:
        return None
