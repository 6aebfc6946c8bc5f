"""Vectorised plugins say of random clusters what plain per-node code says of them.

``HYPERKUBE_CLUSTERS`` is how many clusters are tried for each plugin, 50 unless given (``./dev properties``: 1,000).
"""

import os

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

import numpy as np
import references as plain
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from worlds import world

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import NodeFilter, NodeScore
from hyperkube.plugin.loader import installed

CLUSTERS = int(os.environ.get("HYPERKUBE_CLUSTERS", "50"))
RATIO = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 10}, {"utilization": 100, "score": 4}]
RESOURCES = [{"name": "cpu", "weight": 2}, {"name": "memory", "weight": 1}]
LABELS = {"presentLabels": ["disk"]}
LIKES = {"presentLabelsPreference": ["disk"], "absentLabelsPreference": [plain.HOST]}


def strategy(kind, **more):
    return {"scoringStrategy": {"type": kind, **more}}


FILTERS = {
    "NodeUnschedulable": (plain.node_unschedulable, {}),
    "NodeName": (plain.node_name, {}),
    "TaintToleration": (plain.taint_filter, {}),
    "NodeAffinity": (plain.node_affinity_filter, {}),
    "NodePorts": (plain.node_ports, {}),
    "NodeResourcesFit": (plain.fit_filter, {}),
    "NodeLabel": (plain.node_label_filter, LABELS),
    "InterPodAffinity": (plain.inter_pod_filter, {}),
    "PodTopologySpread": (plain.spread_filter, {}),
}
SCORES = [
    ("TaintToleration", plain.taint_score, {}),
    ("NodeAffinity", plain.node_affinity_score, {}),
    ("NodeLabel", plain.node_label_score, LIKES),
    ("NodeResourcesFit", plain.least_score, {}),
    ("NodeResourcesFit", plain.most_score, strategy("MostAllocated")),
    (
        "NodeResourcesFit",
        plain.ratio_score,
        strategy("RequestedToCapacityRatio", resources=RESOURCES, requestedToCapacityRatio={"shape": RATIO}),
    ),
    ("RequestedToCapacityRatio", plain.ratio_score, {"shape": RATIO, "resources": RESOURCES}),
    ("NodeResourcesLeastAllocated", plain.least_score, {}),
    ("NodeResourcesMostAllocated", plain.most_score, {}),
    ("NodeResourcesBalancedAllocation", plain.balanced_score, {}),
    ("ImageLocality", plain.image_score, {}),
    ("InterPodAffinity", plain.inter_pod_score, {}),
    ("PodTopologySpread", plain.spread_score, {}),
]


def plugin_of(name, settings):
    return installed("scheduler")[name].load()(PluginContext(name=name, settings=settings))


def table_of(found):
    nodes = Nodes()
    for node in found.nodes:
        nodes.put_node(node)
    for pod in found.placed:
        nodes.put_pod(pod, pod["spec"]["nodeName"])
    return nodes


def said_by_filter(plugin, pod, nodes):
    """Return node → the sorted reasons against it."""
    if plugin.skips_filter(pod, nodes):
        return {name: [] for name in nodes.names}
    answer = plugin.filter(pod, nodes)
    return {
        name: sorted(text for text, mask in answer.reasons.items() if mask[index]) if not answer.mask[index] else []
        for index, name in enumerate(nodes.names)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_refuses_what_the_plain_one_refuses_for_its_reasons(name):
    reference, settings = FILTERS[name]
    plugin = plugin_of(name, settings)
    refused = 0
    for seed in range(CLUSTERS):
        found = world(seed)
        nodes = table_of(found)
        for pod in found.pods:
            expected = {node["metadata"]["name"]: sorted(reference(found, pod, node)) for node in found.nodes}

            assert said_by_filter(plugin, PreparedPod.of(pod, nodes), nodes) == expected, f"world {seed}"
            refused += any(expected.values())

    assert refused or name == "NodeName"  # the worlds make a difference to it


@pytest.mark.slow
@pytest.mark.parametrize(("name", "reference", "settings"), SCORES, ids=lambda value: getattr(value, "__name__", None))
def test_a_score_is_the_plain_ones(name, reference, settings):
    plugin = plugin_of(name, settings)
    told_apart = 0
    for seed in range(CLUSTERS):
        found = world(seed)
        nodes = table_of(found)
        for number, pod in enumerate(found.pods):
            feasible = np.array([(seed + number + index) % 4 != 0 for index in range(len(nodes))])
            if not feasible.any():
                continue
            kept = [node for node in found.nodes if feasible[nodes.names.index(node["metadata"]["name"])]]
            expected = reference(found, pod, kept)
            info = PreparedPod.of(pod, nodes)
            if plugin.skips_score(info, nodes):
                assert expected is None or len(set(expected.values())) == 1, f"world {seed}"
                continue
            scores = plugin.normalize(info, nodes, plugin.score(info, nodes), feasible)

            got = {name: int(scores[index]) for index, name in enumerate(nodes.names) if feasible[index]}
            assert got == expected, f"world {seed}"
            assert all(0 <= value <= 100 for value in got.values())
            told_apart += len(set(got.values())) > 1

    assert told_apart


class OneByOne(NodeFilter):
    """The per-node form of a filter, as an author of few words writes it."""

    def __init__(self, reference, found):
        super().__init__(PluginContext(name="OneByOne"))
        self._reference, self._found = reference, found

    def filter_node(self, pod, node, pods):
        held = {"nodes": self._found.nodes, "placed": self._found.placed}
        assert [each["metadata"]["name"] for each in pods] == [
            each["metadata"]["name"] for each in held["placed"] if each["spec"]["nodeName"] == node["metadata"]["name"]
        ]
        return ", ".join(self._reference(self._found, pod, node))


class OneByOneScore(NodeScore):
    """The same of a score."""

    def __init__(self, reference, found):
        super().__init__(PluginContext(name="OneByOneScore"))
        self._reference, self._found = reference, found

    def score_node(self, pod, node, pods):
        return self._reference(self._found, pod, [node])[node["metadata"]["name"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILTERS)
def test_the_per_node_form_keeps_the_same_nodes(name):
    reference, settings = FILTERS[name]
    plugin = plugin_of(name, settings)
    for seed in range(CLUSTERS):
        found = world(seed)
        nodes = table_of(found)
        for pod in found.pods:
            info = PreparedPod.of(pod, nodes)
            adapted = OneByOne(reference, found).filter(info, nodes)
            vectorised = None if plugin.skips_filter(info, nodes) else plugin.filter(info, nodes)

            kept = [True] * len(nodes) if vectorised is None else vectorised.mask.tolist()
            assert adapted.mask.tolist() == kept, f"world {seed}"
            said = np.zeros(len(nodes), dtype=bool)
            for mask in adapted.reasons.values():
                said |= mask
            assert (said == ~adapted.mask).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NodeResourcesLeastAllocated", "NodeResourcesMostAllocated"])
def test_the_per_node_form_scores_alike(name):
    reference = next(row[1] for row in SCORES if row[0] == name)
    plugin = plugin_of(name, {})
    for seed in range(CLUSTERS):
        found = world(seed)
        nodes = table_of(found)
        for pod in found.pods:
            info = PreparedPod.of(pod, nodes)

            adapted = OneByOneScore(reference, found).score(info, nodes)

            assert adapted.tolist() == plugin.score(info, nodes).tolist(), f"world {seed}"
