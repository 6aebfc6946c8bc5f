"""Nodes' machines, alone or of a scale set: found by provider id, else by name; their interfaces and zones.

Source: cloud-provider-azure ``pkg/provider/azure_instances_v1.go``, ``azure_instances_v2.go``, ``azure_standard.go``,
``azure_vmss.go``, ``azure_vmssflex.go``, ``azure_vmssflex_cache.go``, ``azure_zones.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from hyperkube_cloud.azure.arm import COMPUTE, NETWORK, Arm, last_of, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.metadata import Metadata
from hyperkube_lib.cloud_provider.nodes import found_for, provider_id_of
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceMetadata
from hyperkube.machinery.objects import NodeName, Object, labels_of, name_of

PROVIDER: Final = "azure"
MANAGED: Final = "kubernetes.azure.com/managed"
GROUP: Final = "kubernetes.azure.com/resource-group"
_OF_SET: Final = "/virtualmachinescalesets/"
EXPAND: Final = {"$expand": "instanceView"}
_OFF: Final = frozenset({"stopped", "deallocated", "deallocating"})
_ID: Final = re.compile(
    r"azure://(/subscriptions/[^/]+/resourcegroups/([^/]+)/providers/microsoft\.compute/"
    r"(?:virtualmachines/[^/]+|virtualmachinescalesets/[^/]+/virtualmachines/\d+))",
    re.IGNORECASE,
)
_GROUP_OF: Final = re.compile(r"(/resourceGroups/)([^/]+)", re.IGNORECASE)


def machine_id(provider_id: str) -> str:
    """Return the id of a machine; empty for none.

    Raises:
        CloudFailed: it is the id of something else.
    """
    if not provider_id:
        return ""
    found = _ID.fullmatch(provider_id)
    if found is None:
        raise CloudFailed(f"error splitting providerID: {provider_id!r} is no machine of Azure's")
    return found[1]


def provider_id(ident: str) -> str:
    """Return a machine's provider id: the name of its group in lower case, as Kubernetes writes it."""
    return f"{PROVIDER}://" + _GROUP_OF.sub(lambda found: found[1] + found[2].lower(), ident, count=1)


def is_managed(node: Object) -> bool:
    """Tell whether the node is a machine of Azure's; the others are left alone."""
    return labels_of(node).get(MANAGED) != "false"


def is_of_scale_set(machine: Json) -> bool:
    """Tell whether a machine is one of a scale set."""
    return "/virtualmachinescalesets/" in str(machine["id"]).lower()


def is_flexible_set(scale_set: Json) -> bool:
    """Tell whether the machines of a scale set are machines like those that stand alone."""
    return same(properties(scale_set).get("orchestrationMode"), "Flexible")


def computer_name(machine: Json) -> str:
    """Return what a machine calls itself, which is its node's name."""
    return str((properties(machine).get("osProfile") or {}).get("computerName") or "")


def group_of(ident: str) -> str:
    """Return the resource group of an id."""
    found = _GROUP_OF.search(ident)
    return found[2] if found else ""


def zone_of(machine: Json) -> str:
    """Return ``REGION-ZONE``, or without zones the fault domain."""
    region = str(machine.get("location", "")).lower()
    if zones := machine.get("zones"):
        return f"{region}-{zones[0]}"
    view = properties(machine).get("instanceView") or {}
    return str(view.get("platformFaultDomain") or 0)


def power_state(machine: Json) -> str:
    """Return the state of a machine: ``running``, ``deallocated`` …; ``unknown`` if Azure does not tell."""
    view = properties(machine).get("instanceView") or {}
    told = [str(row.get("code", "")) for row in view.get("statuses") or ()]
    return next((code.partition("/")[2] for code in told if code.lower().startswith("powerstate/")), "unknown").lower()


def primary(rows: list[Json]) -> Json:
    """Return the only row, or the one that is primary.

    Raises:
        CloudUnavailable: there is none.
    """
    found = rows if len(rows) == 1 else [row for row in rows if properties(row).get("primary")]
    if not found:
        raise CloudUnavailable("the API describes a machine without a primary interface or address")
    return found[0]


