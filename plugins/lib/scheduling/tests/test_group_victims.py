"""Who goes for a pod group. Cases: kubernetes ``podgrouppreemption_test.go``."""

import pytest
from hyperkube_lib.scheduling.group_victims import NO_VICTIMS, NOT_ENOUGH, choose, units_below
from hyperkube_testing.scheduling.tables import table

GROUPS = {
    ("default", "whole"): {"spec": {"disruptionMode": "PodGroup", "priority": 5}},
    ("default", "single"): {"spec": {"disruptionMode": "Pod", "priority": 5}},
}


def pod(name, priority=0, group="", started="2030-01-01T00:00:00Z"):
    spec = {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": spec,
        "status": {"startTime": started},
    }


class DryRun:
    """A group of pods with one cpu each, at least `least` of which must fit."""

    def __init__(self, nodes, pods, least):
        self.nodes, self.pods, self.least = nodes, pods, least

    def remove(self, index, each):
        self.nodes.remove_pod(f"default/{each['metadata']['name']}", self.nodes.names[index])

    def put_back(self, index, each):
        self.nodes.put_pod(each, self.nodes.names[index])

    def place(self):
        free = int((self.nodes.allocatable[0] - self.nodes.requested[0]).sum()) // 1000
        count = min(free, self.pods)
        return {f"default/g{index}": "n" for index in range(count)} if count >= self.least else None


def victims(placed, pods=2, least=2, priority=10, violating=()):
    """Return the names of the pods that go, from nodes of four cpus each."""
    nodes = table(*({"name": name, "cpu": "4"} for name in placed))
    for name, each in placed.items():
        for one in each:
            nodes.put_pod(one, name)
    units = units_below(priority, nodes, GROUPS.get)
    chosen = choose(
        units, DryRun(nodes, pods, least), lambda pods: [p for p in pods if p["metadata"]["name"] in violating]
    )
    return chosen if isinstance(chosen, str) else [[one["metadata"]["name"] for _, one in unit.pods] for unit in chosen]


def test_the_least_important_go_wherever_they_are():
    placed = {
        "a": [pod("a1", 3), pod("a2", 1), pod("a3", 3), pod("a4", 3)],
        "b": [pod(f"b{i}", 3 - i) for i in range(4)],
    }

    assert victims(placed) == [["b2"], ["b3"]] or victims(placed) == [["a2"], ["b3"]]


def test_of_equals_the_youngest_goes():
    placed = {"a": [pod(f"p{index}", 1, started=f"2030-01-0{index + 1}T00:00:00Z") for index in range(4)]}

    assert victims(placed, pods=1, least=1) == [["p3"]]


def test_nobody_goes_for_a_group_that_matters_less():
    assert victims({"a": [pod(f"p{index}", 10) for index in range(4)]}) == NO_VICTIMS


def test_nobody_goes_in_vain():
    assert victims({"a": [pod("p", 1)]}, pods=5, least=5) == NOT_ENOUGH


def test_a_group_that_is_disrupted_as_a_whole_goes_as_one():
    placed = {"a": [pod(f"w{index}", group="whole") for index in range(4)]}

    assert victims(placed, pods=1, least=1) == [["w0", "w1", "w2", "w3"]]


def test_of_another_group_only_as_many_as_needed_go():
    placed = {"a": [pod(f"s{index}", group="single") for index in range(4)]}

    assert len(victims(placed, pods=1, least=1)) == 1


def test_a_groups_priority_counts_not_its_pods():
    assert victims({"a": [pod(f"s{index}", -100, "single") for index in range(4)]}, priority=5) == NO_VICTIMS


def test_a_whole_group_is_kept_before_single_pods_of_its_priority():
    placed = {"a": [pod("w0", group="whole"), pod("x", 5), pod("y", 5), pod("w1", group="whole")]}

    assert sorted(victims(placed)) == [["x"], ["y"]]


def test_pods_with_a_budget_at_stake_are_put_back_first():
    placed = {"a": [pod("guarded", 1), pod("other", 2), pod("third", 2), pod("fourth", 2)]}

    assert ["guarded"] not in victims(placed, pods=1, least=1, violating=("guarded",))


@pytest.mark.parametrize(("pods", "gone"), [(4, 4), (2, 2)])
def test_no_fewer_pods_of_the_group_are_placed_than_could_be(pods, gone):
    placed = {"a": [pod(f"p{index}", 1) for index in range(4)]}

    assert len(victims(placed, pods=pods, least=1)) == gone
