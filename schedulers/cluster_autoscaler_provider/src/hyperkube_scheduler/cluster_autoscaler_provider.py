"""ClusterAutoscalerProvider: the usual set, but pods fill nodes up, so that empty ones can be given back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.plugin import Plugin

PROVIDER = AlgorithmProvider(
    name="ClusterAutoscalerProvider",
    queue_sort="PrioritySort",
    pre_enqueue=("SchedulingGates", "DynamicResources"),
    filters=(
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ),
    post_filters=("DynamicResources", "DefaultPreemption"),
    scores={
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesMostAllocated": 1,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    },
    reserves=("VolumeBinding", "DynamicResources"),
    pre_binds=("VolumeBinding", "DynamicResources"),
    binds=("DefaultBinder",),
)
"""Order and weights: kubernetes ``pkg/scheduler/apis/config/v1/default_plugins.go``."""


class ClusterAutoscalerProvider(Plugin):
    """Offers the set under its name for ``--algorithm-provider``."""

    @hookimpl
    def scheduling_providers(self) -> Sequence[AlgorithmProvider]:
        """Offer the set, with what the feature gates add."""
        gates = self.context.gates if self.context is not None else {}
        return [with_gangs(PROVIDER) if gates.get("GangScheduling") else PROVIDER]


def with_gangs(provider: AlgorithmProvider) -> AlgorithmProvider:
    """Return the set with GangScheduling last, so that preemption is tried before a gang gives up."""
    return replace(
        provider,
        pre_enqueue=(*provider.pre_enqueue, "GangScheduling"),
        post_filters=(*provider.post_filters, "GangScheduling"),
        reserves=(*provider.reserves, "GangScheduling"),
        permits=(*provider.permits, "GangScheduling"),
    )
