"""The notation of schedules, as github.com/robfig/cron v3 reads it."""

from __future__ import annotations

from hyperkube.machinery.durations import DurationError, parse_nanoseconds

_BOUNDS = (("minutes", 0, 59), ("hours", 0, 23), ("dom", 1, 31), ("month", 1, 12), ("dow", 0, 6))
_MOST_DIGITS = 18
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})


def schedule_fault(schedule: str) -> str:
    """Return what is wrong with a schedule, empty if nothing is."""
    text = schedule
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, text = text.partition(" ")
        name = zone.partition("=")[2]
        if not is_zone(name):
            return f"provided bad location {name}: unknown time zone {name}"
        text = text.strip()
    if text.startswith("@"):
        return _descriptor_fault(text)
    fields = text.split()
    if len(fields) != len(_BOUNDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for value, bound in zip(fields, _BOUNDS, strict=True):
        fault = _field_fault(value, bound)
        if fault:
            return fault
    return ""


def _descriptor_fault(text: str) -> str:
    if text in _DESCRIPTORS:
        return ""
    if text.startswith("@every "):
        try:
            parse_nanoseconds(text.removeprefix("@every "))
        except DurationError as error:
            return f"failed to parse duration {text}: {error}"
        return ""
    return f"unrecognized descriptor: {text}"


def _field_fault(value: str, bound: tuple[str, int, int]) -> str:
    for part in value.split(","):
        fault = _range_fault(part, bound)
        if fault:
            return fault
    return ""


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS


def _no_number(text: str) -> str:
    why = "value out of range" if text.isdecimal() and text.isascii() else "invalid syntax"
    return f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": {why}'


def _number(text: str, kind: str) -> int | None:
    named = {"month": _MONTHS, "dow": _DAYS}.get(kind)
    if named is not None and text.lower() in named:
        return named.index(text.lower()) + (1 if kind == "month" else 0)
    return int(text) if _is_number(text) else None


def _range_fault(part: str, bound: tuple[str, int, int]) -> str:
    kind, low, high = bound
    span, *steps = part.split("/")
    ends = span.split("-")
    if span in {"*", "?"}:
        start, end = low, high
    else:
        numbers = [_number(text, kind) for text in ends]
        for text, number in zip(ends, numbers, strict=True):
            if number is None:
                return _no_number(text)
        if len(numbers) > 2:
            return f"too many hyphens: {part}"
        start, end = numbers[0] or 0, numbers[-1] or 0
        if len(steps) == 1 and len(numbers) == 1:
            end = high
    if len(steps) > 1:
        return f"too many slashes: {part}"
    if steps and not _is_number(steps[0]):
        return _no_number(steps[0])
    return _limits_fault(part, start, end, bound, int(steps[0]) if steps else 1)


def _limits_fault(part: str, start: int, end: int, bound: tuple[str, int, int], step: int) -> str:
    _, low, high = bound
    if start < low:
        return f"beginning of range ({start}) below minimum ({low}): {part}"
    if end > high:
        return f"end of range ({end}) above maximum ({high}): {part}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {part}"
    if step == 0:
        return f"step of range should be a positive number: {part}"
    return ""


def is_zone(name: str) -> bool:
    """Return whether a time zone is known."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name in {"", "UTC", "Local"}:
        return True
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
