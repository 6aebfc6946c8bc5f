"""Builders for tests of scheduling plugins: a node table from a few words, and a pod ready to be scheduled.

And `verdicts`, which says in one word per node what a filter says in masks, and `scores`, which plays a score through.
"""

from __future__ import annotations

from typing import Any

from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.cache.pod_info import PreparedPod

from hyperkube.hookspecs.scheduling import FilterPlugin, ScorePlugin
from hyperkube.machinery.objects import Object

ROOMY = {"cpu": "32", "memory": "64Gi", "ephemeral-storage": "100Gi", "pods": "110"}


def node(name: str, **words: Any) -> Object:
    """Return a Node: ``labels``, ``taints``, ``unschedulable``, and amounts such as ``cpu="4"``; else a roomy one."""
    labels = words.pop("labels", {})
    taints = words.pop("taints", [])
    unschedulable = words.pop("unschedulable", False)
    allocatable = {**ROOMY, **words}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": unschedulable},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def table(*nodes: Object) -> Nodes:
    """Return a node table of the nodes described, each by the keyword arguments of `node`."""
    filled = Nodes()
    for words in nodes:
        filled.put_node(node(**words))
    return filled


def pod_info(pod: Object, nodes: Nodes) -> PreparedPod:
    """Return a pod as plugins get it, with metadata and a container filled in where missing."""
    spec = {"containers": [{"name": "c"}], **pod.get("spec", {})}
    complete = {"metadata": {"name": "pod", "namespace": "default", "uid": "uid"}, **pod, "spec": spec}
    return PreparedPod.of(complete, nodes)


def verdicts(plugin: FilterPlugin, pod: PreparedPod, nodes: Nodes) -> list[str]:
    """Return what a filter says of each node: empty for kept, else its reasons, with ``! `` before where nothing helps.

    ``! `` stands for upstream's UnschedulableAndUnresolvable: evicting pods would not make the node fit.
    """
    before = plugin.pre_filter(pod)
    if before is not None and before.reason:
        return [f"! {before.reason}"] * len(nodes)
    outside = [before is not None and before.names is not None and name not in before.names for name in nodes.names]
    if plugin.skips_filter(pod, nodes):
        return ["! outside" if left_out else "" for left_out in outside]
    answer = plugin.filter(pod, nodes)
    said = []
    for index, left_out in enumerate(outside):
        text = ", ".join(reason for reason, mask in answer.reasons.items() if mask[index])
        helpless = left_out or (answer.unresolvable is not None and bool(answer.unresolvable[index]))
        said.append("" if answer.mask[index] and not left_out else f"{'! ' if helpless else ''}{text or 'outside'}")
    return said


def scores(plugin: ScorePlugin, pod: PreparedPod, nodes: Nodes) -> list[int] | None:
    """Return each node's score, normalized as if all nodes were feasible; None where the plugin skips the pod."""
    import numpy as np

    if plugin.skips_score(pod, nodes):
        return None
    everywhere = np.ones(len(nodes), dtype=bool)
    return [int(score) for score in plugin.normalize(pod, nodes, plugin.score(pod, nodes), everywhere)]
