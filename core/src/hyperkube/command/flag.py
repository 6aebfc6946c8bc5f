"""What a flag is: Kubernetes' spelling, type, default, section and help, and whether its behaviour is built.

A flag whose behaviour is not built yet is accepted with one warning line (`accepted=True`). A security flag that is
not built is refused with one error line (`refused=True`): silently ignoring it would leave the server open.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import click

from hyperkube.machinery.booleans import parse_bool


class _Bool(click.ParamType[bool]):
    """A boolean as Go's strconv reads it; the command line makes a valueless flag ``=true``."""

    name = ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        if isinstance(value, bool):
            return value
        read = parse_bool(value)
        return read if read is not None else self.fail(f"{value!r} is not a boolean (true or false)", param, ctx)


class _Duration(click.ParamType[float]):
    """A Go duration such as ``1m30s``; becomes seconds. A bare number means seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from hyperkube.machinery.durations import parse_duration

        if isinstance(value, int | float):
            return float(value)
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _List(click.ParamType[tuple[str, ...]]):
    """Comma-separated strings in order; a repeated flag adds to the list."""

    name = "strings"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(item.strip() for item in value.split(",") if item.strip())
        return tuple(value)


class _Repeated(_List):
    """A string that has commas of its own; a repeated flag adds to the list."""

    name = "string"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(value)


class _Map(click.ParamType[dict[str, str]]):
    """Comma-separated ``key=value`` pairs; a bare key means an empty value."""

    name = "mapStringString"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        if not isinstance(value, str):
            return dict(value)
        pairs = (item.strip().partition("=") for item in value.split(",") if item.strip())
        return {key: text for key, _, text in pairs}


class _Gates(click.ParamType[dict[str, bool]]):
    """Comma-separated ``Gate=true|false`` pairs."""

    name = "mapStringBool"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, bool]:
        if not isinstance(value, str):
            return dict(value)
        return {
            gate: BOOL.convert(state or "true", param, ctx) for gate, state in MAP.convert(value, param, ctx).items()
        }


class _Address(click.ParamType[str]):
    """An IP address."""

    name = "ip"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value:
            try:
                ipaddress.ip_address(value)
            except ValueError:
                self.fail(f"{value!r} is not an IP address", param, ctx)
        return str(value)


class _Cidrs(click.ParamType[str]):
    """One IP range, or two of different families, comma-separated; host bits are allowed (``10.0.0.1/24``)."""

    name = "cidr"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            networks = [ipaddress.ip_network(part.strip(), strict=False) for part in value.split(",") if part.strip()]
        except ValueError:
            self.fail(f"{value!r} is not a range of IP addresses (like 10.0.0.0/24)", param, ctx)
        return ",".join(str(network) for network in networks)


class _PortRange(click.ParamType[str]):
    """``low-high``, both inclusive, or ``low+count``."""

    name = "portRange"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        match = re.fullmatch(r"(\d+)(?:([-+])(\d+))?", value)
        if match is None:
            self.fail(f"{value!r} is not a port range (like 30000-32767)", param, ctx)
        low, sign, second = int(match[1]), match[2], int(match[3] or match[1])
        high = low + second if sign == "+" else second
        if not low <= high <= 65535:
            self.fail(f"{value!r} is not a port range within 0-65535", param, ctx)
        return f"{low}-{high}"


BOOL, INT, FLOAT, STRING = _Bool(), click.INT, click.FLOAT, click.STRING
DURATION, LIST, REPEATED, MAP, GATES, ADDRESS, CIDRS, PORT_RANGE = (
    _Duration(),
    _List(),
    _Repeated(),
    _Map(),
    _Gates(),
    _Address(),
    _Cidrs(),
    _PortRange(),
)


@dataclass(frozen=True, slots=True)
class Flag:
    """One row of a server's table of options.

    Attributes:
        name: Kubernetes' spelling, without dashes in front.
        kind: how the value is read.
        default: as it would be typed, or already converted.
        help: one line, lower case, no full stop.
        aliases: deprecated spellings that mean the same.
        accepted: it does nothing: its behaviour is not built yet or, where the help begins with ``no effect``, there
            is nothing here that it could mean; giving it prints a warning line.
        refused: a security option whose behaviour is not built yet; giving it is an error.
        deprecated: what to use instead; giving it prints a warning line.
    """

    name: str
    kind: click.ParamType[Any]
    default: Any
    help: str
    aliases: tuple[str, ...] = ()
    accepted: bool = False
    refused: bool = False
    deprecated: str = ""
    section: str = ""

    @property
    def idle(self) -> str:
        """Why the flag does nothing, as far as its help does not say so; empty for one that does something."""
        if not (self.accepted or self.refused):
            return ""
        return "no effect" if self.help.startswith("no effect") else "not built yet"


def section(title: str, *flags: Flag) -> tuple[Flag, ...]:
    """Return the flags with their section's title."""
    return tuple(replace(flag, section=title) for flag in flags)


def unbuilt(*flags: Flag) -> tuple[Flag, ...]:
    """Return the flags marked as accepted without effect."""
    return tuple(replace(flag, accepted=True) for flag in flags)


def insecure_to_ignore(*flags: Flag) -> tuple[Flag, ...]:
    """Return the flags marked as security options that are refused until they are built."""
    return tuple(replace(flag, refused=True) for flag in flags)


def by_name(flags: Iterable[Flag]) -> dict[str, Flag]:
    """Index flags by name and alias."""
    return {name: flag for flag in flags for name in (flag.name, *flag.aliases)}


SECRET_WORDS = ("password",)
"""What is in the names of flags whose values are nobody's business."""


def typed(flags: Iterable[Flag], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the flags' values as Kubernetes' flag library writes them, for ``/flagz``; secrets are ``CLASSIFIED``."""
    return {
        flag.name: "CLASSIFIED" if any(word in flag.name for word in SECRET_WORDS) else _text(flag, values[flag.name])
        for flag in flags
        if flag.name in values
    }


def _text(flag: Flag, value: Any) -> str:
    if flag.kind is DURATION:
        from hyperkube.machinery.durations import format_duration

        return format_duration(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_text(flag, one)}" for key, one in sorted(value.items()))
    if isinstance(value, tuple):
        return f"[{','.join(value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
