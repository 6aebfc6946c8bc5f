"""A node for a pod must do with and without the pods that are expected there; remote plugins are asked last."""

import random

import pytest

pytest.importorskip("numpy")

import numpy as np
from hyperkube_host.scheduler.api_dispatcher.conditions import unschedulable_patch
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeFilter, ScorePlugin


class Empty(NodeFilter):
    """Keeps nodes without pods."""

    def filter_node(self, pod, node, pods):
        return "taken" if pods else ""


class Company(NodeFilter):
    """Keeps nodes with pods."""

    def filter_node(self, pod, node, pods):
        return "" if pods else "lonely"


class Away(FilterPlugin, ScorePlugin):
    """Asks somebody else; refuses what it is told to."""

    remote = True

    def __init__(self, *refused):
        super().__init__(None)
        self.refused, self.asked = refused, []

    def filter(self, pod, nodes):
        self.asked.append(list(nodes.names))
        mask = np.array([name not in self.refused for name in nodes.names], dtype=bool)
        return Filtered(mask, {"not there": ~mask})

    def score(self, pod, nodes):
        self.asked.append(list(nodes.names))
        return np.array([100 if name == "c" else 1 for name in nodes.names])


def algorithm(*filters, scores=()):
    rows = [(type(each).__name__, each) for each in filters]
    return Algorithm(rows, [(type(each).__name__, each, 1) for each in scores], random.Random(1))


def guest(name="guest"):
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": []}}


def with_guest(algorithm, nodes, where):
    pod = pod_info({}, nodes)
    nodes.put_pod(guest(), where)
    filtered = algorithm.run_filters(pod, nodes)
    nodes.remove_pod("default/guest", where)
    return algorithm.schedule(pod, nodes, filtered)


def test_a_guest_takes_the_place():
    nodes = table({"name": "a"}, {"name": "b"})

    assert with_guest(algorithm(Empty(None)), nodes, "a").node == "b"


def test_a_node_must_not_need_the_guest():
    nodes = table({"name": "a"}, {"name": "b"})

    decision = with_guest(algorithm(Company(None)), nodes, "a")

    assert decision.node is None
    assert decision.message() == "0/2 nodes are available: 2 lonely."


def test_reasons_of_both_looks_are_told_once_for_each_node():
    nodes = table({"name": "a"}, {"name": "b"})
    nodes.put_pod(guest("there"), "b")

    decision = with_guest(algorithm(Empty(None)), nodes, "a")

    assert decision.message() == "0/2 nodes are available: 2 taken."
    assert decision.rejected["Empty"].unresolvable is None


def test_a_nominated_node_is_taken_without_a_look_at_the_others():
    away = Away()
    nodes = table({"name": "a"}, {"name": "b"}, {"name": "c"})
    chosen = algorithm(away, scores=[away])

    decision = chosen.schedule(pod_info({}, nodes), nodes, nominated="b")

    assert decision.node == "b"
    assert away.asked == [["b"]]


def test_the_others_are_looked_at_when_it_does_not_fit():
    away = Away("b")
    nodes = table({"name": "a"}, {"name": "b"})

    decision = algorithm(away).schedule(pod_info({}, nodes), nodes, nominated="b")

    assert decision.node == "a"
    assert away.asked == [["b"], ["a"]]


def test_remote_plugins_are_asked_about_what_is_left():
    away = Away("a")
    nodes = table({"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"})
    nodes.put_pod(guest(), "d")

    decision = algorithm(away, Empty(None), scores=[away]).schedule(pod_info({}, nodes), nodes)

    assert decision.node == "c"
    assert away.asked == [["a", "b", "c"], ["b", "c"]]


def test_preemption_does_not_ask_far_away():
    away = Away("a")
    nodes = table({"name": "a"})

    assert algorithm(away).fits(pod_info({}, nodes), nodes, 0)
    assert away.asked == []


@pytest.mark.parametrize(
    ("before", "nominated", "change"),
    [
        pytest.param({}, "n", {"nominatedNodeName": "n"}, id="set"),
        pytest.param({"nominatedNodeName": "n"}, "", {"nominatedNodeName": None}, id="cleared"),
        pytest.param({"nominatedNodeName": "n"}, None, None, id="left-alone"),
        pytest.param({}, "", None, id="nothing-to-clear"),
    ],
)
def test_what_is_written_of_a_nomination(before, nominated, change):
    patch = unschedulable_patch({"status": before}, "", "", None, nominated)

    assert patch == ({"status": change} if change else None)


@pytest.mark.parametrize(("checks_all", "text"), [(False, "2 taken."), (True, "2 lonely, 2 taken.")])
def test_every_reason_is_told_where_it_is_wanted(checks_all, text):
    class Lonely(Company):
        """Refuses all."""

        def filter_node(self, pod, node, pods):
            return "lonely"

    nodes = table({"name": "a"}, {"name": "b"})
    for name in ("a", "b"):
        nodes.put_pod(guest(f"on-{name}"), name)
    rows = [("Empty", Empty(None)), ("Lonely", Lonely(None))]

    decision = Algorithm(rows, [], random.Random(1), checks_all=checks_all).schedule(pod_info({}, nodes), nodes)

    assert decision.message() == f"0/2 nodes are available: {text}"
