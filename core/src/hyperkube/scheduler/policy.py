"""The 1.x policy: predicates and priorities by their old names, turned into a set of today's plugins.

Source: kubernetes 1.20 ``pkg/scheduler/apis/config/legacy_types.go`` and ``framework/plugins/legacy_registry.go``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.scheduler.configuration import with_extenders

GENERAL = ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity")
PREDICATES: dict[str, tuple[str, ...]] = {
    "CheckNodeCondition": (),
    "CheckNodeDiskPressure": (),
    "CheckNodeMemoryPressure": (),
    "CheckNodePIDPressure": (),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "GeneralPredicates": GENERAL,
    "HostName": ("NodeName",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
    "MatchNodeSelector": ("NodeAffinity",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "PodFitsResources": ("NodeResourcesFit",),
    "PodToleratesNodeTaints": ("TaintToleration",),
}
"""What the conditions' predicates looked at is taints today, which are always looked at."""
MANDATORY = ("NodeUnschedulable", "TaintToleration")
ORDER = (
    "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
    "VolumeRestrictions", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "CinderLimits",
    "VolumeBinding", "VolumeZone", "NodeLabel", "ServiceAffinity", "PodTopologySpread", "InterPodAffinity",
)  # fmt: skip
"""The order in which the 1.20 framework asks the filters."""

PRIORITIES: dict[str, str] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EqualPriority": "",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "SelectorSpreadPriority": "SelectorSpread",
    "ServiceSpreadingPriority": "SelectorSpread",
    "TaintTolerationPriority": "TaintToleration",
}


def from_policy(policy: Object, default: AlgorithmProvider, *, hard_affinity_weight: int = 1) -> AlgorithmProvider:
    """Turn a policy into a set: null predicates or priorities mean the usual ones, an empty list only what must be.

    Raises:
        UsageError: an unknown name, a weight that is not positive, or a bad argument.
    """
    if policy.get("kind", "Policy") != "Policy" or policy.get("apiVersion", "v1") not in {"v1", ""}:
        raise UsageError(
            f"kind {policy.get('kind')!r} of apiVersion {policy.get('apiVersion')!r} is not 'Policy' of 'v1'"
        )
    settings: dict[str, dict[str, Any]] = {name: dict(value) for name, value in default.settings.items()}
    filters = default.filters
    if policy.get("predicates") is not None:
        chosen = set(MANDATORY).union(*(_predicate(row, settings) for row in policy["predicates"]))
        filters = tuple(name for name in ORDER if name in chosen)
    scores = dict(default.scores)
    if policy.get("priorities") is not None:
        scores = {}
        for row in policy["priorities"]:
            name, weight = _priority(row, settings)
            if name:
                scores[name] = scores.get(name, 0) + weight
    weight = int(policy.get("hardPodAffinitySymmetricWeight") or hard_affinity_weight)
    if not 1 <= weight <= 100:
        raise UsageError(f"hardPodAffinitySymmetricWeight: invalid value {weight}: must be in the range 1-100")
    if "InterPodAffinity" in {*filters, *scores}:
        settings["InterPodAffinity"] = {**settings.get("InterPodAffinity", {}), "hardPodAffinityWeight": weight}
    used = {*filters, *scores}
    provider = replace(
        default,
        name="Policy",
        checks_all=bool(policy.get("alwaysCheckAllPredicates")),
        filters=filters,
        scores=scores,
        reserves=tuple(name for name in default.reserves if name in used),
        pre_binds=tuple(name for name in default.pre_binds if name in used),
        settings={name: value for name, value in settings.items() if name in {*used, *default.post_filters}},
    )
    extenders = policy.get("extenders") or ()
    return with_extenders(provider, [_extender(row) for row in extenders]) if extenders else provider


def _predicate(row: Object, settings: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    name, argument = row.get("name", ""), row.get("argument") or {}
    if argument.get("serviceAffinity") is not None:
        mine = settings.setdefault("ServiceAffinity", {})
        mine["affinityLabels"] = [*mine.get("affinityLabels", ()), *argument["serviceAffinity"].get("labels", ())]
        return ("ServiceAffinity",)
    if argument.get("labelsPresence") is not None:
        wanted = argument["labelsPresence"]
        mine = settings.setdefault("NodeLabel", {})
        key = "presentLabels" if wanted.get("presence") else "absentLabels"
        mine[key] = [*mine.get(key, ()), *wanted.get("labels", ())]
        return ("NodeLabel",)
    if argument:
        raise UsageError(
            f"predicate {name!r}: argument must be serviceAffinity or labelsPresence, not {sorted(argument)}"
        )
    if name not in PREDICATES:
        raise UsageError(f"invalid configuration: predicate type not found for {name!r}")
    return PREDICATES[name]


def _priority(row: Object, settings: dict[str, dict[str, Any]]) -> tuple[str, int]:
    name, weight, argument = row.get("name", ""), row.get("weight", 1), row.get("argument") or {}
    if not isinstance(weight, int) or weight < 1:
        raise UsageError(f"priority {name} should have a positive weight applied to it or it has overflown")
    if argument.get("serviceAntiAffinity") is not None:
        mine = settings.setdefault("ServiceAffinity", {})
        key = "antiAffinityLabelsPreference"
        mine[key] = [*mine.get(key, ()), argument["serviceAntiAffinity"].get("label", "")]
        return "ServiceAffinity", weight
    if argument.get("labelPreference") is not None:
        wanted = argument["labelPreference"]
        mine = settings.setdefault("NodeLabel", {})
        key = "presentLabelsPreference" if wanted.get("presence") else "absentLabelsPreference"
        mine[key] = [*mine.get(key, ()), wanted.get("label", "")]
        return "NodeLabel", weight
    if argument.get("requestedToCapacityRatioArguments") is not None:
        wanted = argument["requestedToCapacityRatioArguments"]
        settings["RequestedToCapacityRatio"] = {
            "shape": wanted.get("shape") or wanted.get("utilizationShape") or [],
            "resources": wanted.get("resources") or [],
        }
        return "RequestedToCapacityRatio", weight
    if argument:
        raise UsageError(f"priority {name!r}: unknown argument {min(argument)!r}")
    if name not in PRIORITIES:
        raise UsageError(f"invalid configuration: priority type not found for {name!r}")
    return PRIORITIES[name], weight


def _extender(row: Object) -> Object:
    """Return an extender with today's names; the 1.x file gives nanoseconds and its own name for TLS."""
    today = {key: value for key, value in row.items() if key not in {"enableHttps", "httpTimeout", "tlsConfig"}}
    today["enableHTTPS"] = row.get("enableHTTPS", row.get("enableHttps", False))
    timeout = row.get("httpTimeout")
    if isinstance(timeout, int):
        today["httpTimeout"] = f"{timeout / 1e9:g}s"
    elif timeout:
        today["httpTimeout"] = timeout
    if row.get("tlsConfig"):
        today["tlsConfig"] = row["tlsConfig"]
    return today
