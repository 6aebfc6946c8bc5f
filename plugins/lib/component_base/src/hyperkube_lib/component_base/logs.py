"""Where log lines go and how they look: klog's flags of the 1.x line, and those of 1.36.

Lines are klog's text or one JSON object each. They go to standard error, and with ``--logtostderr=false`` to files:
one for each severity, which has all lines of that severity and above, or the one that ``--log-file`` names.

Sources: kubernetes component-base ``logs/api/v1``, ``logs/json``; ``k8s.io/klog/v2`` (``klog.go``, ``klog_file.go``).
"""

from __future__ import annotations

import fnmatch
import getpass
import logging
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hyperkube.command.server_command import KlogFormatter
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.failures import RepeatedFailures
from hyperkube.plugin.flags import FlagValues

FORMATS = ("text", "json")
SEVERITIES = {"INFO": logging.DEBUG, "WARNING": logging.WARNING, "ERROR": logging.ERROR}
"""Severity of klog → the lowest level of its lines; ``FATAL`` has none here, as a fatal error is printed and exits."""
_NUMBERS = {"0": "INFO", "1": "WARNING", "2": "ERROR", "3": "ERROR", "FATAL": "ERROR"}
_BYTES_PER_MEGABYTE = 1024 * 1024


def level_of(verbosity: int) -> int:
    """Return the lowest level that is shown at a verbosity of klog."""
    return logging.WARNING if verbosity < 1 else logging.INFO if verbosity < 4 else logging.DEBUG


class JsonFormatter(logging.Formatter):
    """One JSON object a line, as component-base writes it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        import orjson

        line: dict[str, Any] = {
            "ts": round(record.created * 1000, 3),
            "caller": f"{record.filename}:{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno < logging.ERROR:
            line["v"] = 0
        if record.exc_info:
            line["err"] = self.formatException(record.exc_info)
        return orjson.dumps(line).decode()


class _PlainFormatter(logging.Formatter):
    """The text alone."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class VerbosityFilter(logging.Filter):
    """Lets lines through by the verbosity of their file, where ``--vmodule`` names it, else of all."""

    def __init__(self, verbosity: int, modules: Mapping[str, int]) -> None:
        super().__init__()
        self._level = level_of(verbosity)
        self._modules = [(pattern, level_of(number)) for pattern, number in modules.items()]

    @property
    def lowest(self) -> int:
        """The lowest level that any file shows."""
        return min([self._level, *(level for _, level in self._modules)])

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a line is shown; the first pattern that matches decides."""
        stem = record.filename.removesuffix(".py")
        for pattern, level in self._modules:
            if fnmatch.fnmatchcase(stem, pattern):
                return record.levelno >= level
        return record.levelno >= self._level


class _OneSeverity(logging.Filter):
    """Lets one severity through."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__()
        self._low, self._high = low, high

    def filter(self, record: logging.LogRecord) -> bool:
        return self._low <= record.levelno < self._high


class _LimitedFile(logging.FileHandler):
    """A log file that is begun anew when it has grown to its limit."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self._limit = limit

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        if self._limit and self.stream is not None and self.stream.tell() >= self._limit:
            self.stream.seek(0)
            self.stream.truncate()


def set_up_logging(server: str, values: FlagValues) -> None:
    """Log as the flags say.

    Raises:
        UsageError: a flag's value is none of those that there are, or a file cannot be written.
    """
    shown = VerbosityFilter(int(values["v"]), _modules(values["vmodule"]))
    formatter = _formatter(values)
    handlers, repeated = _handlers(server, values), RepeatedFailures()
    for handler in handlers:
        handler.setFormatter(formatter)
        handler.addFilter(shown)
        handler.addFilter(repeated)
    root = logging.getLogger("hyperkube")
    for old in root.handlers:
        old.close()
    root.handlers[:] = handlers
    root.setLevel(shown.lowest)
    root.propagate = False


def _modules(given: Mapping[str, str]) -> Mapping[str, int]:
    for pattern, number in given.items():
        if not number.isdecimal():
            raise UsageError(f"--vmodule: {pattern}={number} is not pattern=N")
    return {pattern: int(number) for pattern, number in given.items()}


def _formatter(values: FlagValues) -> logging.Formatter:
    kind = values["logging-format"]
    if kind not in FORMATS:
        raise UsageError(f"--logging-format={kind!r} is not known (known: {', '.join(FORMATS)})")
    if kind == "json":
        return JsonFormatter()
    return _PlainFormatter() if values["skip-headers"] else KlogFormatter()


def _handlers(server: str, values: FlagValues) -> list[logging.Handler]:
    console = logging.StreamHandler(sys.stderr)
    if values["logtostderr"]:
        return [console]
    if not values["alsologtostderr"]:
        console.setLevel(_threshold(values["stderrthreshold"]))
    try:
        files = _files(server, values)
    except OSError as error:
        raise UsageError(f"cannot write log files: {error}") from error
    return [*files, console]


def _threshold(given: str) -> int:
    name = _NUMBERS.get(given, given)
    if name not in SEVERITIES:
        raise UsageError(f"--stderrthreshold={given!r} is not known (known: 0 to 3, {', '.join(SEVERITIES)}, FATAL)")
    return SEVERITIES[name]


def _files(server: str, values: FlagValues) -> Iterable[logging.Handler]:
    if values["log-file"]:
        return [_LimitedFile(Path(values["log-file"]), values["log-file-max-size"] * _BYTES_PER_MEGABYTE)]
    folder = Path(values["log-dir"] or os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 -- klog's own default
    names = list(SEVERITIES)
    handlers = []
    for index, name in enumerate(names):
        handler = logging.FileHandler(_log_file(folder, server, name), encoding="utf-8")
        handler.setLevel(SEVERITIES[name])
        if values["one-output"]:
            above = SEVERITIES[names[index + 1]] if index + 1 < len(names) else logging.CRITICAL + 1
            handler.addFilter(_OneSeverity(SEVERITIES[name], above))
        handlers.append(handler)
    return handlers


def _log_file(folder: Path, server: str, severity: str) -> Path:
    """Return the file of a severity, to which ``SERVER.SEVERITY`` in the same folder is a link from now on."""
    user = getpass.getuser() if "USER" in os.environ or "LOGNAME" in os.environ else str(os.geteuid())
    host = socket.gethostname().partition(".")[0]
    now = datetime.now(UTC).astimezone()
    path = folder / f"{server}.{host}.{user}.log.{severity}.{now:%Y%m%d-%H%M%S}.{os.getpid()}"
    link = folder / f"{server}.{severity}"
    with suppress(FileNotFoundError):
        link.unlink()
    link.symlink_to(path.name)
    return path
