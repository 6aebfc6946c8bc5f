"""From Services and EndpointSlices to what a proxier must serve: pure functions, no state.

Source of the rules: kubernetes ``pkg/proxy/serviceport.go``, ``endpointslicecache.go`` and ``topology.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperkube.hookspecs.proxier import Backend, ServicePort, ServicePortName
from hyperkube.machinery.objects import Object, labels_of, metadata, name_of, namespace_of

PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name"
HEADLESS_LABEL = "service.kubernetes.io/headless"
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
DEFAULT_AFFINITY_SECONDS = 10800
SLICE_SELECTOR = f"!{HEADLESS_LABEL},!{PROXY_NAME_LABEL}"


def is_proxied(service: Object) -> bool:
    """Tell whether a proxy has anything to do for a Service: not headless, without a name, and not of another proxy."""
    spec = service.get("spec", {})
    if spec.get("type") == "ExternalName" or spec.get("clusterIP") in {None, "", "None"}:
        return False
    return PROXY_NAME_LABEL not in labels_of(service)


def service_map(services: Iterable[Object], slices: Iterable[Object], node: str) -> dict[ServicePortName, ServicePort]:
    """Return every port to be served, with the backends that are to be used on `node`."""
    by_service: dict[tuple[str, str], list[Object]] = {}
    for each in slices:
        owner = labels_of(each).get(SERVICE_NAME_LABEL)
        if owner and each.get("addressType") in {"IPv4", "IPv6"}:
            by_service.setdefault((namespace_of(each), owner), []).append(each)
    found: dict[ServicePortName, ServicePort] = {}
    for service in services:
        if is_proxied(service):
            own = by_service.get((namespace_of(service), name_of(service)), [])
            found.update({port.name: port for port in service_ports(service, own, node)})
    return found


def service_ports(service: Object, slices: Sequence[Object], node: str) -> list[ServicePort]:
    """Return the ports of one Service."""
    spec: Object = service["spec"]
    affinity = spec.get("sessionAffinity") == "ClientIP"
    timeout = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
    balancer: Object = (service.get("status") or {}).get("loadBalancer") or {}
    ingress = balancer.get("ingress") or []
    ports = []
    for port in spec.get("ports", []):
        port_name = port.get("name", "")
        ports.append(
            ServicePort(
                name=ServicePortName(namespace_of(service), name_of(service), port_name),
                protocol=port.get("protocol", "TCP"),
                cluster_ips=tuple(spec.get("clusterIPs") or [spec["clusterIP"]]),
                port=port["port"],
                node_port=port.get("nodePort", 0),
                external_ips=tuple(spec.get("externalIPs") or ()),
                load_balancer_ips=tuple(row["ip"] for row in ingress if row.get("ip") and row.get("ipMode") != "Proxy"),
                affinity_seconds=(timeout or DEFAULT_AFFINITY_SECONDS) if affinity else 0,
                internal_local=spec.get("internalTrafficPolicy") == "Local",
                external_local=spec.get("externalTrafficPolicy") == "Local",
                health_check_node_port=spec.get("healthCheckNodePort", 0),
                backends=tuple(backends(slices, port_name, node)),
            )
        )
    return ports


def backends(slices: Sequence[Object], port_name: str, node: str) -> list[Backend]:
    """Return the backends of one port: the ready ones; if there are none, those that serve while terminating."""
    ready: dict[Backend, None] = {}
    terminating: dict[Backend, None] = {}
    for each in slices:
        numbers = [port["port"] for port in each.get("ports") or [] if (port.get("name") or "") == port_name]
        for endpoint in each.get("endpoints") or []:
            conditions: Mapping[str, Any] = endpoint.get("conditions") or {}
            is_ready = conditions.get("ready") is not False
            serves = conditions.get("serving", is_ready) and conditions.get("terminating")
            if not endpoint.get("addresses") or not (is_ready or serves):
                continue
            on = endpoint.get("nodeName") or ""
            for number in numbers:
                backend = Backend(endpoint["addresses"][0], number, on == node, is_ready, on)
                (ready if is_ready else terminating)[backend] = None
    return sorted(ready or terminating)


def changed_services(
    before: Mapping[ServicePortName, ServicePort], after: Mapping[ServicePortName, ServicePort]
) -> set[ServicePortName]:
    """Return the names whose port came, went or differs."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def node_port_hint(service: Object, port: str) -> str:
    """Return the sentence that tells how else a port can be reached."""
    spec = service.get("spec", {})
    row: Object = next((row for row in spec.get("ports", []) if row.get("name", "") == port), {})
    if row.get("nodePort"):
        return f"reach it at node port {row['nodePort']}"
    return "give the Service type NodePort, or a port of 1024 or more"


def age_key(service: Object) -> str:
    """Return the creation time: of two services that want one address, the older keeps it."""
    return str(metadata(service).get("creationTimestamp", ""))
