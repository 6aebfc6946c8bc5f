"""From Services and EndpointSlices to service ports of one IP family: pure functions, no state.

Source of the rules: kubernetes ``pkg/proxy/serviceport.go``, ``servicechangetracker.go``, ``endpointslicecache.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any

from hyperkube_lib.proxy_rules.families import addresses_of, family_of

from hyperkube.hookspecs.proxier import Endpoint, IPFamily, ServicePort, ServicePortName
from hyperkube.machinery.objects import Object, labels_of, name_of, namespace_of

PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name"
HEADLESS_LABEL = "service.kubernetes.io/headless"
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
SERVICE_SELECTOR = f"!{PROXY_NAME_LABEL}"
SLICE_SELECTOR = f"!{HEADLESS_LABEL}"
"""A slice with the label of another proxy counts: it is the Service that says whose it is."""
DEFAULT_AFFINITY_SECONDS = 10800


def is_proxied(service: Object) -> bool:
    """Tell whether a proxy has anything to do for a Service: not headless, not a name only, and not another proxy's."""
    spec = service.get("spec", {})
    if spec.get("type") == "ExternalName" or spec.get("clusterIP") in {None, "", "None"}:
        return False
    return PROXY_NAME_LABEL not in labels_of(service)


def service_ports(service: Object, slices: Sequence[Object], family: IPFamily, node: str) -> list[ServicePort]:
    """Return the ports of one Service in one family, with their endpoints; none if it has no cluster IP of it.

    Args:
        service: the Service.
        slices: its EndpointSlices, of whatever family.
        family: which family.
        node: the name of this node.
    """
    if not is_proxied(service):
        return []
    spec: Object = service["spec"]
    cluster_ip = next(iter(addresses_of(spec.get("clusterIPs") or [spec["clusterIP"]], family)), "")
    if not cluster_ip:
        return []
    shared = _shared(service, family)
    own = sorted((each for each in slices if each.get("addressType") == family), key=name_of)
    ports = []
    for port in spec.get("ports", []):
        port_name, protocol = port.get("name", ""), port.get("protocol", "TCP")
        ports.append(
            ServicePort(
                name=ServicePortName(namespace_of(service), name_of(service), port_name),
                protocol=protocol,
                cluster_ip=cluster_ip,
                port=port["port"],
                node_port=port.get("nodePort", 0),
                endpoints=endpoints(own, port_name, protocol, node),
                **shared,
            )
        )
    return ports


def _shared(service: Object, family: IPFamily) -> dict[str, Any]:
    """Return what all ports of a Service have in common."""
    spec: Object = service["spec"]
    kind = spec.get("type", "ClusterIP")
    external_ips = addresses_of(spec.get("externalIPs") or (), family)
    timeout = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
    is_accessible = kind in {"NodePort", "LoadBalancer"} or bool(spec.get("externalIPs"))
    external_local = is_accessible and spec.get("externalTrafficPolicy") == "Local"
    balancer: Object = (service.get("status") or {}).get("loadBalancer") or {}
    ingress = [row["ip"] for row in balancer.get("ingress") or () if row.get("ip") and row.get("ipMode") != "Proxy"]
    return {
        "external_ips": external_ips,
        "load_balancer_ips": addresses_of(ingress, family),
        "source_ranges": source_ranges(spec.get("loadBalancerSourceRanges") or (), family),
        "affinity_seconds": (timeout or DEFAULT_AFFINITY_SECONDS) if spec.get("sessionAffinity") == "ClientIP" else 0,
        "internal_local": spec.get("internalTrafficPolicy") == "Local",
        "external_local": external_local,
        "health_check_node_port": spec.get("healthCheckNodePort", 0)
        if kind == "LoadBalancer" and external_local
        else 0,
    }


def source_ranges(ranges: Iterable[str], family: IPFamily) -> tuple[str, ...]:
    """Return the valid ranges of a family, as networks; none if one of them is every address."""
    found = []
    for text in map(str.strip, ranges):
        if family_of(text) != family:
            continue
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            continue
        if network.prefixlen == 0:
            return ()
        found.append(str(network))
    return tuple(found)


def endpoints(slices: Iterable[Object], port: str, protocol: str, node: str) -> tuple[Endpoint, ...]:
    """Return the endpoints that slices have for a port, sorted by their text, each address and port once.

    An address can be in two slices while it moves from one to the other, or because it was given to a new pod while
    the old one still terminates: the one that does not terminate, and is ready, counts.
    """
    found: dict[str, Endpoint] = {}
    for each in slices:
        numbers = [
            row["port"]
            for row in each.get("ports") or ()
            if (row.get("name") or "") == port and row.get("protocol", "TCP") == protocol and row.get("port")
        ]
        for row in (each.get("endpoints") or ()) if numbers else ():
            for number in numbers:
                endpoint = _endpoint(row, number, node)
                known = found.get(str(endpoint)) if endpoint else None
                if endpoint and (known is None or _preference(endpoint) >= _preference(known)):
                    found[str(endpoint)] = endpoint
    return tuple(found[text] for text in sorted(found))


def _preference(endpoint: Endpoint) -> tuple[bool, bool]:
    return not endpoint.terminating, endpoint.ready


def _endpoint(row: Object, port: int, node: str) -> Endpoint | None:
    if not row.get("addresses"):
        return None
    conditions: Object = row.get("conditions") or {}
    hints: Object = row.get("hints") or {}
    return Endpoint(
        ip=row["addresses"][0],
        port=port,
        local=bool(node) and row.get("nodeName") == node,
        ready=conditions.get("ready") is not False,
        serving=conditions.get("serving") is not False,
        terminating=conditions.get("terminating") is True,
        zone_hints=tuple(zone["name"] for zone in hints.get("forZones") or ()),
        node_hints=tuple(each["name"] for each in hints.get("forNodes") or ()),
    )


def node_port_hint(service: Object, port: str) -> str:
    """Return the sentence that tells how else a port can be reached."""
    spec = service.get("spec", {})
    row: Object = next((row for row in spec.get("ports", []) if row.get("name", "") == port), {})
    if row.get("nodePort"):
        return f"reach it at node port {row['nodePort']}"
    return "give the Service type NodePort, or a port of 1024 or more"
