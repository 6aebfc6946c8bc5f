"""The formats of strings that schemas may ask for; an unknown one fits everything.

Source: k8s.io/kube-openapi ``pkg/validation/strfmt/default.go``, apiextensions-apiserver
``pkg/apiserver/validation/formats.go``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from urllib.parse import urlsplit

from hyperkube.machinery.durations import DurationError, parse_nanoseconds
from hyperkube.machinery.names import dns1123_label, dns1123_subdomain
from hyperkube.machinery.quantity import QuantityError, canonical
from hyperkube.machinery.times import TimeError, parse_time


def _matching(pattern: str, flags: int = 0) -> Callable[[str], object]:
    """Return a check of whole texts against a pattern, which is compiled when the first is checked."""
    return lambda value: re.fullmatch(pattern, value, flags)


_UUID = _matching(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_BYTE = "(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])"
_CARD = _matching(
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}"
)
_DATE = _matching(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_MAIL = _matching(r"[^@\s<>]+@[^@\s<>]+")
_HOST = _matching(r"([^\W_](-?[^\W_]){0,62})|(([^\W_]([^\W_-]|-){0,62}(?<!-)\.)+[^\W\d_]{2,63})")
_LONGEST_HOST, _LONGEST_LABEL = 255, 63
_MAC = _matching(r"(?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}")
_WORDS = _matching(
    r"(\d+(\.\d+)?)\s*(ns|nanoseconds?|us|µs|microseconds?|ms|milliseconds?|s|seconds?|m|minutes?|h|hours?|d|days?|w|weeks?)"
)


def _uuid(version: int) -> Callable[[str], object]:
    variant = "[0-9a-f]" if version == 3 else "[89ab]"
    return _matching(
        f"(?i)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
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
    except ValueError:  # of binascii, or for text that is not ASCII
        return False
    return True


def _is_duration(value: str) -> bool:
    try:
        parse_nanoseconds(value)
    except DurationError:
        return _WORDS(value) is not None
    return True


def _is_hostname(value: str) -> bool:
    """Tell whether a text is a name of labels; of several, the last one is of two letters at least."""
    labels = value.split(".")
    return (
        len(value.encode("utf-8", "replace")) <= _LONGEST_HOST
        and _HOST(value) is not None
        and all(len(label.encode()) <= _LONGEST_LABEL for label in labels)
    )


def _is_uri(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:  # a bracket that is not closed
        return False
    return bool(parts.scheme and (parts.netloc or parts.path))


def _is_quantity(value: str) -> bool:
    try:
        canonical(value)
    except QuantityError:
        return False
    return True


def _is_isbn10(value: str) -> bool:
    text = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch(r"\d{9}[\dX]", text, re.ASCII):
        return False
    digits = [10 if digit == "X" else int(digit) for digit in text]
    return sum(place * digit for place, digit in enumerate(digits, 1)) % 11 == 0


def _is_isbn13(value: str) -> bool:
    text = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch(r"\d{13}", text, re.ASCII):
        return False
    return sum((3 if place % 2 else 1) * int(digit) for place, digit in enumerate(text)) % 10 == 0


def _is_credit_card(value: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", value)
    if not _CARD(digits):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


_FORMATS: dict[str, Callable[[str], object]] = {
    "bsonobjectid": _matching("(?i)[0-9a-f]{24}"),
    "byte": _is_base64,
    "cidr": _is_network,
    "creditcard": _is_credit_card,
    "date": _DATE,
    "datetime": _is_time,
    "duration": _is_duration,
    "email": _MAIL,
    "hexcolor": _matching("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _is_hostname,
    "ipv4": _is_address(IPv4Address),
    "ipv6": _is_address(IPv6Address),
    "isbn": lambda value: _is_isbn10(value) or _is_isbn13(value),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": lambda value: not dns1123_subdomain(value),
    "k8sshortname": lambda value: not dns1123_label(value),
    "mac": _MAC,
    "password": lambda _value: True,
    "quantity": _is_quantity,
    "rgbcolor": _matching(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
    "ssn": _matching(r"\d{3}[- ]?\d{2}[- ]?\d{4}", re.ASCII),
    "uri": _is_uri,
    "uuid": _UUID,
    **{f"uuid{version}": _uuid(version) for version in (3, 4, 5)},
}
"""What is checked, by name without hyphens."""
_OF_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def fits(form: str, value: str) -> bool:
    """Tell whether a text has a format."""
    check = _FORMATS.get(form.replace("-", ""))
    return check is None or bool(check(value))


def is_known(form: str, kind: str) -> bool:
    """Tell whether a format is checked for values of a type (empty: of any)."""
    if kind in {"", "string"}:
        return form.replace("-", "") in _FORMATS
    return form in _OF_NUMBERS.get(kind, ())
