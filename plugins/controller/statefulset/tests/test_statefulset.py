"""The statefulset controller, as transcripts of ordered pods."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.statefulset import Statefulset, decide

from hyperkube.kinds.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def stateful_set(replicas=3, **spec):
    return {
        "kind": "StatefulSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
            **spec,
        },
    }


class World(ControllerRig):
    def __init__(self, **spec):
        super().__init__(Statefulset)
        self.client.seed(STATEFUL_SETS, stateful_set(**spec))
        self.settle()

    def names(self):
        return sorted(pod["metadata"]["name"] for pod in self.client.objects(PODS))

    def images(self):
        return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in self.client.objects(PODS)}

    def ready(self, rounds=1):
        """Play the kubelet: what is there becomes ready."""
        for _ in range(rounds):
            for pod in self.client.objects(PODS):
                self.client.patch(PODS, pod["metadata"]["name"], {"status": READY}, "d", subresource="status")
            self.settle()

    def set(self, **spec):
        self.client.patch(STATEFUL_SETS, "db", {"spec": spec}, "d")
        self.settle()

    def set_image(self, image):
        self.set(template={"spec": {"containers": [{"name": "c", "image": image}]}})

    def status(self):
        return self.client.get(STATEFUL_SETS, "db", "d")["status"]


class TestContract(ControllerContract):
    plugin = Statefulset

    def populate(self, rig):
        rig.client.seed(STATEFUL_SETS, stateful_set())


def test_each_pod_waits_for_the_one_before():
    world = World()
    assert world.names() == ["db-0"]
    world.ready()
    assert world.names() == ["db-0", "db-1"]
    world.ready(2)
    assert world.names() == ["db-0", "db-1", "db-2"]
    assert world.status()["readyReplicas"] == 3
    assert world.status()["currentRevision"] == world.status()["updateRevision"]


def test_a_pod_has_its_name_its_host_and_its_volume():
    world = World()

    (pod,) = world.client.objects(PODS)
    assert pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "0"
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-0", "db")
    assert pod["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]
    assert world.client.objects(PERSISTENT_VOLUME_CLAIMS)[0]["metadata"]["name"] == "data-db-0"


def test_the_last_goes_first_and_leaves_its_volume():
    world = World()
    world.ready(3)

    world.set(replicas=1)

    assert world.names() == ["db-0"]
    assert len(world.client.objects(PERSISTENT_VOLUME_CLAIMS)) == 3


def test_parallel_waits_for_nobody():
    assert World(podManagementPolicy="Parallel").names() == ["db-0", "db-1", "db-2"]


def test_an_update_goes_from_the_last_to_the_first():
    world = World()
    world.ready(3)

    world.set_image("v2")
    assert world.images() == {"db-0": "v1", "db-1": "v1", "db-2": "v2"}
    world.ready()
    assert world.images() == {"db-0": "v1", "db-1": "v2", "db-2": "v2"}
    world.ready(2)

    assert set(world.images().values()) == {"v2"}
    assert world.status()["currentRevision"] == world.status()["updateRevision"]


def test_a_partition_keeps_the_first_ones_old():
    world = World(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    world.ready(3)

    world.set_image("v2")
    world.ready(3)
    assert world.images() == {"db-0": "v1", "db-1": "v1", "db-2": "v2"}

    world.client.delete(PODS, "db-1", "d")
    world.settle()
    assert world.images()["db-1"] == "v1"


def test_a_failed_pod_comes_back_under_its_name():
    world = World(replicas=1)
    before = world.client.get(PODS, "db-0", "d")["metadata"]["uid"]

    world.client.patch(PODS, "db-0", {"status": {"phase": "Failed"}}, "d", subresource="status")
    world.settle()

    assert world.client.get(PODS, "db-0", "d")["metadata"]["uid"] != before


def test_pods_and_history_of_a_set_of_the_same_name_are_adopted():
    world = World(replicas=1)
    world.client.delete(STATEFUL_SETS, "db", "d")
    for resource in (PODS, CONTROLLER_REVISIONS):
        for obj in world.client.objects(resource):
            world.client.patch(resource, obj["metadata"]["name"], {"metadata": {"ownerReferences": None}}, "d")
    world.settle()

    (made,) = world.client.seed(STATEFUL_SETS, stateful_set(replicas=1))
    world.settle()

    (pod,), (revision,) = world.client.objects(PODS), world.client.objects(CONTROLLER_REVISIONS)
    owners = {obj["metadata"]["ownerReferences"][0]["uid"] for obj in (pod, revision)}
    assert owners == {made["metadata"]["uid"]}


def test_a_pod_whose_name_does_not_fit_is_let_go():
    world = World(replicas=1)
    reference = world.client.objects(PODS)[0]["metadata"]["ownerReferences"][0]
    meta = {"name": "stray", "namespace": "d", "labels": {"app": "db"}, "ownerReferences": [reference]}
    world.client.seed(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {}, "status": {}})

    world.settle()

    assert not world.client.get(PODS, "stray", "d")["metadata"].get("ownerReferences")


def pods(*conditions):
    """Make a pod for each condition: ``ready``, ``unready`` or ``going``."""
    made = []
    for ordinal, condition in enumerate(conditions):
        meta = {"name": f"db-{ordinal}", "namespace": "d"}
        if condition == "going":
            meta["deletionTimestamp"] = "2024-01-01T00:00:00Z"
        ready = {"type": "Ready", "status": "False" if condition == "unready" else "True"}
        made.append({"metadata": meta, "status": {"phase": "Running", "conditions": [ready]}})
    return made


@pytest.mark.parametrize(
    ("replicas", "conditions", "deleted"),
    [
        pytest.param(1, ["ready", "ready", "ready"], ["db-2"], id="the-last-first"),
        pytest.param(1, ["ready", "ready", "going"], [], id="waits-for-the-one-that-goes"),
        pytest.param(1, ["ready", "ready", "unready"], ["db-2"], id="the-only-unhealthy-one"),
        pytest.param(1, ["ready", "unready", "unready"], [], id="an-earlier-one-is-unhealthy"),
        pytest.param(1, ["ready", "unready", "ready"], ["db-2"], id="a-healthy-one-goes-before"),
        pytest.param(1, ["unready", "ready", "ready"], [], id="a-wanted-one-is-unhealthy"),
        pytest.param(0, ["unready", "unready", "unready"], [], id="none-is-healthy"),
        pytest.param(0, ["unready"], ["db-0"], id="the-first-unhealthy-one"),
    ],
)
def test_an_unhealthy_pod_goes_only_if_it_is_the_first_of_them(replicas, conditions, deleted):
    decision = decide(stateful_set(replicas), pods(*conditions), {}, {}, datetime(2030, 1, 1, tzinfo=UTC))

    assert [pod["metadata"]["name"] for pod in decision.delete] == deleted


def test_in_parallel_health_does_not_matter():
    parallel = stateful_set(0, podManagementPolicy="Parallel")

    decision = decide(parallel, pods("unready", "ready", "going"), {}, {}, datetime(2030, 1, 1, tzinfo=UTC))

    assert [pod["metadata"]["name"] for pod in decision.delete] == ["db-1", "db-0"]
