"""The deployment controller on the bench, together with the one of replica sets where pods matter."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.deployment import Deployment
from hyperkube_controller.deployment.decision import _annotations, _history
from hyperkube_controller.deployment.facts import Observed

from hyperkube.kinds.resources import DEPLOYMENTS, EVENTS, PODS, REPLICA_SETS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

REVISION = "deployment.kubernetes.io/revision"


def deployment(replicas=4, image="v1", **spec):
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": "web", "namespace": "d", "annotations": {"note": "kept"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "progressDeadlineSeconds": 600,
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": image}]},
            },
            **spec,
        },
    }


class World(ControllerRig):
    """A bench on which replica sets get their status from a simulated node: `run(n)` makes n pods ready."""

    def __init__(self, **more):
        super().__init__(Deployment)
        self.client.seed(DEPLOYMENTS, deployment(**more))
        self.settle()

    def sets(self):
        found = {
            rs["spec"]["template"]["spec"]["containers"][0]["image"]: rs for rs in self.client.objects(REPLICA_SETS)
        }
        return {image: rs["spec"]["replicas"] for image, rs in found.items()}

    def run_pods(self, *, ready=True):
        """Play the replicaset controller: every replica set has all its pods, ready or not."""
        for rs in self.client.objects(REPLICA_SETS):
            count = rs["spec"]["replicas"]
            image = rs["spec"]["template"]["spec"]["containers"][0]["image"]
            up = count if ready is True or image in (ready or ()) else 0
            status = {"replicas": count, "observedGeneration": rs["metadata"]["generation"]}
            status |= {"readyReplicas": up, "availableReplicas": up} if up else {}
            if rs.get("status") != status:
                self.client.update(REPLICA_SETS, {**rs, "status": status}, "d", subresource="status")
        self.settle()

    def set(self, **spec):
        self.client.patch(DEPLOYMENTS, "web", {"spec": spec}, "d")
        self.settle()

    def set_image(self, image):
        self.set(template={"spec": {"containers": [{"name": "c", "image": image}]}})

    def read(self):
        return self.client.get(DEPLOYMENTS, "web", "d")

    def condition(self, kind):
        found = [c for c in self.read()["status"]["conditions"] if c["type"] == kind]
        return (found[0]["status"], found[0]["reason"]) if found else None


class TestContract(ControllerContract):
    plugin = Deployment

    def populate(self, rig):
        rig.client.seed(DEPLOYMENTS, deployment())


def test_a_new_deployment_gets_one_replica_set_with_the_hash_of_its_template():
    world = World()

    (rs,) = world.client.objects(REPLICA_SETS)
    digest = rs["metadata"]["labels"]["pod-template-hash"]
    assert rs["metadata"]["name"] == f"web-{digest}"
    assert rs["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": digest}
    assert rs["spec"]["template"]["metadata"]["labels"] == {"app": "web", "pod-template-hash": digest}
    assert rs["metadata"]["annotations"] == {
        "note": "kept",
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
    }
    assert world.read()["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    assert world.condition("Progressing") == ("True", "NewReplicaSetCreated")
    assert world.condition("Available") == ("False", "MinimumReplicasUnavailable")


def test_a_deployment_is_not_written_again_before_its_last_status_is_seen():
    world = ControllerRig(Deployment)
    (controller,) = world.controllers
    world.client.create(DEPLOYMENTS, deployment(), "d")
    deployments, sets = (world.informers.informer(each) for each in (DEPLOYMENTS, REPLICA_SETS))
    deployments.refresh()
    controller.drain()
    before = len(world.client.actions)

    sets.refresh()
    controller.drain()  # while the deployments' own cache is behind
    assert world.client.actions[before:] == []

    world.settle()
    assert world.client.objects(DEPLOYMENTS)[0]["status"]["observedGeneration"] == 1


def test_a_finished_rollout_says_so():
    world = World()

    world.run_pods()

    status = world.read()["status"]
    assert {key: value for key, value in status.items() if key != "conditions"} == {
        "observedGeneration": 1, "replicas": 4, "updatedReplicas": 4, "readyReplicas": 4, "availableReplicas": 4,
    }  # fmt: skip
    assert world.condition("Progressing") == ("True", "NewReplicaSetAvailable")
    assert world.condition("Available") == ("True", "MinimumReplicasAvailable")


def test_a_rolling_update_reads_like_this():
    world = World()
    world.run_pods()
    steps = []

    world.set_image("v2")
    for _ in range(10):
        steps.append(tuple(world.sets().get(image, 0) for image in ("v1", "v2")))
        if steps[-1] == (0, 4):
            break
        world.run_pods()

    # 25% of 4: one more than wanted, one fewer available
    assert steps == [(3, 2), (1, 4), (0, 4)]
    assert world.read()["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"


def test_without_surge_the_old_goes_first():
    world = World(replicas=2, strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
    world.run_pods()

    world.set_image("v2")

    assert world.sets() == {"v1": 1, "v2": 1}
    world.run_pods(ready=("v1",))
    assert world.sets() == {"v1": 1, "v2": 1}
    world.run_pods()
    assert world.sets() == {"v1": 0, "v2": 2}


def test_pods_that_never_get_ready_stop_the_rollout():
    world = World()
    world.run_pods()
    world.set_image("bad")
    for _ in range(5):
        world.run_pods(ready=("v1",))

    assert world.sets() == {"v1": 3, "bad": 2}
    world.advance(700)
    assert world.condition("Progressing") == ("False", "ProgressDeadlineExceeded")


def test_recreate_takes_the_old_down_before_it_starts_the_new():
    world = World(strategy={"type": "Recreate"})
    world.run_pods()

    world.set_image("v2")
    assert world.sets() == {"v1": 0}

    world.run_pods()
    assert world.sets() == {"v1": 0, "v2": 4}


def test_recreate_waits_for_the_last_old_pod():
    world = World(replicas=1, strategy={"type": "Recreate"})
    (rs,) = world.client.objects(REPLICA_SETS)
    owner = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "name": rs["metadata"]["name"],
             "uid": rs["metadata"]["uid"], "controller": True}  # fmt: skip
    world.client.seed(PODS, {"kind": "Pod", "metadata": {"name": "p", "namespace": "d", "ownerReferences": [owner]}})
    world.set_image("v2")
    world.run_pods()
    assert world.sets() == {"v1": 0}

    world.client.delete(PODS, "p", "d")
    world.settle()

    assert world.sets() == {"v1": 0, "v2": 1}


def test_going_back_to_an_old_template_reuses_its_replica_set_as_a_new_revision():
    world = World()
    world.run_pods()
    world.set_image("v2")
    for _ in range(6):
        world.run_pods()

    world.set_image("v1")
    for _ in range(6):
        world.run_pods()

    assert world.sets() == {"v1": 4, "v2": 0}
    annotations = next(
        rs["metadata"]["annotations"] for rs in world.client.objects(REPLICA_SETS) if rs["spec"]["replicas"] == 4
    )
    assert annotations["deployment.kubernetes.io/revision"] == "3"
    assert annotations["deployment.kubernetes.io/revision-history"] == "1"


def test_scaling_in_the_middle_of_a_rollout_shares_the_change():
    world = World(replicas=10, strategy={"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}})
    world.run_pods()
    world.set_image("v2")
    world.run_pods(ready=("v1",))
    assert world.sets() == {"v1": 8, "v2": 5}

    world.set(replicas=15)

    assert world.sets() == {"v1": 11, "v2": 7}


def test_a_plain_scaling_changes_the_one_replica_set():
    world = World()
    world.run_pods()

    world.set(replicas=7)

    assert world.sets() == {"v1": 7}


def test_a_paused_deployment_scales_but_does_not_roll():
    world = World()
    world.run_pods()
    world.set(paused=True)

    world.set_image("v2")
    world.set(replicas=6)

    assert world.sets() == {"v1": 6}
    assert world.condition("Progressing") == ("Unknown", "DeploymentPaused")


def newest(world):
    return max(world.client.objects(REPLICA_SETS), key=lambda rs: rs["metadata"]["annotations"][REVISION])


def test_a_paused_deployment_still_hands_on_its_annotations():
    world = World()
    world.run_pods()
    world.set(paused=True)

    world.client.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": {"kubernetes.io/change-cause": "why"}}}, "d")
    world.set(minReadySeconds=7)

    rs = newest(world)
    assert rs["metadata"]["annotations"]["kubernetes.io/change-cause"] == "why"
    assert rs["spec"]["minReadySeconds"] == 7


def test_a_revision_that_is_gone_back_to_is_renumbered_before_it_grows():
    world = World()
    world.run_pods()
    world.set_image("v2")
    for _ in range(6):
        world.run_pods()

    world.set_image("v1")

    rs = newest(world)
    assert rs["metadata"]["annotations"][REVISION] == "3"
    assert rs["spec"]["template"]["spec"]["containers"][0]["image"] == "v1"
    assert world.sets()["v2"] == 3


def test_another_surge_leaves_the_annotation_of_the_last_scaling():
    world = World(strategy={"rollingUpdate": {"maxSurge": 1}})
    world.run_pods()

    world.set(strategy={"rollingUpdate": {"maxSurge": 3}})

    assert newest(world)["metadata"]["annotations"]["deployment.kubernetes.io/max-replicas"] == "5"


def test_old_replica_sets_beyond_the_limit_are_deleted():
    world = World(revisionHistoryLimit=1)
    for image in ("v2", "v3", "v4"):
        world.run_pods()
        world.set_image(image)
        for _ in range(6):
            world.run_pods()

    assert sorted(world.sets()) == ["v3", "v4"]


def test_a_taken_name_leads_to_another_hash():
    first = World()
    (rs,) = first.client.objects(REPLICA_SETS)
    stranger = {"kind": "ReplicaSet", "metadata": {"name": rs["metadata"]["name"], "namespace": "d"},
                "spec": {"replicas": 0, "template": {}}}  # fmt: skip
    rig = ControllerRig(Deployment)
    rig.client.seed(REPLICA_SETS, stranger)
    rig.client.seed(DEPLOYMENTS, deployment())

    rig.settle()

    assert rig.client.get(DEPLOYMENTS, "web", "d")["status"]["collisionCount"] == 1
    names = [found["metadata"]["name"] for found in rig.client.objects(REPLICA_SETS)]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("spec", "expected"),
    [({}, "Scaled up replica set web-{} from 0 to 4"), ({"replicas": 0}, None)],
    ids=["scaled", "nothing to tell"],
)
def test_the_first_scaling_is_told(spec, expected):
    world = World(**spec)
    world.plugins[0]._recorder.flush()

    messages = [event["message"] for event in world.client.objects(EVENTS)]
    digest = world.client.objects(REPLICA_SETS)[0]["metadata"]["labels"]["pod-template-hash"]
    assert messages == ([expected.format(digest)] if expected else [])


def go_back(world, revision):
    annotations = {"deprecated.deployment.rollback.to": revision}
    world.client.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": annotations}}, "d")
    world.settle()


def two_revisions():
    world = World()
    world.run_pods()
    world.client.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": {"note": "changed"}}}, "d")
    world.set_image("v2")
    world.run_pods()
    return world


def said(world):
    return [event["reason"] for event in world.client.objects(EVENTS) if event["reason"].startswith("DeploymentRoll")]


@pytest.mark.parametrize("revision", ["0", "1"])
def test_a_wish_to_go_back_takes_the_revisions_template_and_annotations(revision):
    world = two_revisions()

    go_back(world, revision)

    found = world.read()
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "v1"
    assert found["spec"]["template"]["metadata"]["labels"] == {"app": "web"}
    assert found["metadata"]["annotations"] == {"note": "kept", "deployment.kubernetes.io/revision": "3"}
    assert said(world) == ["DeploymentRollback"]


@pytest.mark.parametrize(
    ("revision", "reason"),
    [("7", "DeploymentRollbackRevisionNotFound"), ("2", "DeploymentRollbackTemplateUnchanged")],
)
def test_a_wish_that_cannot_be_fulfilled_is_taken_away(revision, reason):
    world = two_revisions()

    go_back(world, revision)

    found = world.read()
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "v2"
    assert "deprecated.deployment.rollback.to" not in found["metadata"]["annotations"]
    assert said(world) == [reason]


def test_there_is_nothing_before_the_first_revision():
    world = World()

    go_back(world, "0")

    assert said(world) == ["DeploymentRollbackRevisionNotFound"]


def test_a_paused_deployment_goes_back_when_it_goes_on():
    world = two_revisions()
    world.set(paused=True)

    go_back(world, "1")
    before = world.read()["spec"]["template"]["spec"]["containers"][0]["image"]
    world.set(paused=False)

    assert before == "v2"
    assert world.read()["spec"]["template"]["spec"]["containers"][0]["image"] == "v1"


def told(world):
    world.plugins[0]._recorder.flush()
    return {event["reason"]: event["message"] for event in world.client.objects(EVENTS)}


def test_a_refused_replica_set_is_told():
    rig = ControllerRig(Deployment)
    rig.client.fail_next("create", "replicasets", Forbidden("exceeded quota"))
    rig.client.seed(DEPLOYMENTS, deployment())
    rig.informers.refresh()

    rig.controllers[0].drain()

    (condition,) = rig.client.get(DEPLOYMENTS, "web", "d")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "Progressing",
        "False",
        "ReplicaSetCreateError",
    )
    assert condition["message"].startswith('Failed to create new replica set "web-')
    assert condition["message"].endswith('": exceeded quota')
    assert told(rig)["ReplicaSetCreateError"] == condition["message"]
    rig.advance(1)
    assert len(rig.client.objects(REPLICA_SETS)) == 1


def test_terminating_pods_are_counted_when_all_replica_sets_do():
    world = World()
    world.run_pods()
    assert "terminatingReplicas" not in world.read()["status"]

    (rs,) = world.client.objects(REPLICA_SETS)
    world.client.update(
        REPLICA_SETS, {**rs, "status": {**rs["status"], "terminatingReplicas": 2}}, "d", subresource="status"
    )
    world.settle()

    assert world.read()["status"]["terminatingReplicas"] == 2


def test_without_a_deadline_progress_is_not_told():
    world = World()
    world.run_pods()
    assert world.condition("Progressing") is not None

    world.set(progressDeadlineSeconds=2**31 - 1)

    assert world.condition("Progressing") is None


def test_a_deployment_that_selects_all_pods_does_nothing_but_tell():
    world = World(selector={})

    assert world.client.objects(REPLICA_SETS) == []
    assert told(world)["SelectingAll"] == "This deployment is selecting all pods. A non-empty selector is required."
    assert world.read()["status"] == {"observedGeneration": 1}


def test_the_history_holds_the_revisions_that_a_replica_set_had():
    annotations = {"deployment.kubernetes.io/revision": "10"}
    seen = Observed({"metadata": {}, "spec": {}}, [], old_pods_left=False, now=datetime(2030, 1, 1, tzinfo=UTC))

    for revision in (11, 12, 13):
        annotations = _annotations(seen, annotations, revision)

    assert annotations["deployment.kubernetes.io/revision"] == "13"
    assert annotations["deployment.kubernetes.io/revision-history"] == "10,11,12"
    assert _annotations(seen, annotations, 12) == annotations
    for odd in ("soon", "\u00b2"):
        assert _annotations(seen, {"deployment.kubernetes.io/revision": odd}, 14) == {
            "deployment.kubernetes.io/revision": odd
        }


def test_the_history_of_revisions_keeps_within_its_bounds():
    revisions = [str(number) for number in range(1000, 1600)]

    assert _history(["1", "2"]) == "1,2"
    kept = _history(revisions)
    assert len(kept) == 1999
    assert kept.endswith(",1599")
