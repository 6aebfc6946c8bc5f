"""What one service port adds to the table: pure functions from its endpoints and policies to chains and elements.

Source: kubernetes ``pkg/proxy/nftables/proxier.go`` (syncProxyRules, writeServiceToEndpointRules); texts and order of
the rules are upstream's, as administrators read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hyperkube_lib.proxy_rules.local_detector import LocalDetector
from hyperkube_lib.proxy_rules.source_ranges import allowed_sources
from hyperkube_lib.proxy_rules.topology import Categorized, categorize_endpoints, externally_accessible
from hyperkube_proxier.nftables.common_rules import ip_word, mark_for_masquerade
from hyperkube_proxier.nftables.names import (
    CLUSTER_IPS,
    FIREWALL_IPS,
    HAIRPIN_CONNECTIONS,
    NO_ENDPOINT_NODEPORTS,
    NO_ENDPOINT_SERVICES,
    REJECT,
    SERVICE_IPS,
    SERVICE_NODEPORTS,
    endpoint_base,
    service_chains,
)

from hyperkube.hookspecs.proxier import Endpoint, IPFamily, ProxyNode, ServicePort


class Context(NamedTuple):
    """What the rules of all services of a family depend on.

    Attributes:
        mark: the packet mark of masquerading.
        detector: how local traffic is told.
    """

    family: IPFamily
    node: ProxyNode
    detector: LocalDetector
    mark: int


class Element(NamedTuple):
    """An element of a set or map; `value`: the verdict of a map's."""

    container: str
    key: str
    value: str = ""
    comment: str = ""

    def __str__(self) -> str:
        comment = f' comment "{self.comment}"' if self.comment else ""
        return f"{self.key}{comment}{f' : {self.value}' if self.value else ''}"


class ServiceRules(NamedTuple):
    """What there is in the table for one service port.

    Attributes:
        chains: its own chains with their rules.
        affinity_sets: the sets of clients that keep their endpoint, one per endpoint.
        affinity_seconds: how long a client is in such a set.
        elements: of sets and maps that all services share.
    """

    chains: Mapping[str, tuple[str, ...]] = {}
    affinity_sets: tuple[str, ...] = ()
    affinity_seconds: int = 0
    elements: tuple[Element, ...] = ()


def service_rules(port: ServicePort, context: Context) -> ServiceRules:
    """Return what a port adds."""
    return _Writer(port, context).rules()


