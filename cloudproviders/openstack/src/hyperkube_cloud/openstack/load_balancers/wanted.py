"""What a Service asks of its balancer: annotations ``loadbalancer.openstack.org/…``, classes and defaults, as values.

Source: cloud-provider-openstack ``pkg/openstack/loadbalancer.go`` (checkService, buildListenerCreateOpt,
buildPoolCreateOpt, buildMonitorCreateOpts).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperkube_cloud.openstack.config import BalancerClass, OpenStackConfig, seconds
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import CHECK_PATH, local_check_port, service_name, source_ranges

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of

PREFIX: Final = "loadbalancer.openstack.org/"
ID: Final = f"{PREFIX}load-balancer-id"
INTERNAL: Final = "service.beta.kubernetes.io/openstack-internal-load-balancer"
NAME_PREFIX: Final = "kube_service_"
FORWARDED: Final = "X-Forwarded-For"
TIMEOUTS: Final = {
    "timeout_client_data": 50000, "timeout_member_connect": 5000, "timeout_member_data": 50000,
    "timeout_tcp_inspect": 0,
}  # fmt: skip
_LONGEST: Final = 255


def balancer_name(cluster: str, service: Object) -> str:
    """Return a balancer's name."""
    return f"{NAME_PREFIX}{cluster}_{namespace_of(service)}_{name_of(service)}"[:_LONGEST]


def part_name(kind: str, index: int, balancer: str) -> str:
    """Return the name of a balancer's listener, pool or monitor."""
    return f"{kind}_{index}_{balancer}"[:_LONGEST]


def text_of(service: Object, word: str, default: str = "") -> str:
    """Return the annotation of that last word; an empty one counts."""
    return annotations_of(service).get(f"{PREFIX}{word}", default)


def number_of(service: Object, word: str, default: int) -> int:
    """Return the annotation of that last word as a number; the default if it is none, as Kubernetes does."""
    text = text_of(service, word, str(default))
    return int(text) if text.lstrip("-").isdecimal() else default


