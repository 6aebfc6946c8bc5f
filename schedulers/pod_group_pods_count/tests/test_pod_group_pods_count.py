"""How placements are scored. Cases: kubernetes ``podgrouppodscount/podgroup_pods_count_test.go``."""

import pytest
from hyperkube_scheduler.pod_group_pods_count import PodGroupPodsCount
from hyperkube_testing.scheduling.placements import PlacementContract

from hyperkube.hookspecs.pod_groups import NoPlacement, Placement, PodGroupInfo
from hyperkube.plugin import PluginContext

PROPOSED = {"default/proposed-1": "node1", "default/proposed-2": "node2"}


@pytest.fixture
def plugin():
    return PodGroupPodsCount(PluginContext(name="PodGroupPodsCount"))


def group(*placed):
    where = {f"default/p{index}": node for index, node in enumerate(placed)}
    return PodGroupInfo(("default", "pg1"), {}, [], where)


@pytest.mark.parametrize(
    ("placed", "score"),
    [(("node1", "node2", "node3"), 5), (("node1",), 3), ((), 2)],
    ids=["assigned and assumed", "one of them", "none"],
)
def test_placed_and_proposed_pods_count_alike(plugin, placed, score):
    assert plugin.score_placement(group(*placed), Placement("d1", None), PROPOSED) == score


@pytest.mark.parametrize(
    ("scores", "normalized"),
    [
        ([10, 50, 110], [9, 45, 100]),
        ([50, 50], [100, 100]),
        ([50], [100]),
        ([11, 100, 101, 102], [10, 98, 99, 100]),
    ],
    ids=["distinct", "equal", "single", "one far off"],
)
def test_scores_are_shares_of_the_greatest(plugin, scores, normalized):
    assert list(plugin.normalize_placements(group(), scores)) == normalized


def test_placements_without_pods_make_no_sense(plugin):
    text = "no pods from pod group are assigned to any of the candidate placements"
    with pytest.raises(NoPlacement, match=text):
        plugin.normalize_placements(group(), [0, 0])


class TestPromises(PlacementContract):
    plugin = PodGroupPodsCount
    nodes = ({"name": "a"}, {"name": "b"})
