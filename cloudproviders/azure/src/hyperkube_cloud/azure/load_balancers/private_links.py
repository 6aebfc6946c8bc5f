"""Private link services: others' networks reach a Service's frontend by private endpoints.

Each belongs to a frontend and is deleted with it, not with the Service that has made it: Services that share the
frontend share it, too, and only the one that its tag names as owner changes it.
Source: cloud-provider-azure ``pkg/provider/azure_privatelinkservice.go``; Azure/azure-rest-api-specs
``network/…/privateLinkService.json``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.azure.arm import NETWORK, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import network_id
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_cloud.azure.load_balancers.public_ips import CLUSTER
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import service_name

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object, annotations_of

OWNER: Final = "k8s-azure-owner-service"
COUNT: Final = range(1, 9)
FRONTENDS: Final = "loadBalancerFrontendIpConfigurations"
POLICIES: Final = "privateLinkServiceNetworkPolicies"
_OF_OWNER: Final = (
    "name",
    "ip-configuration-subnet",
    "ip-configuration-ip-address-count",
    "ip-configuration-ip-address",
    "fqdns",
    "proxy-protocol",
    "visibility",
    "auto-approval",
)
"""Annotations that only the owner may have."""
_KEPT: Final = (FRONTENDS, "ipConfigurations", "enableProxyProtocol", "fqdns", "visibility", "autoApproval")


def wants_link(service: Object) -> bool:
    """Tell whether a Service asks for a private link service."""
    return asked.is_true(service, "pls-create")


def check(service: Object) -> None:
    """Refuse what cannot be, before anything is made.

    Raises:
        CloudFailed: a frontend, a number or an address that private link services do not have.
    """
    if not wants_link(service):
        return
    if ":" in str((service.get("spec") or {}).get("clusterIP") or ""):
        raise CloudFailed("IPv6 is not supported for private link service")
    if not asked.is_internal(service) and not asked.is_true(service, "disable-load-balancer-floating-ip"):
        problem = "service requiring private link service must be internal or disable floating ip"
        raise CloudFailed(f"reconcilePrivateLinkService for service({service_name(service)}): {problem}")
    count, fixed = count_of(service), fixed_addresses(service)
    if count < len(fixed):
        problem = f"must be no smaller than number of static IPs specified({len(fixed)})"
        raise CloudFailed(f"checkAndUpdatePLSIPConfigs: ipConfigCount({count}) {problem}")


def count_of(service: Object) -> int:
    """Return how many addresses the link has in its subnet.

    Raises:
        CloudFailed: it is no such number.
    """
    text = asked.of(service, "pls-ip-configuration-ip-address-count")
    if not text:
        return COUNT[0]
    if not text.isdecimal():
        raise CloudFailed(f"failed to parse annotation {asked.PREFIX}pls-ip-configuration-ip-address-count: {text!r}")
    if int(text) < COUNT[0]:
        raise CloudFailed(f"minimum number of private link service ipConfig is {COUNT[0]}, {text} provided")
    if int(text) > COUNT[-1]:
        raise CloudFailed(f"maximum number of private link service ipConfig is {COUNT[-1]}, {text} provided")
    return int(text)


def fixed_addresses(service: Object) -> list[str]:
    """Return the addresses that the link is to have, the first of which is its primary one.

    Raises:
        CloudFailed: one is no address of IPv4.
    """
    found = _words(service, "ip-configuration-ip-address")
    for each in found:
        try:
            address = ipaddress.ip_address(each)
        except ValueError:
            raise CloudFailed(f"getPLSStaticIPs: {each} is not a valid IP address") from None
        if address.version != 4:
            problem = "private link service ip config only supports IPv4"
            raise CloudFailed(f"getPLSStaticIPs: {problem}, {each} provided")
    return found


def _words(service: Object, word: str) -> list[str]:
    """Return the parts of an annotation between spaces, each once."""
    return list(dict.fromkeys(asked.of(service, f"pls-{word}").split()))


def _visibility(service: Object) -> list[str]:
    found = _words(service, "visibility")
    return ["*"] if "*" in found else found


class PrivateLinks:
    """The private link services of a cluster's frontends."""

    def __init__(self, arm: Arm, config: AzureConfig) -> None:
        self._arm, self._config = arm, config

    def ensure(self, cluster: str, service: Object, frontend: Mapping[str, Any]) -> None:
        """Make a frontend's link as the Service wants it; nothing for one that wants none: what there is stays.

        Raises:
            CloudFailed: the frontend has another's link.
        """
        if not wants_link(service):
            return
        held = next(iter(self._of([self._group(service)], [frontend])), None)
        if held is not None and not self._is_owned(cluster, service, frontend, held):
            return
        name = self._name(service, frontend, held)
        subnet = self._subnet(service)
        body = self._changed(cluster, service, {**(held or {}), "name": name}, frontend, str(subnet["id"]))
        if held is not None and body is None:
            return
        if not same(properties(subnet).get(POLICIES), "Disabled"):
            self._arm.put(str(subnet["id"]), {**subnet, "properties": {**properties(subnet), POLICIES: "Disabled"}})
        ident = self._arm.id(NETWORK, f"privateLinkServices/{name}", self._group(service))
        self._arm.put(str(held["id"]) if held else ident, body or {})

    def release(self, cluster: str, service: Object, frontends: Sequence[Mapping[str, Any]]) -> None:
        """Delete the cluster's links of frontends that go, after the connections of their endpoints."""
        groups = list(dict.fromkeys([self._group(service), self._config.private_link_service_resource_group]))
        for held in self._of(groups, frontends) if frontends else ():
            if not same((held.get("tags") or {}).get(CLUSTER), cluster):
                continue  # the user's own
            for each in properties(held).get("privateEndpointConnections") or ():
                self._arm.delete(f"{held['id']}/privateEndpointConnections/{each['name']}")
            self._arm.delete(str(held["id"]))

    def _of(self, groups: Sequence[str], frontends: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Return the links that belong to frontends."""
        wanted = {str(each["id"]).lower() for each in frontends}
        return [
            held
            for group in groups
            for held in self._arm.listed(self._arm.id(NETWORK, "privateLinkServices", group))
            if wanted & {str(each.get("id")).lower() for each in properties(held).get(FRONTENDS) or ()}
        ]

    def _is_owned(self, cluster: str, service: Object, frontend: Mapping[str, Any], held: Json) -> bool:
        """Tell whether a Service may change a link; False if it shares another's."""
        tags = held.get("tags") or {}
        problem = (
            f"reconcilePrivateLinkService for service({service_name(service)}) failed: LB frontend({frontend['id']})"
        )
        if not same(str(tags.get(CLUSTER, "")).strip(), cluster):
            raise CloudFailed(f"{problem} already has unmanaged private link service({held['id']})")
        owner = str(tags.get(OWNER, ""))
        if same(owner, service_name(service)):
            return True
        if any(f"{asked.PREFIX}pls-{word}" in annotations_of(service) for word in _OF_OWNER):
            raise CloudFailed(
                f"{problem} already has existing private link service({held['name']}) owned by service({owner})"
            )
        return False

    def _name(self, service: Object, frontend: Mapping[str, Any], held: Json | None) -> str:
        told = asked.of(service, "pls-name")
        if held is None:
            return told or f"pls-{frontend['name']}"
        if told and not same(told, held["name"]):
            problem = f"cannot change existing private link service name ({held['name']}) to ({told})"
            raise CloudFailed(f"getPrivateLinkServiceName({service_name(service)}) failed: {problem}")
        return str(held["name"])

    def _subnet(self, service: Object) -> Json:
        name = asked.of(service, "pls-ip-configuration-subnet") or asked.subnet_of(service) or self._config.subnet_name
        found = self._arm.find(network_id(self._arm, self._config, name))
        if found is None:
            problem = f"failed to get private link service subnet({name}) for service({service_name(service)})"
            raise CloudFailed(f"checkAndUpdatePLSIPConfigs: {problem}")
        return found

    def _changed(
        self, cluster: str, service: Object, held: Json, frontend: Mapping[str, Any], subnet: str
    ) -> Json | None:
        """Return a link as it is wanted, None if it is so already."""
        told = {key: value for key, value in properties(held).items() if key in _KEPT}
        made = dict(told)
        made.setdefault(FRONTENDS, [{"id": frontend["id"]}])
        fixed = fixed_addresses(service)
        if not _fits(told.get("ipConfigurations") or (), subnet, fixed, count_of(service)):
            made["ipConfigurations"] = _addresses(str(held["name"]), subnet, fixed, count_of(service))
        proxy = asked.is_true(service, "pls-proxy-protocol")
        if bool(told.get("enableProxyProtocol")) != proxy:
            made["enableProxyProtocol"] = proxy
        if sorted(told.get("fqdns") or ()) != sorted(_words(service, "fqdns")):
            made["fqdns"] = _words(service, "fqdns")
        wanted = {"visibility": _visibility(service), "autoApproval": _words(service, "auto-approval")}
        if any(
            sorted((told.get(key) or {}).get("subscriptions") or ()) != sorted(value) for key, value in wanted.items()
        ):
            made |= {key: {"subscriptions": value} for key, value in wanted.items()}
        tags = {**(held.get("tags") or {}), **parsed_tags(self._config.tags)}
        tags = {CLUSTER: cluster, OWNER: service_name(service), **tags}
        has_failed = same(properties(held).get("provisioningState"), "Failed")
        if made == told and tags == (held.get("tags") or {}) and not has_failed:
            return None
        base: Json = {key: held[key] for key in ("etag", "extendedLocation") if key in held}
        return {"location": self._config.location, **base, "tags": tags, "properties": made}

    def _group(self, service: Object) -> str:
        return asked.of(service, "pls-resource-group") or self._config.private_link_service_resource_group


def _fits(rows: Sequence[Mapping[str, Any]], subnet: str, fixed: Sequence[str], count: int) -> bool:
    """Tell whether a link has the addresses that are wanted: so many, there, which of them are fixed, and first."""
    held = [properties(row) for row in rows]
    static = [str(row.get("privateIPAddress")) for row in held if same(row.get("privateIPAllocationMethod"), "Static")]
    first = [str(row.get("privateIPAddress")) for row in held if row.get("primary")]
    return (
        len(held) == count
        and all(same((row.get("subnet") or {}).get("id"), subnet) for row in held)
        and sorted(static) == sorted(fixed)
        and (not fixed or first == [fixed[0]])
    )


def _addresses(name: str, subnet: str, fixed: Sequence[str], count: int) -> list[Json]:
    prefix = f"{subnet.rpartition('/')[2]}-{name}"

    def row(suffix: str, *, first: bool, **more: str) -> Json:
        body = {**more, "subnet": {"id": subnet}, "primary": first, "privateIPAddressVersion": "IPv4"}
        return {"name": prefix[: asked.LONGEST - len(suffix)] + suffix, "properties": body}

    rows = [
        row(f"-static-{each}", first=each == fixed[0], privateIPAddress=each, privateIPAllocationMethod="Static")
        for each in fixed
    ]
    more = range(count - len(fixed))
    return rows + [
        row(f"-dynamic-{index}", first=not fixed and index == 0, privateIPAllocationMethod="Dynamic") for index in more
    ]
