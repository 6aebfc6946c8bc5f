"""Hard taints refuse, soft ones cost points."""

import numpy as np
from hyperkube_scheduler.taint_toleration import REASON, TaintToleration
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

DEDICATED = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
SOFT = {"key": "soft", "effect": "PreferNoSchedule"}


def test_an_untolerated_taint_refuses_the_node():
    nodes = table({"name": "a", "taints": [DEDICATED]}, {"name": "b"})

    result = TaintToleration(None).filter(pod_info({"spec": {}}, nodes), nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons[REASON].tolist() == [True, False]


def test_a_tolerated_taint_does_not():
    nodes = table({"name": "a", "taints": [DEDICATED]})
    pod = pod_info({"spec": {"tolerations": [{"key": "dedicated", "operator": "Equal", "value": "gpu"}]}}, nodes)

    assert TaintToleration(None).filter(pod, nodes).mask.tolist() == [True]


def test_nodes_with_fewer_soft_taints_score_higher():
    nodes = table(
        {"name": "a", "taints": [SOFT, {**SOFT, "key": "more"}]}, {"name": "b", "taints": [SOFT]}, {"name": "c"}
    )
    plugin = TaintToleration(None)
    pod = pod_info({"spec": {}}, nodes)

    scores = plugin.normalize(pod, nodes, plugin.score(pod, nodes), np.ones(3, dtype=bool))

    assert scores.tolist() == [0, 50, 100]


class TestContract(SchedulingContract):
    plugin = TaintToleration
    nodes = ({"name": "a", "taints": [DEDICATED]}, {"name": "b", "taints": [SOFT]}, {"name": "c"})
    pods = ({"spec": {}},)
