"""hyperkube plugins check: what is wrong with the plugins of a distribution, before a server says so at its start.

Each check is a function of one plugin that returns what it found as lines; a mistake that a server would refuse is
`Level.WRONG`, what may be meant so is a `Level.NOTE`.
"""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from importlib.metadata import EntryPoint
from typing import Any

from hyperkube_command.plugins.catalog import BASES, FAMILIES, HOSTS, PROGRAMS

from hyperkube.hookspecs.base import Plugin
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.failure_place import place_of
from hyperkube.plugin.flags import plugin_flags
from hyperkube.plugin.loader import PROJECT, PluginLoadFailed, check_hook_api, installed, load_entry

_COST = """
import sys, time
import hyperkube.plugin, hyperkube.hookspecs, {specification}
before, start = len(sys.modules), time.perf_counter()
import {module}
print(round((time.perf_counter() - start) * 1000), len(sys.modules) - before)
"""


class Level(StrEnum):
    """How a finding is to be taken."""

    FINE = "ok"
    NOTE = "note"
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says of one plugin."""

    plugin: str
    check: str
    level: Level
    text: str


Check = Callable[[str, EntryPoint], Iterator[tuple[Level, str]]]


def check_import(family: str, entry: EntryPoint) -> Iterator[tuple[Level, str]]:
    """Import it, and look whether it is what the family's hosts expect."""
    try:
        check_hook_api(family, entry)
        found = load_entry(family, entry)
    except PluginLoadFailed as error:
        yield Level.WRONG, " ".join(str(error).split())
        return
    if family in PROGRAMS:
        module, _, name = PROGRAMS[family].partition(":")
        if not isinstance(found, getattr(importlib.import_module(module), name)):
            yield Level.WRONG, f"{entry.value} must be a {PROGRAMS[family].replace(':', '.')}, not {found!r}"
            return
    elif not (isinstance(found, type) and issubclass(found, Plugin)):
        yield Level.WRONG, f"{entry.value} must be a class derived from hyperkube.plugin.Plugin, not {found!r}"
        return
    yield Level.FINE, f"{entry.value} ({inspect.getsourcefile(found) if isinstance(found, type) else entry.module})"


def check_hooks(family: str, entry: EntryPoint) -> Iterator[tuple[Level, str]]:
    """Compare its hooks with the family's, name by name and argument by argument."""
    if family in PROGRAMS:
        return
    found = load_entry(family, entry)
    specifications = importlib.import_module(FAMILIES[family])
    if family in BASES:
        yield _base(found, getattr(specifications, BASES[family]))
        return
    known = {name: spec for name, spec in vars(specifications).items() if getattr(spec, f"{PROJECT}_spec", None)}
    marked = []
    for name in dir(found):
        is_marked = bool(getattr(getattr(found, name, None), f"{PROJECT}_impl", None))
        if is_marked and name not in known:
            yield Level.WRONG, f"no hook {name!r} ({known_names(name, known, 'hooks of this family')})"
        elif name in known and not is_marked:
            yield Level.WRONG, f"{name!r} has the name of a hook but is not marked with @hookimpl"
        elif is_marked:
            marked.append(name)
            yield from _arguments(name, known[name], getattr(found, name))
    if not marked:
        yield Level.WRONG, f"it has no hook of its family ({', '.join(sorted(known))})"
    else:
        yield Level.FINE, ", ".join(sorted(marked))


def _base(found: type, base: type) -> tuple[Level, str]:
    """Return whether a class derives from the one of its family, and which methods it adds to that."""
    if not issubclass(found, base):
        return Level.WRONG, f"{found.__name__} must derive from {base.__module__}.{base.__name__}"
    if missing := [name for name in base.__annotations__ if not hasattr(found, name)]:
        return Level.WRONG, f"{found.__name__} does not say its {', '.join(missing)}"
    return Level.FINE, ", ".join(sorted(name for name in vars(found) if name[0] != "_" and callable(vars(found)[name])))


def _arguments(name: str, spec: Any, implementation: Any) -> Iterator[tuple[Level, str]]:
    wanted = list(inspect.signature(spec).parameters)
    for parameter in inspect.signature(implementation).parameters.values():
        if parameter.name != "self" and parameter.name not in wanted and parameter.default is parameter.empty:
            yield Level.WRONG, f"{name}() takes {parameter.name!r}, which the hook does not have ({', '.join(wanted)})"


def check_flags(family: str, entry: EntryPoint) -> Iterator[tuple[Level, str]]:
    """Read the flags that it brings, and look whether another plugin claims one of them."""
    host = HOSTS.get(family)
    if host is None:
        return
    try:
        found = plugin_flags(host, (family,))
    except UsageError as error:
        if f"{entry.name!r}" in str(error):
            yield Level.WRONG, str(error)
        return
    names = [flag.name for each in found if each.name == entry.name for flag in each.flags]
    if names:
        yield Level.FINE, ", ".join(f"--{name}" for name in names)


def check_start(family: str, entry: EntryPoint) -> Iterator[tuple[Level, str]]:
    """Measure its import in an interpreter of its own: a server that uses it starts later by that."""
    specification = FAMILIES.get(family, "hyperkube.command.main")
    script = _COST.format(specification=specification, module=entry.module)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        yield Level.WRONG, (done.stderr.strip().splitlines() or ["the interpreter died"])[-1]
        return
    milliseconds, modules = done.stdout.split()[-2:]
    yield Level.FINE, f"{milliseconds} ms and {modules} modules more than without it"


CHECKS: tuple[tuple[str, Check], ...] = (
    ("import", check_import),
    ("hooks", check_hooks),
    ("flags", check_flags),
    ("start", check_start),
)


def findings(family: str, entry: EntryPoint) -> Iterator[Finding]:
    """Run the checks on one plugin; after an import that failed there is nothing more to look at."""
    for name, check in CHECKS:
        try:
            found = list(check(family, entry))
        except Exception as error:  # noqa: BLE001  the plugin's own code may raise anything, and that is the finding
            found = [(Level.WRONG, f"{error!r}{place_of(error, entry.module)}")]
        yield from (Finding(f"{family} {entry.name}", name, level, text) for level, text in found)
        if name == "import" and any(level is Level.WRONG for level, _ in found):
            return


def plugins_of(distribution: str) -> list[tuple[str, EntryPoint]]:
    """Return the plugins of a distribution with their families.

    Raises:
        UsageError: it brings none, or two distributions bring one of the same name.
    """
    wanted = _canonical(distribution)
    families = (*FAMILIES, *PROGRAMS)
    found = [
        (family, entry)
        for family in families
        for _, entry in sorted(installed(family).items())
        if entry.dist is not None and _canonical(entry.dist.name) == wanted
    ]
    if not found:
        known = {entry.dist.name for family in families for entry in installed(family).values() if entry.dist}
        others = sorted(name for name in known if not name.startswith(f"{PROJECT}-"))
        raise UsageError(
            f"no installed distribution {distribution!r} brings a plugin ({known_names(distribution, others)}):"
            f" install it first, as with pip install -e FOLDER"
        )
    return found


def foreign_distributions() -> Sequence[str]:
    """Return the distributions with plugins that are not part of hyperkube."""
    names = {entry.dist.name for family in (*FAMILIES, *PROGRAMS) for entry in installed(family).values() if entry.dist}
    return sorted(name for name in names if not name.startswith(f"{PROJECT}-"))


def _canonical(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
