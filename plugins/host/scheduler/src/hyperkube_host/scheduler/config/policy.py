"""The 1.x policy: predicates and priorities by their old names, turned into a set of plugins.

The priorities become today's plugins, so that a policy places pods as the same set written in another way does. With
``scoreScale: 10``, a field of ours, they are the plugins of their own names, which score as 1.x did.
Source: kubernetes 1.20 ``pkg/scheduler/apis/config/legacy_types.go``, ``validation/validation.go`` and
``framework/plugins/legacy_registry.go``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hyperkube_host.scheduler.config.configuration import with_extenders
from hyperkube_host.scheduler.config.policy_names import (
    MANDATORY,
    OLD_DEFAULTS,
    OLD_PRIORITIES,
    PREDICATES,
    PRIORITIES,
)

from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

SCALES = (10, 100)
"""The best score of a priority: 1.x's, and today's."""
MOST_WEIGHT = (2**63 - 1) // 100
SERVICE, LABEL, RATIO = "serviceAntiAffinity", "labelPreference", "requestedToCapacityRatioArguments"
PREDICATE_ARGUMENTS = ("serviceAffinity", "labelsPresence")
PRIORITY_ARGUMENTS = (SERVICE, LABEL, RATIO)
SPOKEN = {SERVICE: "ServiceAntiAffinity", LABEL: "LabelPreference", RATIO: "RequestedToCapacityRatio"}
"""What errors call the arguments."""
EXTENDER_FIELDS = (
    "urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS", "tlsConfig",
    "httpTimeout", "nodeCacheCapable", "managedResources", "ignorable",
)  # fmt: skip
TLS_FIELDS = ("insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData")
Settings = dict[str, dict[str, Any]]


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
    settings: Settings = {name: dict(value) for name, value in default.settings.items()}
    filters = default.filters
    if policy.get("predicates") is not None:
        chosen = {*MANDATORY, *(_predicate(row, settings) for row in policy["predicates"])}
        plugins = (plugin for name in PREDICATES if name in chosen for plugin in PREDICATES[name])
        filters = tuple(dict.fromkeys(plugins))
    extenders = [_extender(row) for row in policy.get("extenders") or ()]
    scored = _scored(policy, default, told_by_others=any(row.get("prioritizeVerb") for row in extenders))
    for name, given in scored.settings.items():
        settings[name] = {**settings.get(name, {}), **given}
    weight = int(policy.get("hardPodAffinitySymmetricWeight") or hard_affinity_weight)
    if not 1 <= weight <= 100:
        raise UsageError(f"invalid hardPodAffinitySymmetricWeight: {weight}, must be in the range 1-100")
    used = {*filters, *scored.weights}
    for name in used & {"InterPodAffinity", "InterPodAffinityPriority"}:
        settings[name] = {**settings.get(name, {}), "hardPodAffinityWeight": weight}
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


def _scored(policy: Object, default: AlgorithmProvider, *, told_by_others: bool) -> Scored:
    """Return what the priorities come down to on the policy's scale.

    The points of extenders count tenfold, as today's upstream has it. Where 1.x's scale is asked for, they weighed as
    much as the priorities' own: then these count tenfold too.
    """
    scale, rows = policy.get("scoreScale", SCALES[1]), policy.get("priorities")
    if scale not in SCALES:
        raise UsageError(f"scoreScale: invalid value {scale!r}: must be one of 10 (as 1.x) or 100 (as today)")
    if scale == SCALES[1]:
        return _today(rows) if rows is not None else Scored(dict(default.scores))
    if rows is None:
        rows = [{"name": name, "weight": weight} for name, weight in OLD_DEFAULTS.items()]
    scored = _old(rows)
    if told_by_others:
        scored.weights = {name: 10 * weight for name, weight in scored.weights.items()}
    return scored


def _predicate(row: Object, settings: Settings) -> str:
    """Return the predicate that a row names, or that its argument is for, whatever its name."""
    name: str = row.get("name", "")
    argument, value = _argument(row, "predicate", PREDICATE_ARGUMENTS)
    if argument == "serviceAffinity":
        mine = settings.setdefault("ServiceAffinity", {})
        mine["affinityLabels"] = [*mine.get("affinityLabels", ()), *value.get("labels", ())]
        return "CheckServiceAffinity"
    if argument == "labelsPresence":
        mine = settings.setdefault("NodeLabel", {})
        key = "presentLabels" if value.get("presence") else "absentLabels"
        mine[key] = [*mine.get(key, ()), *value.get("labels", ())]
        return "CheckNodeLabelPresence"
    if name not in PREDICATES:
        raise UsageError(f"invalid configuration: predicate type not found for {name!r}")
    return name


def _today(rows: Sequence[Object]) -> Scored:
    """Map priorities to today's plugins; several that one plugin stands for must have one weight, which adds up."""
    scored, firsts = Scored(), dict[str, tuple[Object, int]]()
    for row in rows:
        weight = _weight(row)
        argument, value = _argument(row, "priority", PRIORITY_ARGUMENTS)
        if not argument:
            plugin = _named(row, PRIORITIES)
            if plugin:
                scored.weights[plugin] = weight
            continue
        first, first_weight = firsts.setdefault(argument, (row, weight))
        if argument == RATIO:
            _once(row, first)
            scored.weights["RequestedToCapacityRatio"] = weight
            scored.settings["RequestedToCapacityRatio"] = _ratio(value)
            continue
        if weight != first_weight:
            names = f"priority {_quoted(row)} has a different weight with {_quoted(first)}"
            raise UsageError(f"{SPOKEN[argument]}  {names}")
        plugin, key = "ServiceAffinity", "antiAffinityLabelsPreference"
        if argument == LABEL:
            plugin = "NodeLabel"
            key = "presentLabelsPreference" if value.get("presence") else "absentLabelsPreference"
        scored.weights[plugin] = scored.weights.get(plugin, 0) + weight
        scored.settings.setdefault(plugin, {}).setdefault(key, []).append(value.get("label", ""))
    return scored


