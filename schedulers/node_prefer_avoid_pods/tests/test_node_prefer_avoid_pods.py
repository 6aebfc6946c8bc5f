"""A node that avoids a controller scores nothing for its pods."""

import orjson
from hyperkube_scheduler.node_prefer_avoid_pods import ANNOTATION, NodePreferAvoidPods
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import node, pod_info, table

OWNER = {"kind": "ReplicaSet", "name": "web", "uid": "u1", "controller": True}


def pod(owner=OWNER):
    return {"metadata": {"name": "p", "namespace": "default", "ownerReferences": [owner]}, "spec": {"containers": []}}


def nodes():
    signature = {"podController": {"kind": "ReplicaSet", "name": "web", "uid": "u1"}}
    avoiding = node("avoids")
    rows = {"preferAvoidPods": [{"podSignature": signature}]}
    avoiding["metadata"]["annotations"] = {ANNOTATION: orjson.dumps(rows).decode()}
    odd = node("odd")
    odd["metadata"]["annotations"] = {ANNOTATION: "not json"}
    filled = table()
    for each in (avoiding, odd, node("other")):
        filled.put_node(each)
    return filled


def test_the_avoided_controllers_pods_score_nothing():
    world = nodes()

    assert NodePreferAvoidPods(None).score(pod_info(pod(), world), world).tolist() == [0, 100, 100]


def test_other_owners_do_not_matter():
    world = nodes()

    assert NodePreferAvoidPods(None).skips(pod_info(pod({**OWNER, "kind": "Job"}), world))


class TestContract(SchedulingContract):
    plugin = NodePreferAvoidPods
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (pod(),)

    def world(self):
        world = nodes()
        return world, [pod_info(each, world) for each in self.pods]
