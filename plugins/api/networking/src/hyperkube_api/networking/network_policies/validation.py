"""Validation of NetworkPolicies.

Source: kubernetes pkg/apis/networking/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube_api.meta.validation import cidr, label_selector, loose_network

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

PROTOCOLS = ("TCP", "UDP", "SCTP")
_SPEC = ROOT.child("spec")


def validate_network_policy(obj: Object, old: Object | None = None) -> list[FieldError]:
    """Check a network policy; ranges that are stored (`old`) stay allowed."""
    spec, stored = obj["spec"], frozenset(_ranges(old))
    errors = label_selector(_SPEC.child("podSelector"), spec.get("podSelector"))
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            at = _SPEC.child(direction).index(index)
            for number, port in enumerate(rule.get("ports") or ()):
                errors += _port(at.child("ports").index(number), port)
            for number, peer in enumerate(rule.get(peers) or ()):
                errors += _peer(at.child(peers).index(number), peer, stored)
    return errors + _types(_SPEC.child("policyTypes"), spec.get("policyTypes") or [])


def _types(path: Path, types: list[str]) -> list[FieldError]:
    known = ("Ingress", "Egress")
    if len(types) > len(known):
        return [invalid(path, types, "may not specify more than two policyTypes")]
    return [not_supported(path.index(index), kind, known) for index, kind in enumerate(types) if kind not in known]


def _port(path: Path, port: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if port.get("protocol") is not None and port["protocol"] not in PROTOCOLS:
        errors.append(not_supported(path.child("protocol"), port["protocol"], PROTOCOLS))
    value, end = port.get("port"), port.get("endPort")
    at = path.child("endPort")
    if value is None:
        if end is not None:
            errors.append(invalid(at, end, "may not be specified when `port` is not specified"))
    elif isinstance(value, str):
        if end is not None:
            errors.append(invalid(at, end, "may not be specified when `port` is non-numeric"))
        errors += [invalid(path.child("port"), value, text) for text in names.port_name(value)]
    else:
        errors += [invalid(path.child("port"), value, text) for text in names.port_number(value)]
        if end is not None:
            if end < value:
                errors.append(invalid(at, value, "must be greater than or equal to `port`"))
            errors += [invalid(at, end, text) for text in names.port_number(end)]
    return errors


def _ranges(policy: Object | None) -> Iterator[str]:
    """Yield the IP ranges in a policy."""
    spec = (policy or {}).get("spec") or {}
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(direction) or ():
            for peer in rule.get(peers) or ():
                block = peer.get("ipBlock") or {}
                yield from (block.get("cidr") or "", *(block.get("except") or ()))


def _peer(path: Path, peer: Object, stored: frozenset[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    found = 0
    for member in ("podSelector", "namespaceSelector"):
        if peer.get(member) is not None:
            found += 1
            errors += label_selector(path.child(member), peer[member])
    block = peer.get("ipBlock")
    if block is not None:
        found += 1
        errors += _block(path.child("ipBlock"), block, stored)
    if not found:
        errors.append(required(path, "must specify a peer"))
    elif found > 1 and block is not None:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _block(path: Path, block: Object, stored: frozenset[str]) -> list[FieldError]:
    whole = block.get("cidr") or ""
    if not whole:
        return [required(path.child("cidr"))]
    errors = [] if whole in stored else cidr(path.child("cidr"), whole)
    network = loose_network(whole)
    if network is None:
        return errors
    for index, text in enumerate(block.get("except") or ()):
        at = path.child("except").index(index)
        errors += [] if text in stored else cidr(at, text)
        part = loose_network(text)
        if part is None:
            continue
        inside = part.version == network.version and part.prefixlen > network.prefixlen
        if not (inside and part.network_address in network):
            errors.append(invalid(at, text, "must be a strict subset of `cidr`"))
    return errors
