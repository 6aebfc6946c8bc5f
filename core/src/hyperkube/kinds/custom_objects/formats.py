"""The formats of strings that schemas may ask for; an unknown one fits everything.

Source: k8s.io/kube-openapi ``pkg/validation/strfmt/default.go``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from urllib.parse import urlsplit

from hyperkube.machinery.durations import DurationError, parse_nanoseconds
from hyperkube.machinery.names import dns1123_label, dns1123_subdomain
from hyperkube.machinery.times import TimeError, parse_time

_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_MAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+")
_HOST = re.compile(r"(?i)([a-z0-9]([-a-z0-9]*[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\.?")
_MAC = re.compile(r"(?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}")
_WORDS = re.compile(
    r"(\d+(\.\d+)?)\s*(ns|nanoseconds?|us|µs|microseconds?|ms|milliseconds?|s|seconds?|m|minutes?|h|hours?|d|days?|w|weeks?)"
)


def _is_time(value: str) -> bool:
    try:
        parse_time(value)
    except TimeError:
        return False
    return True


def _is_address(kind: type[IPv4Address | IPv6Address]) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        try:
            kind(value)
        except AddressValueError:
            return False
        return True

    return check


def _is_network(value: str) -> bool:
    try:
        ip_network(value, strict=False)
    except ValueError:
        return False
    return "/" in value


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


def _is_duration(value: str) -> bool:
    try:
        parse_nanoseconds(value)
    except DurationError:
        return _WORDS.fullmatch(value) is not None
    return True


def _is_uri(value: str) -> bool:
    parts = urlsplit(value)
    return bool(parts.scheme and (parts.netloc or parts.path))


_FORMATS: dict[str, Callable[[str], object]] = {
    "date-time": _is_time,
    "datetime": _is_time,
    "date": _DATE.fullmatch,
    "duration": _is_duration,
    "ipv4": _is_address(IPv4Address),
    "ipv6": _is_address(IPv6Address),
    "cidr": _is_network,
    "uuid": _UUID.fullmatch,
    "uuid3": _UUID.fullmatch,
    "uuid4": _UUID.fullmatch,
    "uuid5": _UUID.fullmatch,
    "byte": _is_base64,
    "email": _MAIL.fullmatch,
    "hostname": _HOST.fullmatch,
    "uri": _is_uri,
    "mac": _MAC.fullmatch,
    "k8s-short-name": lambda value: not dns1123_label(value),
    "k8s-long-name": lambda value: not dns1123_subdomain(value),
}


def fits(form: str, value: str) -> bool:
    """Tell whether a text has a format."""
    check = _FORMATS.get(form)
    return check is None or bool(check(value))
