"""Azure's private link services, in the shapes of its published specification (network 2023-11-01).

Each belongs to frontends, which cannot go while it is there; its subnet has to have its policies for them switched off.
"""

from __future__ import annotations

NETWORK = "/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Network"


def error(status, code, text="why"):
    return status, {"error": {"code": code, "message": text}}


class PrivateLinks:
    """A part of the double of Azure."""

    def connect(self, link, name="consumer"):
        """Let a private endpoint of others be connected to a link."""
        self.put(f"{NETWORK}/privateLinkServices/{link}/privateEndpointConnections/{name}", {"properties": {}})

    def with_connections(self, thing):
        """Show a private link service with the private endpoints that are connected to it."""
        prefix = thing["id"].lower() + "/privateendpointconnections/"
        rows = [
            {"id": each["id"], "name": each["name"]} for ident, each in self.things.items() if ident.startswith(prefix)
        ]
        return {**thing, "properties": {**thing["properties"], "privateEndpointConnections": rows, "alias": "a.b"}}

    def linked(self, kept, held):
        """Return the frontends that a balancer has, is not to keep, and a private link service belongs to."""
        before = {
            row["id"].lower() for row in (held or {"properties": {}})["properties"].get("frontendIPConfigurations", [])
        }
        links = [each for each in self.things.values() if "loadBalancerFrontendIpConfigurations" in each["properties"]]
        linked = {
            row["id"].lower() for each in links for row in each["properties"]["loadBalancerFrontendIpConfigurations"]
        }
        return (before - kept) & linked

    def _check_privatelinkservices(self, path, made, held):
        rows = made["properties"]
        for row in rows["loadBalancerFrontendIpConfigurations"]:
            balancer = self.things.get(row["id"].lower().partition("/frontendipconfigurations/")[0])
            frontends = (balancer or {"properties": {}})["properties"].get("frontendIPConfigurations", [])
            if row["id"].lower() not in {each["id"].lower() for each in frontends}:
                return error(400, "InvalidResourceReference", "loadBalancerFrontendIpConfigurations")
        for number, row in enumerate(rows["ipConfigurations"]):
            body = row["properties"]
            subnet = self.things.get(body["subnet"]["id"].lower())
            if subnet is None:
                return error(400, "InvalidResourceReference", "subnet")
            if subnet["properties"]["privateLinkServiceNetworkPolicies"] != "Disabled":
                return error(400, "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled")
            body.setdefault("privateIPAddress", f"10.241.0.{200 + number}")
        if [row["properties"]["primary"] for row in rows["ipConfigurations"]].count(True) != 1:
            return error(400, "InvalidRequestFormat", "one configuration is primary")
        return None
