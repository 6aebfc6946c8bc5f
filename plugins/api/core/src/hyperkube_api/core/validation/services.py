"""Services.

Source: kubernetes pkg/apis/core/validation (ValidateService, ValidateServiceUpdate).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.validation.service_ips import SET_ONCE, addresses_kept, validate_cluster_ips
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
MAX_AFFINITY_SECONDS = 86400
_SPEC = ROOT.child("spec")
_INGRESS = ROOT.child("status", "loadBalancer", "ingress")


def validate_service(service: Object) -> list[FieldError]:
    """Check a service."""
    spec = service["spec"]
    kind, headless = spec.get("type") or "", (spec.get("clusterIPs") or [""])[0] == "None"
    errors = _ports_present(spec, kind, headless=headless)
    errors += _by_type(spec, kind, headless=headless)
    errors += _ports(spec, kind, headless=headless)
    errors += labels(_SPEC.child("selector"), spec.get("selector"))
    errors += _affinity(spec)
    errors += validate_cluster_ips(service)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        at = _SPEC.child("externalIPs").index(index)
        errors += ip_address(at, address) or endpoint_address(at, address)
    errors += _type(kind)
    errors += _duplicates(spec.get("ports") or [])
    errors += _load_balancer(service, spec, kind)
    errors += _traffic(spec, kind)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in DISTRIBUTIONS:
        errors.append(not_supported(_SPEC.child("trafficDistribution"), distribution, DISTRIBUTIONS))
    return errors


def _type(kind: str) -> list[FieldError]:
    if not kind:
        return [required(_SPEC.child("type"))]
    return [] if kind in TYPES else [not_supported(_SPEC.child("type"), kind, TYPES)]


def _ports_present(spec: Object, kind: str, *, headless: bool) -> list[FieldError]:
    return [] if spec.get("ports") or headless or kind == "ExternalName" else [required(_SPEC.child("ports"))]


def _by_type(spec: Object, kind: str, *, headless: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if kind == "LoadBalancer":
        for index, item in enumerate(spec.get("ports") or ()):
            if not item.get("port"):
                text = "port must be specified for LoadBalancer services"
                errors.append(invalid(_SPEC.child("ports").index(index).child("port"), item.get("port") or 0, text))
    if kind in {"LoadBalancer", "NodePort"} and headless:
        text = f"may not be set to 'None' for {kind} services"
        errors.append(invalid(_SPEC.child("clusterIPs").index(0), "None", text))
    if kind == "ExternalName":
        name = (spec.get("externalName") or "").removesuffix(".")
        at = _SPEC.child("externalName")
        errors += by_rule(at, name, names.dns1123_subdomain) if name else [required(at)]
    return errors


def _ports(spec: Object, kind: str, *, headless: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    ports = spec.get("ports") or []
    for index, item in enumerate(ports):
        errors += _port(_SPEC.child("ports").index(index), item, seen, kind, named=len(ports) > 1, headless=headless)
    return errors


def _port(path: Path, item: Object, seen: set[str], kind: str, *, named: bool, headless: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name = item.get("name") or ""
    if named and not name:
        errors.append(required(path.child("name")))
    elif name:
        errors += by_rule(path.child("name"), name, names.dns1123_label)
        if name in seen:
            errors.append(duplicate(path.child("name"), name))
        seen.add(name)
    errors += [
        invalid(path.child("port"), item.get("port") or 0, text) for text in names.port_number(item.get("port") or 0)
    ]
    protocol = item.get("protocol") or ""
    at = path.child("protocol")
    if protocol not in PROTOCOLS:
        errors.append(not_supported(at, protocol, PROTOCOLS) if protocol else required(at))
    errors += port(path.child("targetPort"), item.get("targetPort"))
    if item.get("appProtocol") is not None:
        errors += by_rule(path.child("appProtocol"), item["appProtocol"], names.qualified_name)
    if item.get("nodePort") and kind == "ClusterIP":
        errors.append(forbidden(path.child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
    del headless
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
    if client is None or client.get("timeoutSeconds") is None:
        return [required(at_config.child("clientIP"), "when session affinity type is ClientIP")]
    seconds = client["timeoutSeconds"]
    if not 0 < seconds <= MAX_AFFINITY_SECONDS:
        text = f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"
        return [invalid(at_config.child("clientIP", "timeoutSeconds"), seconds, text)]
    return []


def _duplicates(ports: Sequence[Object]) -> list[FieldError]:
    """Check that no two ports, and no two node ports, are the same."""
    errors: list[FieldError] = []
    for member in ("port", "nodePort"):
        seen: set[tuple[str, int]] = set()
        for index, item in enumerate(ports):
            key = (item.get("protocol") or "", item.get(member) or 0)
            if not key[1]:
                continue
            at = _SPEC.child("ports").index(index)
            if key in seen:
                shape = _port_shape({"protocol": key[0], member: key[1]})
                errors.append(duplicate(at.child("nodePort") if member == "nodePort" else at, shape))
            seen.add(key)
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


def _load_balancer(service: Object, spec: Object, kind: str) -> list[FieldError]:
    balanced = kind == "LoadBalancer"
    only = "may only be used when `type` is 'LoadBalancer'"
    errors = _source_ranges(service, spec, only, balanced=balanced)
    allocate = spec.get("allocateLoadBalancerNodePorts")
    if balanced and allocate is None:
        errors.append(required(_SPEC.child("allocateLoadBalancerNodePorts")))
    if not balanced and allocate is not None:
        errors.append(forbidden(_SPEC.child("allocateLoadBalancerNodePorts"), only))
    at = _SPEC.child("loadBalancerClass")
    if spec.get("loadBalancerClass") is not None:
        if not balanced:
            errors.append(forbidden(at, only))
        errors += by_rule(at, spec["loadBalancerClass"], names.qualified_name)
    return errors


def _source_ranges(service: Object, spec: Object, only: str, *, balanced: bool) -> list[FieldError]:
    """Check whom a load balancer lets in, said in the field or, as of old, in the annotation."""
    errors: list[FieldError] = []
    ranges, text = spec.get("loadBalancerSourceRanges") or [], annotations_of(service).get(SOURCE_RANGES)
    at = _SPEC.child("LoadBalancerSourceRanges")
    if ranges:
        if not balanced:
            errors.append(forbidden(at, only))
        for index, item in enumerate(ranges):
            errors += cidr(at.index(index), item.strip())
    elif text is not None:
        at = ROOT.child("metadata", "annotations").key(SOURCE_RANGES)
        if not balanced:
            errors.append(forbidden(at, only))
        for item in filter(None, (part.strip() for part in text.split(","))):
            errors += cidr(at, item)
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
    check = spec.get("healthCheckNodePort") or 0
    if check and not (kind == "LoadBalancer" and policy == "Local"):
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(invalid(_SPEC.child("healthCheckNodePort"), check, text))
    inside, at = spec.get("internalTrafficPolicy"), _SPEC.child("internalTrafficPolicy")
    if kind in {"NodePort", "LoadBalancer", "ClusterIP"}:
        if inside is None:
            errors.append(required(at))
        elif inside not in TRAFFIC:
            errors.append(not_supported(at, inside, TRAFFIC))
    return errors


def validate_service_update(service: Object, old: Object) -> list[FieldError]:
    """Check an update of a service."""
    spec, before = service["spec"], old["spec"]
    errors: list[FieldError] = []
    balanced = spec.get("type") == before.get("type") == "LoadBalancer"
    if balanced and spec.get("loadBalancerClass") != before.get("loadBalancerClass"):
        errors.append(invalid(_SPEC.child("loadBalancerClass"), spec.get("loadBalancerClass"), SET_ONCE))
    if _has_check(spec) and _has_check(before) and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
        errors.append(forbidden(_SPEC.child("healthCheckNodePort"), IMMUTABLE))
    return errors + addresses_kept(spec, before) + validate_service(service)


def _has_check(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def validate_service_status_update(service: Object) -> list[FieldError]:
    """Check a load balancer's report."""
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    if ingress and service["spec"].get("type") != "LoadBalancer":
        return [forbidden(_INGRESS, "may only be used when `spec.type` is 'LoadBalancer'")]
    errors: list[FieldError] = []
    for index, item in enumerate(ingress):
        errors += _ingress(_INGRESS.index(index), item)
    return errors


def _ingress(at: Path, item: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    address, mode, host = item.get("ip") or "", item.get("ipMode"), item.get("hostname") or ""
    if address:
        errors += ip_address(at.child("ip"), address)
        if mode is None:
            errors.append(required(at.child("ipMode"), "must be specified when `ip` is set"))
    elif mode is not None:
        errors.append(forbidden(at.child("ipMode"), "may not be specified when `ip` is not set"))
    if mode is not None and mode not in {"Proxy", "VIP"}:
        errors.append(not_supported(at.child("ipMode"), mode, ("Proxy", "VIP")))
    if host:
        errors += by_rule(at.child("hostname"), host, names.dns1123_subdomain)
        if not ip_address(at, host):
            errors.append(invalid(at.child("hostname"), host, "must be a DNS name, not an IP address"))
    return errors
