"""Times as Kubernetes writes them, and ages as people read them.

``metav1.Time`` is RFC 3339 in UTC with whole seconds, ``metav1.MicroTime`` the same with six digits of fraction.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_RFC3339 = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})", re.ASCII)
_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_GO_ORDER = (("2006", r"\d{4}"), ("-", "-"), ("01", r"\d{2}"), ("-", "-"), ("02", r"\d{2}"), ("T", "T"),
             ("15", r"\d{1,2}"), (":", ":"), ("04", r"\d{2}"), (":", ":"), ("05", r"\d{2}"))  # fmt: skip
_RANGES = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}
_MICRO_DIGITS = 6
_SECONDS, _MICROSECONDS = len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.000000")
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


class TimeError(ValueError):
    """A text that is no RFC 3339 time; the message is Go's."""


def format_time(moment: datetime) -> str:
    """Write a ``metav1.Time``: whole seconds, UTC."""
    return f"{(moment if moment.tzinfo is UTC else moment.astimezone(UTC)).isoformat()[:_SECONDS]}Z"


def format_micro_time(moment: datetime) -> str:
    """Write a ``metav1.MicroTime``: six digits of fraction, UTC."""
    return f"{moment.astimezone(UTC).isoformat(timespec='microseconds')[:_MICROSECONDS]}Z"


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time, with or without a fraction (cut at microseconds), into an aware datetime in UTC.

    Raises:
        TimeError: the text is none.
    """
    return _read(text, _LAYOUT)


def parse_micro_time(text: str) -> datetime:
    """Read the time of a ``MicroTime``, whose fraction has exactly six digits.

    Raises:
        TimeError: the text is none.
    """
    return _read(text, _MICRO_LAYOUT)


def _read(text: str, layout: str) -> datetime:
    shape = _RFC3339.fullmatch(text)
    if shape is None or (layout == _MICRO_LAYOUT and len(shape[3] or "") != _MICRO_DIGITS):
        raise TimeError(_why(text, layout))
    day, clock, fraction, zone = shape.groups()
    micros = (fraction or "0")[:6].ljust(6, "0")
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}.{micros}{zone}")
        return moment if zone == "Z" else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise TimeError(f'parsing time "{text}": {_out_of_range(day, clock)} out of range') from error


def _out_of_range(day: str, clock: str) -> str:
    """Name the part of a time that no calendar has, as Go names it."""
    values = zip(("01", "15", "04", "05"), (day[5:7], *clock.split(":")), strict=True)
    return next((_RANGES[part][0] for part, value in values if _is_out_of_range(part, value)), "day")


def _is_out_of_range(part: str, value: str) -> bool:
    return part in _RANGES and not _RANGES[part][1] <= int(value) <= _RANGES[part][2]


def _why(text: str, layout: str) -> str:
    """Return Go's explanation of the first part of the layout that does not fit."""
    rest = text
    micro = ((".000000", r"[.,]\d{6}"),) if layout == _MICRO_LAYOUT else ()
    for part, pattern in (*_GO_ORDER, *micro):
        match = re.match(pattern, rest, re.ASCII)
        if match is None:
            return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{part}"'
        if _is_out_of_range(part, match[0]):
            return f'parsing time "{text}": {_RANGES[part][0]} out of range'
        rest = rest[match.end() :]
    rest = rest if micro else re.sub(r"^[.,]\d+", "", rest)
    zone = re.match(r"Z|[+-]\d{2}:\d{2}", rest, re.ASCII)
    if zone is None:
        return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "Z07:00"'
    return f'parsing time "{text}": extra text: "{rest[zone.end() :]}"'


class Duration(timedelta):
    """A duration that knows how people read it: a table may have a place for it, filled in when the table is sent."""

    def human(self) -> str:
        """Return what stands for it in a text, as `human_duration` returns it."""
        return _human(_whole(self))


def human_duration(seconds: float | timedelta) -> str:
    """Return a duration in two or three significant figures: ``45s``, ``3m20s``, ``5d3h``, ``2y35d``.

    Two seconds of clock difference into the past are taken as now; more is ``<invalid>``.
    Source: kubernetes apimachinery ``pkg/util/duration/duration.go``.
    """
    return seconds.human() if isinstance(seconds, Duration) else _human(_whole(seconds))


def _human(total: int) -> str:
    if total < 0:
        return "<invalid>" if total < -1 else "0s"
    if total < 2 * _MINUTE:
        return f"{total}s"
    if total < 10 * _MINUTE:
        return _pair(total, _MINUTE, "m", 1, "s")
    if total < 3 * _HOUR:
        return f"{total // _MINUTE}m"
    if total < 8 * _HOUR:
        return _pair(total, _HOUR, "h", _MINUTE, "m")
    if total < 2 * _DAY:
        return f"{total // _HOUR}h"
    if total < 8 * _DAY:
        return _pair(total, _DAY, "d", _HOUR, "h")
    if total < 2 * _YEAR:
        return f"{total // _DAY}d"
    if total < 8 * _YEAR:
        return _pair(total, _YEAR, "y", _DAY, "d")
    return f"{total // _YEAR}y"


def _whole(seconds: float | timedelta) -> int:
    return int(seconds.total_seconds() if isinstance(seconds, timedelta) else seconds)


def _pair(total: int, unit: int, letter: str, small_unit: int, small_letter: str) -> str:
    small = total % unit // small_unit
    return f"{total // unit}{letter}" + (f"{small}{small_letter}" if small else "")
