"""The daemonset controller: which nodes get a pod, and how an update goes round."""

import pytest
from hyperkube_controller.daemonset import Daemonset
from hyperkube_controller.daemonset.pods import node_of

from hyperkube.kinds.resources import CONTROLLER_REVISIONS, DAEMON_SETS, EVENTS, NODES, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def daemon_set(**template_spec):
    template = {
        "metadata": {"labels": {"app": "log"}},
        "spec": {"containers": [{"name": "c", "image": "v1"}], **template_spec},
    }
    return {
        "kind": "DaemonSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "log", "namespace": "d"},
        "spec": {"selector": {"matchLabels": {"app": "log"}}, "template": template},
    }


def node(name, *taints, **labels):
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": [*taints]}}


def rig(*nodes, **template_spec):
    rig = ControllerRig(Daemonset)
    rig.client.seed(NODES, *nodes)
    rig.client.seed(DAEMON_SETS, daemon_set(**template_spec))
    rig.settle()
    return rig


def places(rig):
    return sorted(node_of(pod) for pod in rig.client.objects(PODS))


def status(rig):
    return rig.client.get(DAEMON_SETS, "log", "d")["status"]


class TestContract(ControllerContract):
    plugin = Daemonset

    def populate(self, rig):
        rig.client.seed(NODES, node("n1"))
        rig.client.seed(DAEMON_SETS, daemon_set())


def test_every_node_gets_one():
    world = rig(node("n1"), node("n2"))
    assert places(world) == ["n1", "n2"]
    assert status(world)["desiredNumberScheduled"] == 2

    world.client.seed(NODES, node("n3"))
    world.settle()
    assert places(world) == ["n1", "n2", "n3"]

    world.client.delete(NODES, "n1")
    world.settle()
    assert places(world) == ["n2", "n3"]


def test_selectors_and_taints_keep_it_off():
    taint = {"key": "gpu", "effect": "NoSchedule"}

    world = rig(node("n1", disk="ssd"), node("n2"), node("n3", taint, disk="ssd"), nodeSelector={"disk": "ssd"})

    assert places(world) == ["n1"]


