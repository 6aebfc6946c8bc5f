"""Which installed plugins come from a folder, and which servers a change of its files concerns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.import_path import import_path
from hyperkube.plugin.loader import installed, installed_families

ADDONS = "addons"
SERVERS = MappingProxyType(
    {
        "addon": (ADDONS,),
        "admission": ("apiserver",),
        "api": ("apiserver",),
        "authn": ("apiserver",),
        "authz": ("apiserver",),
        "cloud": ("controller-manager",),
        "controller": ("controller-manager",),
        "csi": ("controller-manager", "kubelet"),
        "network": ("kubelet",),
        "proxier": ("proxy",),
        "runtime": ("kubelet",),
        "scheduler": ("scheduler",),
        "storage": ("apiserver",),
        "volume": ("controller-manager", "kubelet"),
    }
)
"""Family → the parts of a local cluster that load its plugins. Subcommands and servers are programs of their own."""
_ORDER = ("apiserver", "controller-manager", "scheduler", "proxy", "kubelet", ADDONS)
_NOT_SOURCES = {"tests", "build", "dist", "node_modules", "site-packages", "__pycache__"}
_AT_START = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class WatchedPlugin:
    """An installed plugin that is imported from the watched folder; `place` is the folder of it on the import path."""

    family: str
    entry: EntryPoint
    place: Path


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a change of files asks for: plugins to load anew, servers to start anew, and what cannot be taken up."""

    plugins: tuple[WatchedPlugin, ...] = ()
    servers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def plugins_in(folder: Path) -> list[WatchedPlugin]:
    """Return the installed plugins whose modules are in a folder.

    Raises:
        UsageError: there are none.
    """
    wanted = folder.resolve()
    found = [
        WatchedPlugin(family, entry, place)
        for family in sorted(SERVERS.keys() & installed_families())
        for _, entry in sorted(installed(family).items())
        if (place := _place_of(entry.module)) is not None and place.is_relative_to(wanted)
    ]
    if not found:
        raise UsageError(
            f"no installed plugin of a server is imported from {str(folder)!r}:"
            f" install it from there first (pip install -e {folder})"
        )
    return found


def _place_of(module: str) -> Path | None:
    """Return the folder from which a module comes, as far as can be told without importing any of its code.

    What is on the import path may be a link: `./dev setup` makes one for each module of the workspace.
    """
    package, *rest = module.split(".")
    path = import_path()
    part = path.part_with(package, rest[0]) if rest else next(iter(path.folders_with(package)), None)
    if part is not None:
        file = Path(part, rest[0] if rest else package)
        return (file if file.is_dir() else file.with_name(f"{file.name}.py")).resolve().parent
    spec = find_spec(package)  # it is found in another way than by a folder of the import path
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None


def consequence(changed: Iterable[Path], folder: Path, plugins: Sequence[WatchedPlugin]) -> Consequence:
    """Decide what follows from changed files of a folder with these plugins.

    A file that stands beside none of them may be imported by all.
    """
    files = sorted(path for path in changed if _is_source(path.relative_to(folder)))
    remarks = [
        *(f"{path}: what is installed is read at the start; install it again, then start `up` anew"
          for path in files if path.name in _AT_START),
        *(f"{path}: flags are read at the start; end `up` and start it anew"
          for path in files if path.name.endswith("flags.toml")),
    ]  # fmt: skip
    concerned: list[WatchedPlugin] = []
    for path in files:
        if path.suffix == ".py" and path.name not in _AT_START:
            concerned += [plugin for plugin in plugins if path.is_relative_to(plugin.place)] or plugins
    servers = {server for plugin in concerned for server in SERVERS[plugin.family]}
    if any(path.name.endswith("rbac.toml") for path in files):
        servers.add("apiserver")  # it keeps the roles
    return Consequence(
        tuple(plugin for plugin in plugins if plugin in concerned),
        tuple(server for server in _ORDER if server in servers),
        tuple(remarks),
    )


def _is_source(path: Path) -> bool:
    return not _NOT_SOURCES.intersection(path.parts) and not any(part.startswith(".") for part in path.parts)
