"""What every provider reads from a Service in the same way.

Sources: kubernetes cloud-provider ``cloud.go`` (DefaultLoadBalancerName), ``service/helpers/helper.go``.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of, uid_of

SOURCE_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
ANYWHERE: Final = "0.0.0.0/0"
NODES_CHECK_PORT: Final = 10256
CHECK_PATH: Final = "/healthz"


def balancer_name(service: Object) -> str:
    """Return a balancer's name by default: from the Service's uid, at most 32 characters, first a letter."""
    return f"a{uid_of(service)}".replace("-", "")[:32]


def service_name(service: Object) -> str:
    """Return ``namespace/name``."""
    return f"{namespace_of(service)}/{name_of(service)}"


def source_ranges(service: Object) -> list[str]:
    """Return the ranges that may use the balancer, sorted; all unless the Service says otherwise.

    Raises:
        CloudFailed: one is no range.
    """
    given = list((service.get("spec") or {}).get("loadBalancerSourceRanges") or ())
    where = "service.Spec.LoadBalancerSourceRanges"
    if not given:
        text = annotations_of(service).get(SOURCE_RANGES, "").strip()
        given = text.split(",") if text else []
        where = f"service annotation {SOURCE_RANGES}"
    try:
        found = {str(ipaddress.ip_network(each.strip(), strict=False)) for each in given}
    except ValueError:
        problem = "is not valid. Expecting a comma-separated list of source IP ranges."
        example = "For example, 10.0.0.0/24,192.168.2.0/24"
        raise CloudFailed(f"{where}: {','.join(given)} {problem} {example}") from None
    return sorted(found) or [ANYWHERE]


def local_check_port(service: Object) -> int:
    """Return the port at which nodes tell whether they have endpoints, 0 where any node may be asked."""
    spec = service.get("spec") or {}
    return int(spec.get("healthCheckNodePort") or 0) if spec.get("externalTrafficPolicy") == "Local" else 0


def protocol_of(service: Object) -> str:
    """Return the one protocol of a Service's ports, ``TCP`` or ``UDP``.

    Raises:
        CloudFailed: there are no ports, several protocols, or another one.
    """
    found = {str(port.get("protocol", "TCP")) for port in (service.get("spec") or {}).get("ports") or ()}
    if not found:
        raise CloudFailed("no ports specified for load balancer")
    if len(found) > 1:
        raise CloudFailed("mixed protocol is not supported for LoadBalancer")
    if not found <= {"TCP", "UDP"}:
        raise CloudFailed(f"invalid protocol {found.pop()}, only TCP and UDP are supported")
    return found.pop()


def ports_of(service: Object) -> list[int]:
    """Return the ports that a balancer listens at, in the Service's order."""
    return [int(port["port"]) for port in (service.get("spec") or {}).get("ports") or ()]


def status_of(address: str) -> Object:
    """Return ``status.loadBalancer`` of a balancer at an address, empty until the cloud has given it one."""
    return {"ingress": [{"ip": address}]} if address else {}
