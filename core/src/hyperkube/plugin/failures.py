"""Bugs of plugins at run time: which plugin it was, and a log that one of them cannot fill."""

from __future__ import annotations

import logging
import threading
import traceback
from collections import OrderedDict
from pathlib import PurePath

from hyperkube.plugin.loader import distribution_of, installed, installed_families

FIRST_SECONDS, LONGEST_SECONDS = 1.0, 600.0
"""How long a failure that was logged is not logged again: at first, and at most; it doubles each time."""
_REMEMBERED = 1000
_PROGRAMS = frozenset({"server", "command"})
"""Families of programs: what runs in one of them is not a plugin's fault."""


def culprit(error: BaseException) -> str:
    """Return the innermost plugin of the traceback, or nothing.

    It is told by family, name and distribution, then where it was called, then file and line where it left its code.
    """
    found, place, line = "", "", ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        here = _plugins_at(frame.f_globals.get("__name__", ""))
        name = here.get(type(frame.f_locals.get("self")).__name__) or " or ".join(here.values())
        if here and found not in here.values():
            found, place = name, frame.f_code.co_qualname
        if here:
            line = f"{PurePath(frame.f_code.co_filename).name}:{number}"
    return f"{found}, in {place}, {line}" if found else ""


def described(error: BaseException) -> str:
    """Return an exception with the plugin behind it, for the answer to who asked."""
    blamed = culprit(error)
    return f"{error!r}{f' ({blamed})' if blamed else ''}"


def _plugins_at(module: str) -> dict[str, str]:
    """Return the plugins whose module it is, or whose package holds it, by what their entry points name in it."""
    return {
        entry.attr: f"{family} plugin {entry.name!r} of {distribution_of(entry)}"
        for family in installed_families() - _PROGRAMS
        for entry in installed(family).values()
        if module == entry.module or module.startswith(f"{entry.module}.")
    }


class RepeatedFailures(logging.Filter):
    """Names the plugin behind a logged exception; a failure that repeats is a line with a count, ever more seldom."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[object, ...], list[float]] = OrderedDict()  # key → last logged, pause, since then

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the first of its kind pass as it is, and of the others those that come after a pause.

        Several handlers may share a filter, and so ask more than once about a record: the first answer holds.
        """
        known = vars(record)
        if "passes" not in known:
            known["passes"] = self._passes(record)
        return bool(known["passes"])

    def _passes(self, record: logging.LogRecord) -> bool:
        told = record.args if isinstance(record.args, tuple) else ()
        error = record.exc_info[1] if record.exc_info else next((a for a in told if isinstance(a, Exception)), None)
        if error is None:
            return True
        left_out = self._left_out(record, error)
        if left_out is None:
            return False
        blamed = culprit(error) if record.exc_info else ""
        text = f"{record.getMessage()}{f': {blamed}' if blamed else ''}"
        if left_out:
            text = f"{text}{f': {error!r}' if record.exc_info else ''} ({left_out} more since this was last logged)"
            record.exc_info = None
        record.msg, record.args = text, ()
        return True

    def _left_out(self, record: logging.LogRecord, error: BaseException) -> int | None:
        """Return how many of a record's kind were left out since the last that was not; None to leave it out too."""
        frames = traceback.extract_tb(error.__traceback__)[-1:] if record.exc_info else ()
        kind = (record.name, record.msg, type(error), *((each.filename, each.lineno) for each in frames))
        with self._lock:
            seen = self._seen.setdefault((*kind, "" if frames else str(error)), [0.0, 0.0, 0])
            last, pause, left_out = seen
            if record.created < last + pause:
                seen[2] += 1
                return None
            longer = pause * 2 if left_out else 0  # what did not repeat within its pause counts as new
            seen[:] = [record.created, min(max(longer, FIRST_SECONDS), LONGEST_SECONDS), 0]
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
            return int(left_out)
