"""What a Service asks of its balancer: ports, sources, annotations ``service.beta.kubernetes.io/aws-…``, as values.

Sources: kubernetes legacy-cloud-providers ``aws/aws.go`` (the annotations and their defaults, buildListener,
getPortSets), ``aws/aws_loadbalancer.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperkube_lib.cloud_provider.services import local_check_port, source_ranges

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of

PREFIX: Final = "service.beta.kubernetes.io/aws-load-balancer-"
TYPE: Final = f"{PREFIX}type"
INTERNAL: Final = f"{PREFIX}internal"
_SECURE: Final = {"https": ("HTTPS", "HTTPS"), "http": ("HTTPS", "HTTP"), "ssl": ("SSL", "SSL"), "tcp": ("SSL", "TCP")}
"""Backend protocol → (listener's, instance's) where there is a certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One port of a balancer, and of the machines behind it."""

    port: int
    node_port: int
    protocol: str
    instance_protocol: str
    certificate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """How a machine's health is asked for; seconds. `target` is ELB's: ``TCP:30080``, ``HTTP:31234/healthz``."""

    target: str
    interval: int
    timeout: int
    healthy: int
    unhealthy: int


def of(service: Object, word: str, default: str = "") -> str:
    """Return the annotation of that last word."""
    return annotations_of(service).get(f"{PREFIX}{word}", default)


def kind_of(service: Object) -> str:
    """Return which balancer is wanted: empty for the classic one, ``nlb``, or what another controller makes."""
    return annotations_of(service).get(TYPE, "")


def is_internal(service: Object) -> bool:
    """Tell whether the balancer is for the VPC alone; any value but ``false`` says so."""
    return annotations_of(service).get(INTERNAL, "false") not in {"false", ""}


def check(service: Object) -> None:
    """Refuse what Amazon's balancers cannot do.

    Raises:
        CloudFailed: Kubernetes' text for it.
    """
    spec = service.get("spec") or {}
    if spec.get("sessionAffinity", "None") != "None":
        raise CloudFailed(f"unsupported load balancer affinity: {spec['sessionAffinity']}")
    if not spec.get("ports"):
        raise CloudFailed("requested load balancer with no ports")
    if spec.get("loadBalancerIP"):
        raise CloudFailed("LoadBalancerIP cannot be specified for AWS ELB")
    nlb = kind_of(service) == "nlb"
    for port in spec["ports"]:
        protocol = port.get("protocol", "TCP")
        if protocol != "TCP" and not (nlb and protocol == "UDP"):
            raise CloudFailed("Only TCP LoadBalancer is supported for AWS ELB")
        if not port.get("nodePort"):
            raise CloudFailed(f"service port {port.get('port')} has no node port")
    source_ranges(service)


def listeners(service: Object) -> list[Listener]:
    """Return a listener for each port, by port."""
    certificate, backend = of(service, "ssl-cert"), of(service, "backend-protocol").lower()
    secured = _port_set(of(service, "ssl-ports", "*"))
    found = []
    for row in service["spec"]["ports"]:
        secure = certificate and (secured is None or str(row["port"]) in secured or row.get("name") in secured)
        if secure:
            protocol, instance = _SECURE.get(backend or "tcp", ("", ""))
        else:
            protocol = instance = "HTTP" if backend in {"http", "https"} else "TCP"
        if not protocol:
            raise CloudFailed(f"Invalid backend protocol {backend} for {certificate} in {PREFIX}backend-protocol")
        found.append(
            Listener(
                port=int(row["port"]), node_port=int(row["nodePort"]), protocol=protocol, instance_protocol=instance,
                certificate=certificate if secure else "",
            )
        )  # fmt: skip
    return sorted(found, key=lambda listener: listener.port)


def _port_set(text: str) -> frozenset[str] | None:
    """Return the ports of a list, None for all of them."""
    parts = frozenset(part.strip() for part in text.split(",") if part.strip())
    return None if "*" in parts or not parts else parts


def health_check(service: Object) -> HealthCheck:
    """Return the classic balancer's check.

    Raises:
        CloudFailed: an annotation is no number, or the timeout is not shorter than the interval.
    """
    local = local_check_port(service)
    protocol = of(service, "healthcheck-protocol", "HTTP" if local else "TCP").upper()
    port = of(service, "healthcheck-port") or str(local or listeners(service)[0].node_port)
    path = of(service, "healthcheck-path", "/healthz" if local else "/")
    made = HealthCheck(
        target=f"{protocol}:{port}{path if protocol in {'HTTP', 'HTTPS'} else ''}",
        interval=_number(service, "healthcheck-interval", 10),
        timeout=_number(service, "healthcheck-timeout", 5),
        healthy=_number(service, "healthcheck-healthy-threshold", 2),
        unhealthy=_number(service, "healthcheck-unhealthy-threshold", 6),
    )
    if made.timeout >= made.interval:
        raise CloudFailed(f"health check timeout {made.timeout} must be shorter than its interval {made.interval}")
    return made


def attributes(service: Object) -> dict[str, dict[str, object]]:
    """Return the classic balancer's attributes as Amazon takes them."""
    logs = _flag(service, "access-log-enabled")
    draining = _flag(service, "connection-draining-enabled")
    made: dict[str, dict[str, object]] = {
        "CrossZoneLoadBalancing": {"Enabled": _flag(service, "cross-zone-load-balancing-enabled")},
        "ConnectionDraining": {"Enabled": draining},
        "ConnectionSettings": {"IdleTimeout": _number(service, "connection-idle-timeout", 60)},
        "AccessLog": {"Enabled": logs},
    }
    if draining:
        made["ConnectionDraining"]["Timeout"] = _number(service, "connection-draining-timeout", 300)
    if logs:
        made["AccessLog"] |= {
            "EmitInterval": _number(service, "access-log-emit-interval", 60),
            "S3BucketName": of(service, "access-log-s3-bucket-name"),
            "S3BucketPrefix": of(service, "access-log-s3-bucket-prefix"),
        }
    return made


