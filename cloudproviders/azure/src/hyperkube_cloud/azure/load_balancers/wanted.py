"""The rules, probes and security rules that a Service needs, as values.

Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go`` (getExpectedLBRules, getExpectedSecurityRules,
reconcileSecurityRules), ``azure_loadbalancer_healthprobe.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.azure.arm import properties, same
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import ANYWHERE, CHECK_PATH, local_check_port, source_ranges

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

TRANSPORTS: Final = {"TCP": "Tcp", "UDP": "Udp", "SCTP": "All"}
SECURITY: Final = {"TCP": "Tcp", "UDP": "Udp", "SCTP": "*"}
PRIORITIES: Final = range(500, 4096)
_PROBES: Final = {"tcp": "Tcp", "http": "Http", "https": "Https"}
_SECONDS: Final = 120
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The ids of a balancer, of a Service's frontend in it, and of its pool."""

    balancer: str
    frontend: str
    pool: str
    disable_outbound_snat: bool = False


def check(service: Object) -> None:
    """Refuse what Azure's balancers cannot do, before anything is made.

    Raises:
        CloudFailed: Kubernetes' text for it.
    """
    ports = (service.get("spec") or {}).get("ports") or ()
    if not ports:
        raise CloudFailed("no ports specified for load balancer")
    for port in ports:
        protocol = port.get("protocol", "TCP")
        if protocol not in TRANSPORTS:
            raise CloudFailed("only TCP, UDP and SCTP are supported for Azure LoadBalancers")
        if protocol == "SCTP" and not asked.is_internal(service):
            raise CloudFailed("SCTP is only supported on internal LoadBalancer")
        if protocol == "TCP":
            _probe(service, port)
    source_ranges(service)
    asked.idle_timeout(service)


def rules_and_probes(service: Object, place: Place) -> tuple[list[Json], list[Json]]:
    """Return a rule for each port, and the probes that they refer to."""
    rules, probes = [], []
    for port in service["spec"]["ports"]:
        protocol = port.get("protocol", "TCP")
        name = asked.rule_name(service, protocol, int(port["port"]))
        body = _rule(service, port, place)
        if local_check_port(service) or protocol == "TCP":
            probes.append({"name": name, "properties": _probe(service, port)})
            body["probe"] = {"id": f"{place.balancer}/probes/{name}"}
        rules.append({"name": name, "properties": body})
        if body["frontendPort"] == 0:  # one rule takes all ports
            break
    return rules, probes


def _rule(service: Object, port: Mapping[str, Any], place: Place) -> Json:
    protocol = port.get("protocol", "TCP")
    floating = not asked.is_true(service, "disable-load-balancer-floating-ip")
    number = int(port["port"])
    body: Json = {
        "protocol": TRANSPORTS[protocol],
        "frontendIPConfiguration": {"id": place.frontend},
        "backendAddressPool": {"id": place.pool},
        "loadDistribution": "SourceIP" if service["spec"].get("sessionAffinity") == "ClientIP" else "Default",
        "frontendPort": number,
        "backendPort": number if floating else int(port.get("nodePort") or 0),
        "disableOutboundSnat": place.disable_outbound_snat,
        "enableTcpReset": True,
        "enableFloatingIP": floating,
    }
    minutes = asked.idle_timeout(service)
    if protocol == "TCP" and minutes is not None:
        body["idleTimeoutInMinutes"] = minutes
    if protocol == "SCTP" or (
        asked.is_internal(service) and asked.is_true(service, "load-balancer-enable-high-availability-ports")
    ):
        body |= {"frontendPort": 0, "backendPort": 0, "protocol": "All"}
    return body


def _probe(service: Object, port: Mapping[str, Any]) -> Json:
    number, local = int(port["port"]), local_check_port(service)
    told = asked.probe_word(service, number, "protocol") or ("" if local else str(port.get("appProtocol") or ""))
    protocol = _PROBES.get(told.lower(), "Tcp") if told or not local else "Http"
    interval = asked.probe_number(service, number, "interval", 5, 5)
    threshold = asked.probe_number(service, number, "num-of-probe", 2, 2)
    if interval * threshold >= _SECONDS:
        raise CloudFailed("total probe should be less than 120, please adjust interval and number of probe accordingly")
    body: Json = {
        "protocol": protocol,
        "port": local or int(port.get("nodePort") or 0),
        "intervalInSeconds": interval,
        "probeThreshold": threshold,
    }
    if protocol != "Tcp":
        body["requestPath"] = asked.probe_word(service, number, "request-path") or (CHECK_PATH if local else "/")
    return body