def _old(rows: Sequence[Object]) -> Scored:
    """Map priorities to the plugins of their own names; those with an argument may each have a weight of its own."""
    scored, first_ratio = Scored(), None
    services: list[Object] = []
    labels: list[Object] = []
    for row in rows:
        weight = _weight(row)
        argument, value = _argument(row, "priority", PRIORITY_ARGUMENTS)
        if argument == SERVICE:
            services.append({"label": value.get("label", ""), "weight": weight})
        elif argument == LABEL:
            presence = bool(value.get("presence"))
            labels.append({"label": value.get("label", ""), "presence": presence, "weight": weight})
        elif argument == RATIO:
            first_ratio = first_ratio or row
            _once(row, first_ratio)
            scored.weights["RequestedToCapacityRatioPriority"] = weight
            scored.settings["RequestedToCapacityRatioPriority"] = _ratio(value)
        else:
            scored.weights[_named(row, OLD_PRIORITIES)] = weight
    for plugin, key, wishes in (
        ("ServiceAntiAffinity", "labels", services),
        ("LabelPreference", "preferences", labels),
    ):
        if wishes:
            common = math.gcd(*(wish["weight"] for wish in wishes))
            scored.weights[plugin] = common
            scored.settings[plugin] = {key: [{**wish, "weight": wish["weight"] // common} for wish in wishes]}
    return scored


def _named(row: Object, names: Any) -> str:
    name = row.get("name", "")
    if name not in names:
        raise UsageError(f"invalid configuration: priority type not found for {name!r}")
    plugin: str = names[name]
    return plugin


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


def _once(row: Object, first: Object) -> None:
    if first is not row:
        again = f'redeclares custom priority "{SPOKEN[RATIO]}", from: {_quoted(first)}'
        raise UsageError(f"priority {_quoted(row)} {again}")


def _quoted(row: Object) -> str:
    return f'"{row.get("name", "")}"'


def _ratio(wanted: Object) -> dict[str, Any]:
    return {
        "shape": wanted.get("shape") or wanted.get("utilizationShape") or [],
        "resources": wanted.get("resources") or [],
    }


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
