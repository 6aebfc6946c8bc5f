"""The rules of one service port: pure functions from its endpoints and policies to lines of ``iptables-restore``.

Source: kubernetes ``pkg/proxy/iptables/proxier.go`` (syncProxyRules, writeServiceToEndpointRules); texts and order of
the matches are upstream's, as administrators read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperkube_lib.proxy_rules.local_detector import LocalDetector
from hyperkube_lib.proxy_rules.source_ranges import allowed_sources
from hyperkube_lib.proxy_rules.topology import Categorized, categorize_endpoints, externally_accessible
from hyperkube_proxier.iptables.chains import (
    EXTERNAL_SERVICES,
    MARK_MASQ,
    NODE_PORTS,
    PROXY_FIREWALL,
    SERVICES,
    endpoint_chain,
    service_chains,
)

from hyperkube.hookspecs.proxier import Endpoint, IPFamily, ProxyNode, ServicePort

LOCALHOST_ACCEPTED = "localhost_nps_accepted_pkts"
"""The kernel's counter of packets to node ports on loopback."""


class Context(NamedTuple):
    """What the rules of all services of a family depend on.

    Attributes:
        detector: how local traffic is told.
        comments: whether chains of endpoints say whose they are; left out in large clusters.
        counts_localhost: whether packets to node ports on loopback are counted.
    """

    family: IPFamily
    node: ProxyNode
    detector: LocalDetector
    masquerade_all: bool = False
    comments: bool = True
    counts_localhost: bool = False


class ServiceRules(NamedTuple):
    """The rules of one service port.

    Attributes:
        filter: lines in chains of table ``filter`` that all services share.
        nat: the same of table ``nat``.
        chains: its own chains of table ``nat``.
        own: the lines in those.
    """

    filter: tuple[str, ...]
    nat: tuple[str, ...]
    chains: tuple[str, ...]
    own: tuple[str, ...]


def service_rules(port: ServicePort, context: Context) -> ServiceRules:
    """Return the rules of a port."""
    return _Writer(port, context).rules()


