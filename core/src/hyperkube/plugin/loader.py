"""Find, choose and wire plugins: stevedore answers which, pluggy calls.

Each host owns its own `PluginHost`: there is no process-wide manager, so two clusters in one process share nothing.
Only what is enabled is imported. Everything that can be wrong with a plugin is wrong at start, never later: a missing
name, two distributions claiming one name, a module that fails to import, a distribution written for another hook API,
a hook that no spec knows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint
from types import ModuleType
from typing import Any, Generic, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

import pluggy

from hyperkube.hookspecs import HOOK_API
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.machinery.collector_pause import collector_paused
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.entry_points import offers
from hyperkube.plugin.failure_place import place_of

PROJECT = "hyperkube"
HOOK_API_GROUP = f"{PROJECT}.hook_api"
"""Entry points whose names are the hook APIs that a distribution was written for; without one it is the first."""

Hooks = TypeVar("Hooks")
"""The protocol of a family's hooks, e.g. `hyperkube.hookspecs.admission.AdmissionHooks`."""

SeenPath: TypeAlias = tuple[tuple[str, int], ...]
"""The folders of the import path and when each changed last."""

_seen_path: ContextVar[SeenPath | None] = ContextVar("seen_path", default=None)


def brought_by(family: str) -> str:
    """Return which distributions bring plugins of a family, for a message where none is installed."""
    return f"they come with distributions 'hyperkube-{family}-NAME', all of them with 'hyperkube'"


class PluginNotFound(UsageError):
    """No installed distribution offers a plugin of that family and name."""

    def __init__(self, family: str, name: str, installed: Iterable[str]) -> None:
        known = [*installed]
        where = "" if known else f"; {brought_by(family)}"
        super().__init__(f"{family} plugin {name!r} is not installed ({known_names(name, known)}{where})")


class PluginConflict(UsageError):
    """Two installed distributions offer a plugin of the same family and name."""


class PluginLoadFailed(UsageError):
    """The plugin's module could not be imported, or the plugin could not be built."""


class WrongHookApi(PluginLoadFailed):
    """The plugin was written for hooks that differ from those of this core: install the release that fits it."""


