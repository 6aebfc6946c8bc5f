"""A server's command line: its table of flags as a click command that reads and prints like Kubernetes' own.

An underscore in a flag's name counts as a dash, a boolean needs no value, help comes by section, and a mistake is one
clear line and exit code 1.
"""

from __future__ import annotations

import logging
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from hyperkube.command.lifecycle import end_with_parent
from hyperkube.machinery.collector_pause import collector_paused
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.release import GIT_VERSION
from hyperkube.plugin.failures import RepeatedFailures
from hyperkube.plugin.flags import (
    ADDS_UP,
    BOOL,
    Flag,
    FlagValues,
    by_name,
    merged,
    plugin_flags,
    read_value,
    unknown_flag,
)
from hyperkube.plugin.loader import one_look


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """A server: its names, its text, its own flags, what runs it, and the families of the plugins that it loads."""

    name: str
    long: str
    example: str
    flags: tuple[Flag, ...]
    run: Callable[[FlagValues], None]
    families: tuple[str, ...] = ()

    def all_flags(self) -> tuple[Flag, ...]:
        """Return the server's own flags and those that the installed plugins of its families bring, by section.

        Raises:
            PluginConflict: two plugins, or a plugin and the server, claim one flag.
        """
        return merged(self.name, self.flags, plugin_flags(self.name, self.families))

    def parse(self, args: Sequence[str]) -> FlagValues:
        """Return every flag's value by name, defaults filled in; warnings are printed.

        Raises:
            UsageError: one line that says what is wrong.
        """
        flags = self.all_flags()
        return FlagValues.of(flags, _given(self, flags, args))

    def main(self, args: Sequence[str]) -> None:
        """Parse `args`, then print help or the version, or run the server until it ends.

        Raises:
            UsageError: an unknown flag, a bad value, or whatever the server finds wrong with its options.
        """
        with collector_paused(), one_look():
            options = self.parse(args)
            shown = self.help() if options["help"] else ""
        if shown:
            print(shown)
            return
        if options["version"]:
            print(version_line())
            return
        set_up_logging(int(options["v"]))
        end_with_parent()
        self.run(options)

    def help(self) -> str:
        """Return the long text, usage, an example, and all flags by section, wrapped to the terminal."""
        width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 120))
        lines = [*textwrap.wrap(self.long, width), "", "Usage:", f"  {self.name} [flags]", "", "Example:"]
        lines += [f"  {self.example}"]
        flags = self.all_flags()
        for title in dict.fromkeys(flag.section for flag in flags):
            lines += ["", f"{title} flags:", ""]
            for flag in (flag for flag in flags if flag.section == title):
                lines += _flag_help(flag, width)
        return "\n".join(lines)


def _flag_help(flag: Flag, width: int) -> list[str]:
    kind = f" {flag.kind.name}" if flag.kind is not BOOL else ""
    default = f" (default {_shown(flag.default)})" if flag.default not in ("", False, 0) else ""
    alias = f" (also --{', --'.join(flag.aliases)})" if flag.aliases else ""
    state = " (not built yet)" if flag.idle == "not built yet" else ""
    state += f" (deprecated: {flag.deprecated})" if flag.deprecated else ""
    head = f"  -{flag.name}, --{flag.name}{kind}" if len(flag.name) == 1 else f"      --{flag.name}{kind}"
    indent = " " * 16
    return [
        head,
        *textwrap.wrap(flag.help + alias + state + default, width, initial_indent=indent, subsequent_indent=indent),
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) and "," in value else str(value)


def _given(command: ServerCommand, flags: Sequence[Flag], args: Sequence[str]) -> dict[str, Any]:
    """Return the values of the flags that are in `args`, by name."""
    known = by_name(flags)
    given: dict[str, Any] = {}
    rest = list(args)
    while rest:
        word = rest.pop(0)
        name, equals, text = _split(command, word)
        flag = known.get(name)
        if flag is None and name[1:].isdecimal() and (flag := known.get(name[0])) is not None:
            name, equals, text = name[0], "=", name[1:]  # -v2: one letter and its value, as pflag reads it
        if flag is None:
            raise unknown_flag(name, known, f"see {command.name} --help")
        if not equals:
            if flag.kind is BOOL:
                text = "true"
            elif rest:
                text = rest.pop(0)
            else:
                raise UsageError(f"flag needs an argument: --{name}")
        value = read_value(flag, name, text)
        adds = flag.kind in ADDS_UP and flag.name in given
        given[flag.name] = (*given[flag.name], *value) if adds else value
        _comment(flag, name)
    return given


def _split(command: ServerCommand, word: str) -> tuple[str, str, str]:
    if word in {"-h", "help"}:
        return "help", "", ""
    if not word.startswith("-") or word in {"-", "--"}:
        raise UsageError(f"unknown argument {word!r} (see {command.name} --help)")
    name, equals, text = word.lstrip("-").partition("=")
    return name.replace("_", "-"), equals, text


def _comment(flag: Flag, name: str) -> None:
    if flag.refused:
        raise UsageError(f"--{name} is a security option that is not built yet, and ignoring it would be unsafe")
    if flag.accepted:
        why = f"has {flag.help}" if flag.idle == "no effect" else "its behaviour is not built yet"
        print(f"warning: --{name} is accepted, but {why}", file=sys.stderr)
    elif flag.deprecated:
        print(f"warning: --{name} is deprecated: {flag.deprecated}", file=sys.stderr)


def version_line() -> str:
    """Return the line that ``--version`` prints."""
    from hyperkube import __version__

    return f"Kubernetes {GIT_VERSION} (hyperkube {__version__})"


def set_up_logging(verbosity: int) -> None:
    """Log to standard error with klog's header, more of it with a higher verbosity."""
    level = logging.WARNING if verbosity < 1 else logging.INFO if verbosity < 4 else logging.DEBUG
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KlogFormatter())
    handler.addFilter(RepeatedFailures())
    root = logging.getLogger("hyperkube")
    root.handlers[:] = [handler]
    root.setLevel(level)
    root.propagate = False


class KlogFormatter(logging.Formatter):
    """``I0917 15:04:05.000000 PID file:line] text``, as klog writes it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with a traceback below it if there is one."""
        letter = {"WARNING": "W", "ERROR": "E", "CRITICAL": "F"}.get(record.levelname, "I")
        moment = self.formatTime(record, "%m%d %H:%M:%S")
        head = f"{letter}{moment}.{int(record.msecs * 1000):06d} {record.process:7d} {record.filename}:{record.lineno}]"
        text = f"{head} {record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text
