"""What plugins answer to in older configurations: names of 1.x predicates and priorities, arguments, fields.

A plugin says it in ``scheduling.toml`` beside itself (`hyperkube.plugin.data_files`), in a table of its name::

    [NodePorts]
    predicates = { GeneralPredicates = 32, PodFitsHostPorts = 50, PodFitsPorts = 60 }

Source of what ours say: kubernetes 1.20 ``pkg/scheduler/framework/plugins/legacy_registry.go``, 1.15
``pkg/scheduler/algorithmprovider/defaults/defaults.go``; names that 1.20 knew no more are those of 1.5 to 1.16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any

from hyperkube_host.scheduler.framework.runtime import FAMILY

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.data_files import read_data
from hyperkube.plugin.loader import installed, one_look

FILE = "scheduling"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginData:
    """One plugin's table.

    Attributes:
        predicates: predicate → its place among all, in the order in which 1.x asked them; the plugins of one predicate
            stand side by side.
        mandatory: whether every policy has the plugin's predicates, named or not.
        predicate_arguments: argument of a predicate → the predicate that it stands for, whatever the row's name.
        priorities: the priorities that the plugin is today, with scores from 0 to 100.
        priority_arguments: the arguments of priorities that it takes, likewise.
        ignored_priorities: priorities that no plugin is today, and that may be named all the same.
        legacy_priorities: priority with 1.x's scores from 0 to 10 → its weight in a policy that names none; 0: it is
            not in there.
        legacy_priority_arguments: the arguments of priorities that it takes, likewise.
        hard_pod_affinity_weight: the setting for the weight that required pod affinity implies.
        ignored_resources: the setting for extended resources that only an extender looks at.
        extenders: the setting for the rows of HTTP extenders.
        default_weights: version of KubeSchedulerConfiguration → the weight in its usual set, where that was another.
    """

    predicates: Mapping[str, int] = field(default_factory=dict)
    mandatory: bool = False
    predicate_arguments: Mapping[str, str] = field(default_factory=dict)
    priorities: Sequence[str] = ()
    priority_arguments: Sequence[str] = ()
    ignored_priorities: Sequence[str] = ()
    legacy_priorities: Mapping[str, int] = field(default_factory=dict)
    legacy_priority_arguments: Sequence[str] = ()
    hard_pod_affinity_weight: str = ""
    ignored_resources: str = ""
    extenders: str = ""
    default_weights: Mapping[str, int] = field(default_factory=dict)


class PluginTables:
    """The tables of all installed plugins by name; plugins that say nothing are missing."""

    def __init__(self, rows: Mapping[str, PluginData]) -> None:
        self._rows = rows

    @classmethod
    @one_look()
    def read(cls) -> PluginTables:
        """Read the tables of the installed plugins, importing none.

        Raises:
            UsageError: a table has a key that is unknown.
        """
        known = {each.name for each in fields(PluginData)}
        rows: dict[str, PluginData] = {}
        for name, entry in installed(FAMILY).items():
            table: Mapping[str, Any] = read_data(entry, FILE).get(name, {})
            unknown = sorted(set(table) - known)
            if unknown:
                raise UsageError(f"scheduler plugin {name!r}: unknown key {unknown[0]!r} in {FILE}.toml")
            if table:
                rows[name] = PluginData(**table)
        return cls(rows)

    def predicates(self) -> set[str]:
        """Return the names of all predicates."""
        return {name for each in self._rows.values() for name in each.predicates}

    def predicate_arguments(self) -> dict[str, tuple[str, str]]:
        """Return for each argument of predicates the plugin that takes it, and the predicate that it stands for."""
        return {
            argument: (plugin, predicate)
            for plugin, each in self._rows.items()
            for argument, predicate in each.predicate_arguments.items()
        }

    def filters(self, predicates: set[str]) -> tuple[str, ...]:
        """Return the filters that predicates come down to, with the mandatory ones, in 1.x's order."""
        places = [
            (place, plugin)
            for plugin, each in self._rows.items()
            for predicate, place in each.predicates.items()
            if each.mandatory or predicate in predicates
        ]
        return tuple(dict.fromkeys(plugin for _, plugin in sorted(places)))

    def priorities(self, *, legacy: bool) -> dict[str, str]:
        """Return for each priority the plugin that it is, "" for one that has no effect."""
        found = {name: "" for each in self._rows.values() for name in each.ignored_priorities if not legacy}
        for plugin, each in self._rows.items():
            found |= dict.fromkeys(each.legacy_priorities if legacy else each.priorities, plugin)
        return found

    def priority_arguments(self, *, legacy: bool) -> dict[str, str]:
        """Return for each argument of priorities the plugin that takes it."""
        return {
            argument: plugin
            for plugin, each in self._rows.items()
            for argument in (each.legacy_priority_arguments if legacy else each.priority_arguments)
        }

    def legacy_defaults(self) -> dict[str, int]:
        """Return the priorities of a 1.x policy that names none, with their weights."""
        return {
            priority: weight
            for each in self._rows.values()
            for priority, weight in each.legacy_priorities.items()
            if weight
        }

    def hard_pod_affinity_settings(self) -> dict[str, str]:
        """Return by plugin the setting for the weight that required pod affinity implies."""
        return {
            name: each.hard_pod_affinity_weight for name, each in self._rows.items() if each.hard_pod_affinity_weight
        }

    def ignored_resources_settings(self) -> dict[str, str]:
        """Return by plugin the setting for extended resources that only an extender looks at."""
        return {name: each.ignored_resources for name, each in self._rows.items() if each.ignored_resources}

    def extenders(self) -> tuple[str, str]:
        """Return the plugin that speaks to HTTP extenders, and its setting for their rows.

        Raises:
            UsageError: none is installed.
        """
        for plugin, each in self._rows.items():
            if each.extenders:
                return plugin, each.extenders
        raise UsageError("extenders: no scheduler plugin that speaks to HTTP extenders is installed")

    def default_weights(self, version: str) -> dict[str, int]:
        """Return the score plugins that weighed otherwise in the usual set of a version of the configuration.

        Source: kubernetes ``pkg/scheduler/apis/config/v1beta2/default_plugins.go``; 1.20's
        ``algorithmprovider/registry.go``.
        """
        return {
            plugin: each.default_weights[version]
            for plugin, each in self._rows.items()
            if version in each.default_weights
        }