def wants_proxy_protocol(service: Object) -> bool:
    """Tell whether connections begin with the client's address.

    Raises:
        CloudFailed: the annotation has another value than ``*``.
    """
    value = of(service, "proxy-protocol")
    if value not in {"", "*"}:
        raise CloudFailed(f"annotation {PREFIX}proxy-protocol={value!r} detected, but the only value supported is '*'")
    return bool(value)


def additional_tags(service: Object) -> dict[str, str]:
    """Return further tags for all that is made: ``key1=value1,key2=value2``."""
    pairs = (part.split("=", 1) for part in of(service, "additional-resource-tags").split(",") if part.strip())
    return {pair[0].strip(): pair[1].strip() if len(pair) > 1 else "" for pair in pairs}


def names(service: Object, word: str) -> list[str]:
    """Return a comma-separated annotation as a list."""
    return [part.strip() for part in of(service, word).split(",") if part.strip()]


def selected(service: Object, nodes: Sequence[Object]) -> list[Object]:
    """Return the nodes that the annotation ``target-node-labels`` lets the balancer send to; all without it."""
    pairs = (part.partition("=") for part in names(service, "target-node-labels"))
    wanted = {key: value for key, _, value in pairs}
    return [
        node
        for node in nodes
        if all(((node["metadata"].get("labels") or {}).get(key)) == value for key, value in wanted.items())
    ]


def _flag(service: Object, word: str) -> bool:
    value = of(service, word, "false")
    if value not in {"true", "false"}:
        raise CloudFailed(f"error parsing service annotation: {PREFIX}{word}={value}")
    return value == "true"


def _number(service: Object, word: str, default: int) -> int:
    value = of(service, word, str(default))
    if not value.isdecimal():
        raise CloudFailed(f"error parsing service annotation: {PREFIX}{word}={value}")
    return int(value)
