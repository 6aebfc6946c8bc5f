"""What is wrong with a service.

Source: kubernetes pkg/apis/core/validation (ValidateService, ValidateServiceUpdate).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from hyperkube_api.core.services.cluster_ip_validation import (
    SET_ONCE,
    addresses_kept,
    is_headless,
    validate_cluster_ips,
)
from hyperkube_api.meta.validation import (
    IMMUTABLE,
    by_rule,
    cidr,
    endpoint_address,
    ip_address,
    labels,
    port,
)

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from hyperkube.machinery.objects import Object, annotations_of

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
PROTOCOLS = ("SCTP", "TCP", "UDP")
TRAFFIC = ("Cluster", "Local")
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
MAX_AFFINITY_SECONDS = 86400
_BALANCED_ONLY = "may only be used when `type` is 'LoadBalancer'"
_SPEC = ROOT.child("spec")
_INGRESS = ROOT.child("status", "loadBalancer", "ingress")


def validate_service(service: Object, old: Object | None = None) -> list[FieldError]:
    """Check a service; addresses and ranges that stood in the old one are not looked at again."""
    spec = service["spec"]
    before = (old or {}).get("spec") or {}
    kind = spec.get("type") or ""
    errors = _topology(annotations_of(service))
    if not spec.get("ports") and not is_headless(spec) and kind != "ExternalName":
        errors.append(required(_SPEC.child("ports")))
    errors += _by_type(spec, kind)
    errors += _ports(spec)
    errors += labels(_SPEC.child("selector"), spec.get("selector"))
    errors += _affinity(spec)
    errors += validate_cluster_ips(service, old)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        at = _SPEC.child("externalIPs").index(index)
        if address not in (before.get("externalIPs") or ()):
            errors += ip_address(at, address) or endpoint_address(at, address)
    errors += _type(kind)
    errors += _same_twice(spec.get("ports") or [], kind)
    errors += _load_balancer(service, spec, kind, old)
    errors += _traffic(spec, kind)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in DISTRIBUTIONS:
        errors.append(not_supported(_SPEC.child("trafficDistribution"), distribution, DISTRIBUTIONS))
    return errors


def _topology(annotations: Mapping[str, str]) -> list[FieldError]:
    mode, hints = annotations.get(TOPOLOGY_MODE), annotations.get(TOPOLOGY_HINTS)
    if mode is None or hints is None or mode == hints:
        return []
    text = f"must match annotations[{TOPOLOGY_HINTS}] when both are specified"
    return [invalid(ROOT.child("metadata", "annotations").key(TOPOLOGY_MODE), mode, text)]


def _type(kind: str) -> list[FieldError]:
    if not kind:
        return [required(_SPEC.child("type"))]
    return [] if kind in TYPES else [not_supported(_SPEC.child("type"), kind, TYPES)]


def _by_type(spec: Object, kind: str) -> list[FieldError]:
    if kind in {"LoadBalancer", "NodePort"} and is_headless(spec):
        text = f"may not be set to 'None' for {kind} services"
        return [invalid(_SPEC.child("clusterIPs").index(0), "None", text)]
    if kind != "ExternalName":
        return []
    text = "may not be set for ExternalName services"
    errors = [forbidden(_SPEC.child(member), text) for member in ("clusterIPs", "ipFamilies") if spec.get(member)]
    if spec.get("ipFamilyPolicy") is not None:
        errors.append(forbidden(_SPEC.child("ipFamilyPolicy"), text))
    name, at = (spec.get("externalName") or "").removesuffix("."), _SPEC.child("externalName")
    return errors + (by_rule(at, name, names.dns1123_subdomain) if name else [required(at)])


def _ports(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    ports = spec.get("ports") or []
    for index, item in enumerate(ports):
        errors += _port(_SPEC.child("ports").index(index), item, seen, named=len(ports) > 1)
    return errors


def _port(path: Path, item: Object, seen: set[str], *, named: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, number = item.get("name") or "", item.get("port") or 0
    if named and not name:
        errors.append(required(path.child("name")))
    elif name:
        errors += by_rule(path.child("name"), name, names.dns1123_label)
        if name in seen:
            errors.append(duplicate(path.child("name"), name))
        seen.add(name)
    errors += [invalid(path.child("port"), number, text) for text in names.port_number(number)]
    protocol = item.get("protocol") or ""
    at = path.child("protocol")
    if protocol not in PROTOCOLS:
        errors.append(not_supported(at, protocol, PROTOCOLS) if protocol else required(at))
    errors += port(path.child("targetPort"), item.get("targetPort"))
    if item.get("appProtocol") is not None:
        errors += by_rule(path.child("appProtocol"), item["appProtocol"], names.qualified_name)
    return errors


def _affinity(spec: Object) -> list[FieldError]:
    affinity, config = spec.get("sessionAffinity") or "", spec.get("sessionAffinityConfig")
    at, at_config = _SPEC.child("sessionAffinity"), _SPEC.child("sessionAffinityConfig")
    if not affinity:
        return [required(at)]
    if affinity not in {"ClientIP", "None"}:
        return [not_supported(at, affinity, ("ClientIP", "None"))]
    if affinity == "None":
        if config is not None:
            text = "must not be set when session affinity is None"
            return [forbidden(at_config, text)]
        return []
    if config is None:
        return [required(at_config, "when session affinity type is ClientIP")]
    client = config.get("clientIP")
    if client is None:
        return [required(at_config.child("clientIP"), "when session affinity type is ClientIP")]
    if client.get("timeoutSeconds") is None:
        return [required(at_config.child("clientIP", "timeoutSeconds"), "when session affinity type is ClientIP")]
    seconds = client["timeoutSeconds"]
    if not 0 < seconds <= MAX_AFFINITY_SECONDS:
        text = f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"
        return [invalid(at_config.child("clientIP", "timeoutSeconds"), seconds, text)]
    return []


def _same_twice(ports: Sequence[Object], kind: str) -> list[FieldError]:
    """Check that no two node ports and no two ports are the same, and that only those have node ports who may."""
    path, errors = _SPEC.child("ports"), list[FieldError]()
    if kind == "ClusterIP":
        text = "may not be used when `type` is 'ClusterIP'"
        errors += [forbidden(path.index(at).child("nodePort"), text) for at, x in enumerate(ports) if x.get("nodePort")]
    seen: set[tuple[str, str, int]] = set()
    for member in ("nodePort", "port"):
        for index, item in enumerate(ports):
            number, protocol = item.get(member) or 0, item.get("protocol") or ""
            if member == "nodePort" and not number:
                continue
            at = path.index(index)
            if (member, protocol, number) in seen:
                whole = member == "port"
                shape = _port_shape({"protocol": protocol, "port": number}) if whole else number
                errors.append(duplicate(at if whole else at.child(member), shape))
            seen.add((member, protocol, number))
    return errors


def _port_shape(item: Object) -> Object:
    """Return a port as Kubernetes prints its own struct."""
    return {
        "Name": item.get("name") or "",
        "Protocol": item.get("protocol") or "",
        "AppProtocol": item.get("appProtocol"),
        "Port": item.get("port") or 0,
        "TargetPort": item.get("targetPort") or 0,
        "NodePort": item.get("nodePort") or 0,
    }


def _load_balancer(service: Object, spec: Object, kind: str, old: Object | None) -> list[FieldError]:
    balanced = kind == "LoadBalancer"
    errors = _source_ranges(service, spec, old, balanced=balanced)
    allocate = spec.get("allocateLoadBalancerNodePorts")
    if not balanced and allocate is not None:
        errors.append(forbidden(_SPEC.child("allocateLoadBalancerNodePorts"), _BALANCED_ONLY))
    if balanced and allocate is None:
        errors.append(required(ROOT.child("allocateLoadBalancerNodePorts")))
    return errors + _class(spec, kind)


def _class(spec: Object, kind: str, old: Object | None = None) -> list[FieldError]:
    at, wanted = _SPEC.child("loadBalancerClass"), spec.get("loadBalancerClass")
    errors: list[FieldError] = []
    if old is not None and kind == old.get("type") == "LoadBalancer" and wanted != old.get("loadBalancerClass"):
        errors.append(invalid(at, wanted, SET_ONCE))
    if wanted is None:
        return errors
    if kind != "LoadBalancer":
        return [*errors, forbidden(at, _BALANCED_ONLY)]
    return errors + by_rule(at, wanted, names.qualified_name)


def _source_ranges(service: Object, spec: Object, old: Object | None, *, balanced: bool) -> list[FieldError]:
    """Check the ranges that a load balancer admits, which are in the field or in the deprecated annotation."""
    ranges, text = spec.get("loadBalancerSourceRanges") or [], annotations_of(service).get(SOURCE_RANGES)
    before = {item.strip() for item in ((old or {}).get("spec") or {}).get("loadBalancerSourceRanges") or ()}
    at = _SPEC.child("LoadBalancerSourceRanges")
    if ranges:
        errors = [] if balanced else [forbidden(at, _BALANCED_ONLY)]
        for index, item in enumerate(ranges):
            errors += [] if item.strip() in before else cidr(at.index(index), item.strip())
        return errors
    if text is None:
        return []
    at = ROOT.child("metadata", "annotations").key(SOURCE_RANGES)
    errors = [] if balanced else [forbidden(at, _BALANCED_ONLY)]
    if text.strip() and (old is None or annotations_of(old).get(SOURCE_RANGES) != text):
        for part in text.strip().split(","):
            errors += cidr(at, part.strip())
    return errors


def _traffic(spec: Object, kind: str) -> list[FieldError]:
    errors: list[FieldError] = []
    outside = kind in {"NodePort", "LoadBalancer"} or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    policy, at = spec.get("externalTrafficPolicy") or "", _SPEC.child("externalTrafficPolicy")
    if outside:
        if not policy:
            errors.append(required(at))
        elif policy not in TRAFFIC:
            errors.append(not_supported(at, policy, TRAFFIC))
    elif policy:
        errors.append(invalid(at, policy, "may only be set for externally-accessible services"))
    check, at = spec.get("healthCheckNodePort") or 0, _SPEC.child("healthCheckNodePort")
    if check and not _has_check(spec):
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(invalid(at, check, text))
    elif _has_check(spec):
        wrong = [invalid(at, check, text) for text in names.port_number(check)]
        errors += wrong if check else [required(at)]
    inside, at = spec.get("internalTrafficPolicy"), _SPEC.child("internalTrafficPolicy")
    if inside is None and kind in {"NodePort", "LoadBalancer", "ClusterIP"}:
        errors.append(required(at))
    if inside is not None and inside not in TRAFFIC:
        errors.append(not_supported(at, inside, TRAFFIC))
    return errors


def validate_service_update(service: Object, old: Object) -> list[FieldError]:
    """Check an update of a service."""
    spec, before = service["spec"], old["spec"]
    errors = addresses_kept(spec, before)
    errors += _class(spec, spec.get("type") or "", before)
    if _has_check(spec) and _has_check(before) and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
        errors.append(forbidden(_SPEC.child("healthCheckNodePort"), IMMUTABLE))
    return errors + validate_service(service, old)


def _has_check(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def validate_service_status_update(service: Object, old: Object) -> list[FieldError]:
    """Check a load balancer's report; addresses that stood in the old one are not looked at again."""
    ingress, before = _reported(service), {item.get("ip") for item in _reported(old)}
    if ingress and service["spec"].get("type") != "LoadBalancer":
        return [forbidden(_INGRESS, "may only be used when `spec.type` is 'LoadBalancer'")]
    errors: list[FieldError] = []
    for index, item in enumerate(ingress):
        errors += _ingress(_INGRESS.index(index), item, before)
    return errors


def _reported(service: Object) -> Sequence[Object]:
    found: Sequence[Object] = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    return found


def _ingress(at: Path, item: Object, old: Container[str | None]) -> list[FieldError]:
    errors: list[FieldError] = []
    address, mode, host = item.get("ip") or "", item.get("ipMode"), item.get("hostname") or ""
    if address and address not in old:
        errors += ip_address(at.child("ip"), address)
    if address and mode is None:
        errors.append(required(at.child("ipMode"), "must be specified when `ip` is set"))
    elif mode is not None and not address:
        errors.append(forbidden(at.child("ipMode"), "may not be specified when `ip` is not set"))
    elif mode is not None and mode not in {"Proxy", "VIP"}:
        errors.append(not_supported(at.child("ipMode"), mode, ("Proxy", "VIP")))
    if host:
        errors += by_rule(at.child("hostname"), host, names.dns1123_subdomain)
        if not ip_address(at, host):
            errors.append(invalid(at.child("hostname"), host, "must be a DNS name, not an IP address"))
    return errors
