"""The formats of strings that schemas may ask for; an unknown one fits everything.

Source: k8s.io/kube-openapi ``pkg/validation/strfmt`` (default.go, date.go, time.go, duration.go) and its fork of
govalidator, apiextensions-apiserver ``pkg/apiserver/validation/formats.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from hyperkube_lib.structural_schema.network_formats import (
    is_cidr,
    is_email,
    is_hostname,
    is_ipv4,
    is_ipv6,
    is_mac,
    is_uri,
)

from hyperkube.machinery.durations import DurationError, parse_nanoseconds
from hyperkube.machinery.names import dns1123_label, dns1123_subdomain
from hyperkube.machinery.quantity import QuantityError, canonical


def _matching(pattern: str, flags: int = 0) -> Callable[[str], object]:
    """Return a check of whole texts against a pattern, which is compiled when the first is checked."""
    return lambda value: re.fullmatch(pattern, value, flags)


_UUID = _matching(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_BYTE = "(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])"
_CARD = _matching(
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}"
)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_CLOCK = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
_LAST_HOUR, _LAST_MINUTE = "23", "59"
_A_LEAP_YEAR = 2000
_BASE64 = _matching("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_SPANS = r"\s*(?:[0-9]+\s*[A-Za-zµ]+\s*)+"
_UNIT = r"ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*"


def _uuid(version: int) -> Callable[[str], object]:
    variant = "[0-9a-f]" if version == 3 else "[89ab]"
    return _matching(
        f"(?i)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
    )


def _is_date(value: str) -> bool:
    """Tell whether a text is a day of the calendar, which for Go begins with year 0, a leap year."""
    parts = _DATE.fullmatch(value)
    if parts is None:
        return False
    year, month, day = map(int, parts.groups())
    try:
        date(year or _A_LEAP_YEAR, month, day)
    except ValueError:
        return False
    return True


def _is_time(value: str) -> bool:
    """Tell whether a text is a date, ``T`` and a time with a zone, in any case of letters."""
    day, _, rest = value.lower().partition("t")
    clock = _CLOCK.fullmatch(rest.partition("t")[0])
    if clock is None or not _is_date(day):
        return False
    return clock[1] <= _LAST_HOUR and clock[2] <= _LAST_MINUTE and clock[3] <= _LAST_MINUTE


def _is_duration(value: str) -> bool:
    """Tell whether a text is a duration of Go, or numbers with units that may be words, one of which is known."""
    try:
        parse_nanoseconds(value)
    except DurationError:
        if re.fullmatch(_SPANS, value, re.ASCII) is None:
            return False
        return any(re.fullmatch(_UNIT, unit.lower()) for unit in re.findall("[A-Za-zµ]+", value))
    return True


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
    "byte": _BASE64,
    "cidr": is_cidr,
    "creditcard": _is_credit_card,
    "date": _is_date,
    "datetime": _is_time,
    "duration": _is_duration,
    "email": is_email,
    "hexcolor": _matching("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "isbn": lambda value: _is_isbn10(value) or _is_isbn13(value),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": lambda value: not dns1123_subdomain(value),
    "k8sshortname": lambda value: not dns1123_label(value),
    "mac": is_mac,
    "password": lambda _value: True,
    "quantity": _is_quantity,
    "rgbcolor": _matching(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)", re.ASCII),
    "ssn": _matching(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": is_uri,
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