class _Writer:
    """Puts together what one port adds."""

    def __init__(self, port: ServicePort, context: Context) -> None:
        self._port = port
        self._context = context
        self._ip = ip_word(context.family)
        self._mark = mark_for_masquerade(context.mark)
        self._found: Categorized = categorize_endpoints(port, context.node)
        self._text, self._protocol = str(port.name), port.protocol.lower()
        names = service_chains(port)
        self._names = names
        self._internal_chain = names.local if port.internal_local else names.cluster
        self._has_internal = self._found.has_endpoints(local_only=port.internal_local)
        self._has_external = self._found.has_endpoints(local_only=port.external_local)
        self._chains: dict[str, tuple[str, ...]] = {}
        self._elements: list[Element] = []

    def rules(self) -> ServiceRules:
        """Return it all."""
        port, found = self._port, self._found
        self._capture_cluster_ip()
        for ip in (*port.external_ips, *port.load_balancer_ips):
            self._capture_external(SERVICE_IPS, NO_ENDPOINT_SERVICES, self._destination(ip))
        if port.node_port:
            key = f"{self._protocol} . {port.node_port}"
            self._capture_external(SERVICE_NODEPORTS, NO_ENDPOINT_NODEPORTS, key)
        if port.load_balancer_ips and port.source_ranges:
            self._write_firewall()
        if found.any_endpoints and externally_accessible(port):
            self._chains[self._names.external] = self._external_rules()
        for chain, endpoints in ((self._names.cluster, found.cluster), (self._names.local, found.local)):
            if endpoints:
                self._chains[chain] = self._choices(endpoints)
        sets: list[str] = []
        for endpoint in found.reachable:
            if port.affinity_seconds:
                sets.append(self._write_endpoint(endpoint))
            if endpoint.local:
                # One that reaches itself through its service must not see its own address.
                key = f"{endpoint.ip} . {self._destination(endpoint.ip, endpoint.port)}"
                self._elements.append(Element(HAIRPIN_CONNECTIONS, key))
        return ServiceRules(self._chains, tuple(sets), port.affinity_seconds, tuple(self._elements))

    def _destination(self, ip: str, port: int = 0) -> str:
        return f"{ip} . {self._protocol} . {port or self._port.port}"

    @property
    def _refusal(self) -> str:
        return "drop" if self._found.any_endpoints else f"goto {REJECT}"

    def _capture_cluster_ip(self) -> None:
        ip = self._port.cluster_ip
        self._elements.append(Element(CLUSTER_IPS, ip))
        if self._has_internal:
            self._elements.append(Element(SERVICE_IPS, self._destination(ip), f"goto {self._internal_chain}"))
        else:
            self._elements.append(Element(NO_ENDPOINT_SERVICES, self._destination(ip), self._refusal, self._text))

    def _capture_external(self, served: str, refused: str, key: str) -> None:
        """Lead traffic to an external address on, and refuse it; both if only pods and the node itself are served."""
        if self._found.any_endpoints:
            self._elements.append(Element(served, key, f"goto {self._names.external}"))
        if not self._has_external:
            self._elements.append(Element(refused, key, self._refusal, self._text))

    def _write_firewall(self) -> None:
        """Drop what comes from outside the source ranges."""
        sources = allowed_sources(self._port, self._context.node, self._context.family)
        chain = self._names.firewall
        self._chains[chain] = (f"{self._ip} saddr != {{ {', '.join(sources)} }} drop",)
        for ip in self._port.load_balancer_ips:
            self._elements.append(Element(FIREWALL_IPS, self._destination(ip), f"goto {chain}"))

    def _external_rules(self) -> tuple[str, ...]:
        """Return the rules that lead traffic to external addresses to the endpoints of its policy."""
        cluster = self._names.cluster
        if not self._port.external_local:
            return (f'{self._mark} comment "masquerade"', f"goto {cluster}")
        rules = [
            f'fib saddr type local {self._mark} comment "masquerade local traffic"',
            f'fib saddr type local goto {cluster} comment "short-circuit local traffic"',
        ]
        # What pods and the node itself send is subject to no policy, as if it came back from a load balancer.
        if self._context.detector:
            is_local = self._context.detector.nft(local=True)
            rules.insert(0, f'{is_local} goto {cluster} comment "short-circuit pod traffic"')
        if self._has_external:
            rules.append(f"goto {self._names.local}")
        return tuple(rules)

    def _choices(self, endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
        """Return the rules that lead to the endpoint a client had last, else to any."""
        if not self._port.affinity_seconds:
            chosen = ", ".join(f"{i} : {endpoint.ip} . {endpoint.port}" for i, endpoint in enumerate(endpoints))
            to = f"dnat {self._ip} to numgen random mod {len(endpoints)} map {{ {chosen} }}"
            return (f"meta l4proto {self._protocol} {to}",)
        bases = [endpoint_base(self._port, endpoint) for endpoint in endpoints]
        chosen = ", ".join(f"{i} : goto endpoint-{base}" for i, base in enumerate(bases))
        return (
            *(f"{self._ip} saddr @affinity-{base} goto endpoint-{base}" for base in bases),
            f"numgen random mod {len(bases)} vmap {{ {chosen} }}",
        )

    def _write_endpoint(self, endpoint: Endpoint) -> str:
        """Note the client and translate to an endpoint; return the set of its clients."""
        base = endpoint_base(self._port, endpoint)
        self._chains[f"endpoint-{base}"] = (
            f"update @affinity-{base} {{ {self._ip} saddr }}",
            f"meta l4proto {self._protocol} dnat to {endpoint}",
        )
        return f"affinity-{base}"