class _Writer:
    """Puts together the rules of one port."""

    def __init__(self, port: ServicePort, context: Context) -> None:
        self._port = port
        self._context = context
        self._found: Categorized = categorize_endpoints(port, context.node)
        text, protocol = str(port.name), port.protocol.lower()
        self._text, self._protocol = text, protocol
        self._chains = service_chains(text, protocol)
        self._endpoint_chains = {each: endpoint_chain(text, protocol, str(each)) for each in self._found.reachable}
        self._has_internal = self._found.has_endpoints(local_only=port.internal_local)
        self._has_external = self._found.has_endpoints(local_only=port.external_local)
        self._uses_external = self._found.any_endpoints and externally_accessible(port)
        self._uses_firewall = self._found.any_endpoints and bool(port.load_balancer_ips and port.source_ranges)
        self._filter: list[str] = []
        self._nat: list[str] = []
        self._own_chains: list[str] = []
        self._own: list[str] = []

    def rules(self) -> ServiceRules:
        """Return them all."""
        self._capture_cluster_ip()
        self._capture_external_ips()
        self._capture_load_balancer()
        self._capture_node_port()
        self._accept_health_checks()
        if self._found.any_endpoints:
            self._write_internal()
            if self._uses_external:
                self._write_external()
            if self._uses_firewall:
                self._write_firewall()
            self._write_policies()
            self._write_endpoints()
        return ServiceRules(tuple(self._filter), tuple(self._nat), tuple(self._own_chains), tuple(self._own))

    def _match(self, comment: str, ip: str, port: int = 0) -> str:
        """Return the match of packets to an address and port of the service."""
        protocol = self._protocol
        return (
            f'-m comment --comment "{self._text} {comment}" -m {protocol} -p {protocol}'
            f" -d {ip} --dport {port or self._port.port}"
        )

    @property
    def _refusal(self) -> str:
        return "DROP" if self._found.any_endpoints else "REJECT"

    @property
    def _refusal_comment(self) -> str:
        return "has no local endpoints" if self._found.any_endpoints else "has no endpoints"

    def _capture_cluster_ip(self) -> None:
        ip = self._port.cluster_ip
        if self._has_internal:
            target = self._chains.local if self._port.internal_local else self._chains.cluster
            self._nat.append(f"-A {SERVICES} {self._match('cluster IP', ip)} -j {target}")
        else:
            self._filter.append(f"-A {SERVICES} {self._match(self._refusal_comment, ip)} -j {self._refusal}")

    def _capture_external_ips(self) -> None:
        for ip in self._port.external_ips:
            if self._found.any_endpoints:
                self._nat.append(f"-A {SERVICES} {self._match('external IP', ip)} -j {self._chains.external}")
            self._refuse_outside(ip)

    def _refuse_outside(self, ip: str) -> None:
        if not self._has_external:
            self._filter.append(f"-A {EXTERNAL_SERVICES} {self._match(self._refusal_comment, ip)} -j {self._refusal}")

    def _capture_load_balancer(self) -> None:
        chain = self._chains.firewall if self._uses_firewall else self._chains.external
        for ip in self._port.load_balancer_ips:
            if self._found.any_endpoints:
                self._nat.append(f"-A {SERVICES} {self._match('loadbalancer IP', ip)} -j {chain}")
            if self._uses_firewall:
                why = f"traffic not accepted by {self._chains.firewall}"
                self._filter.append(f"-A {PROXY_FIREWALL} {self._match(why, ip)} -j DROP")
        for ip in self._port.load_balancer_ips:
            self._refuse_outside(ip)

    def _capture_node_port(self) -> None:
        number, protocol = self._port.node_port, self._protocol
        if not number:
            return
        if self._found.any_endpoints:
            match = f'-A {NODE_PORTS} -m comment --comment "{self._text}" -m {protocol} -p {protocol}'
            if self._context.counts_localhost:
                counted = f"-m nfacct --nfacct-name {LOCALHOST_ACCEPTED}"
                self._nat.append(f"{match} -d 127.0.0.0/8 --dport {number} {counted} -j {self._chains.external}")
            self._nat.append(f"{match} --dport {number} -j {self._chains.external}")
        if not self._has_external:
            self._filter.append(
                f'-A {EXTERNAL_SERVICES} -m comment --comment "{self._text} {self._refusal_comment}"'
                f" -m addrtype --dst-type LOCAL -m {protocol} -p {protocol} --dport {number} -j {self._refusal}"
            )

    def _accept_health_checks(self) -> None:
        if self._port.health_check_node_port:
            self._filter.append(
                f'-A {NODE_PORTS} -m comment --comment "{self._text} health check node port" -m tcp -p tcp'
                f" --dport {self._port.health_check_node_port} -j ACCEPT"
            )

    def _write_internal(self) -> None:
        """Masquerade what comes to the cluster IP from outside the cluster: it may leave for another node."""
        if not self._has_internal:
            return
        chain = self._chains.local if self._port.internal_local else self._chains.cluster
        match = self._match("cluster IP", self._port.cluster_ip)
        if self._context.masquerade_all:
            self._own.append(f"-A {chain} {match} -j {MARK_MASQ}")
        elif self._context.detector:
            self._own.append(f"-A {chain} {match} {self._context.detector.iptables(local=False)} -j {MARK_MASQ}")

    def _write_external(self) -> None:
        """Lead traffic to external addresses to the endpoints of its policy."""
        chain, cluster = self._chains.external, self._chains.cluster
        self._own_chains.append(chain)

        def rule(comment: str, rest: str) -> None:
            text = comment.format(f"for {self._text} external destinations")
            self._own.append(f'-A {chain} -m comment --comment "{text}" {rest}')

        if not self._port.external_local:
            rule("masquerade traffic {}", f"-j {MARK_MASQ}")
        else:
            # What pods and the node itself send is subject to no policy, as if it came back from a load balancer.
            if self._context.detector:
                rule("pod traffic {}", f"{self._context.detector.iptables(local=True)} -j {cluster}")
            rule("masquerade LOCAL traffic {}", f"-m addrtype --src-type LOCAL -j {MARK_MASQ}")
            rule("route LOCAL traffic {}", f"-m addrtype --src-type LOCAL -j {cluster}")
        if self._has_external:
            self._own.append(f"-A {chain} -j {self._chains.local if self._port.external_local else cluster}")

    def _write_firewall(self) -> None:
        """Let in whom the source ranges name; the rest is dropped in table ``filter``, being not translated."""
        chain, external = self._chains.firewall, self._chains.external
        self._own_chains.append(chain)
        for source in allowed_sources(self._port, self._context.node, self._context.family):
            self._own.append(
                f'-A {chain} -m comment --comment "{self._text} loadbalancer IP" -s {source} -j {external}'
            )
        self._own.append(
            f'-A {chain} -m comment --comment "other traffic to {self._text} will be dropped by {PROXY_FIREWALL}"'
        )

    def _write_policies(self) -> None:
        """Choose among the endpoints of each policy."""
        for chain, endpoints in ((self._chains.cluster, self._found.cluster), (self._chains.local, self._found.local)):
            if endpoints:
                self._own_chains.append(chain)
                self._own += self._choices(chain, endpoints)

    def _choices(self, chain: str, endpoints: Sequence[Endpoint]) -> Iterator[str]:
        """Yield the rules that lead to the endpoint a client had last, then those that lead to any."""
        names = [self._endpoint_chains[endpoint] for endpoint in endpoints]
        if self._port.affinity_seconds:
            for name, endpoint in zip(names, endpoints, strict=True):
                recent = f"-m recent --name {name} --rcheck --seconds {self._port.affinity_seconds} --reap"
                yield f"-A {chain}{self._comment(f' -> {endpoint}')} {recent} -j {name}"
        for left, (name, endpoint) in zip(range(len(names), 0, -1), zip(names, endpoints, strict=True), strict=True):
            by_chance = f" -m statistic --mode random --probability {1 / left:.10f}" if left > 1 else ""
            yield f"-A {chain}{self._comment(f' -> {endpoint}')}{by_chance} -j {name}"

    def _write_endpoints(self) -> None:
        """Translate to each endpoint; one that reaches itself through its service must not see its own address."""
        protocol = self._protocol
        for endpoint, chain in self._endpoint_chains.items():
            self._own_chains.append(chain)
            start = f"-A {chain}{self._comment('')}"
            self._own.append(f"{start} -s {endpoint.ip} -j {MARK_MASQ}")
            recent = f" -m recent --name {chain} --set" if self._port.affinity_seconds else ""
            self._own.append(f"{start}{recent} -m {protocol} -p {protocol} -j DNAT --to-destination {endpoint}")

    def _comment(self, more: str) -> str:
        return f' -m comment --comment "{self._text}{more}"' if self._context.comments else ""
