"""What a flag is: Kubernetes' spelling, type, default, section and help, and whether its behaviour is built.

A flag whose behaviour is not built yet is accepted with one warning line (`accepted=True`). A security flag that is
not built is refused with one error line (`refused=True`): silently ignoring it would leave the server open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hyperkube.machinery.dataclass import dataclass
from hyperkube.plugin.flags.kinds import DURATION, Kind


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
        section: the title it stands under in ``--help``.
        setting: of a plugin's flag: the key of its settings that has the value.
        enables: of a plugin's flag: giving it switches the plugin on.
    """

    name: str
    kind: Kind[Any]
    default: Any
    help: str
    aliases: tuple[str, ...] = ()
    accepted: bool = False
    refused: bool = False
    deprecated: str = ""
    section: str = ""
    setting: str = ""
    enables: bool = False

    @property
    def idle(self) -> str:
        """Why the flag does nothing, as far as its help does not say so; empty for one that does something."""
        if not (self.accepted or self.refused):
            return ""
        return "no effect" if self.help.startswith("no effect") else "not built yet"

    @property
    def default_value(self) -> Any:
        """The default as it is read."""
        return self.kind.convert(self.default)


def section(title: str, *flags: Flag) -> tuple[Flag, ...]:
    """Return the flags with their section's title."""
    return tuple(replace(flag, section=title) for flag in flags)


def unbuilt(*flags: Flag) -> tuple[Flag, ...]:
    """Return the flags marked as accepted without effect."""
    return tuple(replace(flag, accepted=True) for flag in flags)


def by_name(flags: Iterable[Flag]) -> dict[str, Flag]:
    """Index flags by name and alias."""
    return {name: flag for flag in flags for name in (flag.name, *flag.aliases)}


SECRET_WORDS = ("password",)
"""What is in the names of flags whose values are shown to no client."""


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
