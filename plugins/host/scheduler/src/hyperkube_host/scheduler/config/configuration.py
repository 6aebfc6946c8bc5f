"""KubeSchedulerConfiguration: from the file's profiles to the sets of plugins that run.

Every way to configure the scheduler ends in a `Configuration`. Source of the merging rules: kubernetes
``pkg/scheduler/apis/config/v1/default_plugins.go`` and ``pkg/scheduler/framework/runtime/framework.go``
(expandMultiPointPlugins).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from hyperkube_host.scheduler.config.plugin_data import PluginTables
from hyperkube_host.scheduler.config.validation import FIRST_BACKOFF, LONGEST_BACKOFF, validate

from hyperkube.hookspecs import pod_groups, scheduling
from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

GROUP = "kubescheduler.config.k8s.io"
VERSIONS = ("v1", "v1beta3", "v1beta2", "v1beta1")
DEFAULT_SCHEDULER = "default-scheduler"
POINTS: dict[str, tuple[str, type]] = {
    "queueSort": ("queue_sort", scheduling.QueueSortPlugin),
    "preEnqueue": ("pre_enqueue", scheduling.PreEnqueuePlugin),
    "filter": ("filters", scheduling.FilterPlugin),
    "postFilter": ("post_filters", scheduling.PostFilterPlugin),
    "score": ("scores", scheduling.ScorePlugin),
    "reserve": ("reserves", scheduling.ReservePlugin),
    "permit": ("permits", scheduling.PermitPlugin),
    "preBind": ("pre_binds", scheduling.PreBindPlugin),
    "bind": ("binds", scheduling.BindPlugin),
    "postBind": ("post_binds", scheduling.PostBindPlugin),
    "placementGenerate": ("placement_generators", pod_groups.PlacementGeneratePlugin),
    "placementScore": ("placement_scores", pod_groups.PlacementScorePlugin),
}
"""Name in the file → the set's field, and the class that a plugin must be."""
WEIGHTED = frozenset({"score", "placementScore"})
_MEANT_BY_OTHERS = {"preFilter", "preScore"}
"""Points that our plugins do not have apart: what they name is in filter and score."""

Shapes = Callable[[str], type]
"""From a plugin's name to its class; raises `UsageError` for a plugin that is not installed."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Profiles by scheduler name, and what holds for all of them."""

    profiles: Mapping[str, AlgorithmProvider]
    first_backoff_seconds: float = 1.0
    max_backoff_seconds: float = 10.0


def single(provider: AlgorithmProvider, scheduler_name: str) -> Configuration:
    """Return the configuration with one profile."""
    return Configuration({scheduler_name or DEFAULT_SCHEDULER: provider})


def from_object(obj: Object, default: AlgorithmProvider, shapes: Shapes) -> Configuration:
    """Read a KubeSchedulerConfiguration.

    Raises:
        UsageError: with the field and what is wrong with it.
    """
    version = str(obj.get("apiVersion", ""))
    if obj.get("kind") != "KubeSchedulerConfiguration" or version not in {f"{GROUP}/{each}" for each in VERSIONS}:
        wanted = f"kind 'KubeSchedulerConfiguration' of '{GROUP}/v1'"
        raise UsageError(f"kind {obj.get('kind')!r} of apiVersion {version!r} is not {wanted}")
    validate(obj)
    if version != f"{GROUP}/{VERSIONS[0]}":
        weights = PluginTables.read().default_weights(version.removeprefix(f"{GROUP}/"))
        default = replace(default, scores={**default.scores, **weights})
    profiles: dict[str, AlgorithmProvider] = {}
    for index, row in enumerate(obj.get("profiles") or [{}]):
        name = row.get("schedulerName") or DEFAULT_SCHEDULER
        if name in profiles:
            raise UsageError(f"profiles[{index}].schedulerName: duplicate value {name!r}")
        profiles[name] = _profile(row, f"profiles[{index}]", default, shapes)
    if obj.get("extenders"):
        rows = obj["extenders"]
        profiles = {name: with_extenders(provider, rows) for name, provider in profiles.items()}
    first, longest = obj.get("podInitialBackoffSeconds"), obj.get("podMaxBackoffSeconds")
    return Configuration(
        profiles,
        float(FIRST_BACKOFF if first is None else first),
        float(LONGEST_BACKOFF if longest is None else longest),
    )


def with_extenders(provider: AlgorithmProvider, rows: list[Object]) -> AlgorithmProvider:
    """Return the set with HTTP extenders: they filter and score last, and one may bind first."""
    tables = PluginTables.read()
    plugin, rows_key = tables.extenders()
    scores = dict(provider.scores)
    if any(row.get("prioritizeVerb") for row in rows):
        scores[plugin] = 1
    binds = (plugin, *provider.binds) if any(row.get("bindVerb") for row in rows) else provider.binds
    settings = {**provider.settings, plugin: {rows_key: rows}}
    ignored = [
        each["name"] for row in rows for each in row.get("managedResources") or () if each.get("ignoredByScheduler")
    ]
    if ignored:
        for name, key in tables.ignored_resources_settings().items():
            known = settings.get(name, {})
            settings[name] = {**known, key: [*(known.get(key) or ()), *ignored]}
    return replace(provider, filters=(*provider.filters, plugin), scores=scores, binds=binds, settings=settings)


