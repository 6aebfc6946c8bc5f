"""The priorities of the 1.x scheduler under their own names, which give 0 to 10 as they did there.

A policy file means today's plugins by these names, so that it places pods as a KubeSchedulerConfiguration of the same
set does; with ``scoreScale: 10`` it means these. So does a provider or a profile that names them.
Source: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/``; `EvenPodsSpreadPriority` is of 1.16.
"""

from hyperkube_scheduler.legacy_priorities.nodes import (
    EqualPriority,
    ImageLocalityPriority,
    LabelPreference,
    NodeAffinityPriority,
    NodePreferAvoidPodsPriority,
    TaintTolerationPriority,
)
from hyperkube_scheduler.legacy_priorities.resources import (
    BalancedResourceAllocation,
    LeastRequestedPriority,
    MostRequestedPriority,
    RequestedToCapacityRatioPriority,
    ResourceLimitsPriority,
)
from hyperkube_scheduler.legacy_priorities.spreading import (
    EvenPodsSpreadPriority,
    SelectorSpreadPriority,
    ServiceAntiAffinity,
    ServiceSpreadingPriority,
)

__all__ = [
    "BalancedResourceAllocation",
    "EqualPriority",
    "EvenPodsSpreadPriority",
    "ImageLocalityPriority",
    "LabelPreference",
    "LeastRequestedPriority",
    "MostRequestedPriority",
    "NodeAffinityPriority",
    "NodePreferAvoidPodsPriority",
    "RequestedToCapacityRatioPriority",
    "ResourceLimitsPriority",
    "SelectorSpreadPriority",
    "ServiceAntiAffinity",
    "ServiceSpreadingPriority",
    "TaintTolerationPriority",
]
