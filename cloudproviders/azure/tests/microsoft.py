"""Azure's resource manager in this process, in the shapes of its published specifications (network 2023-11-01, compute).

A field that those do not have is refused, as are references to what is not there and deleting what is used; a change
goes on until it is looked at once more, and one of what has been changed since it was read is refused.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from urllib.parse import urlencode

from hyperkube_cloud.azure import Azure
from hyperkube_testing.beside import module_beside
from hyperkube_testing.rest_cloud import RestDouble, answer

from hyperkube.hookspecs import cloud as specs
from hyperkube.machinery.clock import FakeClock
from hyperkube.plugin import PluginContext, PluginHost

GROUP = "shop"
BASE = f"/subscriptions/sub/resourceGroups/{GROUP}/providers"
NETWORK, COMPUTE = f"{BASE}/Microsoft.Network", f"{BASE}/Microsoft.Compute"
FIELDS = {
    "loadbalancers": "frontendIPConfigurations backendAddressPools loadBalancingRules probes inboundNatRules outboundRules "
    "inboundNatPools provisioningState",
    "publicipaddresses": "publicIPAllocationMethod publicIPAddressVersion ipAddress dnsSettings ipTags publicIPPrefix "
    "provisioningState ipConfiguration",
    "networksecuritygroups": "securityRules provisioningState",
    "routetables": "routes provisioningState disableBgpRoutePropagation",
    "disks": "diskSizeGB creationData encryption diskIOPSReadWrite diskMBpsReadWrite maxShares provisioningState diskState",
    "snapshots": "creationData incremental diskSizeGB timeCreated completionPercent provisioningState",
    "privatelinkservices": "loadBalancerFrontendIpConfigurations ipConfigurations enableProxyProtocol fqdns visibility "
    "autoApproval provisioningState",
    "subnets": "addressPrefix privateLinkServiceNetworkPolicies networkSecurityGroup provisioningState",
    "networkinterfaces": "ipConfigurations primary virtualMachine provisioningState",
}
RULE = {
    "protocol", "frontendIPConfiguration", "backendAddressPool", "probe", "loadDistribution", "frontendPort", "backendPort",
    "disableOutboundSnat", "enableTcpReset", "enableFloatingIP", "idleTimeoutInMinutes",
}  # fmt: skip
SECURITY_RULE = {
    "protocol", "sourcePortRange", "destinationPortRange", "sourceAddressPrefix", "access", "direction", "priority",
    "destinationAddressPrefix", "destinationAddressPrefixes",
}  # fmt: skip
CHILDREN = {
    "frontendIPConfigurations": None,
    "backendAddressPools": set(),
    "loadBalancingRules": RULE,
    "probes": {"protocol", "port", "intervalInSeconds", "probeThreshold", "requestPath"},
}
_OF_SET = re.compile(r".*/virtualmachinescalesets/[^/]+/virtualmachines/[^/]+")


def error(status, code, text="why"):
    return status, {"error": {"code": code, "message": text}}


links = module_beside(__file__, "microsoft_links")
machines = module_beside(__file__, "microsoft_machines")
pools = module_beside(__file__, "microsoft_pools")


class Microsoft(links.PrivateLinks, machines.Machines, pools.Pools, RestDouble):
    """One resource group; `things` is an id in lower case → resource."""

    def __init__(self, page=2):
        super().__init__()
        self.things, self.page = {}, page
        self._etags, self._numbers = itertools.count(1), itertools.count(5)
        self.put(
            f"{NETWORK}/networkSecurityGroups/nodes", {"location": "westeurope", "properties": {"securityRules": []}}
        )

        for name, block in (("nodes", "10.240.0.0/16"), ("links", "10.241.0.0/24")):
            self.put(f"{NETWORK}/virtualNetworks/net/subnets/{name}", {"properties": {
                "addressPrefix": block, "privateLinkServiceNetworkPolicies": "Enabled"}})  # fmt: skip

    def __call__(self, request):
        self.if_match = request.headers.get("If-Match")
        return super().__call__(request)

    def next_etag(self):
        return f"e{next(self._etags)}"

    def put(self, ident, body):
        held = {**body, "id": ident, "name": ident.rpartition("/")[2], "etag": self.next_etag()}
        held["properties"] = {**body.get("properties", {}), "provisioningState": "Succeeded"}
        self.things[ident.lower()] = held
        return held

    def everything(self):
        """Return all that Services have made, or changed."""

        def plain(value):
            if isinstance(value, dict):
                left = {key: plain(each) for key, each in value.items() if key not in {"etag", "provisioningState"}}
                return {key: each for key, each in left.items() if key != "loadBalancerBackendAddressPools" or each}
            return [plain(each) for each in value] if isinstance(value, list) else value

        def order(value):
            return {
                key: sorted(rows, key=json.dumps) if isinstance(rows, list) else rows for key, rows in value.items()
            }

        found = {}
        for ident, thing in self.things.items():
            made = plain(thing)
            found[ident] = {**made, "properties": order(made["properties"])}
        for thing in found.values():  # priorities and private addresses are given in the order of making
            for row in thing["properties"].get("securityRules", []):
                row["properties"].pop("priority", None)
            for row in thing["properties"].get("frontendIPConfigurations", []):
                row["properties"].pop("privateIPAddress", None)
            if "/publicipaddresses/" in thing["id"].lower():
                thing["properties"].pop("ipAddress", None)
            thing["properties"].pop("privateLinkServiceNetworkPolicies", None)  # stays as it is set, whoever set it
        return found

    def made(self, kind):
        return sorted(thing["name"] for ident, thing in self.things.items() if ident.split("/")[-2] == kind.lower())

    def play(self, method, path, query, body):
        if "api-version" not in query:
            return error(400, "MissingApiVersionParameter")
        lower = path.lower()
        if lower == "/subscriptions/sub/providers/microsoft.compute":
            rows = [{"location": "West Europe", "zones": ["3", "1", "2"]}]
            return 200, {"resourceTypes": [{"resourceType": "virtualMachines", "zoneMappings": rows}]}
        if f"/resourcegroups/{GROUP}/" not in lower:
            return error(404, "ResourceGroupNotFound", "Resource group could not be found.")
        if lower.endswith("/networkinterfaces") and _OF_SET.fullmatch(lower.rpartition("/")[0]):
            return 200, {"value": [self._interface(self.things[lower.rpartition("/")[0]])]}
        if "/backendaddresspools/" in lower:
            return self.play_pool(method, lower, body)
        if self._is_collection(lower):
            return self._list(path, query)
        held = self.things.get(lower)
        if method == "PUT":
            return self._put(path, held, body)
        if held is None:
            return (
                (204, {})
                if method == "DELETE"
                else error(404, "ResourceNotFound", f"The Resource '{path}' was not found.")
            )
        if method == "GET":
            shown = copy.deepcopy(self._shown(held))
            held["properties"]["provisioningState"] = "Succeeded"
            return 200, shown
        return self._delete(lower, held) if method == "DELETE" else self._patch(held, body)

    def _is_collection(self, lower):
        return len(lower.partition("/providers/")[2].split("/")) % 2 == 0

    def _list(self, path, query):
        prefix = path.lower() + "/"
        found = [
            each for ident, each in self.things.items() if ident.startswith(prefix) and "/" not in ident[len(prefix) :]
        ]
        found = self.matching(found, query)
        start = int(query.get("$skiptoken", 0))
        more = {}
        if start + self.page < len(found):
            more = {"nextLink": f"https://x{path}?{_query(query)}&$skiptoken={start + self.page}"}
        return 200, {"value": [copy.deepcopy(self._shown(each)) for each in found[start : start + self.page]], **more}

    def _put(self, path, held, body):
        kind = path.lower().split("/")[-2]
        if held is not None and self.if_match not in {None, held["etag"]}:
            return error(412, "PreconditionFailed", "Precondition failed.")
        allowed = FIELDS.get(kind)
        if allowed and (unknown := set(body["properties"]) - set(allowed.split())):
            return error(400, "InvalidRequestFormat", f"Could not find member {sorted(unknown)}")
        made = copy.deepcopy({**(held or {}), **body})
        if held is not None and "instanceView" in held["properties"]:
            made["properties"]["instanceView"] = held["properties"]["instanceView"]
        fault = getattr(self, f"_check_{kind}", lambda *_: None)(path, made, held)
        if fault:
            return fault
        self.put(held["id"] if held else path, made)
        self.things[path.lower()]["properties"]["provisioningState"] = "Updating"
        return (200 if held else 201), copy.deepcopy(self._shown(self.things[path.lower()]))

    def _check_loadbalancers(self, path, made, held):
        rows = made["properties"]
        if not rows.get("frontendIPConfigurations"):
            return error(400, "LoadBalancerHasNoFrontend")
        for child, allowed in CHILDREN.items():
            for row in rows.get(child, []):
                row["id"] = f"{path}/{child}/{row['name']}"
                row.setdefault("properties", {}).pop("backendIPConfigurations", None)
                if allowed and (unknown := set(row["properties"]) - allowed):
                    return error(400, "InvalidRequestFormat", f"Could not find member {sorted(unknown)}")
        if gone := self.linked({row["id"].lower() for row in rows["frontendIPConfigurations"]}, held):
            return error(400, "InUseResourceCannotBeDeleted", f"{gone} have private link services")
        there = {row["id"].lower() for child in CHILDREN for row in rows.get(child, [])}
        for rule in rows.get("loadBalancingRules", []):
            for key in ("frontendIPConfiguration", "backendAddressPool", "probe"):
                if key in rule["properties"] and rule["properties"][key]["id"].lower() not in there:
                    return error(400, "InvalidResourceReference", f"{key} of {rule['name']}")
        for row in rows["frontendIPConfigurations"]:
            body = row["properties"]
            if self.is_at_another(path, body):
                return error(400, "PublicIPReferencedByMultipleIPConfigs", row["name"])
            if "publicIPAddress" in body and body["publicIPAddress"]["id"].lower() not in self.things:
                return error(400, "InvalidResourceReference", "publicIPAddress")
            if "subnet" in body and not body.get("privateIPAddress"):
                body["privateIPAddress"] = self._free("10.240.1.")
        return None

    def _check_publicipaddresses(self, path, made, held):
        address = (held or {"properties": {}})["properties"].get("ipAddress")
        made["properties"].setdefault("ipAddress", address or self._free("20.0.0."))

    def _free(self, prefix):
        told = json.dumps(list(self.things.values()))
        return next(f"{prefix}{last}" for last in range(10, 250) if f'Address": "{prefix}{last}"' not in told)

    def _check_networksecuritygroups(self, path, made, held):
        rows = made["properties"]["securityRules"]
        for row in rows:
            if unknown := set(row["properties"]) - SECURITY_RULE:
                return error(400, "InvalidRequestFormat", f"Could not find member {sorted(unknown)}")
        priorities = [row["properties"]["priority"] for row in rows]
        return error(400, "SecurityRuleConflict") if len(set(priorities)) < len(priorities) else None

    def _check_networkinterfaces(self, path, made, held):
        for card in made["properties"]["ipConfigurations"]:
            for pool in card["properties"].get("loadBalancerBackendAddressPools", []):
                if pool["id"].lower().partition("/backendaddresspools/")[0] not in self.things:
                    return error(400, "InvalidResourceReference", "loadBalancerBackendAddressPools")
        return None

    def _refers_to_nothing(self, body):
        """Tell whether a scale set's machine, or what it makes them by, names a pool of a balancer that is not there."""
        pools = re.findall(r'"(/subscriptions/[^"]+)/backendaddresspools/', json.dumps(body).lower())
        return any(pool not in self.things for pool in pools)

    def _check_virtualmachines(self, path, made, held):
        if self._refers_to_nothing(made):
            return error(400, "InvalidResourceReference", "loadBalancerBackendAddressPools")
        return self._attach(held, made["properties"]["storageProfile"]["dataDisks"])

    def _check_snapshots(self, path, made, held):
        disk = self.things.get(made["properties"]["creationData"]["sourceResourceId"].lower())
        if disk is None:
            return error(404, "ResourceNotFound", "the disk is not there")
        told = {"diskSizeGB": disk["properties"]["diskSizeGB"], "timeCreated": "2026-01-01T00:00:00.1234567+00:00"}
        made["properties"] |= {**told, "completionPercent": 100.0}
        return None

    def _check_disks(self, path, made, held):
        origin = made["properties"].get("creationData", {}).get("sourceResourceId")
        if origin and origin.lower() not in self.things:
            return error(404, "ResourceNotFound", "the snapshot is not there")
        made["properties"].setdefault("diskState", "Unattached")
        return None

    def _patch(self, held, body):
        told = body["properties"]
        if self._refers_to_nothing(told):
            return error(400, "InvalidResourceReference", "loadBalancerBackendAddressPools")
        if "storageProfile" in told:
            fault = self._attach(held, told["storageProfile"]["dataDisks"])
            if fault:
                return fault
        if "virtualMachineProfile" in told:
            network = told["virtualMachineProfile"]["networkProfile"]
            if held["properties"].get("orchestrationMode") == "Flexible" and not network.get("networkApiVersion"):
                return error(400, "InvalidParameter", "networkApiVersion")
            held["properties"]["virtualMachineProfile"] |= told["virtualMachineProfile"]
        else:
            held["properties"] |= copy.deepcopy(told)
        held["properties"]["provisioningState"] = "Updating"
        held["etag"] = self.next_etag()
        return 200, copy.deepcopy(held)

    def _attach(self, machine, rows):
        before = {row["managedDisk"]["id"].lower() for row in machine["properties"]["storageProfile"]["dataDisks"]}
        after = {row["managedDisk"]["id"].lower() for row in rows}
        for disk in after - before:
            if disk not in self.things:
                return error(404, "NotFound")
            if self.things[disk].get("managedBy"):
                return error(409, "AttachDiskWhileBeingDetached")
        for disk in (after | before) & self.things.keys():
            self.things[disk]["managedBy"] = machine["id"] if disk in after else ""
        return None

    def _delete(self, lower, held):
        refers = re.compile(rf'"{re.escape(lower)}(?![\w-])')
        users = [
            ident for ident, thing in self.things.items() if ident != lower and refers.search(json.dumps(thing).lower())
        ]
        if users or held.get("managedBy"):
            code = (
                "PublicIPAddressCannotBeDeleted" if "/publicipaddresses/" in lower else "InUseResourceCannotBeDeleted"
            )
            return error(400, code, f"{held['id']} is used by {users}")
        del self.things[lower]
        return 202, {}

    def _interface(self, machine):
        name = f"{machine['id']}/networkInterfaces/nic"
        card = {"name": "ip", "id": f"{name}/ipConfigurations/ip",
                "properties": {"privateIPAddress": machine["address"], "primary": True}}  # fmt: skip
        return {"id": name, "name": "nic", "properties": {"primary": True, "ipConfigurations": [card]}}

    def _shown(self, thing):
        """Show a balancer with the members of its pools, and a private link service with its connections."""
        if "/privatelinkservices/" in thing["id"].lower():
            return self.with_connections(thing)
        if "/loadbalancers/" not in thing["id"].lower():
            return thing
        shown = copy.deepcopy(thing)
        for pool in shown["properties"].get("backendAddressPools", []):
            members = [ident for ident, pools in self._members() if pool["id"].lower() in pools]
            pool["properties"]["backendIPConfigurations"] = [{"id": ident} for ident in members]
        return shown

    def _members(self):
        for thing in self.things.values():
            for card in thing["properties"].get("ipConfigurations", []) if "/networkInterfaces/" in thing["id"] else ():
                yield (
                    card["id"],
                    [each["id"].lower() for each in card["properties"].get("loadBalancerBackendAddressPools", [])],
                )
            profile = thing["properties"].get("networkProfileConfiguration", {})
            for interface in profile.get("networkInterfaceConfigurations", []):
                for card in interface["properties"]["ipConfigurations"]:
                    pools = [
                        each["id"].lower() for each in card["properties"].get("loadBalancerBackendAddressPools", [])
                    ]
                    yield f"{thing['id']}/networkInterfaces/nic/ipConfigurations/ip", pools


def _query(query):
    return urlencode({key: value for key, value in query.items() if key != "$skiptoken"})


class ClockThatSleeps(FakeClock):
    """Time goes on by sleeping alone."""

    def sleep(self, seconds):
        self.advance(seconds)


def metadata(zone="3"):
    told = {"compute": {"location": "WestEurope", "zone": zone, "platformFaultDomain": "1"}}
    return lambda request: answer(200, told)


def built(double, folder, **config):
    """Return the plugin, which talks to that double."""
    file = folder / "azure.json"
    told = {
        "subscriptionId": "sub", "resourceGroup": GROUP, "location": "westeurope", "vnetName": "net", "subnetName": "nodes",
        "securityGroupName": "nodes", "routeTableName": "routes", "useManagedIdentityExtension": True,
    }  # fmt: skip
    file.write_text(json.dumps(told | config))

    class Played(Azure):
        def ways(self, config):
            return double, metadata()

    return Played(PluginContext(name="azure", settings={"cloud_config": str(file)}, clock=ClockThatSleeps()))


def provider(plugin):
    return PluginHost("cloud", specs, [("azure", plugin)]).hook.cloud_provider()
