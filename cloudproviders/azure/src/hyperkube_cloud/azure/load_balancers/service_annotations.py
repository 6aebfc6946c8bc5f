"""What a Service asks of its balancer by annotations ``service.beta.kubernetes.io/azure-…``, as values.

Sources: cloud-provider-azure ``pkg/consts/consts.go``, ``pkg/provider/azure_loadbalancer.go``, ``azure_standard.go``
(the names), ``azure_loadbalancer_healthprobe.go``.
"""

from __future__ import annotations

from typing import Final

from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.services import balancer_name

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object, annotations_of

PREFIX: Final = "service.beta.kubernetes.io/azure-"
LONGEST: Final = 80
_FAMILY: Final = 5
"""Characters that names keep free for ``-IPv6``."""
IDLE: Final = range(4, 31)


def of(service: Object, word: str) -> str:
    """Return the value of an annotation, empty if the Service has none."""
    return annotations_of(service).get(PREFIX + word, "").strip()


def is_true(service: Object, word: str) -> bool:
    """Tell whether an annotation says ``true``."""
    return of(service, word) == "true"


def is_internal(service: Object) -> bool:
    """Tell whether only the network is to reach the balancer."""
    return is_true(service, "load-balancer-internal")


def subnet_of(service: Object) -> str:
    """Return the subnet that an internal balancer names, empty for none."""
    return of(service, "load-balancer-internal-subnet") if is_internal(service) else ""


def listed(service: Object, word: str) -> list[str]:
    """Return the parts of an annotation between commas."""
    return [part.strip() for part in of(service, word).split(",") if part.strip()]


def frontend_name(service: Object) -> str:
    """Return the name of a Service's frontend."""
    base, subnet = balancer_name(service), subnet_of(service)
    return f"{base}-{subnet}"[: LONGEST - _FAMILY] if subnet else base


def rule_name(service: Object, protocol: str, port: int) -> str:
    """Return the name of a port's rule and probe."""
    base, subnet = balancer_name(service), subnet_of(service)
    if not subnet:
        return f"{base}-{protocol}-{port}"
    room = LONGEST - _FAMILY - len(f"{base}-{protocol}-{port}") - 1
    return f"{base}-{subnet[:room]}-{protocol}-{port}"


def security_rule_name(service: Object, protocol: str, port: int, source: str) -> str:
    """Return the name of the security rule that lets a source reach a port; one may be shared by Services."""
    prefix = "shared" if is_shared(service) else balancer_name(service)
    return f"{prefix}-{protocol}-{port}-{source.replace('/', '_').replace(':', '.')}"


def is_shared(service: Object) -> bool:
    """Tell whether the Service's security rules are shared with others of the same port and source."""
    return is_true(service, "shared-securityrule")


def owns(service: Object, name: object) -> bool:
    """Tell whether a frontend, a rule or a probe of that name is the Service's."""
    return str(name or "").lower().startswith(balancer_name(service).lower())


def public_ip_name(cluster: str, service: Object) -> str:
    """Return the name of the address that is made for a Service."""
    name = f"{cluster}-{balancer_name(service)}"
    if prefix := of(service, "pip-prefix-id"):
        name = f"{name}-{prefix.rpartition('/')[2]}"
    return name[: LONGEST - _FAMILY]


def idle_timeout(service: Object) -> int | None:
    """Return the minutes after which an idle connection ends, None for Azure's own.

    Raises:
        CloudFailed: it is no such number.
    """
    text = of(service, "load-balancer-tcp-idle-timeout")
    if not text:
        return None
    problem = f"idle timeout value must be a whole number representing minutes between {IDLE[0]} and {IDLE[-1]}"
    if not text.isdecimal():
        raise CloudFailed(f"error parsing idle timeout value: {text!r}: {problem}")
    if int(text) not in IDLE:
        raise CloudFailed(problem)
    return int(text)


def probe_word(service: Object, port: int, word: str) -> str:
    """Return what the Service says of the probe of one port, else of all."""
    own = annotations_of(service).get(f"service.beta.kubernetes.io/port_{port}_health-probe_{word}", "").strip()
    return own or of(service, f"load-balancer-health-probe-{word}")


def probe_number(service: Object, port: int, word: str, default: int, least: int) -> int:
    """Return a number of a port's probe.

    Raises:
        CloudFailed: it is none, or too small.
    """
    text = probe_word(service, port, word)
    if not text:
        return default
    if not text.isdecimal():
        raise CloudFailed(f"failed to parse annotation {PREFIX}load-balancer-health-probe-{word}: {text!r}")
    if int(text) < least:
        raise CloudFailed(f"the minimum value of {word} is {least}")
    return int(text)


def ip_tags(service: Object) -> list[dict[str, str]]:
    """Return the tags that an address is to be routed by."""
    return [{"ipTagType": key, "tag": value} for key, value in parsed_tags(of(service, "pip-ip-tags")).items()]
