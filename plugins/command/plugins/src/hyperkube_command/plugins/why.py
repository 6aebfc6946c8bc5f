"""Why a plugin is used by `hyperkube up`, or is not, and by which flag that is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube_command.plugins.catalog import HOSTS, InstalledPlugin

from hyperkube.command.main import server_command
from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.defaults import default_plugin, enabled_by_default, order
from hyperkube.plugin.flags import PluginFlags, plugin_flags
from hyperkube.plugin.loader import PluginLoadFailed, installed

ONE_OF: Mapping[str, str] = {
    "cloud": "cloud-provider",
    "network": "network-plugin",
    "proxier": "proxy-mode",
    "runtime": "container-runtime",
    "storage": "storage-backend",
}
"""Families of which a server uses one plugin → the flag that names it."""
NAMED_BY_UP: Mapping[str, str] = {"storage": "sqlite"}
"""Family → the plugin that `hyperkube up` names itself in place of the server's default."""
ON = {
    "admission": "--enable-admission-plugins={name} (or a place in --admission-control)",
    "authn": "--authentication-plugins={name}",
    "authz": "{name} in --authorization-mode",
    "controller": "--controllers=*,{name}",
    "scheduler": "an algorithm provider (--algorithm-provider) or a profile (--config) that has it",
}
OFF = {
    "admission": "--disable-admission-plugins={name}",
    "api": "--runtime-config=GROUP/VERSION=false",
    "authz": "an --authorization-mode without {name}",
    "controller": "--controllers=*,-{name}",
    "scheduler": "an algorithm provider (--algorithm-provider) or a profile (--config) without it",
}


def reasons(row: InstalledPlugin) -> list[str]:
    """Return sentences: whether it is used, who says so, and what changes that."""
    if row.family == "server":
        return _of_server(row)
    if row.family == "command":
        return [f"used: hyperkube {row.name} runs it, hyperkube {row.name} --help has its options"]
    if row.family in ONE_OF:
        return _one_of(row)
    by_bundle = enabled_by_default(row.family)
    switches = switches_of(row)
    if row.enabled and switches:
        told = [f"used if {' or '.join(f'--{flag}' for flag in switches)} is given"]
    elif row.enabled:
        said = "the bundle 'hyperkube' enables it" if by_bundle else "what is installed of this family is used"
        told = [f"used: {said}"]
    else:
        told = ["not used: the bundle 'hyperkube' does not enable it"]
    if row.name in (chain := order(row.family)):
        told.append(f"place {chain.index(row.name) + 1} of {len(chain)} in the chain of its family")
    if switches and not row.enabled:
        told.append(f"switched on by {' or '.join(f'--{flag}' for flag in switches)}")
    change = (OFF if row.enabled else ON).get(row.family)
    if change and not (switches and not row.enabled):
        told.append(f"switched {'off' if row.enabled else 'on'} by {change.format(name=row.name)}")
    return told


def _of_server(row: InstalledPlugin) -> list[str]:
    word = row.name.removeprefix("kube-")
    own = f"hyperkube {word}" + (f", or {row.name}," if row.name != word else "") + " runs it on its own"
    told = [f"used: hyperkube up runs it; {own}" if row.enabled else f"not used by hyperkube up; {own}"]
    try:
        command = _server(row)
        flags = len(command.all_flags())
        brought = flags - len(command.flags)
    except UsageError as error:
        return [*told, f"its flags cannot be read: {error}"]
    told.append(f"{flags} flags{f', {brought} of them of plugins' if brought else ''}: {row.name} --help")
    if command.families:
        told.append(f"loads plugins of {', '.join(sorted(command.families))}")
    return told


def _server(row: InstalledPlugin) -> ServerCommand:
    """Return the command line of a server.

    Raises:
        PluginLoadFailed: it cannot be imported.
    """
    return server_command(row.name.removeprefix("kube-"))


def _one_of(row: InstalledPlugin) -> list[str]:
    flag = ONE_OF[row.family]
    default = _default(row.family, flag)
    if row.name == NAMED_BY_UP.get(row.family):
        return [f"used by hyperkube up, which names it by --{flag}", f"{HOSTS[row.family]} alone takes it when told so"]
    if row.name == default:
        others = sorted(installed(row.family).keys() - {row.name})
        instead = f"; --{flag}={'|'.join(others)} chooses another" if others else ""
        return [f"used: {HOSTS[row.family]} takes it unless --{flag} names another{instead}"]
    return [f"not used unless --{flag}={row.name} names it" + (f"; the default is {default!r}" if default else "")]


def _default(family: str, flag: str) -> str:
    """Return the plugin that is taken where no flag names one; empty if there is none."""
    try:
        return "" if family == "cloud" else default_plugin(family, flag)
    except UsageError:
        return ""


def switches_of(row: InstalledPlugin) -> Sequence[str]:
    """Return the flags that switch a plugin on."""
    return next((each.switches for each in _flags(row)), ())


def flags_of(row: InstalledPlugin) -> list[tuple[str, str]]:
    """Return the flags that a plugin brings, or that a server has without its plugins, with their help."""
    if row.family == "server":
        try:
            return [(flag.name, flag.help) for flag in _server(row).flags]
        except PluginLoadFailed:
            return []
    return [(flag.name, flag.help) for each in _flags(row) for flag in each.flags]


def _flags(row: InstalledPlugin) -> list[PluginFlags]:
    host = HOSTS.get(row.family)
    found = plugin_flags(host, (row.family,)) if host else ()
    return [each for each in found if each.name == row.name]
