"""Selectors and affinity terms match nodes by label and by name."""

import numpy as np
import pytest
from hyperkube_scheduler.node_affinity import REASON, NodeAffinity
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table


def nodes():
    return table(
        {"name": "a", "labels": {"zone": "z1", "size": "4"}},
        {"name": "b", "labels": {"zone": "z2", "size": "16"}},
        {"name": "c"},
    )


def required(*terms):
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"spec": {"affinity": {"nodeAffinity": rule}}}


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        pytest.param({"key": "zone", "operator": "In", "values": ["z1"]}, [True, False, False], id="in"),
        pytest.param({"key": "zone", "operator": "NotIn", "values": ["z1"]}, [False, True, True], id="not-in"),
        pytest.param({"key": "zone", "operator": "Exists"}, [True, True, False], id="exists"),
        pytest.param({"key": "zone", "operator": "DoesNotExist"}, [False, False, True], id="does-not-exist"),
        pytest.param({"key": "size", "operator": "Gt", "values": ["8"]}, [False, True, False], id="gt"),
        pytest.param({"key": "size", "operator": "Lt", "values": ["8"]}, [True, False, False], id="lt"),
    ],
)
def test_operators(expression, kept):
    all_nodes = nodes()
    pod = pod_info(required({"matchExpressions": [expression]}), all_nodes)

    assert NodeAffinity(None).filter(pod, all_nodes).mask.tolist() == kept


def test_terms_are_alternatives_and_an_empty_one_matches_nothing():
    all_nodes = nodes()
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}
    by_zone = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z2"]}]}
    pod = pod_info(required(by_name, by_zone, {}), all_nodes)

    result = NodeAffinity(None).filter(pod, all_nodes)

    assert result.mask.tolist() == [False, True, True]
    assert result.reasons[REASON].tolist() == [True, False, False]


def test_a_node_selector_needs_all_labels():
    all_nodes = nodes()
    pod = pod_info({"spec": {"nodeSelector": {"zone": "z1", "size": "4"}}}, all_nodes)

    assert NodeAffinity(None).filter(pod, all_nodes).mask.tolist() == [True, False, False]


def test_preferences_add_their_weights_and_scale_to_100():
    all_nodes = nodes()
    preferences = [
        {"weight": 20, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}},
        {"weight": 20, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z2"]}]}},
    ]
    rule = {"preferredDuringSchedulingIgnoredDuringExecution": preferences}
    pod = pod_info({"spec": {"affinity": {"nodeAffinity": rule}}}, all_nodes)
    plugin = NodeAffinity(None)

    scores = plugin.normalize(pod, all_nodes, plugin.score(pod, all_nodes), np.ones(3, dtype=bool))

    assert scores.tolist() == [50, 100, 0]


class TestContract(SchedulingContract):
    plugin = NodeAffinity
    nodes = ({"name": "a", "labels": {"disk": "ssd"}}, {"name": "b"})
    pods = ({"spec": {"nodeSelector": {"disk": "ssd"}}},)
