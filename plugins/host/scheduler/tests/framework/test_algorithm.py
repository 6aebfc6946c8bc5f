"""What is kept per template gives the same answers as asking everything anew."""

import random
from random import Random

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from hyperkube_host.scheduler.config.configuration import from_object
from hyperkube_host.scheduler.config.policy import from_policy
from hyperkube_host.scheduler.framework.algorithm import BLOCK, Algorithm
from hyperkube_host.scheduler.framework.runtime import new_framework, plugin_class
from hyperkube_scheduler.default_provider import PROVIDER
from hyperkube_testing.scheduling.tables import node

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.machinery.clock import FakeClock


class First:
    """Chance that always takes the first of equals."""

    def randrange(self, _count):
        return 0


@pytest.fixture
def profile():
    client, clock = FakeClient(), FakeClock()
    informers = InformerFactory(client)
    informers.start()
    yield new_framework(PROVIDER, client=client, informers=informers, clock=clock, options={}, gates={})
    informers.stop()


def pod(chance, number):
    kind = chance.randrange(4)
    requests = {"cpu": f"{100 * (kind + 1)}m"}
    spec = {"containers": [{"name": "c", "image": "i:1", "resources": {"requests": requests}}]}
    labels = {"app": f"a{kind}"}
    if kind == 1:
        spec["nodeSelector"] = {"zone": "z1"}
    if kind == 2:
        term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "host"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if kind == 3:
        spec["containers"][0]["ports"] = [{"hostPort": 80, "containerPort": 80}]
    return {
        "metadata": {"name": f"p{number}", "namespace": "default", "uid": str(number), "labels": labels},
        "spec": spec,
    }


def a_node(chance, name):
    labels = {"zone": f"z{chance.randrange(3)}", "host": name}
    taints = (
        [{"key": "k", "effect": chance.choice(["NoSchedule", "PreferNoSchedule"])}] if chance.random() < 0.3 else []
    )
    return node(
        name, labels=labels, taints=taints, cpu=str(chance.randrange(1, 5)), unschedulable=chance.random() < 0.1
    )


@pytest.mark.parametrize("seed", range(4))
def test_kept_answers_equal_fresh_ones(profile, seed):
    chance, cache = random.Random(seed), SchedulerCache()
    kept = Algorithm(profile.filters, profile.scores, First())
    table = cache.table()
    for index in range(12):
        cache.put_node(a_node(chance, f"n{index}"))
    placed = []
    for number in range(150):
        if chance.random() < 0.2:
            cache.put_node(a_node(chance, f"n{chance.randrange(14)}"))
        if chance.random() < 0.05:
            cache.remove_node(f"n{chance.randrange(14)}")
        if placed and chance.random() < 0.3:
            cache.remove_pod(placed.pop(chance.randrange(len(placed))))
        one = PreparedPod.of(pod(chance, number), table)
        two = PreparedPod.of(one.pod, table)

        decision = kept.schedule(one, table)
        fresh = Algorithm(profile.filters, profile.scores, First()).schedule(two, table)

        assert decision.node == fresh.node
        assert decision.explain("x") == fresh.explain("x")
        assert decision.message() == fresh.message()
        if decision.node is not None:
            cache.assume(one, decision.node)
            placed.append(one.pod)


def test_templates_that_would_be_asked_anew_are_not_kept(profile):
    cache = SchedulerCache()
    table = cache.table()
    for index in range(40):
        cache.put_node(node(f"n{index}", cpu="32"))
    kept = Algorithm(profile.filters, profile.scores, Random(1))
    known = []
    for number in range(200):
        meta = {"name": f"p{number}", "namespace": "default", "uid": str(number), "labels": {"app": f"a{number}"}}
        info = PreparedPod.of({"metadata": meta, "spec": {"containers": [{"name": "c"}]}}, table)
        cache.assume(info, kept.schedule(info, table).node)
        known.append(len(kept._equivalence_cache))

    # A template is of use until more than half of the nodes, and eight, have changed.
    assert max(known) < 80
    assert list(kept._equivalence_cache)[-1] == info.template_key


def test_scores_times_weights_add_up_to_the_choice(profile):
    cache = SchedulerCache()
    table = cache.table()
    cache.put_node(node("small", cpu="2"))
    cache.put_node(node("large", cpu="8"))
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    meta = {"name": "p1", "namespace": "default"}
    info = PreparedPod.of({"metadata": meta, "spec": {"containers": [container]}}, table)

    said = Algorithm(profile.filters, profile.scores, First()).schedule(info, table).explain("default/p1")

    totals = {row["node"]: row["total"] for row in said["nodes"]}
    assert said["node"] == max(totals, key=totals.get)
    for row in said["nodes"]:
        assert row["total"] == sum(each["score"] * each["weight"] for each in row["scores"])


def test_three_ways_to_write_a_set_choose_the_same_nodes():
    wanted = {"NodeResourcesLeastAllocated": 2, "NodeAffinity": 1}
    filters = ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]
    written = AlgorithmProvider(
        name="x", queue_sort="PrioritySort", binds=("DefaultBinder",), filters=tuple(filters), scores=wanted
    )
    policy = {
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [{"name": "LeastRequestedPriority", "weight": 2}, {"name": "NodeAffinityPriority", "weight": 1}],
    }
    plugins = {
        "multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}]},
        "filter": {"enabled": [{"name": name} for name in filters]},
        "score": {"enabled": [{"name": name, "weight": weight} for name, weight in wanted.items()]},
    }
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    configured = from_object({**header, "profiles": [{"plugins": plugins}]}, PROVIDER, plugin_class)
    providers = [written, from_policy(policy, PROVIDER), configured.profiles["default-scheduler"]]

    placements = []
    for provider in providers:
        client, chance, cache = FakeClient(), random.Random(5), SchedulerCache()
        informers = InformerFactory(client)
        built = new_framework(provider, client=client, informers=informers, clock=FakeClock(), options={}, gates={})
        algorithm = Algorithm(built.filters, built.scores, First())
        for index in range(50):
            cache.put_node(a_node(chance, f"n{index}"))
        chosen = []
        for number in range(60):
            info = PreparedPod.of(pod(chance, number), cache.table())
            node_name = algorithm.schedule(info, cache.table()).node
            chosen.append(node_name)
            if node_name is not None:
                cache.assume(info, node_name)
        placements.append(chosen)

    assert placements[0] == placements[1] == placements[2]
    assert len(set(placements[0])) > 10


def test_of_equal_nodes_each_may_be_chosen_however_many_there_are():
    import numpy as np

    total = np.zeros(3 * BLOCK + 7, dtype=np.int64)
    best = [3, BLOCK - 1, BLOCK, 3 * BLOCK + 6]
    total[best] = 9

    chosen = {Algorithm((), (), Random(seed))._best(total) for seed in range(200)}

    assert chosen == set(best)
    assert Algorithm((), (), Random(1))._best(total[4:5]) == 0
