"""Which plugins are on without being asked for, and in which order: data that the bundle distribution carries.

Distribution ``hyperkube`` (folder ``plugins/bundle/default``) holds ``plugins.toml``: a table per family with ``order``
and ``enabled``. Without the bundle nothing is said: hosts then enable what is installed, by name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import brought_by, installed


@cache
def _bundle() -> dict[str, dict[str, Any]]:
    """Read the bundle's file once: it is part of an installed distribution and does not change while we run."""
    tables: dict[str, dict[str, Any]] = {}
    for entry in installed("bundle").values():
        text = files(entry.value).joinpath("plugins.toml").read_text(encoding="utf-8")
        tables.update(tomllib.loads(text))
    return tables


def enabled_by_default(family: str, key: str = "enabled") -> tuple[str, ...] | None:
    """Return the names that are on unless a flag says otherwise, in order; None if the bundle does not say."""
    names = _bundle().get(family, {}).get(key)
    return tuple(names) if names is not None else None


def order(family: str) -> tuple[str, ...]:
    """Return the fixed order of a family's chain; empty if it has none."""
    return tuple(_bundle().get(family, {}).get("order", ()))


def acting_on(family: str = "controller") -> Mapping[str, str]:
    """Return by resource the plugin without which an object of it is a mere note; empty without the bundle."""
    return dict(_bundle().get(family, {}).get("acting_on", {}))


def arranged(family: str, names: Sequence[str]) -> list[str]:
    """Return `names` in the family's fixed order; others, in theirs, come where the bundle says, or last."""
    before = _bundle().get(family, {}).get("others_before", "")
    known = order(family)
    strangers = [name for name in names if name not in known]
    arranged_names: list[str] = []
    for name in known:
        if name == before:
            arranged_names += strangers
            strangers = []
        if name in names:
            arranged_names.append(name)
    return arranged_names + strangers


def default_names(family: str, key: str = "enabled") -> list[str]:
    """Return what a host enables when no flag says otherwise: the bundle's names as far as installed, or all.

    Args:
        family: the plugins' family.
        key: of the bundle's table; there may be another list for other clusters.
    """
    available = installed(family)
    enabled = enabled_by_default(family, key)
    if enabled is None:
        return sorted(available)
    return [name for name in enabled if name in available]


def default_plugin(family: str, flag: str) -> str:
    """Return the one plugin that a host uses when its flag names none: the bundle's, or the only one installed.

    Args:
        family: the plugins' family, of which the host loads one.
        flag: the flag that names the plugin.

    Raises:
        UsageError: there is none, or several among which nothing chooses.
    """
    default = _bundle().get(family, {}).get("default")
    names = default_names(family) if default is None else [default] if default in installed(family) else []
    if len(names) == 1 or (names and enabled_by_default(family)):
        return names[0]
    known = ", ".join(sorted(installed(family))) or f"none; {brought_by(family)}"
    raise UsageError(f"--{flag} must name a {family} plugin (installed: {known})")
