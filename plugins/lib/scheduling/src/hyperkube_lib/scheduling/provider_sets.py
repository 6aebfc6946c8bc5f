"""The usual set of scheduling plugins, from which providers are made.

Source of order and weights: kubernetes ``pkg/scheduler/apis/config/v1/default_plugins.go``.
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube.hookspecs.scheduling import AlgorithmProvider


def usual_set(
    name: str, *, resources: str = "NodeResourcesFit", gangs: bool = False, storage: bool = False
) -> AlgorithmProvider:
    """Return the usual set as a provider.

    Args:
        name: the provider's.
        resources: the plugin that scores how full nodes are.
        gangs: whether pods of a PodGroup are placed together or not at all.
        storage: whether nodes are scored by how full a pod's claims would make their storage.
    """
    provider = AlgorithmProvider(
        name=name,
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
            resources: 1,
            "NodeResourcesBalancedAllocation": 1,
            "ImageLocality": 1,
            **({"VolumeBinding": 1} if storage else {}),
        },
        reserves=("VolumeBinding", "DynamicResources"),
        pre_binds=("VolumeBinding", "DynamicResources"),
        binds=("DefaultBinder",),
    )
    return _with_gangs(provider) if gangs else provider


def _with_gangs(provider: AlgorithmProvider) -> AlgorithmProvider:
    """Return the set with GangScheduling last, so that preemption is tried before a gang gives up."""
    return replace(
        provider,
        pre_enqueue=(*provider.pre_enqueue, "GangScheduling"),
        post_filters=(*provider.post_filters, "GangScheduling"),
        reserves=(*provider.reserves, "GangScheduling"),
        permits=(*provider.permits, "GangScheduling"),
    )
