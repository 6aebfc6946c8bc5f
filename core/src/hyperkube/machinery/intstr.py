"""Numbers that may be percentages: ``maxUnavailable: 25%``.

Source: kubernetes apimachinery ``pkg/util/intstr/intstr.go``.
"""

from __future__ import annotations

import re

from hyperkube.machinery.field import quote

IntOrString = int | str
"""A JSON number or a string, as the wire has it."""

_PERCENT = re.compile(r"([+-]?[0-9]+)%", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS = 20


class IntOrStringError(ValueError):
    """A value that is neither an integer nor a percentage."""


def parse_int(text: str, bits: int = 64) -> int | None:
    """Read an integer as Go's ``strconv.ParseInt`` does; None for what is none, or does not fit into so many bits.

    Python's own ``int`` fails in another way beyond 4,300 digits, and reads the digits of other scripts.
    """
    digits = text.lstrip("+-0") if _INTEGER.fullmatch(text) else None
    if digits is None or len(digits) > _MOST_DIGITS:
        return None
    number = int(digits or "0") * (-1 if text[0] == "-" else 1)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def is_percent(value: IntOrString) -> bool:
    """Tell whether the value is a percentage such as ``25%``."""
    return isinstance(value, str) and _PERCENT.fullmatch(value) is not None


def scaled(value: IntOrString, total: int, *, round_up: bool) -> int:
    """Return an integer as it is, and a percentage as that share of `total`.

    Raises:
        IntOrStringError: a string that is no percentage.
    """
    if isinstance(value, int):
        return value
    match = _PERCENT.fullmatch(value)
    if match is None:
        raise IntOrStringError(
            f"invalid value for IntOrString: invalid type: string is not a percentage (value {quote(value)})"
        )
    percent = parse_int(match[1])
    if percent is None:
        why = f"strconv.Atoi: parsing {quote(match[1])}: value out of range"
        raise IntOrStringError(f"invalid value for IntOrString: invalid value {quote(value)}: {why}")
    share = percent * total
    return -(-share // 100) if round_up else share // 100


def scaled_or(value: IntOrString | None, default: IntOrString, total: int, *, round_up: bool) -> int:
    """Return `scaled` of the value, or of the default when it is not set.

    Raises:
        IntOrStringError: a string that is no percentage.
    """
    return scaled(default if value is None else value, total, round_up=round_up)
