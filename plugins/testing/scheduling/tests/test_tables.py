"""The builders that tests of scheduling plugins use."""

import numpy as np
from hyperkube_testing.scheduling.tables import node, pod_info, scores, table, verdicts

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, ScorePlugin
from hyperkube.plugin import PluginContext


class FirstOnly(FilterPlugin, ScorePlugin):
    """Keeps the first node, and likes the later ones more."""

    def filter(self, pod, nodes):
        mask = np.arange(len(nodes)) == 0
        return Filtered(mask, {"not the first": ~mask})

    def score(self, pod, nodes):
        return np.arange(len(nodes), dtype=np.int64)


def test_a_node_is_roomy_unless_told_otherwise():
    assert node("a", cpu="4")["status"]["allocatable"] == {
        "cpu": "4",
        "memory": "64Gi",
        "ephemeral-storage": "100Gi",
        "pods": "110",
    }


def test_verdicts_and_scores_say_what_the_plugin_says_node_by_node():
    nodes = table({"name": "a"}, {"name": "b"})
    plugin = FirstOnly(PluginContext(name="FirstOnly"))
    pod = pod_info({}, nodes)

    assert verdicts(plugin, pod, nodes) == ["", "not the first"]
    assert scores(plugin, pod, nodes) == [0, 1]