def flag_of(service: Object, annotation: str, default: bool) -> bool:
    """Return an annotation that is ``true`` or ``false``; the default if it is neither."""
    return {"true": True, "false": False}.get(annotations_of(service).get(annotation, ""), default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A balancer as a Service wants it; its listeners, pools and monitors come from the methods."""

    service: Object
    name: str
    internal: bool
    network: str
    subnet: str
    member_subnet: str
    floating_network: str
    floating_subnet: str
    floating_pattern: str
    keeps_client_ip: bool
    proxies: bool
    tls: str
    monitor: bool
    delay: int
    timeout: int
    retries: int
    retries_down: int
    method: str
    sources: Sequence[str]

    @property
    def check_port(self) -> int:
        """The port at which nodes tell whether they have endpoints; 0 where any node may be asked, or none is."""
        return local_check_port(self.service) if self.monitor else 0

    def protocol(self, row: Json) -> str:
        """Return the protocol of the listener of a port."""
        if self.tls:
            return "TERMINATED_HTTPS"
        return "HTTP" if self.keeps_client_ip else str(row.get("protocol", "TCP"))

    def listener(self, index: int, row: Json) -> Json:
        """Return the listener of a port, without its balancer and its pool."""
        made: Json = {
            "name": part_name("listener", index, self.name),
            "protocol": self.protocol(row),
            "protocol_port": int(row["port"]),
            "connection_limit": number_of(self.service, "connection-limit", -1),
            "allowed_cidrs": list(self.sources),
            "tags": [self.name],
        }
        for key, default in TIMEOUTS.items():
            made[key] = number_of(self.service, key.replace("_", "-"), default)
        if self.keeps_client_ip:
            made["insert_headers"] = {FORWARDED: "true"}
        if self.tls:
            made["default_tls_container_ref"] = self.tls
        return made

    def pool(self, index: int, row: Json) -> Json:
        """Return the pool of a port, without its members."""
        plain = self.protocol(row)
        http = self.keeps_client_ip or self.tls
        made: Json = {
            "name": part_name("pool", index, self.name),
            "protocol": "PROXY" if self.proxies else "HTTP" if http else plain,
            "lb_algorithm": self.method,
        }
        if (self.service.get("spec") or {}).get("sessionAffinity") == "ClientIP":
            made["session_persistence"] = {"type": "SOURCE_IP"}
        return made

    def health_monitor(self, index: int, row: Json) -> Json:
        """Return the monitor of a port's pool."""
        kinds = {"UDP": "UDP-CONNECT"}
        protocol = str(row.get("protocol", "TCP"))
        made: Json = {
            "name": part_name("monitor", index, self.name),
            "type": kinds.get(protocol, protocol),
            "delay": self.delay,
            "timeout": self.timeout,
            "max_retries": self.retries,
            "max_retries_down": self.retries_down,
        }
        if self.check_port:
            made |= {"type": "HTTP", "url_path": CHECK_PATH, "http_method": "GET", "expected_codes": "200"}
        return made

    def members(self, row: Json, nodes: Sequence[Object]) -> list[Json]:
        """Return the members of a port's pool: nodes without an address are left out."""
        made = []
        for node in nodes:
            address = node_address(node)
            if not address:
                continue
            member: Json = {"address": address, "protocol_port": int(row["nodePort"]), "name": name_of(node)}
            if self.member_subnet:
                member["subnet_id"] = self.member_subnet
            if self.check_port:
                member["monitor_port"] = self.check_port
            made.append(member)
        return made


def node_address(node: Object) -> str:
    """Return the address of a node that balancers send to, empty for none."""
    rows = (node.get("status") or {}).get("addresses") or ()
    for kind in ("InternalIP", "ExternalIP"):
        for row in rows:
            if row["type"] == kind:
                return str(row["address"])
    return ""


def wanted(service: Object, cluster: str, config: OpenStackConfig) -> Wanted:
    """Return what a Service wants, as far as it and the configuration say.

    Raises:
        CloudFailed: it wants what there is not.
    """
    options = config.balancers
    ports = (service.get("spec") or {}).get("ports") or ()
    if not ports:
        raise CloudFailed("no service ports provided")
    if missing := [row["port"] for row in ports if not row.get("nodePort")]:
        raise CloudFailed(f"service port {missing[0]} has no node port")
    named = _class_of(service, config)
    internal = options.internal_lb or flag_of(service, INTERNAL, options.internal_lb)
    keeps = flag_of(service, f"{PREFIX}x-forwarded-for", False)
    proxies = flag_of(service, f"{PREFIX}proxy-protocol", False)
    if keeps and proxies:
        raise CloudFailed(f"annotation {PREFIX}proxy-protocol and {PREFIX}x-forwarded-for cannot be used together")
    subnet = named.subnet_id or text_of(service, "subnet-id", options.subnet_id)
    pattern = named.floating_subnet or text_of(service, "floating-subnet", options.floating_subnet)
    floating = named.floating_subnet_id or text_of(service, "floating-subnet-id", options.floating_subnet_id)
    members = named.member_subnet_id or text_of(service, "member-subnet-id", options.member_subnet_id)
    return Wanted(
        service=service,
        name=balancer_name(cluster, service),
        internal=internal,
        network=named.network_id or text_of(service, "network-id", options.network_id),
        subnet=subnet,
        member_subnet=members or options.subnet_id or subnet,
        floating_network=""
        if internal
        else named.floating_network_id or text_of(service, "floating-network-id", options.floating_network_id),
        floating_subnet=floating,
        floating_pattern="" if floating else pattern,
        keeps_client_ip=keeps,
        proxies=proxies,
        tls=text_of(service, "default-tls-container-ref", options.default_tls_container_ref),
        monitor=flag_of(service, f"{PREFIX}enable-health-monitor", options.create_monitor),
        delay=number_of(service, "health-monitor-delay", seconds(options.monitor_delay)),
        timeout=number_of(service, "health-monitor-timeout", seconds(options.monitor_timeout)),
        retries=number_of(service, "health-monitor-max-retries", options.monitor_max_retries),
        retries_down=number_of(service, "health-monitor-max-retries-down", options.monitor_max_retries_down),
        method=options.lb_method,
        sources=source_ranges(service),
    )


def described(service: Object, cluster: str) -> str:
    """Return a balancer's description."""
    return f"Kubernetes external service {service_name(service)} from cluster {cluster}"


def _class_of(service: Object, config: OpenStackConfig) -> BalancerClass:
    name = text_of(service, "class")
    if name and name not in config.classes:
        raise CloudFailed(f'invalid loadbalancer class "{name}"')
    return config.classes.get(name, BalancerClass())
