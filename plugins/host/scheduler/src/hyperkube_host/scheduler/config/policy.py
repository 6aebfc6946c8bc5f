"""The 1.x policy: predicates and priorities by their old names, turned into a set of plugins.

The priorities become today's plugins, so that a policy places pods as the same set written in another way does. With
``scoreScale: 10``, a field of ours, they are the plugins of their own names, which score as 1.x did.
Source: kubernetes 1.20 ``pkg/scheduler/apis/config/legacy_types.go``, ``validation/validation.go`` and
``framework/plugins/legacy_registry.go``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from hyperkube_host.scheduler.config.configuration import with_extenders
from hyperkube_host.scheduler.config.plugin_data import PluginTables
from hyperkube_host.scheduler.framework.runtime import plugin_class

from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.hookspecs.scheduling_policy import PolicyArguments
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

SCALES = (10, 100)
"""The best score of a priority: 1.x's, and today's."""
MOST_WEIGHT = (2**63 - 1) // 100
RATIO = "requestedToCapacityRatioArguments"
"""The argument that only one priority of a policy may have."""
EXTENDER_FIELDS = (
    "urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS", "tlsConfig",
    "httpTimeout", "nodeCacheCapable", "managedResources", "ignorable",
)  # fmt: skip
TLS_FIELDS = ("insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData")
Settings = dict[str, dict[str, Any]]
Rows = list[tuple[Object, int, Object]]
"""Priorities with an argument of one name: the row, its weight, its argument."""


@dataclass(slots=True)
class Scored:
    """What a list of priorities comes down to: plugin → weight, and plugin → settings."""

    weights: dict[str, int] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)


def from_policy(policy: Object, default: AlgorithmProvider, *, hard_affinity_weight: int = 1) -> AlgorithmProvider:
    """Turn a policy into a set: null predicates or priorities mean the usual ones, an empty list only what must be.

    Args:
        policy: the document.
        default: the set that says what is usual.
        hard_affinity_weight: the weight that required pod affinity implies, unless the policy gives it.

    Raises:
        UsageError: an unknown name, a weight that is not positive, or a bad argument.
    """
    if policy.get("kind", "Policy") != "Policy" or policy.get("apiVersion", "v1") not in {"v1", ""}:
        raise UsageError(
            f"kind {policy.get('kind')!r} of apiVersion {policy.get('apiVersion')!r} is not 'Policy' of 'v1'"
        )
    tables = PluginTables.read()
    settings: Settings = {name: dict(value) for name, value in default.settings.items()}
    filters = default.filters
    if policy.get("predicates") is not None:
        filters = tables.filters(_predicates(policy["predicates"], tables, settings))
    extenders = [_extender(row) for row in policy.get("extenders") or ()]
    scored = _scored(policy, default, tables, with_extenders=any(row.get("prioritizeVerb") for row in extenders))
    for name, given in scored.settings.items():
        settings[name] = {**settings.get(name, {}), **given}
    weight = int(policy.get("hardPodAffinitySymmetricWeight") or hard_affinity_weight)
    if not 1 <= weight <= 100:
        raise UsageError(f"invalid hardPodAffinitySymmetricWeight: {weight}, must be in the range 1-100")
    used = {*filters, *scored.weights}
    for name, key in tables.hard_pod_affinity_settings().items():
        if name in used:
            settings[name] = {**settings.get(name, {}), key: weight}
    provider = replace(
        default,
        name="Policy",
        checks_all=bool(policy.get("alwaysCheckAllPredicates")),
        filters=filters,
        scores=scored.weights,
        reserves=tuple(name for name in default.reserves if name in used),
        pre_binds=tuple(name for name in default.pre_binds if name in used),
        settings={name: value for name, value in settings.items() if name in {*used, *default.post_filters}},
    )
    return with_extenders(provider, extenders) if extenders else provider


def _predicates(rows: Sequence[Object], tables: PluginTables, settings: Settings) -> set[str]:
    """Return the predicates that rows name, or that their arguments are for; put what these say into `settings`."""
    known, arguments = tables.predicates(), tables.predicate_arguments()
    names: set[str] = set()
    given: dict[str, list[Object]] = {}
    for row in rows:
        name: str = row.get("name", "")
        argument, value = _argument(row, "predicate", arguments)
        if argument:
            given.setdefault(argument, []).append(value)
            names.add(arguments[argument][1])
        elif name in known:
            names.add(name)
        else:
            raise UsageError(f"invalid configuration: predicate type not found for {name!r}")
    for argument, values in given.items():
        plugin = arguments[argument][0]
        settings[plugin] = {**settings.get(plugin, {}), **_settings(plugin, argument, values)}
    return names


def _scored(policy: Object, default: AlgorithmProvider, tables: PluginTables, *, with_extenders: bool) -> Scored:
    """Return what the priorities come down to on the policy's scale.

    The points of extenders count tenfold, as today's upstream has it. Where 1.x's scale is asked for, they weighed as
    much as the priorities' own: then these count tenfold too.
    """
    scale, rows = policy.get("scoreScale", SCALES[1]), policy.get("priorities")
    if scale not in SCALES:
        raise UsageError(f"scoreScale: invalid value {scale!r}: must be one of 10 (as 1.x) or 100 (as today)")
    legacy = scale == SCALES[0]
    if not legacy:
        return _priorities(rows, tables, legacy=False) if rows is not None else Scored(dict(default.scores))
    if rows is None:
        rows = [{"name": name, "weight": weight} for name, weight in tables.legacy_defaults().items()]
    scored = _priorities(rows, tables, legacy=True)
    if with_extenders:
        scored.weights = {name: 10 * weight for name, weight in scored.weights.items()}
    return scored


def _priorities(rows: Sequence[Object], tables: PluginTables, *, legacy: bool) -> Scored:
    """Map priorities to plugins.

    Several with the same argument are one plugin. With today's scale they must have one weight, which adds up; with
    1.x's each may have a weight of its own, and the plugin has their greatest common divisor.
    """
    names, arguments = tables.priorities(legacy=legacy), tables.priority_arguments(legacy=legacy)
    scored = Scored()
    given: dict[str, Rows] = {}
    for row in rows:
        weight = _weight(row)
        argument, value = _argument(row, "priority", arguments)
        if argument:
            same = given.setdefault(argument, [])
            if same:
                _check_several(argument, row, weight, same[0], legacy=legacy)
            same.append((row, weight, value))
        else:
            plugin = _named(row, names)
            if plugin:
                scored.weights[plugin] = weight
    for argument, same in given.items():
        plugin, weights = arguments[argument], [weight for _, weight, _ in same]
        values = [value for _, _, value in same]
        scored.weights[plugin] = sum(weights)
        if legacy:
            common = scored.weights[plugin] = math.gcd(*weights)
            values = [{**value, "weight": weight // common} for _, weight, value in same]
        scored.settings[plugin] = dict(_settings(plugin, argument, values))
    return scored


def _check_several(argument: str, row: Object, weight: int, first: tuple[Object, int, Object], *, legacy: bool) -> None:
    """Refuse a second priority with an argument if there may be one only, or its weight is another."""
    kind = argument[0].upper() + argument[1:].removesuffix("Arguments")
    if argument == RATIO:
        again = f'redeclares custom priority "{kind}", from: {_quoted(first[0])}'
        raise UsageError(f"priority {_quoted(row)} {again}")
    if weight != first[1] and not legacy:
        names = f"priority {_quoted(row)} has a different weight with {_quoted(first[0])}"
        raise UsageError(f"{kind}  {names}")


def _settings(plugin: str, argument: str, values: Sequence[Object]) -> Mapping[str, Any]:
    kind = plugin_class(plugin)
    if not isinstance(kind, PolicyArguments):
        raise UsageError(f"scheduler plugin {plugin!r} does not take the argument {argument!r} of a policy")
    return kind.policy_settings({argument: values})


def _named(row: Object, names: Mapping[str, str]) -> str:
    name = row.get("name", "")
    if name not in names:
        raise UsageError(f"invalid configuration: priority type not found for {name!r}")
    return names[name]


def _weight(row: Object) -> int:
    weight = row.get("weight", 1)
    if not isinstance(weight, int) or not 1 <= weight < MOST_WEIGHT:
        name = row.get("name", "")
        raise UsageError(f"priority {name} should have a positive weight applied to it or it has overflown")
    return weight


def _argument(row: Object, what: str, known: Iterable[str]) -> tuple[str, Any]:
    """Return the one argument of a row by name, or two empty strings if it has none."""
    argument = row.get("argument")
    if argument is None:
        return "", ""
    given = [name for name in known if argument.get(name) is not None]
    if len(given) != 1:
        raise UsageError(f"exactly 1 {what} argument is required, numArgs: {len(given)}, {what} {row.get('name', '')}")
    return given[0], argument[given[0]]


def _quoted(row: Object) -> str:
    return f'"{row.get("name", "")}"'


def _extender(row: Object) -> Object:
    """Return an extender with today's names.

    Before 1.11 the case of letters did not matter, and TLS had the names of Go's fields; the time-out of a 1.x file is
    in nanoseconds.
    """
    today = _respelt(row, EXTENDER_FIELDS)
    timeout = today.get("httpTimeout")
    if isinstance(timeout, int):
        today["httpTimeout"] = f"{timeout}ns"
    if today.get("tlsConfig"):
        today["tlsConfig"] = _respelt(today["tlsConfig"], TLS_FIELDS)
    return today


def _respelt(row: Object, names: Iterable[str]) -> Object:
    spelling = {name.lower(): name for name in names}
    return {spelling.get(key.lower(), key): value for key, value in row.items()}
