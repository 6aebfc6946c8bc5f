"""Which nodes avoid which controllers' pods, case by case.

Source of the cases: kubernetes 1.20
``pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods_test.go``.
"""

import orjson
import pytest
from hyperkube_scheduler.node_prefer_avoid_pods import ANNOTATION, NodePreferAvoidPods
from hyperkube_testing.scheduling.tables import node, pod_info, scores, table

RC = {"kind": "ReplicationController", "name": "foo", "uid": "abcdef123456"}
RS = {"kind": "ReplicaSet", "name": "foo", "uid": "qwert12345"}


def avoiding(name, controller):
    made = node(name)
    signature = {"podController": {"apiVersion": "v1", **controller, "controller": True}}
    row = {"podSignature": signature, "reason": "some reason", "message": "some message"}
    made["metadata"]["annotations"] = {ANNOTATION: orjson.dumps({"preferAvoidPods": [row]}).decode()}
    return made


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        pytest.param({**RC, "controller": True}, [0, 100, 100], id="a replication controller's pod"),
        pytest.param({**RC, "kind": "RandomController", "controller": True}, None, id="another controller's"),
        pytest.param(RC, None, id="an owner that is not the controller"),
        pytest.param({**RS, "controller": True}, [100, 0, 100], id="a replica set's pod"),
    ],
)
def test_nodes_that_avoid_the_controller_score_nothing(owner, expected):
    """None, where the plugin is not asked, leaves all nodes alike: upstream gives them all 100."""
    nodes = table()
    for each in (avoiding("machine1", RC), avoiding("machine2", RS), node("machine3")):
        nodes.put_node(each)
    pod = {"metadata": {"name": "p", "namespace": "default", "ownerReferences": [owner]}}

    assert scores(NodePreferAvoidPods(None), pod_info(pod, nodes), nodes) == expected
