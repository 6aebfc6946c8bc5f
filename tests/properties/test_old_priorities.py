"""The same for the priorities of 1.x, each under its own name, and for service affinity."""

import json
import os
import random
from contextlib import contextmanager

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

import numpy as np
import old_references as plain
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from worlds import World, a_node, a_pod

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.base import PluginContext
from hyperkube.kinds.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, SERVICES, STATEFUL_SETS
from hyperkube.plugin.loader import installed

CLUSTERS = int(os.environ.get("HYPERKUBE_CLUSTERS", "50"))
SELECTORS = ({"app": "a"}, {"app": "b"}, {"app": "a", "tier": "x"}, {"tier": "y"})
KINDS = (REPLICATION_CONTROLLERS, REPLICA_SETS, STATEFUL_SETS)
PREFERENCES = [{"label": label, "presence": presence, "weight": weight} for label, presence, weight in plain.LIKES]
SHAPE = [{"utilization": utilization, "score": score} for utilization, score in plain.SHAPE]
LABELS = [{"label": label, "weight": weight} for label, weight in plain.APART]

SCORES = {
    "BalancedResourceAllocation": (plain.balanced, {}),
    "EqualPriority": (plain.equal, {}),
    "EvenPodsSpreadPriority": (plain.even_spread, {}),
    "ImageLocalityPriority": (plain.images, {}),
    "InterPodAffinityPriority": (plain.inter_pod_affinity, {}),
    "LabelPreference": (plain.liked, {"preferences": PREFERENCES}),
    "LeastRequestedPriority": (plain.least, {}),
    "MostRequestedPriority": (plain.most, {}),
    "NodeAffinityPriority": (plain.node_affinity, {}),
    "NodePreferAvoidPodsPriority": (plain.avoided, {}),
    "RequestedToCapacityRatioPriority": (plain.ratio, {"shape": SHAPE}),
    "ResourceLimitsPriority": (plain.limits, {}),
    "SelectorSpreadPriority": (plain.selector_spread, {}),
    "ServiceAffinity": (
        plain.service_affinity_score, {"antiAffinityLabelsPreference": [label for label, _ in plain.APART]},
    ),
    "ServiceAntiAffinity": (plain.service_anti_affinity, {"labels": LABELS}),
    "ServiceSpreadingPriority": (plain.service_spread, {}),
    "TaintTolerationPriority": (plain.soft_taints, {}),
}  # fmt: skip


class Cluster(World):
    """A world with services and controllers, regions, annotations and limits."""

    def __init__(self, seed):
        chance = random.Random(seed)
        nodes = [self.node(chance, f"n{index}") for index in range(chance.randrange(1, 9))]
        placed = [self.pod(chance, f"placed{index}", chance.choice(nodes)) for index in range(chance.randrange(25))]
        super().__init__(nodes, placed, [self.pod(chance, f"new{index}") for index in range(3)])
        self.services = [(chance.choice(["default", "other"]), each) for each in SELECTORS if chance.random() < 0.7]
        self.controllers = [
            (chance.choice(["default", "other"]), chance.choice(KINDS), each)
            for each in SELECTORS
            if chance.random() < 0.4
        ]

    @staticmethod
    def node(chance, name):
        made = a_node(chance, name)
        marks = made["metadata"]["labels"]
        for key in (*plain.REGIONS, plain.ZONES[0]):
            if chance.random() < 0.3:
                marks[key] = chance.choice(["", "a", "b"])
        if chance.random() < 0.3:
            signature = {"podController": {"kind": "ReplicaSet", "uid": chance.choice("uv")}}
            made["metadata"]["annotations"] = {
                plain.AVOID: json.dumps({"preferAvoidPods": [{"podSignature": signature}]})
            }
        return made

    @staticmethod
    def pod(chance, name, node=None):
        made = a_pod(chance, name, node["metadata"]["name"] if node else "")
        kind = chance.choice(["ReplicaSet", "ReplicaSet", "Job"])
        made["metadata"]["ownerReferences"] = [
            {"kind": kind, "uid": chance.choice("uvw"), "name": "x", "controller": True}
        ]
        for container in made["spec"]["containers"]:
            if chance.random() < 0.5:
                container["resources"]["limits"] = {
                    "cpu": f"{chance.randrange(9) * 500}m", "memory": f"{chance.randrange(9)}Gi",
                }  # fmt: skip
        return made

    @contextmanager
    def plugin(self, name, settings):
        """Yield the plugin, which can look everything up, and the table."""
        client = FakeClient()
        rows = [(SERVICES, namespace, selector) for namespace, selector in self.services]
        rows += [
            (kind, namespace, selector if kind is REPLICATION_CONTROLLERS else {"matchLabels": selector})
            for namespace, kind, selector in self.controllers
        ]
        for number, (kind, namespace, selector) in enumerate(rows):
            meta = {"name": f"o{number:02}", "namespace": namespace}
            client.seed(kind, {"metadata": meta, "spec": {"selector": selector}})
        informers = InformerFactory(client)
        informers.start()
        nodes = Nodes()
        for node in self.nodes:
            nodes.put_node(node)
        for pod in self.placed:
            nodes.put_pod(pod, pod["spec"]["nodeName"])
        context = PluginContext(name=name, client=client, informers=informers, settings=settings)
        try:
            yield installed("scheduler")[name].load()(context), nodes
        finally:
            informers.stop()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_plain_ones(name):
    reference, settings = SCORES[name]
    told_apart = 0
    for seed in range(CLUSTERS):
        world = Cluster(seed)
        with world.plugin(name, settings) as (plugin, nodes):
            for number, pod in enumerate(world.pods):
                feasible = np.array([(seed + number + index) % 4 != 0 for index in range(len(nodes))])
                kept = [node for index, node in enumerate(world.nodes) if feasible[index]]
                if not kept:
                    continue
                expected = reference(world, pod, kept)
                info = PreparedPod.of(pod, nodes)
                if plugin.skips_score(info, nodes):
                    assert expected is None or len(set(expected.values())) == 1, f"world {seed}"
                    continue
                scores = plugin.normalize(info, nodes, plugin.score(info, nodes), feasible)

                got = {each: int(scores[index]) for index, each in enumerate(nodes.names) if feasible[index]}
                assert got == expected, f"world {seed}"
                told_apart += len(set(got.values())) > 1

    assert told_apart or name == "EqualPriority"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_service_affinity_refuses_what_the_plain_one_refuses():
    refused = 0
    for seed in range(CLUSTERS):
        world = Cluster(seed)
        with world.plugin("ServiceAffinity", {"affinityLabels": plain.TOGETHER}) as (plugin, nodes):
            for pod in world.pods:
                expected = {
                    plain.name_of(node): plain.service_affinity_filter(world, pod, node) for node in world.nodes
                }

                answer = plugin.filter(PreparedPod.of(pod, nodes), nodes)

                got = {
                    each: [text for text, mask in answer.reasons.items() if mask[index]]
                    for index, each in enumerate(nodes.names)
                }
                assert got == expected, f"world {seed}"
                assert [not got[each] for each in nodes.names] == answer.mask.tolist()
                refused += any(expected.values())

    assert refused