class AzureInstances:
    """Machines; implements `hyperkube.hookspecs.cloud.Instances` and `CurrentInstance`."""

    def __init__(self, arm: Arm, config: AzureConfig, metadata: Metadata) -> None:
        self._arm, self._config, self._metadata = arm, config, metadata

    def exists(self, node: Object) -> bool:
        """Tell whether there is a machine, in whatever state; always of one that is not managed."""
        return not is_managed(node) or self._find(node) is not None

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether it is stopped, and no change of it is under way."""
        machine = self._find(node) if is_managed(node) else None
        settled = machine is not None and same(properties(machine).get("provisioningState"), "Succeeded")
        return settled and machine is not None and power_state(machine) in _OFF

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe it.

        Raises:
            InstanceNotFound: there is none.
        """
        if not is_managed(node):
            return InstanceMetadata(provider_id="")
        machine = self.machine(node)
        size = (properties(machine).get("hardwareProfile") or {}).get("vmSize") or (machine.get("sku") or {}).get(
            "name"
        )
        return InstanceMetadata(
            provider_id=provider_id_of(node) or provider_id(str(machine["id"])),
            instance_type=str(size or ""),
            addresses=tuple(self._addresses(machine, name_of(node))),
            zone=zone_of(machine),
            region=str(machine.get("location", "")).lower(),
        )

    def current_node_name(self, hostname: str) -> NodeName:
        """Return the host's name."""
        return NodeName(hostname)

    def current_zone(self) -> tuple[str, str]:
        """Return this machine's zone and region."""
        return self._metadata.zone()

    def machine(self, node: Object) -> Json:
        """Return the machine as Azure describes it.

        Raises:
            InstanceNotFound: there is none.
        """
        return found_for(node, self._find(node))

    def named(self, node_name: str) -> Json | None:
        """Return the machine of that node's name, None if there is none."""
        return self._find({"metadata": {"name": node_name}})

    def of_flexible_set(self, scale_set: Json) -> Iterator[Json]:
        """Yield the machines of a flexible scale set, which stand alone in all else; without what they do now."""
        matching = {"$filter": f"'virtualMachineScaleSet/id' eq '{scale_set['id']}'"}
        return self._arm.listed(self._arm.id(COMPUTE, "virtualMachines", group_of(str(scale_set["id"]))), **matching)

    def sets_of(self, nodes: Sequence[Object]) -> dict[str, str]:
        """Return by node the name of its machine's scale set or availability set, empty for none."""
        known = {name_of(node): machine_id(provider_id_of(node)).lower() for node in nodes}
        of_sets = {name: ident.rpartition("/virtualmachines/")[0] for name, ident in known.items() if _OF_SET in ident}
        found = {name: last_of(ident) for name, ident in of_sets.items()}
        alone = known.keys() - found.keys()
        if alone:
            groups = sorted({group_of(known[name]) for name in alone if known[name]})
            lists = [self._arm.listed(self._arm.id(COMPUTE, "virtualMachines", group)) for group in groups]
            by_id = {str(each["id"]).lower(): _set_of(each) for rows in lists for each in rows}
            found |= {name: by_id.get(known[name], "") for name in alone}
        return found

    def interface(self, machine: Json) -> Json:
        """Return a machine's primary interface.

        Raises:
            CloudUnavailable: it has none.
        """
        if is_of_scale_set(machine):
            return primary(list(self._arm.listed(f"{machine['id']}/networkInterfaces")))
        return self._arm.get(str(primary((properties(machine).get("networkProfile") or {})["networkInterfaces"])["id"]))

    def private_address(self, machine: Json) -> str:
        """Return a machine's own address in the network."""
        return str(properties(primary(properties(self.interface(machine))["ipConfigurations"]))["privateIPAddress"])

    def _addresses(self, machine: Json, name: str) -> Iterator[Object]:
        card = primary(properties(self.interface(machine))["ipConfigurations"])
        yield {"type": "InternalIP", "address": str(properties(card)["privateIPAddress"])}
        yield {"type": "Hostname", "address": name}
        outer = (properties(card).get("publicIPAddress") or {}).get("id")
        public = self._arm.find(str(outer)) if outer else None
        if public is not None and properties(public).get("ipAddress"):
            yield {"type": "ExternalIP", "address": str(properties(public)["ipAddress"])}

    def _find(self, node: Object) -> Json | None:
        known = machine_id(provider_id_of(node))
        if known:
            return _sound(self._arm.find(known, **EXPAND))
        group, name = labels_of(node).get(GROUP, ""), name_of(node)
        alone = self._arm.find(self._arm.id(COMPUTE, f"virtualMachines/{name}", group), **EXPAND)
        return _sound(alone if alone is not None else self._of_scale_set(name, group))

    def _of_scale_set(self, name: str, group: str) -> Json | None:
        for scale_set in self._arm.listed(self._arm.id(COMPUTE, "virtualMachineScaleSets", group)):
            profile: Any = properties(scale_set).get("virtualMachineProfile") or {}
            prefix = str((profile.get("osProfile") or {}).get("computerNamePrefix") or scale_set.get("name", ""))
            if is_flexible_set(scale_set):
                for machine in self.of_flexible_set(scale_set):
                    if same(computer_name(machine), name):
                        return self._arm.find(str(machine["id"]), **EXPAND)
            elif name.lower().startswith(prefix.lower()):
                for machine in self._arm.listed(f"{scale_set['id']}/virtualMachines", **EXPAND):
                    if same(computer_name(machine), name):
                        return machine
        return None


def network_id(arm: Arm, config: AzureConfig, subnet: str) -> str:
    """Return the id of a subnet of the cluster's network, of the network itself for none."""
    path = f"virtualNetworks/{config.vnet_name}" + (f"/subnets/{subnet}" if subnet else "")
    return arm.id(NETWORK, path, config.vnet_resource_group)


def name_of_scale_set(machine: Json) -> str:
    """Return the id of the scale set that a machine belongs to."""
    return str(machine["id"]).rpartition("/virtualMachines/")[0]


def _set_of(machine: Json) -> str:
    body = properties(machine)
    return last_of((body.get("virtualMachineScaleSet") or body.get("availabilitySet") or {}).get("id"))


def _sound(machine: Json | None) -> Json | None:
    """Return a machine that has what a machine has.

    Raises:
        CloudUnavailable: it has not.
    """
    if machine is not None and not (machine.get("location") and last_of(machine.get("id"))):
        raise CloudUnavailable("the API describes a machine without id or location")
    return machine
