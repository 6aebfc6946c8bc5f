"""The names of 1.x: which of today's filters each predicate is, and which score plugin each priority.

Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/legacy_registry.go``; the names that 1.20 knew no
more are those of 1.5 to 1.16.
"""

from __future__ import annotations

from collections.abc import Mapping

PREDICATES: Mapping[str, tuple[str, ...]] = {
    "CheckNodeCondition": ("CheckNodeCondition",),
    "CheckNodeDiskPressure": ("CheckNodeDiskPressure",),
    "CheckNodeLabelPresence": ("NodeLabel",),
    "CheckNodeMemoryPressure": ("CheckNodeMemoryPressure",),
    "CheckNodePIDPressure": ("CheckNodePIDPressure",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "CheckServiceAffinity": ("ServiceAffinity",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
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
MANDATORY = ("NodeUnschedulable", "TaintToleration")
"""What every policy has, named or not."""
ORDER = (
    "CheckNodeCondition", "NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity",
    "VolumeRestrictions", "TaintToleration", "NodeLabel", "ServiceAffinity", "EBSLimits", "GCEPDLimits",
    "NodeVolumeLimits", "AzureDiskLimits", "CinderLimits", "VolumeBinding", "VolumeZone", "CheckNodeMemoryPressure",
    "CheckNodePIDPressure", "CheckNodeDiskPressure", "PodTopologySpread", "InterPodAffinity",
)  # fmt: skip
"""The order in which 1.x asked its predicates, whatever their order in the file."""

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