def merged(held: Rows, service: Object, wanted: Rows) -> list[Json] | None:
    """Return rows with those of a Service as they are wanted; None if they are so already."""
    own = [row for row in held if asked.owns(service, row["name"])]
    if len(own) == len(wanted) and all(_holds(row, wanted) for row in own):
        return None
    return [*(dict(row) for row in held if not asked.owns(service, row["name"])), *(dict(row) for row in wanted)]


def _holds(row: Mapping[str, Any], wanted: Rows) -> bool:
    body = next((each["properties"] for each in wanted if same(each["name"], row["name"])), None)
    return body is not None and all(_alike(properties(row).get(key), value) for key, value in body.items())


def _alike(held: object, wanted: object) -> bool:
    if isinstance(wanted, dict) and isinstance(held, dict):
        return same(held.get("id"), wanted.get("id"))
    if isinstance(wanted, str):
        return same(held, wanted)
    return held == wanted


def security_rules(service: Object, addresses: Sequence[str]) -> list[Json]:
    """Return the rules that let clients reach a Service's addresses, without priorities."""
    ranges, tags = source_ranges(service), asked.listed(service, "allowed-service-tags")
    if ranges == [ANYWHERE] and not tags:
        sources = [] if asked.is_internal(service) else ["Internet"]
    else:
        sources = [each for each in ranges if not (tags and each == ANYWHERE)] + tags
    denied = ranges != [ANYWHERE] and asked.is_true(service, "deny-all-except-load-balancer-source-ranges")
    ports = service["spec"]["ports"]
    made = [_security_rule(service, port, source, source, "Allow", addresses) for port in ports for source in sources]
    if denied:
        made += [_security_rule(service, port, "deny_all", "*", "Deny", addresses) for port in ports]
    return made


def _security_rule(
    service: Object, port: Mapping[str, Any], word: str, source: str, access: str, addresses: Sequence[str]
) -> Json:
    protocol = port.get("protocol", "TCP")
    body: Json = {
        "protocol": SECURITY[protocol],
        "sourcePortRange": "*",
        "destinationPortRange": str(port["port"]),
        "sourceAddressPrefix": source,
        "access": access,
        "direction": "Inbound",
    }
    if asked.is_shared(service) or len(addresses) > 1:
        body["destinationAddressPrefixes"] = list(addresses)
    else:
        body["destinationAddressPrefix"] = addresses[0]
    return {"name": asked.security_rule_name(service, protocol, int(port["port"]), word), "properties": body}


def merged_security(held: Rows, service: Object, wanted: Rows, addresses: Sequence[str]) -> list[Json] | None:
    """Return a group's rules with those of a Service as they are wanted; None if they are so already.

    A Service that shares rules puts its `addresses` into them, and takes them out of those of its ports that it does
    not want any more.
    """
    rows: list[Json] = []
    kept = {each["name"].lower() for each in wanted}
    shared = {each["name"].lower() for each in security_rules(service, addresses or ["*"]) if asked.is_shared(service)}
    for row in held:
        if str(row["name"]).lower() in shared - kept:
            left = _without(row, addresses)
            rows += [left] if left is not None else []
        elif not asked.owns(service, row["name"]) or _holds(row, wanted):
            rows.append(dict(row))
    for each in wanted:
        at = next((index for index, row in enumerate(rows) if same(row["name"], each["name"])), None)
        if at is None:
            taken = {properties(row).get("priority") for row in rows}
            priority = next((number for number in PRIORITIES if number not in taken), None)
            if priority is None:
                raise CloudFailed("securityGroup priorities are exhausted")
            rows.append({"name": each["name"], "properties": {**each["properties"], "priority": priority}})
        elif asked.is_shared(service):
            had = properties(rows[at]).get("destinationAddressPrefixes") or []
            more = [address for address in addresses if address not in had]
            if more:
                rows[at] = {
                    **rows[at],
                    "properties": {**properties(rows[at]), "destinationAddressPrefixes": had + more},
                }
    return rows if rows != [dict(row) for row in held] else None


def _without(row: Mapping[str, Any], addresses: Sequence[str]) -> Json | None:
    """Return a shared rule without addresses, None if none is left."""
    had = properties(row).get("destinationAddressPrefixes") or []
    left = [address for address in had if address not in addresses]
    return {**row, "properties": {**properties(row), "destinationAddressPrefixes": left}} if left else None
