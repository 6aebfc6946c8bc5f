"""Parts of instants and durations. Source: cel-spec ``doc/langdef.md`` (Timestamps and durations)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library

TIMES = Library()
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)
_PART = ("timestamp -> int", "timestamp, string -> int")


def _zone(name: str) -> tzinfo:
    if name in {"", "UTC"}:
        return UTC
    match = _OFFSET.fullmatch(name)
    if match:
        offset = timedelta(hours=int(match.group(2)), minutes=int(match.group(3)))
        try:
            return timezone(-offset if match.group(1) == "-" else offset)
        except ValueError:  # a day or more
            raise EvaluationError(f"unknown time zone {name}") from None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _part(name: str, read: Callable[[datetime], int]) -> None:
    def call(moment: datetime, zone: str = "") -> int:
        return read(moment.astimezone(_zone(zone)))

    TIMES.method(name, *_PART)(call)


_part("getFullYear", lambda moment: moment.year)
_part("getMonth", lambda moment: moment.month - 1)
_part("getDate", lambda moment: moment.day)
_part("getDayOfMonth", lambda moment: moment.day - 1)
_part("getDayOfWeek", lambda moment: moment.isoweekday() % 7)
_part("getDayOfYear", lambda moment: moment.timetuple().tm_yday - 1)
_part("getHours", lambda moment: moment.hour)
_part("getMinutes", lambda moment: moment.minute)
_part("getSeconds", lambda moment: moment.second)
_part("getMilliseconds", lambda moment: moment.microsecond // 1000)


def _whole(name: str, seconds: float) -> None:
    def call(duration: timedelta) -> int:
        return int(duration / timedelta(seconds=seconds))

    TIMES.method(name, "duration -> int")(call)


_whole("getHours", 3600)
_whole("getMinutes", 60)
_whole("getSeconds", 1)
_whole("getMilliseconds", 0.001)
