"""Checks that many kinds share: selectors, labels, numbers, conditions, what may not change.

Each returns a list of field errors in Kubernetes' words. Source: kubernetes apimachinery
``pkg/apis/meta/v1/validation`` and ``pkg/apis/core/validation``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

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
    too_long,
)
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object

NOT_NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
_LONGEST_ADDRESS = 45
"""An IPv6 address that ends in an IPv4 one, all digits written."""
NOT_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NOT_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_INT64_MAX = 2**63 - 1
"""What Go makes of a number that does not fit."""
CONDITION_STATUSES = ("False", "True", "Unknown")
SPEC = ROOT.child("spec")
STATUS = ROOT.child("status")

Rule = Callable[[str], list[str]]


def by_rule(path: Path, value: str, rule: Rule) -> list[FieldError]:
    """Return one Invalid error for each text that a name rule has about a value."""
    return [invalid(path, value, text) for text in rule(value)]


def named(path: Path, value: str | None, rule: Rule) -> list[FieldError]:
    """Check a value that must be there and keep a name rule."""
    if not value:
        return [required(path)]
    return by_rule(path, value, rule)


def not_negative(path: Path, value: int | None) -> list[FieldError]:
    """Check a number that may be absent and may not be below zero."""
    return [invalid(path, value, NOT_NEGATIVE)] if value is not None and value < 0 else []


def positive(path: Path, value: int) -> list[FieldError]:
    """Check a number that must be above zero."""
    return [invalid(path, value, "must be greater than zero")] if value <= 0 else []


def counts(path: Path, holder: Mapping[str, Any], *members: str) -> list[FieldError]:
    """Check that none of the named numbers is negative."""
    return [error for member in members for error in not_negative(path.child(member), holder.get(member))]


def one_of(path: Path, value: str | None, supported: Sequence[str]) -> list[FieldError]:
    """Check a value that must be there and be one of a few."""
    if not value:
        return [required(path)]
    return [] if value in supported else [not_supported(path, value, supported)]


def optional_one_of(path: Path, value: str | None, supported: Sequence[str]) -> list[FieldError]:
    """Check a value that is one of a few if it is there at all."""
    return [] if value is None or value in supported else [not_supported(path, value, supported)]


def unchanged(path: Path, value: Any, old: Any) -> list[FieldError]:
    """Check that a field kept its value; absent and empty are the same."""
    return [] if (value or None) == (old or None) else [invalid(path, value, IMMUTABLE)]


def unchanged_exactly(path: Path, value: Any, old: Any) -> list[FieldError]:
    """Check that a field kept its value, where zero and false are values of their own."""
    return [] if value == old else [invalid(path, value, IMMUTABLE)]


def labels(path: Path, values: Mapping[str, str] | None) -> list[FieldError]:
    """Check a map of labels, reported at the map itself."""
    errors: list[FieldError] = []
    for key, value in sorted((values or {}).items()):
        errors += [invalid(path, key, text) for text in names.qualified_name(key)]
        errors += [invalid(path, value, text) for text in names.label_value(value)]
    return errors


def label_selector(path: Path, selector: Object | None) -> list[FieldError]:
    """Check a label selector; none is fine."""
    if selector is None:
        return []
    errors = labels(path.child("matchLabels"), selector.get("matchLabels"))
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        errors += _expression(path.child("matchExpressions").index(index), expression)
    return errors


def _expression(path: Path, expression: Object) -> list[FieldError]:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    errors: list[FieldError] = []
    if operator in {"In", "NotIn"}:
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(required(path.child("values"), text))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(path.child("values"), text))
    else:
        errors.append(invalid(path.child("operator"), operator, "not a valid selector operator"))
    key = expression.get("key") or ""
    errors += [invalid(path.child("key"), key, text) for text in names.qualified_name(key)]
    for index, value in enumerate(values):
        errors += by_rule(path.child("values").index(index), value, names.label_value)
    return errors


def int_or_percent(path: Path, value: int | str | None) -> list[FieldError]:
    """Check a count that may be a percentage."""
    if value is None:
        return []
    if isinstance(value, str):
        return by_rule(path, value, names.percent)
    return not_negative(path, value)


def percent_of(value: int | str | None) -> int | None:
    """Return the number of a well-formed percentage; None for anything else."""
    if isinstance(value, str) and not names.percent(value):
        number = parse_int(value[:-1])
        return _INT64_MAX if number is None else number
    return None


def at_most_all(path: Path, value: int | str | None) -> list[FieldError]:
    """Check that a percentage is at most 100."""
    percent = percent_of(value)
    return [invalid(path, value, "must not be greater than 100%")] if percent is not None and percent > 100 else []


def condition_list(path: Path, conditions: Iterable[Object] | None) -> list[FieldError]:
    """Check conditions of the common shape: types unique, everything filled in."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions or ()):
        at = path.index(index)
        kind = condition.get("type") or ""
        if kind in seen:
            errors.append(duplicate(at.child("type"), kind))
        seen.add(kind)
        errors += _condition(at, condition)
    return errors


