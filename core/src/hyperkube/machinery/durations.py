"""Durations as Go writes them: ``1h2m3.5s``.

On the wire a ``metav1.Duration`` is such a text; in Python a duration is float seconds, or integer nanoseconds where
the text must come back exactly. Source: Go ``time.ParseDuration`` and ``Duration.String``.
"""

from __future__ import annotations

import re

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,  # micro sign
    "\u03bcs": 1_000,  # Greek mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"([0-9]*)(\.[0-9]*)?([^0-9.]*)", re.ASCII)
_SECOND = 1_000_000_000
_LIMIT = 2**63
_MOST_DIGITS = 19  # more are past the limit, or finer than a nanosecond of an hour


class DurationError(ValueError):
    """A text that is no duration; the message is Go's."""


def parse_nanoseconds(text: str) -> int:
    """Read a duration into nanoseconds; what is finer is cut off.

    Raises:
        DurationError: the text is no duration, or longer than 292 years.
    """
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return 0
    if not rest:
        raise DurationError(f'time: invalid duration "{text}"')
    total, at = 0, len(text) - len(rest)
    while at < len(text):
        match = _PART.match(text, at)
        if match is None or not (match[1] or (match[2] or "").strip(".")):
            raise DurationError(f'time: invalid duration "{text}"')
        whole, fraction, unit = match[1], (match[2] or ".")[1:], match[3]
        if not unit:
            raise DurationError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            raise DurationError(f'time: unknown unit "{unit}" in duration "{text}"')
        whole, fraction = whole.lstrip("0"), fraction[:_MOST_DIGITS]
        if len(whole) > _MOST_DIGITS:
            raise DurationError(f'time: invalid duration "{text}"')
        total += int(whole or "0") * _UNITS[unit] + int(fraction or "0") * _UNITS[unit] // 10 ** len(fraction)
        at = match.end()
    negative = text.startswith("-")
    if total > _LIMIT or (total == _LIMIT and not negative):
        raise DurationError(f'time: invalid duration "{text}"')
    return -total if negative else total


def format_nanoseconds(nanoseconds: int) -> str:
    """Write a duration as Go does: ``0s``, ``1.5ms``, ``1h0m0s``."""
    sign, total = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if total == 0:
        return "0s"
    if total < _SECOND:
        for unit, size in (("ns", 1), ("\u00b5s", 1_000), ("ms", 1_000_000)):
            if total < size * 1_000:
                return f"{sign}{_decimal(total, size)}{unit}"
    minutes, nanos = divmod(total, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(nanos, _SECOND)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _decimal(number: int, unit: int) -> str:
    """Write number/unit without trailing zeros; `unit` is a power of ten."""
    whole, rest = divmod(number, unit)
    fraction = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)


def parse_duration(text: str) -> float:
    """Read a duration into seconds.

    Raises:
        DurationError: the text is no duration.
    """
    return parse_nanoseconds(text) / _SECOND


def format_duration(seconds: float) -> str:
    """Write seconds as Go writes a duration."""
    return format_nanoseconds(round(seconds * _SECOND))
