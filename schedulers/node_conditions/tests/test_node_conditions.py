"""The predicates of 1.x about conditions, row by row.

Source of the rows: kubernetes ``pkg/scheduler/algorithm/predicates/predicates_test.go`` of 1.5 to 1.12
(TestPodSchedulesOnNodeWith…PressureCondition, TestNodeConditionPredicate).
"""

import pytest
from hyperkube_scheduler import node_conditions as predicates
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import node, pod_info, table

READY, NOT_READY, LOST = {"Ready": "True"}, {"Ready": "False"}, {"Ready": "Unknown"}
FULL, ROOMY = {"OutOfDisk": "True"}, {"OutOfDisk": "False"}
BEST_EFFORT = {"spec": {"containers": [{"name": "c"}]}}
BURSTABLE = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m", "memory": "100"}}}]}}


def one_node(conditions, **words):
    made = node("n", **words)
    made["status"]["conditions"] = [{"type": name, "status": status} for name, status in conditions.items()]
    nodes = table()
    nodes.put_node(made)
    return nodes


def reasons(predicate, nodes, wanted=BEST_EFFORT):
    """Return the reasons against the one node."""
    info, built = pod_info(wanted, nodes), predicate(None)
    if built.skips(info):
        return []
    answer = built.filter(info, nodes)
    assert answer.mask.tolist() == [not answer.reasons]
    assert answer.unresolvable.tolist() == [bool(answer.reasons)]
    return [text for text, mask in answer.reasons.items() if mask[0]]


@pytest.mark.parametrize(
    ("conditions", "words", "expected"),
    [
        pytest.param(READY, {}, [], id="node1"),
        pytest.param(NOT_READY, {}, [predicates.NOT_READY], id="node2"),
        pytest.param(FULL, {}, [predicates.OUT_OF_DISK], id="node3"),
        pytest.param(ROOMY, {}, [], id="node4"),
        pytest.param(READY | FULL, {}, [predicates.OUT_OF_DISK], id="node5"),
        pytest.param(READY | ROOMY, {}, [], id="node6"),
        pytest.param(NOT_READY | FULL, {}, [predicates.NOT_READY, predicates.OUT_OF_DISK], id="node7"),
        pytest.param(NOT_READY | ROOMY, {}, [predicates.NOT_READY], id="node8"),
        pytest.param({}, {"unschedulable": True}, [predicates.UNSCHEDULABLE], id="node9"),
        pytest.param({}, {"unschedulable": False}, [], id="node10"),
        pytest.param({}, {}, [], id="node11"),
        pytest.param(LOST, {}, [predicates.NOT_READY], id="unknown"),
        pytest.param({"NetworkUnavailable": "True"}, {}, [predicates.NETWORK], id="no network"),
        pytest.param({"NetworkUnavailable": "False"}, {}, [], id="network"),
    ],
)
def test_node_condition(conditions, words, expected):
    assert reasons(predicates.CheckNodeCondition, one_node(conditions, **words)) == expected


@pytest.mark.parametrize(
    ("wanted", "conditions", "expected"),
    [
        pytest.param(BEST_EFFORT, READY, [], id="best effort, no pressure"),
        pytest.param(BEST_EFFORT, {"MemoryPressure": "True"}, ["node(s) had memory pressure"], id="best effort"),
        pytest.param(BURSTABLE, {"MemoryPressure": "True"}, [], id="burstable, pressure"),
        pytest.param(BURSTABLE, READY, [], id="burstable, no pressure"),
    ],
)
def test_memory_pressure(wanted, conditions, expected):
    assert reasons(predicates.CheckNodeMemoryPressure, one_node(conditions), wanted) == expected


@pytest.mark.parametrize(
    ("predicate", "condition", "reason"),
    [
        (predicates.CheckNodeDiskPressure, "DiskPressure", "node(s) had disk pressure"),
        (predicates.CheckNodePIDPressure, "PIDPressure", "node(s) had pid pressure"),
    ],
)
def test_other_pressures(predicate, condition, reason):
    assert reasons(predicate, one_node(READY)) == []
    assert reasons(predicate, one_node({condition: "False"})) == []
    assert reasons(predicate, one_node({condition: "True"})) == [reason]


@pytest.mark.parametrize(
    ("conditions", "key", "through"),
    [
        (NOT_READY, "node.kubernetes.io/not-ready", True),
        (LOST, "node.kubernetes.io/unreachable", True),
        (LOST, "node.kubernetes.io/not-ready", False),
        (NOT_READY, None, True),
    ],
)
def test_a_pod_that_tolerates_the_taint_of_a_condition_is_let_through(conditions, key, through):
    toleration = {"operator": "Exists", **({"key": key} if key else {})}
    wanted = {"spec": {"containers": [{"name": "c"}], "tolerations": [toleration]}}

    assert (reasons(predicates.CheckNodeCondition, one_node(conditions), wanted) == []) is through


class TestContract(SchedulingContract):
    plugin = predicates.CheckNodeCondition
    nodes = ({"name": "a"}, {"name": "b", "unschedulable": True})
    pods = (BEST_EFFORT,)