def to_object(configuration: Configuration) -> Object:
    """Return the file that `from_object` reads as this configuration, whatever the default provider is."""
    profiles: list[Object] = []
    for name, provider in configuration.profiles.items():
        plugins: Object = {}
        for point, (attribute, _) in POINTS.items():
            value = getattr(provider, attribute)
            names = [name for name in ((value,) if isinstance(value, str) else value) if name]
            enabled = [
                {"name": each, "weight": value[each]} if isinstance(value, Mapping) else {"name": each}
                for each in names
            ]
            plugins[point] = {"disabled": [{"name": "*"}], "enabled": enabled}
        row: Object = {"schedulerName": name, "plugins": plugins}
        if provider.settings:
            row["pluginConfig"] = [
                {"name": plugin, "args": dict(args)} for plugin, args in sorted(provider.settings.items())
            ]
        profiles.append(row)
    return {
        "apiVersion": f"{GROUP}/{VERSIONS[0]}",
        "kind": "KubeSchedulerConfiguration",
        "podInitialBackoffSeconds": configuration.first_backoff_seconds,
        "podMaxBackoffSeconds": configuration.max_backoff_seconds,
        "profiles": profiles,
    }


@dataclass(slots=True)
class _Sets:
    """A profile while it is put together: point → plugin → weight (0 where weights mean nothing)."""

    points: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, provider: AlgorithmProvider) -> _Sets:
        sets: dict[str, dict[str, int]] = {}
        for point, (attribute, _) in POINTS.items():
            value = getattr(provider, attribute)
            names = (value,) if isinstance(value, str) else value
            sets[point] = {name: value[name] if isinstance(value, Mapping) else 0 for name in names}
        return cls(sets)

    def disable(self, point: str, name: str) -> None:
        if name == "*":
            self.points[point] = {}
        else:
            self.points[point].pop(name, None)

    def provider(self, name: str, settings: Mapping[str, Mapping[str, Any]]) -> AlgorithmProvider:
        fields: dict[str, Any] = {}
        for point, (attribute, _) in POINTS.items():
            chosen = self.points[point]
            fields[attribute] = chosen if point in WEIGHTED else tuple(chosen)
        sorts = fields["queue_sort"]
        if len(sorts) != 1:
            raise UsageError(f"plugins.queueSort: exactly one must be enabled, not {len(sorts)}")
        fields["queue_sort"] = sorts[0]
        if not fields["binds"]:
            raise UsageError("plugins.bind: at least one must be enabled")
        return AlgorithmProvider(name=name, settings=settings, **fields)


def _profile(row: Object, path: str, default: AlgorithmProvider, shapes: Shapes) -> AlgorithmProvider:
    sets = _Sets.of(default)
    plugins = row.get("plugins") or {}
    unknown = sorted(set(plugins) - {*POINTS, *_MEANT_BY_OTHERS, "multiPoint"})
    if unknown:
        known = ", ".join(["multiPoint", *POINTS])
        raise UsageError(f"{path}.plugins.{unknown[0]}: unknown extension point (known: {known})")
    _multi_point(sets, plugins.get("multiPoint") or {}, f"{path}.plugins.multiPoint", shapes)
    for point in POINTS:
        _point(sets, point, plugins.get(point) or {}, f"{path}.plugins.{point}", shapes)
    settings = dict(default.settings)
    for index, given in enumerate(row.get("pluginConfig") or ()):
        if not given.get("name"):
            raise UsageError(f"{path}.pluginConfig[{index}].name: required value")
        shapes(given["name"])
        args = {key: value for key, value in (given.get("args") or {}).items() if key not in {"apiVersion", "kind"}}
        settings[given["name"]] = args
    return sets.provider(row.get("schedulerName") or DEFAULT_SCHEDULER, settings)


def _multi_point(sets: _Sets, wanted: Object, path: str, shapes: Shapes) -> None:
    for each in wanted.get("disabled") or ():
        for point in POINTS:
            sets.disable(point, each["name"])
    for index, each in enumerate(wanted.get("enabled") or ()):
        shape = shapes(each["name"])
        points = [point for point, (_, needed) in POINTS.items() if issubclass(shape, needed)]
        if not points:
            raise UsageError(f"{path}.enabled[{index}]: plugin {each['name']!r} takes part in no extension point")
        for point in points:
            if point == "queueSort":
                sets.points[point] = {}
            sets.points[point][each["name"]] = _weight(each, f"{path}.enabled[{index}]", point)


def _point(sets: _Sets, point: str, wanted: Object, path: str, shapes: Shapes) -> None:
    for each in wanted.get("disabled") or ():
        sets.disable(point, each["name"])
    for index, each in enumerate(wanted.get("enabled") or ()):
        at = f"{path}.enabled[{index}]"
        if not issubclass(shapes(each["name"]), POINTS[point][1]):
            raise UsageError(f"{at}: plugin {each['name']!r} does not extend {point} plugin")
        if point == "queueSort":
            sets.points[point] = {}
        sets.points[point][each["name"]] = _weight(each, at, point)


def _weight(row: Object, path: str, point: str) -> int:
    """Return a score plugin's weight; one that is named without a weight weighs 1, whatever it weighed before."""
    if point not in WEIGHTED:
        return 0
    weight = row.get("weight", 0)
    if not isinstance(weight, int) or weight < 0:
        raise UsageError(f"{path}.weight: invalid value {weight!r}: must be a positive number")
    return weight or 1
