"""Pools that are changed without their balancer, as Azure has them (network 2023-11-01, ``loadBalancer.json``)."""

from __future__ import annotations

import copy

POOL = {
    "loadBalancerBackendAddresses",
    "virtualNetwork",
    "drainPeriodInSeconds",
    "location",
    "tunnelInterfaces",
    "syncMode",
}


def error(status, code, text="why"):
    return status, {"error": {"code": code, "message": text}}


class Pools:
    """A part of the double of Azure."""

    def play_pool(self, method, lower, body):
        """Show a pool, or change it: its balancer changes with it."""
        balancer = self.things.get(lower.partition("/backendaddresspools/")[0])
        shown = self._shown(balancer)["properties"]["backendAddressPools"] if balancer else []
        pools = balancer["properties"]["backendAddressPools"] if balancer else []
        at = next((number for number, each in enumerate(pools) if each["id"].lower() == lower), None)
        if at is None:
            return error(404, "NotFound", "the pool is not there")
        if method == "GET":
            return 200, {**copy.deepcopy(shown[at]), "etag": balancer["etag"]}
        if self.if_match not in {None, balancer["etag"]}:
            return error(412, "PreconditionFailed", "Precondition failed.")
        if unknown := set(body["properties"]) - POOL:
            return error(400, "InvalidRequestFormat", f"Could not find member {sorted(unknown)}")
        rows = body["properties"].get("loadBalancerBackendAddresses", [])
        if rows and shown[at]["properties"]["backendIPConfigurations"]:
            return error(400, "BackendAddressPoolCannotMixNicAndIp")
        if len({each["name"] for each in rows}) < len(rows) or (rows and not body["properties"].get("virtualNetwork")):
            return error(400, "InvalidRequestFormat", "names are told once, and of which network")
        pools[at]["properties"] = copy.deepcopy(body["properties"]) | {"provisioningState": "Succeeded"}
        balancer["etag"] = self.next_etag()
        return 200, {**copy.deepcopy(pools[at]), "etag": balancer["etag"]}

    def is_at_another(self, path, body):
        """Tell whether the public address of a frontend is another balancer's."""
        if "publicIPAddress" not in body:
            return False
        balancers = {ident: each for ident, each in self.things.items() if ident.split("/")[-2] == "loadbalancers"}
        others = [each for ident, each in balancers.items() if ident != path.lower()]
        rows = [row["properties"] for each in others for row in each["properties"]["frontendIPConfigurations"]]
        wanted = body["publicIPAddress"]["id"].lower()
        return any(row.get("publicIPAddress", {"id": ""})["id"].lower() == wanted for row in rows)

    def listed_in(self, balancer="c", pool=None):
        """Return the addresses that a pool lists, with their names."""
        (held,) = [each for each in self.things.values() if each["id"].endswith(f"/loadBalancers/{balancer}")]
        (found,) = [each for each in held["properties"]["backendAddressPools"] if each["name"] == (pool or "c")]
        rows = found["properties"].get("loadBalancerBackendAddresses", [])
        return {row["properties"]["ipAddress"]: row["name"] for row in rows}
