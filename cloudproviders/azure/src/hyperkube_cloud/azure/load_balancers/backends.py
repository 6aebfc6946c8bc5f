"""The machines of a balancer's pool: their interfaces say that they belong to it, as does the model of a scale set.

Who belongs is read from the balancer and one list of interfaces; machines are asked for only where that changes. The
machines of a flexible scale set are machines that stand alone, but for the model that makes the next ones.
Source: cloud-provider-azure ``pkg/provider/azure_standard.go`` (EnsureHostInPool, EnsureBackendPoolDeleted),
``azure_vmss.go`` (ensureVMSSInPool, ensureBackendPoolDeletedFromNode), ``azure_vmssflex.go``,
``azure_loadbalancer_backendpool.go`` (backendPoolTypeNodeIPConfig).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.azure.arm import COMPUTE, NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import AzureInstances, is_flexible_set, machine_id, primary
from hyperkube_cloud.azure.load_balancers.pools import ADDRESSES, addresses_in, interfaces_in, serves
from hyperkube_lib.cloud_provider.nodes import provider_id_of
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import InstanceNotFound
from hyperkube.machinery.objects import Object, copy_object

POOLS: Final = "loadBalancerBackendAddressPools"
_SET: Final = "/virtualmachinescalesets/"
_FLEX_NETWORK_API: Final = "2020-11-01"
"""The version of the network's API in which a flexible scale set makes interfaces."""


def in_pool(card: Mapping[str, Any], pool: str) -> bool:
    """Tell whether an address of an interface belongs to a pool."""
    return any(same(each.get("id"), pool) for each in properties(card).get(POOLS) or ())


class Backends:
    """Keeps pools of interfaces; implements `pools.Pools`."""

    def __init__(self, arm: Arm, config: AzureConfig, instances: AzureInstances) -> None:
        self._arm, self._config, self._instances = arm, config, instances

    def ensure(self, pool: str, held: Json | None, nodes: Sequence[Object]) -> None:
        """Let these nodes' machines belong to a pool, and no other."""
        wanted, members = self._machines([node for node in nodes if serves(node, self._config)]), interfaces_in(held)
        if addresses_in(held):
            self._arm.put(pool, {"properties": {ADDRESSES: []}})
        alone = {ident for ident in wanted if _SET not in ident}
        of_sets = wanted - alone
        self._change_interfaces(pool, alone, needed=bool(alone) or any(_SET not in each.lower() for each in members))
        belong = {each.lower().partition("/networkinterfaces/")[0] for each in members if _SET in each.lower()}
        if wanted:
            self._change_models(pool, of_sets, alone)
        for ident in sorted(of_sets - belong):
            self._change_machine(pool, ident, belongs=True)
        for ident in sorted(belong - of_sets):
            self._change_machine(pool, ident, belongs=False)

    def empty(self, pool: str, held: Json | None) -> None:
        """Let no machine belong to a pool any more, nor any scale set's future ones."""
        members = interfaces_in(held)
        self._change_interfaces(pool, set(), needed=any(_SET not in each.lower() for each in members))
        self._change_models(pool, set(), set())
        for ident in sorted({each.partition("/networkInterfaces/")[0] for each in members if _SET in each.lower()}):
            self._change_machine(pool, ident, belongs=False)

    def _machines(self, nodes: Sequence[Object]) -> set[str]:
        found = set()
        for node in nodes:
            known = machine_id(provider_id_of(node))
            try:
                found.add((known or str(self._instances.machine(node)["id"])).lower())
            except InstanceNotFound:
                continue
        if nodes and not found:
            raise InstanceNotFound("none of the nodes' instances was found")
        return found

    def _change_interfaces(self, pool: str, wanted: set[str], *, needed: bool) -> None:
        """Change the interfaces of machines that stand alone."""
        if not needed:
            return
        for interface in self._arm.listed(self._arm.id(NETWORK, "networkInterfaces")):
            owner = str((properties(interface).get("virtualMachine") or {}).get("id", "")).lower()
            cards = properties(interface).get("ipConfigurations") or []
            belongs = owner in wanted and properties(interface).get("primary") is not False
            if not cards or any(in_pool(card, pool) for card in cards) == belongs:
                continue
            self._arm.put(str(interface["id"]), _changed(interface, pool, belongs=belongs))

    def _change_machine(self, pool: str, ident: str, *, belongs: bool) -> None:
        """Change one machine of a scale set; nothing if it is gone."""
        machine = self._arm.find(ident)
        profile = properties(machine).get("networkProfileConfiguration") or {}
        interfaces = profile.get("networkInterfaceConfigurations") or []
        if machine is None or not interfaces:
            return
        if any(in_pool(card, pool) for card in _cards(interfaces)) == belongs:
            return
        body = copy_object(machine)
        _set_pool(
            primary(body["properties"]["networkProfileConfiguration"]["networkInterfaceConfigurations"]), pool, belongs
        )
        self._arm.put(ident, {key: body[key] for key in ("location", "properties", "etag") if key in body})

    def _change_models(self, pool: str, of_sets: set[str], alone: set[str]) -> None:
        """Change what scale sets make their machines by: in sets that machines are of they belong, in others not."""
        sets = {ident.rpartition("/virtualmachines/")[0] for ident in of_sets}
        for scale_set in self._arm.listed(self._arm.id(COMPUTE, "virtualMachineScaleSets")):
            profile: Any = (properties(scale_set).get("virtualMachineProfile") or {}).get("networkProfile") or {}
            interfaces = profile.get("networkInterfaceConfigurations") or []
            if not interfaces:
                continue
            is_flexible = is_flexible_set(scale_set)
            belongs = str(scale_set["id"]).lower() in sets
            if alone and is_flexible:
                belongs = any(str(each["id"]).lower() in alone for each in self._instances.of_flexible_set(scale_set))
            if any(in_pool(card, pool) for card in _cards(interfaces)) == belongs:
                continue
            rows = copy_object(profile)["networkInterfaceConfigurations"]
            _set_pool(primary(rows), pool, belongs)
            patch = {"networkInterfaceConfigurations": rows}
            if is_flexible:
                patch["networkApiVersion"] = profile.get("networkApiVersion") or _FLEX_NETWORK_API
            body = {"properties": {"virtualMachineProfile": {"networkProfile": patch}}}
            self._arm.put(str(scale_set["id"]), body, method="PATCH")


def _cards(interfaces: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [card for each in interfaces for card in properties(each).get("ipConfigurations") or ()]


def _changed(interface: Json, pool: str, *, belongs: bool) -> Json:
    body = copy_object(interface)
    _set_pool(body, pool, belongs)
    return body


def _set_pool(interface: Json, pool: str, belongs: bool) -> None:
    """Put the primary address of an interface into a pool, or take all of them out of it; in place."""
    cards = interface["properties"]["ipConfigurations"]
    for card in cards if not belongs else [primary(cards)]:
        held = [each for each in card["properties"].get(POOLS) or () if not same(each.get("id"), pool)]
        card["properties"][POOLS] = [*held, {"id": pool}] if belongs else held
