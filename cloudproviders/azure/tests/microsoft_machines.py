"""Azure's machines: alone, of scale sets, and of flexible scale sets (compute 2024-07-01)."""

from __future__ import annotations

import copy
import re

GROUP = "shop"
BASE = f"/subscriptions/sub/resourceGroups/{GROUP}/providers"
NETWORK, COMPUTE = f"{BASE}/Microsoft.Network", f"{BASE}/Microsoft.Compute"
_FILTER = re.compile(r"'virtualMachineScaleSet/id' eq '([^']+)'")


class Machines:
    """A part of the double of Azure."""

    def machine(self, name="node-1", zone="1", group=GROUP, availability_set=""):
        """Run a machine that stands alone and return its node."""
        ident = f"{COMPUTE}/virtualMachines/{name}".replace(f"/{GROUP}/", f"/{group}/")
        card = f"{NETWORK}/networkInterfaces/{name}-nic"
        address = f"10.240.0.{next(self._numbers)}"
        rows = [{"name": "ipconfig1", "id": f"{card}/ipConfigurations/ipconfig1",
                 "properties": {"privateIPAddress": address, "primary": True}}]  # fmt: skip
        self.put(card, {"location": "westeurope", "properties": {
            "ipConfigurations": rows, "primary": True, "virtualMachine": {"id": ident.upper()}}})  # fmt: skip
        self.put(ident, {"location": "westeurope", "zones": [zone] if zone else [], "properties": {
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"}, "osProfile": {"computerName": name},
            "networkProfile": {"networkInterfaces": [{"id": card}]}, "storageProfile": {"dataDisks": []},
            "instanceView": {"platformFaultDomain": 1, "statuses": [{"code": "PowerState/running"}]}}})  # fmt: skip
        if availability_set:
            of_set = {"id": f"{COMPUTE}/availabilitySets/{availability_set}"}
            self.things[ident.lower()]["properties"]["availabilitySet"] = of_set
        return self._node(name, ident)

    def instance(self, number=0, name="pool000000", scale_set="pool", zone="2"):
        """Run a machine of a scale set and return its node."""
        ident = f"{COMPUTE}/virtualMachineScaleSets/{scale_set}"
        network = {"networkInterfaceConfigurations": [{"name": "nic", "properties": {
            "primary": True, "ipConfigurations": [{"name": "ip", "properties": {"primary": True}}]}}]}  # fmt: skip
        if ident.lower() not in self.things:
            self.put(ident, {"location": "westeurope", "properties": {"virtualMachineProfile": {
                "osProfile": {"computerNamePrefix": "pool"}, "networkProfile": copy.deepcopy(network)}}})  # fmt: skip
        one = f"{ident}/virtualMachines/{number}"
        self.put(one, {"location": "westeurope", "zones": [zone], "sku": {"name": "Standard_D4s_v5"}, "properties": {
            "networkProfileConfiguration": copy.deepcopy(network), "storageProfile": {"dataDisks": []},
            "osProfile": {"computerName": name}, "instanceView": {"statuses": [{"code": "PowerState/running"}]}}})  # fmt: skip
        self.things[one.lower()]["address"] = f"10.240.0.{next(self._numbers)}"
        return self._node(name, one)

    def _node(self, name, ident):
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "spec": {"providerID": f"azure://{ident}"},
        }

    def flexible(self, name="flex-0_ab12", node="flex000000", scale_set="flex", zone="1"):
        """Run a machine of a flexible scale set, whose name is not its node's; return its node."""
        network = {"networkApiVersion": "2022-11-01", "networkInterfaceConfigurations": [{"name": "nic", "properties": {
            "primary": True, "ipConfigurations": [{"name": "ip", "properties": {"primary": True}}]}}]}  # fmt: skip
        ident = f"{COMPUTE}/virtualMachineScaleSets/{scale_set}"
        if ident.lower() not in self.things:
            self.put(ident, {"location": "westeurope", "properties": {"orchestrationMode": "Flexible",
                "virtualMachineProfile": {"osProfile": {"computerNamePrefix": scale_set}, "networkProfile": network}}})  # fmt: skip
        made = self.machine(name, zone)
        machine = self.things[f"{COMPUTE}/virtualMachines/{name}".lower()]
        machine["properties"] |= {"virtualMachineScaleSet": {"id": ident}, "osProfile": {"computerName": node}}
        return {**made, "metadata": {**made["metadata"], "name": node}}

    def matching(self, rows, query):
        """Return the machines that a list's filter leaves; what they do now is told of one alone, or if it is asked for."""
        if "$filter" not in query:
            return rows
        wanted = _FILTER.fullmatch(query["$filter"])[1].lower()
        found = [each for each in rows if _set_of(each) == wanted]
        return [{**each, "properties": {**each["properties"], "instanceView": None}} for each in found]


def _set_of(machine):
    return (machine["properties"].get("virtualMachineScaleSet") or {"id": ""})["id"].lower()
