"""From a provider's name to the plugins that run: load exactly what the set names, once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from hyperkube_host.scheduler.flags import FAMILIES, FLAGS, NAME

from hyperkube.client.client import Client
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import scheduling as specs
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.pod_groups import (
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    PodGroupPostFilterPlugin,
)
from hyperkube.hookspecs.scheduling import (
    AlgorithmProvider,
    BindPlugin,
    FilterPlugin,
    FrameworkHandle,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    QueueSortPlugin,
    ReservePlugin,
    SchedulingHooks,
    SchedulingPlugin,
    ScorePlugin,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginHost, PluginNotFound, load
from hyperkube.plugin.loader import installed, load_entry
from hyperkube.plugin.settings import PluginSettings

Point = TypeVar("Point")
FAMILY = "scheduler"


@dataclass(frozen=True, slots=True)
class Framework:
    """One set of plugins, loaded: what each extension point calls, in order."""

    provider: AlgorithmProvider
    host: PluginHost[SchedulingHooks]
    queue_sort: QueueSortPlugin
    pre_enqueue: tuple[tuple[str, PreEnqueuePlugin], ...]
    filters: tuple[tuple[str, FilterPlugin], ...]
    post_filters: tuple[tuple[str, PostFilterPlugin], ...]
    scores: tuple[tuple[str, ScorePlugin, int], ...]
    reserves: tuple[tuple[str, ReservePlugin], ...]
    permits: tuple[tuple[str, PermitPlugin], ...]
    pre_binds: tuple[tuple[str, PreBindPlugin], ...]
    binds: tuple[tuple[str, BindPlugin], ...]
    post_binds: tuple[tuple[str, PostBindPlugin], ...]
    placement_generators: tuple[tuple[str, PlacementGeneratePlugin], ...] = ()
    placement_scores: tuple[tuple[str, PlacementScorePlugin, int], ...] = ()
    group_post_filters: tuple[tuple[str, PodGroupPostFilterPlugin], ...] = ()


def plugin_class(name: str) -> type:
    """Return the class of an installed plugin, imported now.

    Raises:
        PluginNotFound: no installed plugin has that name; the message lists the installed ones.
        PluginLoadFailed: its module cannot be imported.
    """
    known = installed(FAMILY)
    if name not in known:
        raise PluginNotFound(FAMILY, name, known)
    found: type = load_entry(FAMILY, known[name])
    return found


def provider_named(name: str, context: PluginContext) -> AlgorithmProvider:
    """Return the set that an installed provider plugin offers under its own name.

    Raises:
        PluginNotFound: no installed plugin has that name; the message lists the installed ones.
        UsageError: the plugin offers no set of that name.
    """
    host = load(FAMILY, [name], specs, lambda _name: context)
    for offered in host.hook.scheduling_providers():
        for provider in offered:
            if provider.name == name:
                found: AlgorithmProvider = provider
                return found
    raise UsageError(f"scheduler plugin {name!r} is not an algorithm provider")


def new_framework(
    provider: AlgorithmProvider,
    *,
    client: Client,
    informers: InformerFactory,
    clock: Clock,
    options: Mapping[str, Any],
    gates: Mapping[str, bool],
    wake: Callable[[str], None] = lambda _change: None,
    pods: FrameworkHandle | None = None,
) -> Framework:
    """Load the plugins of a set and sort them by extension point.

    Args:
        provider: the set.
        client: the API.
        informers: shared caches.
        clock: the cluster's time.
        options: the scheduler's flags.
        gates: feature gates.
        wake: what plugins call when something changed that may help the pods they refused.
        pods: what plugins act on other pods with; None where nothing is bound.

    Raises:
        PluginNotFound: the set names a plugin that is not installed.
        UsageError: a plugin is named for an extension point that it does not implement.
    """
    settings = PluginSettings(NAME, FAMILIES, options, FLAGS)

    def context(name: str) -> PluginContext:
        return PluginContext(
            name=name,
            clock=clock,
            logger=logging.getLogger(f"hyperkube.scheduler.{name}"),
            gates=gates,
            settings=settings.of(FAMILY, name, provider.settings.get(name)),
            client=client,
            informers=informers,
        )

    host = load(FAMILY, provider.plugin_names(), specs, context)
    framework = _by_extension_point(provider, host)
    for plugin in host.plugins:  # only now: a set that is refused must not be told of events
        if isinstance(plugin, SchedulingPlugin):
            plugin.connect(wake)
            if pods is not None:
                plugin.set_handle(pods)
    return framework


def _by_extension_point(provider: AlgorithmProvider, host: PluginHost[SchedulingHooks]) -> Framework:
    def point(shape: type[Point], names: tuple[str, ...]) -> tuple[tuple[str, Point], ...]:
        found = []
        for name in names:
            plugin = host.get(name)
            if not isinstance(plugin, shape):
                raise UsageError(f"scheduler plugin {name!r} of provider {provider.name!r} is no {shape.__name__}")
            found.append((name, plugin))
        return tuple(found)

    for name, weight in (*provider.scores.items(), *provider.placement_scores.items()):
        if weight < 1:
            raise UsageError(f"weight {weight} of score plugin {name!r} must be positive")
    scored = point(ScorePlugin, tuple(provider.scores))
    ranked = point(PlacementScorePlugin, tuple(provider.placement_scores))
    post_filters = point(PostFilterPlugin, provider.post_filters)
    return Framework(
        provider=provider,
        host=host,
        queue_sort=point(QueueSortPlugin, (provider.queue_sort,))[0][1],
        pre_enqueue=point(PreEnqueuePlugin, provider.pre_enqueue),
        filters=point(FilterPlugin, provider.filters),
        post_filters=post_filters,
        scores=tuple((name, plugin, provider.scores[name]) for name, plugin in scored),
        reserves=point(ReservePlugin, provider.reserves),
        permits=point(PermitPlugin, provider.permits),
        pre_binds=point(PreBindPlugin, provider.pre_binds),
        binds=point(BindPlugin, provider.binds),
        post_binds=point(PostBindPlugin, provider.post_binds),
        placement_generators=point(PlacementGeneratePlugin, provider.placement_generators),
        placement_scores=tuple((name, plugin, provider.placement_scores[name]) for name, plugin in ranked),
        group_post_filters=tuple(
            (name, plugin) for name, plugin in post_filters if isinstance(plugin, PodGroupPostFilterPlugin)
        ),
    )
