"""Labels are there or not, whatever their values."""

from types import MappingProxyType

import pytest
from hyperkube_scheduler.node_label import REASON, NodeLabel
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

NODES = ({"name": "a", "labels": {"ssd": ""}}, {"name": "b", "labels": {"ssd": "", "old": "yes"}}, {"name": "c"})


def build(**settings):
    return NodeLabel(PluginContext(name="NodeLabel", settings=settings))


def test_present_and_absent_labels_decide():
    nodes = table(*NODES)

    result = build(presentLabels=["ssd"], absentLabels=["old"]).filter(pod_info({}, nodes), nodes)

    assert result.mask.tolist() == [True, False, False]
    assert result.reasons[REASON].tolist() == [False, True, True]


def test_preferences_score_by_their_share():
    nodes = table(*NODES)
    plugin = build(presentLabelsPreference=["ssd"], absentLabelsPreference=["old"])

    assert plugin.score(pod_info({}, nodes), nodes).tolist() == [100, 50, 50]


def test_a_label_cannot_be_wanted_and_unwanted():
    with pytest.raises(UsageError, match="'ssd'"):
        build(presentLabels=["ssd"], absentLabels=["ssd"])


class TestContract(SchedulingContract):
    plugin = NodeLabel
    settings = MappingProxyType({"presentLabels": ["ssd"], "presentLabelsPreference": ["old"]})
    nodes = NODES
    pods = ({"spec": {}},)
