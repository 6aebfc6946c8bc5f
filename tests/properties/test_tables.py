"""A node table that followed random events is the one built at their end, and decides alike with all it kept."""

import os
import random

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

import numpy as np
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_host.scheduler.framework.runtime import new_framework
from hyperkube_scheduler.default_provider import PROVIDER
from worlds import DEVICE, DISK, HOST, ZONE, a_node, a_pod

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.machinery.clock import FakeClock

SEQUENCES = int(os.environ.get("HYPERKUBE_CLUSTERS", "50"))
EVENTS = 40


class Story:
    """Random events, told to a table as they happen."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.table = Nodes()
        self.nodes = {}
        self.pods = {}

    def step(self, number):
        name = f"n{self.chance.randrange(8)}"
        do = self.chance.choice(
            [self.put_node] * 3 + [self.remove_node] + [self.put_pod] * 5 + [self.change_pod, self.remove_pod]
        )
        do(name, number)

    def put_node(self, name, _number):
        self.nodes.pop(name, None)
        self.nodes[name] = a_node(self.chance, name)
        self.table.put_node(self.nodes[name])

    def remove_node(self, name, _number):
        self.nodes.pop(name, None)
        self.table.remove_node(name)

    def put_pod(self, name, number):
        pod = a_pod(self.chance, f"p{number}", name)
        self.pods[pod["metadata"]["namespace"], pod["metadata"]["name"]] = pod
        self.table.put_pod(pod, name)

    def change_pod(self, _name, _number):
        if self.pods:
            key = self.chance.choice(list(self.pods))
            old = self.pods[key]
            new = a_pod(self.chance, key[1], old["spec"]["nodeName"])
            new["metadata"]["namespace"] = key[0]
            self.pods[key] = new
            self.table.put_pod(new, old["spec"]["nodeName"])

    def remove_pod(self, _name, _number):
        if self.pods:
            key = self.chance.choice(list(self.pods))
            self.table.remove_pod("/".join(key), self.pods.pop(key)["spec"]["nodeName"])

    def rebuilt(self):
        """Return a table of what there is now, in the same order of columns."""
        table = Nodes()
        for name in self.table.names:
            table.put_node(self.nodes[name])
        for pod in self.pods.values():
            table.put_pod(pod, pod["spec"]["nodeName"])
        table.add_resources(dict.fromkeys(self.table.resources, 0))
        return table


def rows(table, array):
    """Return the array's rows by resource, those of nought left out: tables may differ in resources nobody has."""
    return {name: array[row].tolist() for row, name in enumerate(table.resources) if array[row].any()}


def contents(table):
    """Return all that plugins can ask of a table, as plain values."""
    groups = sorted(
        (
            group.namespace,
            sorted(group.labels.items()),
            str(group.affinity),
            group.deleting,
            sorted(group.counts.items()),
        )
        for group in table.pod_counts()
    )
    return {
        "names": list(table.names),
        "allocatable": rows(table, table.allocatable),
        "requested": rows(table, table.requested),
        "non zero": table.non_zero_requested.tolist(),
        "unschedulable": table.unschedulable.tolist(),
        "labels": {key: list(table.label(key)) for key in (HOST, ZONE, DISK)},
        "ssd": table.label_equals(DISK, "ssd").tolist(),
        "zoned": table.label_exists(ZONE).tolist(),
        "taints": {key: mask.tolist() for key, mask in table.taints().items()},
        "groups": groups,
        "social": len(table.pod_counts(with_affinity=True)),
        "pods": [sorted(pod["metadata"]["name"] for pod in table.pods(index)) for index in range(len(table))],
        "nodes": [table.node(index) for index in range(len(table))],
    }


@pytest.mark.slow
def test_a_table_that_followed_events_is_a_rebuilt_one():
    for seed in range(SEQUENCES):
        story = Story(seed)
        for number in range(EVENTS):
            story.step(number)
            if number % 7 == 0:
                contents(story.table)  # what is made when asked for is kept up from here on

        assert contents(story.table) == contents(story.rebuilt()), f"sequence {seed}"


def sorted_out(decision):
    """Return the choice, and each node's refusals and scores by node and plugin."""
    told = decision.explain("")
    words = {
        row["node"]: (
            sorted((each["plugin"], each["reason"]) for each in row.get("refused", ())),
            sorted((each["plugin"], each["score"], each["weight"]) for each in row.get("scores", ())),
        )
        for row in told["nodes"]
    }
    return told["node"], words


class First:
    """Chance that takes the first of equals."""

    def randrange(self, _count):
        return 0


@pytest.fixture
def profile():
    client = FakeClient()
    informers = InformerFactory(client)
    informers.start()
    yield new_framework(PROVIDER, client=client, informers=informers, clock=FakeClock(), options={}, gates={})
    informers.stop()


@pytest.mark.slow
def test_what_is_kept_decides_as_if_everything_was_asked_anew(profile):
    for seed in range(max(20, SEQUENCES // 5)):
        story = Story(seed)
        kept = Algorithm(profile.filters, profile.scores, First())
        templates = [a_pod(random.Random(each), f"new{each}") for each in range(4)]
        for number in range(EVENTS):
            story.step(number)
            pod = story.chance.choice(templates)
            fresh = Algorithm(profile.filters, profile.scores, First())

            got = kept.schedule(PreparedPod.of(pod, story.table), story.table)
            expected = fresh.schedule(PreparedPod.of(pod, story.table), story.table)

            assert sorted_out(got) == sorted_out(expected), f"sequence {seed}, event {number}"
            assert got.message() == expected.message()


def test_the_worlds_have_what_tables_hold():
    story = Story(3)
    for number in range(EVENTS):
        story.step(number)

    found = contents(story.table)

    assert found["taints"]
    assert found["social"]
    assert DEVICE in found["allocatable"]
    assert np.array(found["non zero"]).any()