def installed(family: str) -> dict[str, EntryPoint]:
    """Return the installed plugins of a family by name, importing none.

    Raises:
        PluginConflict: two distributions offer the same name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in _entry_points(state_of_path(), f"{PROJECT}.{family}"):
        other = found.get(entry.name)
        if other is not None and other.value != entry.value:
            names = sorted({distribution_of(entry), distribution_of(other)})
            raise PluginConflict(f"{family} plugin {entry.name!r} is offered twice, by {' and '.join(names)}")
        found[entry.name] = entry
    return found


def installed_families() -> frozenset[str]:
    """Return the families of which a plugin is installed."""
    return frozenset(group.removeprefix(f"{PROJECT}.") for group in _offers(state_of_path()) if group != HOOK_API_GROUP)


def hook_apis(distribution: str) -> frozenset[int]:
    """Return the hook APIs that an installed distribution was written for, as its metadata say.

    A distribution declares them as names of entry points in the group ``hyperkube.hook_api``::

        [project.entry-points."hyperkube.hook_api"]
        2 = "hyperkube_acme"

    One that declares none was written for the first.
    """
    entries = _entry_points(state_of_path(), HOOK_API_GROUP)
    declared = (entry.name for entry in entries if distribution_of(entry) == distribution)
    return frozenset(int(name) for name in declared if name.isdecimal()) or frozenset({1})


def check_hook_api(family: str, entry: EntryPoint) -> None:
    """Refuse a plugin whose distribution was written for another hook API.

    Pip does that when the distribution pins core; this holds for what was installed without its dependencies, too.

    Raises:
        WrongHookApi: it was; the message names both numbers.
    """
    written_for = hook_apis(distribution_of(entry))
    if HOOK_API not in written_for:
        numbers = " or ".join(map(str, sorted(written_for)))
        raise WrongHookApi(
            f"{family} plugin {entry.name!r} of {distribution_of(entry)} was written for hook API {numbers},"
            f" this hyperkube-core has hook API {HOOK_API}"
        )


@contextmanager
def one_look() -> Iterator[None]:
    """Take it that nothing is installed or removed in the context: who starts a host asks a dozen times."""
    token = _seen_path.set(state_of_path())
    try:
        yield
    finally:
        _seen_path.reset(token)


def state_of_path() -> SeenPath:
    """Return what changes when a distribution comes or goes: the folders of the import path and their times."""
    return _seen_path.get() or tuple((folder, _changed_at(folder)) for folder in sys.path)


def _changed_at(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 - a Path of each of 200 folders takes longer than this
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _offers(state: SeenPath) -> dict[str, list[Callable[[], Distribution]]]:
    return offers([folder for folder, _ in state], f"{PROJECT}.")


@lru_cache(maxsize=64)
def _entry_points(state: SeenPath, group: str) -> Sequence[EntryPoint]:
    found = [distribution().entry_points for distribution in _offers(state).get(group, ())]
    return [entry for entries in found for entry in entries if entry.group == group]


@lru_cache(maxsize=1024)
def _name_of(distribution: Distribution) -> str:
    """Return the name; `Distribution.name` parses the whole metadata for it, README and all, each time."""
    head = f"\n{distribution.read_text('METADATA') or ''}".partition("\n\n")[0]
    return head.partition("\nName: ")[2].partition("\n")[0] or distribution.name


def distribution_of(entry: EntryPoint) -> str:
    """Return the name of the distribution that brings an entry point; its value if that is not known."""
    return _name_of(entry.dist) if entry.dist is not None else entry.value


_HookOptions: TypeAlias = "pluggy.HookimplOpts | None"
_SpecOptions: TypeAlias = "pluggy.HookspecOpts | None"
_hooks_of: WeakKeyDictionary[type, dict[str, _HookOptions]] = WeakKeyDictionary()
_specs_of: WeakKeyDictionary[object, dict[str, _SpecOptions]] = WeakKeyDictionary()


class _Manager(pluggy.PluginManager):
    """Looks at each class and each module of specs once: a process may start hundreds of hosts with the same ones."""

    def __init__(self, specs: ModuleType) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(specs)
        self.known = frozenset(vars(self.hook))

    def parse_hookimpl_opts(self, plugin: object, name: str) -> _HookOptions:
        """Return how an attribute of a plugin is marked as a hook, None if it is not.

        Raises:
            ValueError: it is marked as a hook that there is not, or named like one and not marked: never called.
        """
        if name.startswith("__"):
            return None
        options = self._options_of(plugin, name)
        if options is not None and name not in self.known:
            raise ValueError(f"no hook {name!r} (hooks of this family: {', '.join(sorted(self.known))})")
        if options is None and name in self.known:
            raise ValueError(f"{name!r} has the name of a hook but is not marked with @hookimpl")
        return options

    def _options_of(self, plugin: object, name: str) -> _HookOptions:
        if name in getattr(plugin, "__dict__", ()):  # its own and not its class's
            return super().parse_hookimpl_opts(plugin, name)
        known = _hooks_of.get(type(plugin))
        if known is None:
            known = _hooks_of[type(plugin)] = {}
        if name not in known:
            known[name] = super().parse_hookimpl_opts(plugin, name)
        found = known[name]
        return found and found.copy()

    def parse_hookspec_opts(self, module_or_class: ModuleType | type, name: str) -> _SpecOptions:
        """Return how an attribute of a module is marked as a spec, None if it is not."""
        known = _specs_of.get(module_or_class)
        if known is None:
            known = _specs_of[module_or_class] = {}
        if name not in known:
            known[name] = super().parse_hookspec_opts(module_or_class, name)
        found = known[name]
        return found and found.copy()


class PluginHost(Generic[Hooks]):
    """The plugins that one host has enabled for one family, in order, and the hooks to call them by.

    The parameter is the protocol of the family's hooks: ``host: PluginHost[AdmissionHooks] = load("admission", ...)``.
    """

    def __init__(self, family: str, specs: ModuleType, plugins: Sequence[tuple[str, Plugin]]) -> None:
        """Register the plugins so that hooks call them in the order given.

        Raises:
            PluginLoadFailed: a plugin implements a hook that the family's specs do not have, or with other arguments,
                or has a method of a hook's name without the mark.
        """
        self.family = family
        self._plugins = tuple(plugins)
        self._caches = [
            informer
            for _, plugin in self._plugins
            if plugin.context.informers is not None
            for informer in plugin.context.informers.asked
        ]
        self._manager = _Manager(specs)
        for name, plugin in reversed(self._plugins):  # pluggy calls the last registered first
            try:
                self._manager.register(plugin, name)
            except (pluggy.PluginValidationError, ValueError) as error:
                where = f"{type(plugin).__module__}.{type(plugin).__qualname__}"
                raise PluginLoadFailed(f"{family} plugin {name!r} ({where}): {' '.join(str(error).split())}") from error

    @property
    def hook(self) -> Hooks:
        """The hooks of the family, as pluggy callers."""
        return cast("Hooks", self._manager.hook)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the enabled plugins, in order."""
        return tuple(name for name, _ in self._plugins)

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The enabled plugins, in order."""
        return tuple(plugin for _, plugin in self._plugins)

    def get(self, name: str) -> Plugin:
        """Return one enabled plugin.

        Raises:
            PluginNotFound: no plugin of that name is enabled.
        """
        for enabled, plugin in self._plugins:
            if enabled == name:
                return plugin
        raise PluginNotFound(self.family, name, self.names)

    def start(self) -> None:
        """Start all plugins in order; on a failure close them all and raise it."""
        try:
            for plugin in self.plugins:
                plugin.start()
        except BaseException:
            self.close()
            raise

    def ready(self) -> bool:
        """Tell whether the caches that plugins asked for when they were built are filled, and every plugin is ready.

        What a plugin asks for later, as requests or policies name it, is the plugin's own concern.
        """
        return all(cache.has_synced() for cache in self._caches) and all(plugin.ready() for plugin in self.plugins)

    def close(self) -> None:
        """Close all plugins, the last one first; the first failure is raised once all were closed."""
        failures: list[Exception] = []
        for plugin in reversed(self.plugins):
            try:
                plugin.close()
            except Exception as error:  # noqa: BLE001  one plugin's failure must not keep the others open
                failures.append(error)
        if failures:
            raise failures[0]


def load(
    family: str, names: Sequence[str], specs: ModuleType, context: Callable[[str], PluginContext]
) -> PluginHost[Any]:
    """Build the named plugins, in this order, each with the context that `context(name)` returns.

    The informers of the context are scoped, so that the host knows which ones each plugin asks for.

    Args:
        family: the family's word, e.g. ``admission``; the entry-point group is ``hyperkube.<family>``.
        names: entry-point names in calling order.
        specs: the module that holds the family's hook specs.
        context: makes the context of one plugin.

    Raises:
        PluginNotFound: a name that no installed distribution offers; the message lists the installed ones.
        PluginConflict: two distributions offer the same name, or a name is given twice.
        WrongHookApi: a plugin was written for other hooks than those of this core.
        PluginLoadFailed: a module fails to import, a plugin fails to build, or has a hook no spec knows.
    """
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        raise PluginConflict(f"{family} plugins named twice: {', '.join(twice)}")
    if not names:
        return PluginHost(family, specs, [])
    known = installed(family)
    if missing := [name for name in names if name not in known]:
        raise PluginNotFound(family, missing[0], known)
    classes = _import(family, names)
    built: list[tuple[str, Plugin]] = []
    for name in names:
        try:
            built.append((name, classes[name](_with_own_scope(context(name)))))
        except UsageError:
            raise
        except Exception as error:
            place = place_of(error, known[name].module)
            raise PluginLoadFailed(f"{family} plugin {name!r} could not be built: {error}{place}") from error
    return PluginHost(family, specs, built)


def _with_own_scope(context: PluginContext) -> PluginContext:
    return context if context.informers is None else replace(context, informers=context.informers.scoped())


def load_entry(family: str, entry: EntryPoint) -> Any:
    """Return what an entry point names, for families that are no hooks: servers, subcommands.

    Raises:
        WrongHookApi: it was written for another core.
        PluginLoadFailed: its module cannot be imported, or holds no such thing.
    """
    check_hook_api(family, entry)
    try:
        with collector_paused():
            return entry.load()
    except UsageError:
        raise
    except Exception as error:
        where = f"{family} {entry.name!r} of {distribution_of(entry)}"
        raise PluginLoadFailed(f"{where}: {error}{place_of(error, entry.module)}") from error


def _import(family: str, names: Sequence[str]) -> dict[str, type[Plugin]]:
    """Import the plugins' classes through stevedore; nothing else of the family is imported.

    Stevedore is told what is installed: it would scan everything again, or trust a file of its own from another day.
    """
    from stevedore import NamedExtensionManager

    class Chosen(NamedExtensionManager[Any]):
        def list_entry_points(self) -> list[EntryPoint]:
            return [known[name] for name in names]

    with one_look():  # a look at the path costs as much as all else that is checked of a plugin
        known = installed(family)
        for name in names:
            check_hook_api(family, known[name])

    def fail(_manager: object, entry: EntryPoint, error: BaseException) -> None:
        where = f"{family} plugin {entry.name!r} of {distribution_of(entry)}"
        raise PluginLoadFailed(f"{where}: {error}{place_of(error, entry.module)}") from error

    with collector_paused():
        manager: Any = Chosen(
            namespace=f"{PROJECT}.{family}", names=list(names), name_order=True, on_load_failure_callback=fail
        )
    return {extension.name: extension.plugin for extension in manager}
