"""Flags and gates of plugins: ``flags.toml`` beside a plugin's package, ``x.flags.toml`` beside a module ``x.py``.

They are found and read without importing any plugin, see `hyperkube.plugin.data_files`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

from hyperkube.machinery.dataclass import dataclass
from hyperkube.plugin.data_files import data_file
from hyperkube.plugin.flags.flag import Flag
from hyperkube.plugin.flags.gates import PluginGate, gate_of, with_gates
from hyperkube.plugin.flags.kinds import KINDS
from hyperkube.plugin.loader import (
    PluginConflict,
    PluginLoadFailed,
    SeenPath,
    distribution_of,
    installed,
    one_look,
    state_of_path,
)

FILE = "flags"
_TABLES = frozenset({"flag", "gate", "uses", "enabled_by"})
_MUST = frozenset({"name", "type", "help", "section"})
_GATE_MUST = frozenset({"name", "help"})
_GATE_MAY = frozenset({"default", "stage"})
_MAY = frozenset({"default", "deprecated", "aliases", "hosts", "plugins", "setting", "enables", "accepted", "refused"})


@dataclass(frozen=True, slots=True)
class PluginFlags:
    """What one installed plugin has to do with a server's flags.

    Attributes:
        family: the plugin's family.
        name: its entry point.
        entry: the entry point, which knows the distribution.
        flags: the flags it brings.
        gates: the feature gates it brings.
        uses: flags of the host that it is given too, where the host has them.
        enabled_by: flags of the host that switch it on, beside its own that do.
    """

    family: str
    name: str
    entry: EntryPoint = field(compare=False)
    flags: tuple[Flag, ...] = ()
    gates: tuple[PluginGate, ...] = ()
    uses: tuple[str, ...] = ()
    enabled_by: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.family} plugin {self.name!r} of {distribution_of(self.entry)}"

    @property
    def switches(self) -> tuple[str, ...]:
        """The flags any of which, when it has a value, switches the plugin on."""
        return (*(flag.name for flag in self.flags if flag.enables), *self.enabled_by)


def plugin_flags(host: str, families: Sequence[str]) -> tuple[PluginFlags, ...]:
    """Return what the installed plugins of some families bring to the flags of a host, by family and name.

    Raises:
        PluginConflict: two plugins bring a flag of one name, or alias.
        PluginLoadFailed: a file cannot be read, or what it says is wrong.
    """
    return _plugin_flags(host, tuple(families), state_of_path())


@lru_cache(maxsize=32)
def _plugin_flags(host: str, families: tuple[str, ...], _state: SeenPath) -> tuple[PluginFlags, ...]:
    with one_look():
        found = tuple(
            flags
            for family in families
            for name, entry in sorted(installed(family).items())
            if (flags := _flags_of(host, family, name, entry)) is not None
        )
    _check_claims(found)
    return found


def merged(host: str, own: Sequence[Flag], plugins: Iterable[PluginFlags]) -> tuple[Flag, ...]:
    """Return a server's own flags and its plugins'; sections that only plugins have come before the last one.

    ``--feature-gates`` is given the plugins' gates.

    Raises:
        PluginConflict: a plugin brings a flag that the server has itself.
    """
    plugins = tuple(plugins)
    own = [with_gates(flag, (gate for plugin in plugins for gate in plugin.gates)) for flag in own]
    taken = {name for flag in own for name in (flag.name, *flag.aliases)}
    more: dict[str, Flag] = {}
    for plugin in plugins:
        for flag in plugin.flags:
            if clash := taken.intersection((flag.name, *flag.aliases)):
                raise PluginConflict(f"flag --{min(clash)} of {plugin} is one of {host}'s own")
            more.setdefault(flag.name, flag)
    titles = list(dict.fromkeys(flag.section for flag in own))
    new = [title for title in dict.fromkeys(flag.section for flag in more.values()) if title not in titles]
    rank = {title: index for index, title in enumerate([*titles[:-1], *new, *titles[-1:]])}
    return tuple(sorted((*own, *more.values()), key=lambda flag: rank[flag.section]))


def _check_claims(found: Sequence[PluginFlags]) -> None:
    claims: dict[str, tuple[PluginFlags, Flag]] = {}
    for plugin in found:
        for flag in plugin.flags:
            for spelling in (flag.name, *flag.aliases):
                other, same = claims.setdefault(spelling, (plugin, flag))
                if same is not flag:
                    raise PluginConflict(f"flag --{spelling} is claimed twice, by {other} and by {plugin}")
    gates: dict[str, tuple[PluginFlags, PluginGate]] = {}
    for plugin in found:
        for gate in plugin.gates:
            first, same_gate = gates.setdefault(gate.name, (plugin, gate))
            if same_gate != gate:
                raise PluginConflict(f"feature gate {gate.name} is claimed twice, by {first} and by {plugin}")


def _flags_of(host: str, family: str, name: str, entry: EntryPoint) -> PluginFlags | None:
    path = data_file(entry, FILE)
    if path is None:
        return None
    try:
        table = _read(path)
    except (OSError, ValueError) as error:
        raise PluginLoadFailed(f"flags of {family} plugin {name!r} of {distribution_of(entry)}: {error}") from error
    flags = tuple(
        row.flag
        for row in table.rows
        if (not row.hosts or host in row.hosts) and (not row.plugins or name in row.plugins)
    )
    owner = f"{family} plugin {name!r} of {distribution_of(entry)}"
    gates = tuple(replace(gate, owner=owner) for gate in table.gates)
    return PluginFlags(family, name, entry, flags, gates, table.uses, table.enabled_by)


class _Row(NamedTuple):
    flag: Flag
    hosts: tuple[str, ...]
    plugins: tuple[str, ...]


class _Table(NamedTuple):
    rows: tuple[_Row, ...]
    gates: tuple[PluginGate, ...]
    uses: tuple[str, ...]
    enabled_by: tuple[str, ...]


@lru_cache(maxsize=1024)
def _read(path: Path) -> _Table:
    """Return what a file says.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no TOML, or a flag is not described as it must be.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    _check(set(table), frozenset(), _TABLES, "the file")
    rows = tuple(_row(row) for row in table.get("flag", ()))
    for row in table.get("gate", ()):
        _check(set(row), _GATE_MUST, _GATE_MUST | _GATE_MAY, f"gate {row.get('name', '')!r}")
    gates = tuple(gate_of(row) for row in table.get("gate", ()))
    return _Table(rows, gates, tuple(table.get("uses", ())), tuple(table.get("enabled_by", ())))