def test_a_cordoned_or_silent_node_keeps_its_daemon():
    cordoned = node("n1", {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    silent = node("n2", {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"})

    assert places(rig(cordoned, silent)) == ["n1", "n2"]


def test_a_node_that_is_tainted_to_execute_loses_it():
    world = rig(node("n1"))

    world.client.patch(NODES, "n1", {"spec": {"taints": [{"key": "mine", "effect": "NoExecute"}]}})
    world.settle()

    assert places(world) == []


def test_an_update_replaces_one_at_a_time():
    world = rig(node("n1"), node("n2"))

    def ready():
        for pod in world.client.objects(PODS):
            world.client.patch(PODS, pod["metadata"]["name"], {"status": READY}, "d", subresource="status")
        world.settle()

    def images():
        return sorted(pod["spec"]["containers"][0]["image"] for pod in world.client.objects(PODS))

    ready()
    assert status(world)["numberAvailable"] == 2
    change = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}}
    world.client.patch(DAEMON_SETS, "log", change, "d")
    world.settle()
    assert images() == ["v1", "v2"]
    ready()
    assert images() == ["v2", "v2"]
    ready()
    assert status(world)["updatedNumberScheduled"] == 2


def test_a_failed_pod_is_replaced_ever_later():
    world = rig(node("n1"))

    def fail():
        (pod,) = world.client.objects(PODS)
        world.client.patch(PODS, pod["metadata"]["name"], {"status": {"phase": "Failed"}}, "d", subresource="status")
        world.settle()
        return world.client.objects(PODS)[0]["metadata"]["name"] != pod["metadata"]["name"]

    assert fail()
    assert not fail()
    world.advance(2)
    assert world.client.objects(PODS)[0]["status"]["phase"] == "Pending"


def orphan_all(client, *resources):
    """Take the owners from all objects, as the garbage collector does for a deletion that leaves them."""
    for resource in resources:
        for obj in client.objects(resource):
            client.patch(resource, obj["metadata"]["name"], {"metadata": {"ownerReferences": None}}, "d")


def test_pods_and_history_of_a_set_of_the_same_name_are_adopted():
    world = rig(node("n1"), node("n2"))
    world.client.delete(DAEMON_SETS, "log", "d")
    orphan_all(world.client, PODS, CONTROLLER_REVISIONS)
    world.settle()
    before = [
        obj["metadata"]["uid"] for resource in (PODS, CONTROLLER_REVISIONS) for obj in world.client.objects(resource)
    ]

    (made,) = world.client.seed(DAEMON_SETS, daemon_set())
    world.settle()

    after = [obj for resource in (PODS, CONTROLLER_REVISIONS) for obj in world.client.objects(resource)]
    assert [obj["metadata"]["uid"] for obj in after] == before
    assert {obj["metadata"]["ownerReferences"][0]["uid"] for obj in after} == {made["metadata"]["uid"]}


def test_a_pod_that_loses_its_controller_is_adopted_again():
    world = rig(node("n1"))

    orphan_all(world.client, PODS)
    world.settle()

    (pod,) = world.client.objects(PODS)
    assert pod["metadata"]["ownerReferences"][0]["name"] == "log"


def test_a_set_that_selects_all_pods_is_told_so():
    world = ControllerRig(Daemonset)
    world.client.seed(NODES, node("n1"))
    world.client.seed(DAEMON_SETS, {**daemon_set(), "spec": {**daemon_set()["spec"], "selector": {}}})

    world.settle()

    assert world.client.objects(PODS) == []
    text = "This daemon set is selecting all pods. A non-empty selector is required."
    assert ("Warning", "SelectingAll", text) in events(world)


def events(world):
    world.plugins[0]._recorder.flush()
    return {(event["type"], event["reason"], event["message"]) for event in world.client.objects(EVENTS)}


@pytest.mark.parametrize("verb", ["create", "delete"])
def test_a_request_that_got_no_answer_is_made_again_at_once(verb):
    world = rig(*[node(f"n{number}") for number in range(4)])
    world.client.patch(DAEMON_SETS, "log", {"spec": {"template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}}, "d")
    if verb == "create":
        world.settle()
        world.client.patch(DAEMON_SETS, "log", {"spec": {"template": {"spec": {"nodeSelector": None}}}}, "d")
    for _ in range(2):
        world.client.fail_next(verb, "pods", ConnectionError("server closed the connection"))

    world.settle()

    assert places(world) == ([] if verb == "delete" else ["n0", "n1", "n2", "n3"])


def test_a_new_template_does_not_wait_for_the_back_off_of_the_old_one():
    world = rig(node("n1"))

    def fail():
        (pod,) = world.client.objects(PODS)
        world.client.patch(PODS, pod["metadata"]["name"], {"status": {"phase": "Failed"}}, "d", subresource="status")
        world.settle()
        return world.client.objects(PODS)[0]["metadata"]["name"] != pod["metadata"]["name"]

    assert [fail(), fail()] == [True, False]
    change = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}}
    world.client.patch(DAEMON_SETS, "log", change, "d")

    world.settle()

    assert world.client.objects(PODS)[0]["spec"]["containers"][0]["image"] == "v2"


def test_revisions_that_keep_the_same_template_are_merged():
    world = rig(node("n1"))
    (first,) = world.client.objects(CONTROLLER_REVISIONS)
    labels = {**first["metadata"]["labels"], "controller-revision-hash": "another"}
    meta = {
        "name": "log-another",
        "namespace": "d",
        "labels": labels,
        "ownerReferences": first["metadata"]["ownerReferences"],
    }

    world.client.create(CONTROLLER_REVISIONS, {**first, "metadata": meta, "revision": 7}, "d")
    world.settle()

    (left,) = world.client.objects(CONTROLLER_REVISIONS)
    assert left["metadata"]["name"] == "log-another", "the latest stays"
    (pod,) = world.client.objects(PODS)
    assert pod["metadata"]["labels"]["controller-revision-hash"] == "another", "it is not replaced"
