"""The node table: incremental changes leave it as a rebuilt one."""

import random

import pytest

pytest.importorskip("numpy")  # core does not depend on it; the scheduling plugins do

import numpy as np
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_testing.scheduling.tables import node, table


def pod(name, cpu="100m", **spec):
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container], **spec}}


def test_pods_are_counted_and_uncounted():
    nodes = table({"name": "a"})

    nodes.put_pod(pod("one"), "a")
    nodes.put_pod(pod("two", "1"), "a")
    nodes.put_pod(pod("one", "300m"), "a")
    nodes.remove_pod("default/two", "a")

    assert nodes.requested[:, 0].tolist()[0] == 300
    assert nodes.requested[3, 0] == 1


def test_a_pod_seen_before_its_node_counts_when_the_node_comes():
    nodes = Nodes()

    nodes.put_pod(pod("early"), "a")
    nodes.put_node(node("a"))

    assert nodes.requested[0, 0] == 100


def test_removing_a_node_moves_the_last_one_into_its_column():
    nodes = table({"name": "a"}, {"name": "b", "cpu": "4"}, {"name": "c", "cpu": "8"})
    nodes.put_pod(pod("on-c"), "c")

    nodes.remove_node("a")

    assert nodes.names == ["c", "b"]
    assert nodes.allocatable[0].tolist() == [8000, 4000]
    assert nodes.requested[0].tolist() == [100, 0]


def test_changed_columns_are_known_until_nodes_come_or_go():
    nodes = table({"name": "a"}, {"name": "b"})
    before = nodes.generation

    nodes.put_pod(pod("x"), "b")
    changed = nodes.changed_since(before)
    nodes.put_node(node("c"))

    assert changed == [1]
    assert nodes.changed_since(before) is None


def test_random_changes_equal_a_rebuilt_table():
    chance = random.Random(7)
    nodes = Nodes()
    world: dict[str, dict] = {}
    pods: dict[str, tuple[dict, str]] = {}
    for step in range(400):
        what = chance.choice(["node", "node", "gone", "pod", "pod", "pod", "pod gone"])
        name = f"n{chance.randrange(12)}"
        if what == "node":
            world[name] = node(name, cpu=str(chance.randrange(1, 9)))
            nodes.put_node(world[name])
        elif what == "gone":
            world.pop(name, None)
            nodes.remove_node(name)
        elif what == "pod":
            each = pod(f"p{step}", f"{chance.randrange(1, 9)}00m")
            pods[f"default/p{step}"] = (each, name)
            nodes.put_pod(each, name)
        elif pods:
            key = chance.choice(list(pods))
            _, on = pods.pop(key)
            nodes.remove_pod(key, on)

    rebuilt = Nodes()
    for each in world.values():
        rebuilt.put_node(each)
    for each, on in pods.values():
        rebuilt.put_pod(each, on)
    assert sorted(nodes.names) == sorted(rebuilt.names)
    order = [nodes.names.index(name) for name in rebuilt.names]
    assert np.array_equal(nodes.allocatable[:, order], rebuilt.allocatable)
    assert np.array_equal(nodes.requested[:, order], rebuilt.requested)
    assert np.array_equal(nodes.non_zero_requested[:, order], rebuilt.non_zero_requested)
