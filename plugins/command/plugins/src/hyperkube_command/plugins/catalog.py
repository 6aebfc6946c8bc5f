"""Which plugins are installed, by whom they are brought, and which hooks each implements."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from hyperkube.machinery.dataclass import dataclass
from hyperkube.plugin.defaults import enabled_by_default
from hyperkube.plugin.loader import PROJECT, PluginLoadFailed, load_entry

SPECIFICATIONS = {
    "addon": "hyperkube.hookspecs.addon",
    "admission": "hyperkube.hookspecs.admission",
    "api": "hyperkube.hookspecs.api",
    "authn": "hyperkube.hookspecs.authn",
    "authz": "hyperkube.hookspecs.authz",
    "cloud": "hyperkube.hookspecs.cloud",
    "controller": "hyperkube.hookspecs.controller",
    "network": "hyperkube.hookspecs.network",
    "proxier": "hyperkube.hookspecs.proxier",
    "runtime": "hyperkube.hookspecs.runtime",
    "scheduler": "hyperkube.hookspecs.scheduling",
    "storage": "hyperkube.hookspecs.storage",
    "volume": "hyperkube.hookspecs.volume",
}
"""Family → the module with its hook specs."""
FAMILIES = {
    **SPECIFICATIONS,
    "cloud_controller": "hyperkube.hookspecs.controller",
    "csi": "hyperkube_lib.csi.driver",
}
"""All families with hooks or a class of their own: also those whose hook specs are another family's, or a library's."""
BASES = {"csi": "CsiDriver"}
"""Families without hooks → the class of their module that plugins derive from."""
PROGRAMS = {"command": "click.core:Command", "server": "hyperkube.command.server_command:ServerCommand"}
"""Families of programs → what an entry point must name."""
HOSTS: Mapping[str, str] = {
    "admission": "kube-apiserver",
    "api": "kube-apiserver",
    "authn": "kube-apiserver",
    "authz": "kube-apiserver",
    "storage": "kube-apiserver",
    "controller": "kube-controller-manager",
    "cloud": "kube-controller-manager",
    "csi": "kube-controller-manager",
    "scheduler": "kube-scheduler",
    "network": "kubelet",
    "runtime": "kubelet",
    "volume": "kubelet",
    "proxier": "kube-proxy",
}
"""Family → the server that loads it; of several the first to look at. They are those that `hyperkube up` runs."""


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """One installed plugin; `enabled` tells whether `hyperkube up` uses it without being asked."""

    family: str
    name: str
    distribution: str
    version: str
    enabled: bool
    hooks: tuple[str, ...] = ()
    problem: str = ""
    """Why it cannot be loaded, in one line; empty if it can, or was not tried."""


def entries(family: str | None = None, *, programs: bool = False) -> list[tuple[str, EntryPoint]]:
    """Return the installed plugins with their families, by family and name: one look at the metadata of all.

    Servers and subcommands are among them if their family is asked for, or with `programs`.
    """
    known = entry_points()
    families = sorted({*FAMILIES, *(PROGRAMS if programs else ())}) if family is None else [family]
    return [
        (word, entry)
        for word in families
        for entry in sorted(known.select(group=f"{PROJECT}.{word}"), key=lambda entry: entry.name)
    ]


def catalog(family: str | None = None, *, hooks: bool = False) -> list[InstalledPlugin]:
    """Return the installed plugins by family and name; with `hooks` each is imported to read its hooks.

    A plugin that cannot be imported is listed with the reason.
    """
    return [row_of(word, entry, hooks=hooks) for word, entry in entries(family)]


def row_of(family: str, entry: EntryPoint, *, hooks: bool = False) -> InstalledPlugin:
    """Return what there is to say of a plugin; see `catalog`."""
    enabled = enabled_by_default(family)
    distribution, version = (entry.dist.name, entry.dist.version) if entry.dist else ("", "")
    implemented, problem = _hooks(family, entry) if hooks else ((), "")
    is_on = entry.name in HOSTS.values() if family == "server" else enabled is None or entry.name in enabled
    return InstalledPlugin(family, entry.name, distribution, version, is_on, implemented, problem)


def _hooks(family: str, entry: EntryPoint) -> tuple[tuple[str, ...], str]:
    """Return the names of a plugin's hooks, or none and why it cannot be imported."""
    try:
        plugin = load_entry(family, entry)
    except PluginLoadFailed as error:
        return (), " ".join(str(error).split())
    marked = (name for name in dir(plugin) if getattr(getattr(plugin, name, None), f"{PROJECT}_impl", None))
    return tuple(sorted(marked)), ""
