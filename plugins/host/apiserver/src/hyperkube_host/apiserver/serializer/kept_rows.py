"""Rows of tables that are kept while the ages in them go on: each age has a place, filled in when it reads differently.

A pod of five minutes reads differently each second. Were its row made anew each time, a client that lists 5,000 pods
again and again would have all of them parsed again and again.
"""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, Self

from hyperkube.machinery.recent import exact
from hyperkube.machinery.times import Duration, human_duration

_MARK = "\ue000"
"""Of the private use area, on both sides of a place's number."""
_PLACE = re.compile(rf"{_MARK}(\d+){_MARK}".encode())
_NEVER = datetime.max.replace(tzinfo=UTC)
_STEPS = ((600, 1), (8 * 3600, 60), (8 * 86400, 3600), (float("inf"), 86400))
"""Up to which age in seconds `human_duration` changes how often; at some ages it does more rarely."""


def until_change(age: timedelta) -> timedelta:
    """Return how long the text of an age stays as it is, at least."""
    seconds = age.total_seconds()
    if seconds < 0:
        return timedelta(0)
    step = next(step for limit, step in _STEPS if seconds < limit)
    return timedelta(seconds=step - seconds % step)


class ObservedNow(datetime):
    """A present that learns what is made of it: ages that are told to people get places, all else changes with time.

    Attributes:
        moments: since when each age is, in the order in which it got its place.
        change: how long all else that was made of it stays as it is.
    """

    moments: list[datetime]
    change: timedelta

    @classmethod
    def of(cls, now: datetime) -> ObservedNow:
        """Return a present of which nothing was made yet."""
        observed = cls(
            now.year, now.month, now.day, now.hour, now.minute, now.second, now.microsecond, now.tzinfo, fold=now.fold
        )
        observed.moments, observed.change = [], timedelta.max
        return observed

    def __sub__(self, other: Any) -> Any:
        passed = super().__sub__(other)
        if not isinstance(passed, timedelta):
            return passed
        return _Age.between(passed, other, self)

    def changes_with(self, age: timedelta) -> None:
        """Note that something other than an age was made of a duration."""
        self.change = min(self.change, until_change(age))

    def _compared(self, _other: object) -> Any:
        # A cell that depends on a comparison may change at any time.
        self.change = timedelta(0)
        return NotImplemented

    __lt__ = __le__ = __gt__ = __ge__ = _compared
    __rsub__ = _compared


class _Age(Duration):
    """How long ago something was, at an observed present."""

    since: datetime
    now: ObservedNow

    @classmethod
    def between(cls, passed: timedelta, since: datetime, now: ObservedNow) -> Self:
        age = cls(passed.days, passed.seconds, passed.microseconds)
        age.since, age.now = since, now
        return age

    def human(self) -> str:
        """Return a place for the age."""
        moments = self.now.moments
        moments.append(self.since)
        return f"{_MARK}{len(moments) - 1}{_MARK}"

    def total_seconds(self) -> float:
        """Return the seconds; what is made of them is made anew when the age reads differently."""
        self.now.changes_with(timedelta(self.days, self.seconds, self.microseconds))
        return super().total_seconds()

    def _used(self, _other: object = None) -> Any:
        # What is made of it otherwise may change at any time.
        self.now.change = timedelta(0)
        return NotImplemented

    def _text(self) -> str:
        self.now.change = timedelta(0)
        return str(timedelta(self.days, self.seconds, self.microseconds))

    __lt__ = __le__ = __gt__ = __ge__ = _used
    __str__ = __repr__ = _text


class KeptRow(NamedTuple):
    """A row up to its object, as JSON behind a comma.

    Attributes:
        text: how it reads, ages and all.
        until: when it no longer reads so.
        texts: what stands between the ages, one more than there are ages.
        moments: since when each age is.
        changes: when the texts are no longer so.
    """

    text: bytes
    until: datetime
    texts: tuple[bytes, ...]
    moments: tuple[datetime, ...]
    changes: datetime

    @classmethod
    def of(cls, row: bytes, now: ObservedNow) -> KeptRow | None:
        """Return a row whose cells were made at an observed present; None where its places cannot be told for sure."""
        texts = _PLACE.split(row) if now.moments else [row]
        numbers = [int(number) for number in texts[1::2]]
        if sorted(numbers) != list(range(len(now.moments))):
            return None
        changes, present = _NEVER, datetime.combine(now.date(), now.time(), now.tzinfo)
        if now.change is not timedelta.max:
            with contextlib.suppress(OverflowError):
                changes = present + now.change
        moments = tuple(now.moments[number] for number in numbers)
        return cls._at(present, tuple(exact(text) for text in texts[::2]), moments, changes)

    @property
    def size(self) -> int:
        """The bytes of its texts."""
        return len(self.text) + (sum(map(len, self.texts)) if self.moments else 0)

    def at(self, now: datetime) -> KeptRow | None:
        """Return the row as it reads now; None when more than its ages has changed."""
        if now < self.until:
            return self
        return None if self.changes <= now else self._at(now, self.texts, self.moments, self.changes)

    @classmethod
    def _at(cls, now: datetime, texts: tuple[bytes, ...], moments: tuple[datetime, ...], changes: datetime) -> KeptRow:
        whole, until = texts[0], changes
        for moment, text in zip(moments, texts[1:], strict=True):
            reads, then = _read(int((now - moment).total_seconds()))
            whole += reads + text
            until = min(until, moment + then)
        return cls(whole, until, texts, moments, changes)


@lru_cache(1024)
def _read(seconds: int) -> tuple[bytes, timedelta]:
    """Return how an age reads, and at which age it reads differently; before zero, whenever it is looked at again."""
    age = timedelta(seconds=seconds)
    return human_duration(seconds).encode(), age + until_change(age)
