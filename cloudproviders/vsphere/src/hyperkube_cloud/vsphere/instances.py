"""What nodes are told of their virtual machines: id, type, addresses, zone; whether they are there, and on.

Source: cloud-provider-vsphere ``pkg/cloudprovider/vsphere/instances.go``, ``instances_v2.go``, ``nodemanager.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from hyperkube_cloud.vsphere.addresses import Card, addresses
from hyperkube_cloud.vsphere.config import VSphereConfig
from hyperkube_cloud.vsphere.guests import system_of
from hyperkube_cloud.vsphere.machines import PROVIDER, UUID, Machines
from hyperkube_cloud.vsphere.vcenter import Properties
from hyperkube_cloud.vsphere.zones import Zones
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceMetadata
from hyperkube.machinery.objects import NodeName, Object

STATE: Final = "runtime.powerState"
HOST: Final = "runtime.host"
_GUEST: Final = ("guest.hostName", "guest.net")
_SIZE: Final = ("summary.config.numCpu", "summary.config.memorySizeMB", "summary.config.guestId")
_SERIAL: Final = Path("/sys/class/dmi/id/product_serial")


class VSphereInstances:
    """Machines; implements `hyperkube.hookspecs.cloud.Instances` and `CurrentInstance`."""

    def __init__(self, machines: Machines, config: VSphereConfig, zones: Zones, serial: Path = _SERIAL) -> None:
        self._machines, self._config, self._zones, self._serial = machines, config, zones, serial

    def exists(self, node: Object) -> bool:
        """Tell whether there is a machine, in whatever state."""
        return self._machines.find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is off, or suspended."""
        found = self._machines.described(node, STATE)
        if found is None:
            return False
        if not isinstance(found[1].get(STATE), str):
            raise CloudUnavailable("the vCenter does not tell whether a machine is on")
        return str(found[1][STATE]) != "poweredOn"

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it.

        Raises:
            InstanceNotFound: there is none.
            CloudFailed: its guest does not tell its name yet, no address fits, or its host has no zone.
        """
        machine, told = found_for(node, self._machines.described(node, HOST, *_GUEST, *_SIZE))
        name = str(told.get("guest.hostName") or "")
        if not name:
            raise CloudFailed("VM Guest hostname is empty")
        rows = addresses(
            _cards(told.get("guest.net") or ()),
            self._config.nodes,
            machine.vcenter.config.families,
            self._config.public_network,
        )
        zone, region = self._zones.of_host(machine.vcenter, told.get(HOST))
        return InstanceMetadata(
            provider_id=provider_id_of(node) or f"{PROVIDER}://{str(told[UUID]).lower()}",
            instance_type=_type(told),
            addresses=({"type": "Hostname", "address": name}, *rows),
            zone=zone,
            region=region,
        )

    def current_node_name(self, hostname: str) -> NodeName:
        """Return the host's name."""
        return NodeName(hostname)

    def current_zone(self) -> tuple[str, str]:
        """Return this machine's zone and region.

        Raises:
            CloudFailed: it is no machine of vSphere's.
        """
        node: Object = {"metadata": {"name": "this"}, "spec": {"providerID": f"{PROVIDER}://{self._own_uuid()}"}}
        machine, told = found_for(node, self._machines.described(node, HOST))
        return self._zones.of_host(machine.vcenter, told.get(HOST))

    def _own_uuid(self) -> str:
        if self._config.vm_uuid:
            return self._config.vm_uuid
        try:
            told = self._serial.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            told = ""
        plain = "".join(each for each in told.removeprefix("VMware-").lower() if each in "0123456789abcdef")
        if not told.startswith("VMware-") or len(plain) != 32:
            raise CloudFailed("failed to match Prefix, UUID read from the file is not valid: give vm-uuid")
        return "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))


def _type(told: Properties) -> str:
    cpus, memory, guest = (told.get(path) for path in _SIZE)
    return f"vsphere-vm.cpu-{int(cpus or 0)}.mem-{int(memory or 0) // 1024}gb.os-{system_of(str(guest or ''))}"


def _cards(rows: Iterable[Any]) -> Sequence[Card]:
    return [
        Card(
            network=str(row.network or ""),
            addresses=tuple(str(each) for each in row.ipAddress or ()),
            is_virtual=row.deviceConfigId == -1,
        )
        for row in rows
    ]