def _row(row: Mapping[str, Any]) -> _Row:
    name = str(row.get("name", ""))
    _check(set(row), _MUST, _MUST | _MAY, f"flag {name!r}")
    kind = KINDS.get(row["type"])
    if kind is None:
        raise ValueError(f"flag {name!r}: type {row['type']!r} is not one of {', '.join(KINDS)}")
    default = row.get("default", kind.zero)
    try:
        kind.convert(default)
    except (ValueError, TypeError) as error:
        raise ValueError(f"flag {name!r}: default: {error}") from None
    flag = Flag(
        name=name,
        kind=kind,
        default=default,
        help=row["help"],
        aliases=tuple(row.get("aliases", ())),
        accepted=bool(row.get("accepted", False)),
        refused=bool(row.get("refused", False)),
        deprecated=row.get("deprecated", ""),
        section=row["section"],
        setting=row.get("setting", "") or setting_of(name),
        enables=bool(row.get("enables", False)),
    )
    return _Row(flag, tuple(row.get("hosts", ())), tuple(row.get("plugins", ())))


def _check(keys: set[str], must: frozenset[str], known: frozenset[str], where: str) -> None:
    if missing := must - keys:
        raise ValueError(f"{where} has no {min(missing)!r}")
    if unknown := keys - known:
        raise ValueError(f"{where} has an unknown key {min(unknown)!r} (known: {', '.join(sorted(known))})")


def setting_of(name: str) -> str:
    """Return the key of a plugin's settings that has the value of a flag, unless the flag says otherwise."""
    return name.replace("-", "_")
