"""The names of 1.x: which of today's filters each predicate is, and which score plugin each priority.

Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/legacy_registry.go``; the names that 1.20 knew no
more are those of 1.5 to 1.16.
"""

from __future__ import annotations

from collections.abc import Mapping

PREDICATES: Mapping[str, tuple[str, ...]] = {
    "CheckNodeCondition": ("CheckNodeCondition",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeLabelPresence": ("NodeLabel",),
    "CheckServiceAffinity": ("ServiceAffinity",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "NoVolumeNodeConflict": ("VolumeBinding",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "CheckNodeMemoryPressure": ("CheckNodeMemoryPressure",),
    "CheckNodePIDPressure": ("CheckNodePIDPressure",),
    "CheckNodeDiskPressure": ("CheckNodeDiskPressure",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
"""Predicate → today's filters; in the order in which 1.x asked them, whatever their order in the file."""
MANDATORY = ("CheckNodeUnschedulable", "PodToleratesNodeTaints")
"""What every policy has, named or not."""

PRIORITIES: Mapping[str, str] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EqualPriority": "",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "RequestedToCapacityRatioPriority": "RequestedToCapacityRatio",
    "ResourceLimitsPriority": "ResourceLimitsPriority",
    "SelectorSpreadPriority": "SelectorSpread",
    "ServiceSpreadingPriority": "SelectorSpread",
    "TaintTolerationPriority": "TaintToleration",
}
"""Priority → today's plugin, with scores from 0 to 100; ResourceLimitsPriority gives one point in both worlds."""

OLD_PRIORITIES: Mapping[str, str] = {name: name for name in PRIORITIES}
"""Priority → the plugin of its own name, with 1.x's scores from 0 to 10."""
OLD_DEFAULTS: Mapping[str, int] = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10_000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
}
"""The priorities of a 1.x policy that names none, with their weights.

Source: kubernetes 1.15 ``pkg/scheduler/algorithmprovider/defaults/defaults.go``.
"""