def _condition(at: Path, condition: Object) -> list[FieldError]:
    kind, status = condition.get("type") or "", condition.get("status") or ""
    errors = by_rule(at.child("type"), kind, names.qualified_name)
    if status not in CONDITION_STATUSES:
        errors.append(not_supported(at.child("status"), status, CONDITION_STATUSES))
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        text = "must be greater than or equal to zero"
        errors.append(invalid(at.child("observedGeneration"), generation, text))
    if not condition.get("lastTransitionTime"):
        errors.append(required(at.child("lastTransitionTime"), "must be set"))
    reason = condition.get("reason") or ""
    if not reason:
        errors.append(required(at.child("reason"), "must be set"))
    else:
        errors += by_rule(at.child("reason"), reason, names.condition_reason)
        if len(reason) > 1024:
            errors.append(too_long(at.child("reason"), 1024))
    if len(condition.get("message") or "") > 32768:
        errors.append(too_long(at.child("message"), 32768))
    return errors


def ip_address(path: Path, text: str) -> list[FieldError]:
    """Check an IP address, without leading zeros and without IPv4 dressed up as IPv6."""
    address = _plain_address(text)
    if address is None:
        if _without_zeros(text) is not None:
            return [invalid(path, text, "must not have leading 0s")]
        return [invalid(path, text, NOT_IP)]
    if address.version == 6 and address.ipv4_mapped is not None:
        return [invalid(path, text, "must not be an IPv4-mapped IPv6 address")]
    return []


def _plain_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that a text is; None for one that is none, or has a zone.

    A zone (``fe80::1%TEXT``) may hold any text for Python, line breaks too, and addresses end up in rules of nftables.
    Source: k8s.io/utils ``internal/third_party/forked/golang/net/ip.go`` (ParseIP), which knows no zones.
    """
    return None if "%" in text or len(text) > _LONGEST_ADDRESS else _parsed_address(text)


@lru_cache(512)
def _parsed_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _without_zeros(text: str) -> str | None:
    """Return an IPv4 address with leading zeros in its plain form; None if it is not that."""
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        return None
    numbers = [parse_int(part) for part in parts]
    if any(number is None or number > 255 for number in numbers):
        return None
    return ".".join(map(str, numbers))


def endpoint_address(path: Path, text: str, *, loopback: Callable[[str], bool] | None = None) -> list[FieldError]:
    """Check that an IP address can be that of an endpoint: of no special range, except what `loopback` allows."""
    address = _plain_address(text)
    if address is None:
        return [invalid(path, text, NOT_IP)]
    errors: list[FieldError] = []
    if address.is_unspecified:
        errors.append(invalid(path, text, f"may not be unspecified ({text})"))
    if address.is_loopback and not (loopback is not None and loopback(text)):
        errors.append(invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if address.is_link_local:
        errors.append(invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    if address.is_multicast and (
        (address.version == 4 and text.startswith("224.0.0.")) or text.lower().startswith("ff02:")
    ):
        text_ = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        errors.append(invalid(path, text, text_))
    return errors


def cidr(path: Path, text: str) -> list[FieldError]:
    """Check an IP range: no leading zeros, no IPv4 dressed up as IPv6, no bits beyond its prefix."""
    network = loose_network(text)
    if network is None:
        return [invalid(path, text, NOT_CIDR)]
    address, _, bits = text.rpartition("/")
    plain = _plain_address(address)
    if plain is None or (len(bits) > 1 and bits.startswith("0")):
        return [invalid(path, text, "must not have leading 0s in IP or prefix length")]
    if plain.version == 6 and plain.ipv4_mapped is not None:
        return [invalid(path, text, "must not have an IPv4-mapped IPv6 address")]
    if plain != network.network_address:
        return [invalid(path, text, "must not have bits set beyond the prefix length")]
    return []


def loose_network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the network that a text stands for, as Kubernetes has always read one; None if it is none."""
    address, slash, bits = text.rpartition("/")
    if not slash or "%" in address or not (bits.isdecimal() and bits.isascii()):
        return None
    try:
        return ipaddress.ip_network(f"{_without_zeros(address) or address}/{int(bits)}", strict=False)
    except ValueError:
        return None


def port(path: Path, value: int | str | None) -> list[FieldError]:
    """Check a port by number or by name."""
    if isinstance(value, str):
        return by_rule(path, value, names.port_name)
    return [invalid(path, value or 0, text) for text in names.port_number(value or 0)]
