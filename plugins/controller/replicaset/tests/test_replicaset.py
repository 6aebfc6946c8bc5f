"""The replicaset controller on the bench."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.replicaset import Replicaset, age_ratios

from hyperkube.kinds.resources import PODS, REPLICA_SETS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

RS = {
    "kind": "ReplicaSet",
    "apiVersion": "apps/v1",
    "metadata": {"name": "web", "namespace": "d"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}


def rig(*objects):
    rig = ControllerRig(Replicaset)
    for resource, obj in objects:
        rig.client.seed(resource, obj)
    rig.settle()
    return rig


def pod(name, owner=None, **labels):
    owners = [{"kind": "ReplicaSet", "apiVersion": "apps/v1", "name": "web", "uid": owner, "controller": True}]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "d", "labels": labels, "ownerReferences": owners if owner else []},
    }


class TestContract(ControllerContract):
    plugin = Replicaset

    def populate(self, rig):
        rig.client.seed(REPLICA_SETS, RS)


def test_a_status_waits_for_the_news_of_the_one_written_before(monkeypatch):
    world = rig((REPLICA_SETS, RS))
    versions, update = [], world.client.update

    def written(resource, obj, *args, **more):
        versions.append(obj["metadata"]["resourceVersion"])
        return update(resource, obj, *args, **more)

    monkeypatch.setattr(world.client, "update", written)
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    for one in world.client.objects(PODS)[:2]:
        world.client.patch(PODS, one["metadata"]["name"], ready, "d", subresource="status")
        world.informers.informer(PODS).refresh()
        world.controllers[0].drain()
    assert len(versions) == 1

    world.settle()

    assert len(versions) == len(set(versions)) == 2
    assert world.client.objects(REPLICA_SETS)[0]["status"]["readyReplicas"] == 2


def test_it_makes_pods_of_the_template():
    world = rig((REPLICA_SETS, RS))

    pods = world.client.objects(PODS)
    assert len(pods) == 3
    assert pods[0]["metadata"]["name"].startswith("web-")
    assert pods[0]["metadata"]["labels"] == {"app": "web"}
    assert pods[0]["spec"] == RS["spec"]["template"]["spec"]
    (owner,) = pods[0]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"], owner["blockOwnerDeletion"]) == ("ReplicaSet", True, True)


def test_its_status_follows_the_pods():
    world = rig((REPLICA_SETS, RS))
    name = world.client.objects(PODS)[0]["metadata"]["name"]
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2029-01-01T00:00:00Z"}
    world.client.patch(PODS, name, {"status": {"conditions": [ready]}}, "d", subresource="status")

    world.settle()

    (rs,) = world.client.objects(REPLICA_SETS)
    assert rs["status"] == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }


def test_a_lost_pod_is_replaced_and_an_extra_one_deleted():
    world = rig((REPLICA_SETS, RS))
    world.client.delete(PODS, world.client.objects(PODS)[0]["metadata"]["name"], "d")
    world.settle()
    assert len(world.client.objects(PODS)) == 3

    world.client.patch(REPLICA_SETS, "web", {"spec": {"replicas": 1}}, "d")
    world.settle()
    assert len(world.client.objects(PODS)) == 1


def test_an_orphan_that_it_selects_is_adopted():
    world = rig((PODS, pod("stray", app="web")), (REPLICA_SETS, RS))

    pods = world.client.objects(PODS)
    assert len(pods) == 3
    assert pods[0]["metadata"]["ownerReferences"][0]["name"] == "web"


def test_a_pod_whose_labels_no_longer_fit_is_released_and_replaced():
    world = rig((REPLICA_SETS, RS))
    name = world.client.objects(PODS)[0]["metadata"]["name"]
    world.client.patch(PODS, name, {"metadata": {"labels": {"app": "debug"}}}, "d")

    world.settle()

    pods = world.client.objects(PODS)
    assert len(pods) == 4
    assert not next(pod for pod in pods if pod["metadata"]["name"] == name)["metadata"].get("ownerReferences")


def test_a_replica_set_that_is_being_deleted_makes_no_pods():
    going = {**RS, "metadata": {**RS["metadata"], "deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x"]}}

    assert rig((REPLICA_SETS, going)).client.objects(PODS) == []


def test_a_refused_pod_is_tried_once_per_round_not_once_per_replica():
    world = ControllerRig(Replicaset)
    world.client.seed(REPLICA_SETS, {**RS, "spec": {**RS["spec"], "replicas": 100}})
    world.client.fail_next("create", "pods", Forbidden("exceeded quota"))

    world.settle()

    creates = [action for action in world.client.actions if action[:2] == ("create", "pods")]
    assert len(creates) == 101  # the refused one, then those of the next round
    (rs,) = world.client.objects(REPLICA_SETS)
    assert rs["status"]["replicas"] == 100
    assert "conditions" not in rs["status"]


def deletions(world):
    return [action for action in world.client.actions if action[:2] == ("delete", "pods")]


def test_a_deletion_that_got_no_answer_is_made_again_at_once():
    """A server that is killed under its requests: what nothing will fulfil must not be expected for five minutes."""
    world = rig((REPLICA_SETS, {**RS, "spec": {**RS["spec"], "replicas": 16}}))
    world.client.patch(REPLICA_SETS, "web", {"spec": {"replicas": 12}}, "d")
    for _ in range(4):
        world.client.fail_next("delete", "pods", ConnectionError("server closed the connection"))

    world.settle()

    assert len(world.client.objects(PODS)) == 12


def test_another_replica_set_of_the_same_name_does_not_wait_for_the_pods_of_the_old_one():
    world = rig((REPLICA_SETS, RS))
    world.client.fail_next("watch", "pods", ConnectionError("no watch just now"))
    world.client.patch(REPLICA_SETS, "web", {"spec": {"replicas": 0}}, "d")
    world.informers.informer(REPLICA_SETS).refresh()
    world.controllers[0].drain()
    world.client.delete(REPLICA_SETS, "web", "d")
    world.client.seed(REPLICA_SETS, RS)

    world.settle()

    (rs,) = world.client.objects(REPLICA_SETS)
    assert (
        sum(p["metadata"]["ownerReferences"][0]["uid"] == rs["metadata"]["uid"] for p in world.client.objects(PODS))
        == 3
    )


def test_pods_that_are_being_deleted_are_shown_as_terminating():
    world = rig((REPLICA_SETS, RS))
    for pod in world.client.objects(PODS):
        world.client.patch(PODS, pod["metadata"]["name"], {"spec": {"nodeName": "n"}}, "d")
    world.settle()

    world.client.patch(REPLICA_SETS, "web", {"spec": {"replicas": 1}}, "d")
    world.settle()

    status = world.client.objects(REPLICA_SETS)[0]["status"]
    assert (status["replicas"], status["terminatingReplicas"]) == (1, 2)


def test_a_sync_reads_the_pods_once(monkeypatch):
    world = rig((REPLICA_SETS, RS))
    pods = world.informers.informer(PODS)
    reads, by_index = [], pods.by_index
    monkeypatch.setattr(pods, "by_index", lambda name, value: reads.append(value) or by_index(name, value))

    world.client.patch(REPLICA_SETS, "web", {"metadata": {"labels": {"a": "b"}}}, "d")
    world.settle()

    uid = world.client.objects(REPLICA_SETS)[0]["metadata"]["uid"]
    assert reads.count(f"d/{uid}") == 1


def test_a_refused_deletion_shows_in_the_status():
    world = rig((REPLICA_SETS, RS))
    world.client.patch(REPLICA_SETS, "web", {"spec": {"replicas": 2}}, "d")
    world.client.fail_next("delete", "pods", Forbidden("not you"))
    world.informers.refresh()

    world.controllers[0].drain()

    (condition,) = world.client.objects(REPLICA_SETS)[0]["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedDelete")
    assert condition["message"] == "unable to delete pods: not you"
    world.advance(1)
    assert "conditions" not in world.client.objects(REPLICA_SETS)[0]["status"]


def aged(seconds, *, ready=True):
    stamp = datetime.fromtimestamp(1_900_000_000 - seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [{"type": "Ready", "status": "True"}] if ready else []
    return {"metadata": {"creationTimestamp": stamp}, "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("active", "chosen", "ratios"),
    [
        pytest.param([60, 60], [60], [1], id="of-one-age"),
        pytest.param([60, 200], [200], [3], id="rounded-down"),
        pytest.param([60, 200, 30], [60, 200], [2, 6], id="against-the-youngest"),
        pytest.param([], [], [], id="none-ready"),
    ],
)
def test_the_age_of_what_goes_against_that_of_the_youngest(active, chosen, ratios):
    unready = [aged(1, ready=False)]

    found = age_ratios(
        [*map(aged, active), *unready], [*map(aged, chosen), *unready], datetime.fromtimestamp(1.9e9, UTC)
    )

    assert list(found) == ratios


def test_the_ratio_is_told_when_it_scales_down():
    world = rig((REPLICA_SETS, RS))
    for name in [pod["metadata"]["name"] for pod in world.client.objects(PODS)]:
        ready = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}]}
        world.client.patch(PODS, name, {"status": ready}, "d", subresource="status")
    world.advance(60)

    world.client.patch(REPLICA_SETS, "web", {"spec": {"replicas": 1}}, "d")
    world.settle()

    (family,) = world.plugins[0]._metrics.collect()
    counts = {float(each.labels["le"]): each.value for each in family.samples if each.name.endswith("_bucket")}
    assert (counts[0.5], counts[1.0]) == (0, 2)


def test_while_pods_are_expected_the_status_follows_but_no_pod_is_made():
    world = ControllerRig(Replicaset)
    world.client.seed(REPLICA_SETS, RS)
    world.informers.refresh()
    world.controllers[0].drain()
    world.client.actions.clear()

    world.controllers[0].loop.queue.add("d/web")
    world.controllers[0].drain()

    assert [action for action in world.client.actions if action[1] == "pods"] == []
