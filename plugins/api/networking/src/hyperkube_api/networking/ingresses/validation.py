"""Validation of Ingresses.

Source: kubernetes pkg/apis/networking/validation/validation.go.
"""

from __future__ import annotations

import ipaddress

from hyperkube_api.meta.validation import by_rule, ip_address

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object, annotations_of

_SPEC = ROOT.child("spec")
CLASS_ANNOTATION = "kubernetes.io/ingress.class"
PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_PARTS = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")


def validate_ingress(obj: Object, old: Object | None = None) -> list[FieldError]:
    """Check an ingress; what is stored with a fault (`old`) may keep it."""
    spec = obj.get("spec") or {}
    errors: list[FieldError] = []
    named, rules, default = spec.get("ingressClassName"), spec.get("rules") or [], spec.get("defaultBackend")
    if not rules and default is None:
        errors.append(invalid(_SPEC, None, "either `defaultBackend` or `rules` must be specified"))
    if default is not None:
        errors += _backend(_SPEC.child("defaultBackend"), default)
    stored = (old or {}).get("spec") or {}
    loose = any("*" in (rule.get("host") or "") and _rule_paths(ROOT, rule) for rule in stored.get("rules") or ())
    for index, rule in enumerate(rules):
        errors += _rule(_SPEC.child("rules").index(index), rule, loose=loose)
    errors += _certificates(spec, stored)
    if named is not None:
        errors += by_rule(_SPEC.child("ingressClassName"), named, names.dns1123_subdomain)
    annotation = annotations_of(obj).get(CLASS_ANNOTATION)
    if old is None and annotation is not None and named is not None and annotation != named:
        path = ROOT.child("annotations").child(CLASS_ANNOTATION)
        errors.append(invalid(path, annotation, "must match `ingressClassName` when both are specified"))
    return errors


def _certificates(spec: Object, stored: Object) -> list[FieldError]:
    loose = any(
        names.dns1123_subdomain(item["secretName"]) for item in stored.get("tls") or () if item.get("secretName")
    )
    errors: list[FieldError] = []
    for index, item in enumerate(spec.get("tls") or ()):
        at = _SPEC.child("tls").index(index)
        for number, host in enumerate(item.get("hosts") or ()):
            errors += _host(at.child("hosts").index(number), host)
        if item.get("secretName") and not loose:
            errors += by_rule(at.child("secretName"), item["secretName"], names.dns1123_subdomain)
    return errors


def _host(path: Path, host: str) -> list[FieldError]:
    rule = names.wildcard_dns1123_subdomain if "*" in host else names.dns1123_subdomain
    return by_rule(path, host, rule)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _rule(path: Path, rule: Object, *, loose: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    host = rule.get("host") or ""
    if host:
        if _is_ip(host):
            errors.append(invalid(path.child("host"), host, "must be a DNS name, not an IP address"))
        errors += _host(path.child("host"), host)
    return errors if loose and "*" in host else errors + _rule_paths(path, rule)


def _rule_paths(path: Path, rule: Object) -> list[FieldError]:
    http = rule.get("http")
    if http is None:
        return []
    at = path.child("http", "paths")
    errors = [] if http.get("paths") else [required(at)]
    for index, item in enumerate(http.get("paths") or ()):
        errors += _path(at.index(index), item)
    return errors


def _path(path: Path, item: Object) -> list[FieldError]:
    kind, value, at = item.get("pathType"), item.get("path") or "", path.child("path")
    errors: list[FieldError] = []
    if kind is None:
        return [required(path.child("pathType"), "pathType must be specified")]
    if kind in {"Exact", "Prefix"}:
        if not value.startswith("/"):
            errors.append(invalid(at, value, "must be an absolute path"))
        if value:
            errors += [invalid(at, value, f"must not contain '{part}'") for part in _BAD_PARTS if part in value]
            errors += [invalid(at, value, f"cannot end with '{end}'") for end in _BAD_ENDS if value.endswith(end)]
    elif kind == "ImplementationSpecific":
        if value and not value.startswith("/"):
            errors.append(invalid(at, value, "must be an absolute path"))
    else:
        errors.append(not_supported(path.child("pathType"), kind, PATH_TYPES))
    return errors + _backend(path.child("backend"), item.get("backend") or {})


def _backend(path: Path, backend: Object) -> list[FieldError]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return check_resource_reference(path.child("resource"), resource)
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    name, errors = service.get("name") or "", []
    at = path.child("service", "name")
    if not name:
        errors.append(required(at))
    else:
        errors += by_rule(at, name, names.dns1123_label)
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        errors += by_rule(path.child("service", "port", "name"), port["name"], names.port_name)
    elif port.get("number"):
        where = path.child("service", "port", "number")
        errors += [invalid(where, port["number"], text) for text in names.port_number(port["number"])]
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


def check_resource_reference(path: Path, reference: Object, *, terse: bool = False) -> list[FieldError]:
    """Check a reference to an object by group, kind and name; `terse` says no more than that a member is required."""
    errors: list[FieldError] = []
    if reference.get("apiGroup"):
        errors += by_rule(path.child("apiGroup"), reference["apiGroup"], names.dns1123_subdomain)
    for member in ("kind", "name"):
        value = reference.get(member) or ""
        if not value:
            errors.append(required(path.child(member), "" if terse else f"{member} is required"))
        else:
            errors += [invalid(path.child(member), value, text) for text in names.path_segment_name(value)]
    return errors


def validate_ingress_status(obj: Object) -> list[FieldError]:
    """Check a load balancer's report."""
    path = ROOT.child("status", "loadBalancer", "ingress")
    errors: list[FieldError] = []
    for index, item in enumerate(((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()):
        at = path.index(index)
        if item.get("ip"):
            errors += ip_address(at.child("ip"), item["ip"])
        host = item.get("hostname")
        if host:
            errors += by_rule(at.child("hostname"), host, names.dns1123_subdomain)
            if _is_ip(host):
                errors.append(invalid(at.child("hostname"), host, "must be a DNS name, not an IP address"))
    return errors
