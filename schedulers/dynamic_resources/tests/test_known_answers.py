"""What was found for one pod serves the next of its kind, as long as nothing changed that the node reaches."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import ask, cel, claim, counters, dev, part, rslice
from hyperkube_scheduler.dynamic_resources.allocator import Allocator
from hyperkube_scheduler.dynamic_resources.answers import QUESTIONS, Answers
from plugin_world import World, pod

from hyperkube.kinds.resources import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES

NODES = tuple({"name": f"n{number}"} for number in range(3))
SLICES = [rslice(dev("1"), dev("2"), node=each["name"], pool=each["name"]) for each in NODES]
EVERYWHERE = rslice(dev("1"), dev("2"), node={"allNodes": True}, pool="net", driver="b")


@pytest.fixture
def searched(monkeypatch):
    """Return the nodes that were searched, in order."""
    names = []
    real = Allocator.allocate
    monkeypatch.setattr(
        Allocator, "allocate", lambda self, name, *words: (names.append(name), real(self, name, *words))[1]
    )
    return names


def claims(count, *requests):
    return [claim(*(requests or (ask(),)), name=f"c{number}") for number in range(count)]


def test_only_the_node_is_searched_where_the_last_pod_went(searched):
    world = World(claims(4), SLICES, nodes=NODES)

    assert world.bind(pod("c0"), "n1") == ""
    first = list(searched)
    searched.clear()
    assert world.bind(pod("c1"), "n1") == ""
    second = list(searched)
    searched.clear()

    assert world.ask(pod("c2")) == ["", "! cannot allocate all claims", ""]
    assert (first, second, searched) == (["n0", "n1", "n2"], ["n1"], ["n1"])
    assert world.stored()[:2] == ["r0=a/n1/1 for pod, protected", "r0=a/n1/2 for pod, protected"]


def test_a_pool_that_all_nodes_reach_is_searched_for_all(searched):
    world = World(claims(2, ask("r0", "b")), [EVERYWHERE], nodes=NODES)
    world.bind(pod("c0"), "n1")
    searched.clear()

    world.bind(pod("c1"), "n1")

    assert searched == ["n0", "n1", "n2"]
    assert world.stored() == ["r0=b/net/1 for pod, protected", "r0=b/net/2 for pod, protected"]


def test_a_slice_that_changes_is_searched_again(searched):
    world = World(claims(2), SLICES, nodes=NODES)
    world.ask(pod("c0"))
    searched.clear()
    version = world.plugin._claims.slices.version
    changed = rslice(dev("3"), node="n2", pool="n2", generation=2)
    world.client.seed(RESOURCE_SLICES, changed)
    world.knows(lambda: world.plugin._claims.slices.version > version)

    assert world.bind(pod("c1"), "n2") == ""
    assert searched == ["n2"]
    assert world.stored()[1] == "r0=a/n2/3 for pod, protected"


def test_another_question_or_class_is_another_answer(searched):
    picky = claim(ask(selectors=cel("device.driver == 'a'")), name="c1")
    world = World([claim(ask()), picky], SLICES, nodes=NODES)
    world.ask(pod("c0"))
    world.ask(pod("c1"))
    asked = list(searched)
    searched.clear()
    world.client.patch(DEVICE_CLASSES, "a", {"spec": {"selectors": cel("false")}})
    world.knows(lambda: "false" in str(world.plugin._claims.classes.get("a")))

    assert world.ask(pod("c0")) == ["! cannot allocate all claims"] * 3
    assert (len(asked), len(searched)) == (6, 3)


def test_a_claim_that_gives_counters_back_is_noticed():
    slices = [
        counters({"set": {"x": "1"}}, count=2),
        rslice(part("1", {"set": {"x": "1"}}), part("2", {"set": {"x": "1"}}), count=2),
    ]
    world = World(claims(2), slices)
    world.bind(pod("c0"))
    full = world.ask(pod("c1"))
    stored = world.client.get(RESOURCE_CLAIMS, "c0", "default")
    world.client.update(RESOURCE_CLAIMS, {**stored, "status": {}}, "default", subresource="status")
    world.knows(lambda: not world.plugin._claims.usage.devices)

    assert (full, world.ask(pod("c1"))) == (["! cannot allocate all claims"], [""])


def test_few_questions_and_nodes_are_remembered():
    answers = Answers()
    asked = [[claim(ask(count=number))] for number in range(1, QUESTIONS + 2)]
    known = [answers.about(each, 1, 2) for each in asked]
    known[-1].update(dict.fromkeys("abcde", ([], "no")))

    assert answers.about(asked[0], 1, 2) is not known[0]
    assert answers.about(asked[-1], 2, 2) is not known[-1]
    assert answers.about(asked[-1], 1, 3) is known[-1]
    assert len(known[-1]) == 5
    assert not answers.about(asked[-1], 1, 2)
