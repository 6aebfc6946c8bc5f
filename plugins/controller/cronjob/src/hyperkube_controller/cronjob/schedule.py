"""Cron schedules: five fields or a macro, in a time zone, and when they are due next.

Hours that a change to summer time leaves out are not made up for; hours that come twice count twice.
The grammar and the meaning are those of github.com/robfig/cron v3 (``parser.go``, ``spec.go``, ``constantdelay.go``).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.errors import HyperkubeError

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_YEARS = 5
_MINUTE = timedelta(minutes=1)


class BadSchedule(HyperkubeError, ValueError):
    """A text that is no schedule, or a name that is no time zone; the message says why."""


class Schedule(Protocol):
    """When something is due."""

    def next(self, after: datetime) -> datetime | None:
        """Return the first moment after `after` that is due, in UTC; None when there is none within five years."""


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed delay, of a second at least."""

    delay: timedelta

    def next(self, after: datetime) -> datetime | None:
        """Return the moment that is the delay later, on a whole second."""
        return after.astimezone(UTC).replace(microsecond=0) + self.delay


@dataclass(frozen=True, slots=True)
class Calendar:
    """Sets of minutes, hours, days, months and weekdays (0 is Sunday) of a time zone.

    Attributes:
        any_day: the field of days or that of weekdays is ``*``: both must fit. Else it is enough that one does.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    zone: tzinfo

    def next(self, after: datetime) -> datetime | None:
        """Return the first due minute after `after`."""
        moment = after.astimezone(UTC).replace(second=0, microsecond=0) + _MINUTE
        last = moment.year + _YEARS
        while moment.year <= last:
            local = moment.astimezone(self.zone)
            later = self._skip(local)
            if later is None:
                return moment
            moment = later.astimezone(UTC)
        return None

    def _skip(self, local: datetime) -> datetime | None:
        """Return the next moment that may fit, or None if this one does."""
        if local.month not in self.months:
            first = datetime(local.year, local.month, 1) + timedelta(days=32)  # noqa: DTZ001  wall time
            return first.replace(day=1, tzinfo=self.zone)
        if not self._day_fits(local):
            midnight = datetime(local.year, local.month, local.day) + timedelta(days=1)  # noqa: DTZ001  wall time
            return midnight.replace(tzinfo=self.zone)
        if local.hour not in self.hours:
            return local.astimezone(UTC) + timedelta(minutes=60 - local.minute)
        if local.minute not in self.minutes:
            return local.astimezone(UTC) + _MINUTE
        return None

    def _day_fits(self, local: datetime) -> bool:
        fits = (local.day in self.days, local.isoweekday() % 7 in self.weekdays)
        return all(fits) if self.any_day else any(fits)


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its IANA name.

    Raises:
        BadSchedule: there is none of that name.
    """
    if name in {"", "UTC", "Local"}:
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # most schedules have no zone

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSchedule(f"unknown time zone {name}") from error


def parse(text: str, zone: tzinfo = UTC) -> Schedule:
    """Read a schedule: ``*/5 9-17 * * mon-fri``, ``@hourly``, ``@every 90s``; ``TZ=Europe/Paris`` in front wins.

    Raises:
        BadSchedule: the text is none.
    """
    if text.startswith(("TZ=", "CRON_TZ=")):
        prefix, _, text = text.partition(" ")
        name = prefix.partition("=")[2]
        try:
            zone = zone_named(name)
        except BadSchedule as error:
            raise BadSchedule(f"provided bad location {name}: {error}") from error
        text = text.strip()
    if text.startswith("@every "):
        return _every(text)
    if text.startswith("@"):
        if text not in MACROS:
            raise BadSchedule(f"unrecognized descriptor: {text}")
        text = MACROS[text]
    fields = text.split()
    if len(fields) != 5:
        raise BadSchedule(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    minutes, _ = _field(fields[0], 0, 59)
    hours, _ = _field(fields[1], 0, 23)
    days, any_day = _field(fields[2], 1, 31)
    months, _ = _field(fields[3], 1, 12, _MONTHS)
    weekdays, any_weekday = _field(fields[4], 0, 6, _DAYS)
    return Calendar(minutes, hours, days, months, weekdays, any_day or any_weekday, zone)


def _every(text: str) -> Every:
    try:
        seconds = parse_duration(text.removeprefix("@every "))
    except DurationError as error:
        raise BadSchedule(f"failed to parse duration {text}: {error}") from error
    return Every(timedelta(seconds=max(1, int(seconds))))


def _field(text: str, low: int, high: int, words: tuple[str, ...] = ()) -> tuple[frozenset[int], bool]:
    """Return the values of a field, and whether it is one that leaves all open."""
    values: set[int] = set()
    is_open = False
    for part in text.split(","):
        span, slash, steps = part.partition("/")
        step = _number(steps) if slash else 1
        start, end = _span(part, span, low, high, words)
        if slash and "-" not in span:
            end = high
        if start < low:
            raise BadSchedule(f"beginning of range ({start}) below minimum ({low}): {part}")
        if end > high:
            raise BadSchedule(f"end of range ({end}) above maximum ({high}): {part}")
        if start > end:
            raise BadSchedule(f"beginning of range ({start}) beyond end of range ({end}): {part}")
        if step == 0:
            raise BadSchedule(f"step of range should be a positive number: {part}")
        is_open = is_open or (span in {"*", "?"} and step == 1)
        values.update(range(start, end + 1, step))
    return frozenset(values), is_open


def _span(part: str, span: str, low: int, high: int, words: tuple[str, ...]) -> tuple[int, int]:
    if span in {"*", "?"}:
        return low, high
    ends = span.split("-")
    if len(ends) > 2:
        raise BadSchedule(f"too many hyphens: {part}")
    numbers = [low + words.index(end.lower()) if end.lower() in words else _number(end) for end in ends]
    return numbers[0], numbers[-1]


def _number(text: str) -> int:
    if not (text.isdecimal() and text.isascii()):
        raise BadSchedule(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)
