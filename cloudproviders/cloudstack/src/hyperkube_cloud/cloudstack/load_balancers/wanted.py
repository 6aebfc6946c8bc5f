"""What a Service asks of its balancer: rules by port, sources, annotations ``…/cloudstack-load-balancer-…``, as values.

Source: cloudstack-kubernetes-provider ``protocol.go``, ``cloudstack_loadbalancer.go`` (EnsureLoadBalancer) and
``README.md``; kubernetes ``pkg/cloudprovider/providers/cloudstack/cloudstack_loadbalancer.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Final

from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import ANYWHERE, balancer_name, source_ranges, status_of

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of

PREFIX: Final = "service.beta.kubernetes.io/cloudstack-load-balancer-"
PROXY: Final = f"{PREFIX}proxy-protocol"
HOSTNAME: Final = f"{PREFIX}hostname"
SOURCE_CIDRS: Final = f"{PREFIX}source-cidrs"
STICKINESS: Final = f"{PREFIX}stickiness-method-name"
ALGORITHMS: Final = {"None": "roundrobin", "ClientIP": "source"}
_TRANSPORT: Final = {"tcp": "tcp", "tcp-proxy": "tcp", "udp": "udp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRule:
    """A rule for one port: its name, CloudStack's protocol, the port that the world and the one that nodes see."""

    name: str
    protocol: str
    public_port: int
    private_port: int

    @property
    def transport(self) -> str:
        """The protocol of IP, by which firewalls know it."""
        return _TRANSPORT[self.protocol]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A balancer as a Service wants it.

    Attributes:
        name: what all its rules' names begin with.
        rules: one for each port.
        algorithm: ``roundrobin`` or ``source``.
        address: the public address that it is to have, empty for any.
        sources: who may pass the firewall or the network ACL.
        rule_sources: who may use the rules themselves; None leaves that to the firewall.
    """

    name: str
    rules: Sequence[WantedRule]
    algorithm: str
    address: str
    sources: Sequence[str]
    rule_sources: Sequence[str] | None


def transport_of(rule: Json) -> str:
    """Return the protocol of IP of a rule that exists; in-tree providers wrote capitals."""
    return _TRANSPORT.get(str(rule.get("protocol") or "tcp").lower(), "")


def is_of(rule: Json, name: str) -> bool:
    """Tell whether a rule is that balancer's: ``name-protocol-port``, or the in-tree provider's ``name-port``."""
    return str(rule.get("name") or "").startswith(f"{name}-")


def cidrs_of(text: object) -> frozenset[str]:
    """Return the sources that a rule tells, none for all."""
    return frozenset(part.strip() for part in str(text or "").split(",") if part.strip()) - {ANYWHERE, "::/0"}


def wanted(service: Object) -> Wanted:
    """Return what a Service asks for.

    Raises:
        CloudFailed: it asks for what there is not.
    """
    spec, annotations = service.get("spec") or {}, annotations_of(service)
    ports = spec.get("ports") or ()
    if not ports:
        raise CloudFailed("requested load balancer with no ports")
    affinity = str(spec.get("sessionAffinity") or "None")
    if affinity not in ALGORITHMS:
        raise CloudFailed(f"unsupported load balancer affinity: {affinity}")
    if annotations.get(STICKINESS):
        raise CloudFailed(f"annotation {STICKINESS} is not built: use spec.sessionAffinity ClientIP")
    name = balancer_name(service)
    rules = [_rule(name, row, annotations) for row in ports]
    if len({rule.public_port for rule in rules}) < len(rules):
        raise CloudFailed("a public address has one load balancer rule for a port: TCP and UDP need a Service each")
    return Wanted(
        name=name,
        rules=rules,
        algorithm=ALGORITHMS[affinity],
        address=str(spec.get("loadBalancerIP") or ""),
        sources=source_ranges(service),
        rule_sources=_rule_sources(annotations),
    )


def status(service: Object, address: str) -> Object:
    """Return ``status.loadBalancer``: the host name that the Service gives, else the address."""
    hostname = annotations_of(service).get(HOSTNAME, "")
    return {"ingress": [{"hostname": hostname}]} if hostname and address else status_of(address)


def _rule(name: str, row: Json, annotations: Mapping[str, str]) -> WantedRule:
    protocol = str(row.get("protocol") or "TCP")
    if protocol not in {"TCP", "UDP"}:
        raise CloudFailed(f"unsupported load balancer protocol: {protocol}")
    if not row.get("nodePort"):
        raise CloudFailed(f"port {row['port']} has no node port, to which CloudStack's rules lead")
    word = "tcp-proxy" if protocol == "TCP" and annotations.get(PROXY) == "true" else protocol.lower()
    port = int(row["port"])
    return WantedRule(name=f"{name}-{word}-{port}", protocol=word, public_port=port, private_port=int(row["nodePort"]))


def _rule_sources(annotations: Mapping[str, str]) -> Sequence[str] | None:
    if SOURCE_CIDRS not in annotations:
        return None
    parts = [part.strip() for part in annotations[SOURCE_CIDRS].split(",") if part.strip()]
    for part in parts:
        try:
            ipaddress.ip_network(part, strict=False)
        except ValueError:
            raise CloudFailed(f"annotation {SOURCE_CIDRS}: invalid CIDR {part!r}") from None
    return parts
