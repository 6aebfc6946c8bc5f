"""The usual set of scheduling plugins, from which providers are made.

Source of order and weights: kubernetes ``pkg/scheduler/apis/config/v1/default_plugins.go``.
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube.hookspecs.scheduling import AlgorithmProvider


def usual_set(
    name: str,
    *,
    resources: str = "NodeResourcesFit",
    gangs: bool = False,
    storage: bool = False,
    topology: bool = False,
) -> AlgorithmProvider:
    """Return the usual set as a provider.

    Args:
        name: the provider's.
        resources: the plugin that scores how full nodes are.
        gangs: whether pods of a PodGroup are placed together or not at all.
        storage: whether nodes are scored by how full a pod's claims would make their storage.
        topology: whether pod groups may ask for one part of the cluster.
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
    if gangs:
        provider = _with_gangs(provider)
    return _with_topology(provider) if topology else provider


def _with_gangs(provider: AlgorithmProvider) -> AlgorithmProvider:
    return replace(
        provider,
        pre_enqueue=(*provider.pre_enqueue, "GangScheduling"),
        reserves=(*provider.reserves, "GangScheduling"),
        permits=(*provider.permits, "GangScheduling"),
    )


def _with_topology(provider: AlgorithmProvider) -> AlgorithmProvider:
    return replace(
        provider,
        placement_generators=("TopologyPlacementGenerator",),
        placement_scores={"PodGroupPodsCount": 1},
    )
