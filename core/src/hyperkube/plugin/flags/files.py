"""The flags that plugins bring: ``flags.toml`` beside a plugin's package, ``x.flags.toml`` beside a module ``x.py``.

They are found and read without importing any plugin, because ``--help`` and a server's start ask about all that are
installed, and few of them run. The files are found by listing the folders of the import path, once, since the search
of the import system costs a look into each of hundreds of folders per plugin.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hyperkube.plugin.flags.flag import Flag
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

FILE = "flags.toml"
_TABLES = frozenset({"flag", "uses", "enabled_by"})
_MUST = frozenset({"name", "type", "help", "section"})
_MAY = frozenset({"default", "deprecated", "aliases", "hosts", "plugins", "setting", "enables", "accepted", "refused"})


@dataclass(frozen=True, slots=True)
class PluginFlags:
    """What one installed plugin has to do with a server's flags.

    Attributes:
        family: the plugin's family.
        name: its entry point.
        entry: the entry point, which knows the distribution.
        flags: the flags it brings.
        uses: flags of the host that it is given too, where the host has them.
        enabled_by: flags of the host that switch it on, beside its own that do.
    """

    family: str
    name: str
    entry: EntryPoint = field(compare=False)
    flags: tuple[Flag, ...] = ()
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
def _plugin_flags(host: str, families: tuple[str, ...], state: SeenPath) -> tuple[PluginFlags, ...]:
    files = _files(state)
    with one_look():
        found = tuple(
            flags
            for family in families
            for name, entry in sorted(installed(family).items())
            if (flags := _flags_of(host, family, name, entry, files)) is not None
        )
    _check_claims(found)
    return found


def merged(host: str, own: Sequence[Flag], plugins: Iterable[PluginFlags]) -> tuple[Flag, ...]:
    """Return a server's own flags and its plugins'; sections that only plugins have come before the last one.

    Raises:
        PluginConflict: a plugin brings a flag that the server has itself.
    """
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


def _flags_of(host: str, family: str, name: str, entry: EntryPoint, files: _Files) -> PluginFlags | None:
    path = files.beside(entry.value.partition(":")[0].strip())
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
    return PluginFlags(family, name, entry, flags, table.uses, table.enabled_by)


@dataclass(frozen=True, slots=True)
class _Row:
    flag: Flag
    hosts: tuple[str, ...]
    plugins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    rows: tuple[_Row, ...]
    uses: tuple[str, ...]
    enabled_by: tuple[str, ...]


@lru_cache(maxsize=1024)
def _read(path: str) -> _Table:
    """Return what a file says.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no TOML, or a flag is not described as it must be.
    """
    table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    _check(set(table), frozenset(), _TABLES, "the file")
    rows = tuple(_row(row) for row in table.get("flag", ()))
    return _Table(rows, tuple(table.get("uses", ())), tuple(table.get("enabled_by", ())))


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


class _Files:
    """Finds the files beside plugins; listings are kept as long as it is."""

    def __init__(self, path: Iterable[str]) -> None:
        self._path = tuple(path)
        self._listings: dict[str, dict[str, str]] = {}

    def beside(self, module: str) -> str | None:
        """Return the file with the flags of the plugin that a module holds; None if there is none."""
        package, *rest = module.split(".")
        folder = self._folder(package, rest[0]) if rest else None
        if folder is None:
            return _beside(module)
        place = "/".join((folder, *rest))
        places = [f"{place}.{FILE}"]
        for _ in rest:
            places.append(f"{place}/{FILE}")
            place = place.rpartition("/")[0]
        return next((place for place in places if os.access(place, os.R_OK)), None)

    def _folder(self, package: str, child: str) -> str | None:
        """Return which of a package's folders has a module: the first of the path."""
        if package not in self._listings:
            self._listings[package] = self._listing(package)
        found = self._listings[package]
        return found.get(child) or found.get(f"{child}.py")

    def _listing(self, package: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for portion in self._portions.get(package, ()):
            with suppress(OSError):  # it is no folder, or cannot be read
                for name in os.listdir(portion):  # noqa: PTH208  no Path for each of hundreds of names
                    found.setdefault(name, portion)
        return found

    @cached_property
    def _portions(self) -> Mapping[str, Sequence[str]]:
        """Return by name where the folders of the path have it; each of them is listed once for all packages."""
        found: dict[str, list[str]] = {}
        for folder in self._path:
            with suppress(OSError):
                for name in os.listdir(folder or "."):  # noqa: PTH208  see above
                    found.setdefault(name, []).append(f"{folder}/{name}")
        return found


@lru_cache(maxsize=1)
def _files(state: SeenPath) -> _Files:
    """Return the same listings for all hosts of a process."""
    return _Files(folder for folder, _ in state)


def _beside(module: str) -> str | None:
    """Return the same for a module that only the import system finds: of a zip-less import hook, say."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None  # the loader says so, when the plugin is chosen
    if spec is None or not spec.origin:
        return None
    origin = Path(spec.origin)
    place = origin.with_name(FILE) if origin.name == "__init__.py" else origin.with_name(f"{origin.stem}.{FILE}")
    return str(place) if place.is_file() else None
