"""What each plugin of a host is configured with: its flags, its table in ``--plugin-config``, its family's own file.

The later wins: the defaults of the plugin's flags, its table in ``--plugin-config``, its table in the configuration
file of its family (AdmissionConfiguration, KubeSchedulerConfiguration), and the flags on the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.defaults import arranged
from hyperkube.plugin.flags import Flag, PluginFlags, given_names, plugin_flags, read_value, setting_of
from hyperkube.plugin.loader import installed, installed_families

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""Family and name of a plugin → its settings."""


class PluginSettings:
    """The settings of all plugins that one host may load.

    Args:
        host: the host, as flags name it: ``kube-apiserver``.
        families: the families of the plugins that it loads.
        values: the values of its flags, its own and its plugins'; a missing one has its default. In other
            mappings than `FlagValues` all that are there count as given.
        own: the host's own flags, by which the values that plugins use are read; without them these are as they are.

    Raises:
        UsageError: the file of ``--plugin-config`` is wrong, or a plugin's flags are.
    """

    def __init__(self, host: str, families: Sequence[str], values: Mapping[str, Any], own: Iterable[Flag] = ()) -> None:
        self._values = values
        self._own = {flag.name: flag for flag in own}
        self._given = given_names(values)
        self._plugins = {(flags.family, flags.name): flags for flags in plugin_flags(host, families)}
        self._file = str(values.get("plugin-config") or "")
        self._tables: Tables = read_plugin_config(self._file) if self._file else {}
        self._asked: set[tuple[str, str]] = set()

    def of(self, family: str, name: str, table: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return one plugin's settings as plain data.

        Args:
            family: the plugin's family.
            name: its entry point.
            table: what the configuration file of its family says.

        Raises:
            UsageError: a table has text where a flag's value is expected, and it cannot be read.
        """
        self._asked.add((family, name))
        plugin = self._plugins.get((family, name))
        configured = self._tables.get((family, name), {})
        if plugin is None:
            return {**configured, **(table or {})}
        defaults, given = self._from_flags(plugin)
        where = f"plugin {name!r}"
        settings = defaults | _read(plugin, configured, f"{self._file}: {where}") | _read(plugin, table or {}, where)
        return settings | given

    def switched_on(self, family: str) -> list[str]:
        """Return the plugins of a family that are switched on by a flag which has a value, in the bundle's order."""
        on = [
            plugin.name
            for plugin in self._plugins.values()
            if plugin.family == family and any(self._value(plugin, switch) for switch in plugin.switches)
        ]
        return arranged(family, on)

    def without_effect(self) -> list[str]:
        """Return a line per given flag whose plugin is installed, and was not asked for its settings."""
        lines = []
        for key, plugin in sorted(self._plugins.items()):
            if key in self._asked:
                continue
            lines += [
                f"--{flag.name} has no effect: {plugin.family} plugin {plugin.name!r} is not enabled"
                for flag in plugin.flags
                if flag.name in self._given and not flag.idle and not self._brought_by_other(flag)
            ]
        return lines

    def _brought_by_other(self, flag: Flag) -> bool:
        return any(flag in self._plugins[key].flags for key in self._asked if key in self._plugins)

    def _from_flags(self, plugin: PluginFlags) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the settings that are defaults, and those that were given."""
        defaults: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for flag in plugin.flags:
            if not flag.idle:
                target = given if flag.name in self._given else defaults
                target[flag.setting] = self._value(plugin, flag.name)
        for name in plugin.uses:
            if name in self._values:
                (given if name in self._given else defaults)[setting_of(name)] = self._value(plugin, name)
        return defaults, given

    def _value(self, plugin: PluginFlags, name: str) -> Any:
        own = next((flag for flag in plugin.flags if flag.name == name), None)
        if name not in self._values:
            return None if own is None else own.default_value
        flag = own or self._own.get(name)
        return self._values[name] if flag is None else read_value(flag, name, self._values[name])


def _read(plugin: PluginFlags, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a table with the texts read as the flags of the same settings are: ``10s`` in a file means ten seconds."""
    flags = {flag.setting: flag for flag in plugin.flags}
    found = dict(table)
    for key, value in table.items():
        if isinstance(value, str) and key in flags:
            try:
                found[key] = flags[key].kind.convert(value)
            except ValueError as error:
                raise UsageError(f"{where}: {key}: {error}") from error
    return found


def read_plugin_config(path: str) -> Tables:
    """Return the tables of a ``--plugin-config`` file, TOML if it is named so, else YAML.

    A table is named ``admission.NAME``, or stands within a table ``admission``.

    Raises:
        UsageError: the file cannot be read, or names a plugin that is not installed.
    """
    try:
        data = Path(path).read_bytes()
        found = tomllib.loads(data.decode()) if path.endswith(".toml") else _yaml(data)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read --plugin-config={path}: {' '.join(str(error).split())}") from error
    if not isinstance(found, Mapping):
        raise UsageError(f"--plugin-config={path} holds no tables of settings")
    tables: dict[tuple[str, str], Mapping[str, Any]] = {}
    for family, name, table in _entries(found):
        _check_installed(path, family, name)
        if not isinstance(table, Mapping | None):
            raise UsageError(f"{path}: settings of {family}.{name} must be a table, not {table!r}")
        tables[family, name] = {**tables.get((family, name), {}), **(table or {})}
    return tables


def _entries(found: Mapping[Any, Any]) -> Iterable[tuple[str, str, Any]]:
    for key, value in found.items():
        family, dot, name = str(key).partition(".")
        if dot:
            yield family, name, value
        elif isinstance(value, Mapping):
            yield from ((family, str(inner), table) for inner, table in value.items())
        else:
            yield family, "", value


def _check_installed(path: str, family: str, name: str) -> None:
    families = installed_families()
    if family not in families:
        raise UsageError(f"{path}: unknown plugin family {family!r} ({known_names(family, families, 'known')})")
    if name not in installed(family):
        known = known_names(name, installed(family))
        raise UsageError(f"{path}: {family} plugin {name!r} is not installed ({known})")


def _yaml(data: bytes) -> Any:
    import yaml

    try:
        return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}  # noqa: S506  both are safe
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
