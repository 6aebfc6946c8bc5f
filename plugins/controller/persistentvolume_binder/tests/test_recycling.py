"""Recycling of volumes: a pod empties each, and what it comes to is told on the volume.

Source of the cases: kubernetes ``pkg/controller/volume/persistentvolume/recycle_test.go``,
``pkg/volume/util/recyclerclient/recycler_client_test.go``.
"""

import threading

import pytest
from hyperkube_controller.persistentvolume_binder import PersistentvolumeBinder
from hyperkube_controller.persistentvolume_binder.recycling import Settings, recycler_pod, recyclers_of

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.controller_rig import ControllerRig

CLAIM_REF = {"kind": "PersistentVolumeClaim", "namespace": "d", "name": "c", "uid": "uid-c"}
BY_CONTROLLER = {"pv.kubernetes.io/bound-by-controller": "yes"}


def volume(name="v", annotations=None, size="1Gi", **source):
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "claimRef": CLAIM_REF,
        "persistentVolumeReclaimPolicy": "Recycle",
        **(source or {"hostPath": {"path": "/data", "type": "Directory"}}),
    }
    meta = {"name": name, "annotations": BY_CONTROLLER if annotations is None else annotations}
    return {"kind": "PersistentVolume", "metadata": meta, "spec": spec, "status": {"phase": "Bound"}}


WORLDS = []


@pytest.fixture(autouse=True)
def _closed():
    yield
    while WORLDS:
        WORLDS.pop().plugins[0].close()


class World(ControllerRig):
    """A bench with volumes whose claim is gone."""

    def __init__(self, *volumes, pods=(), settings=None):
        super().__init__(PersistentvolumeBinder, settings=settings)
        WORLDS.append(self)
        self.client.seed(PODS, *pods)
        self.client.seed(PERSISTENT_VOLUMES, *volumes)
        self.settle()

    def volume(self, name="v"):
        return self.client.get(PERSISTENT_VOLUMES, name)

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.client.objects(PODS)}

    def ends(self, phase, message="", name="recycler-for-v"):
        pod = self.client.get(PODS, name, "default")
        status = {"phase": phase, **({"message": message} if message else {})}
        self.client.update(PODS, {**pod, "status": status}, "default", subresource="status")
        self.settle()

    def said(self):
        self.plugins[0]._recorder.flush()
        events = [each for each in self.client.objects(EVENTS) if each["involvedObject"]["kind"] == "PersistentVolume"]
        return [(each["type"], each["reason"], each["message"]) for each in events]


def test_a_pod_empties_the_volume_which_is_available_then():
    world = World(volume())
    (pod,) = world.pods().values()
    world.ends("Succeeded")

    assert pod["metadata"]["name"] == "recycler-for-v"
    assert pod["spec"]["volumes"] == [{"name": "vol", "hostPath": {"path": "/data"}}]
    assert pod["spec"]["activeDeadlineSeconds"] == 60
    assert world.pods() == {}
    assert world.volume()["status"]["phase"] == "Available"
    assert "claimRef" not in world.volume()["spec"]
    assert world.volume()["metadata"]["annotations"] == {}
    assert world.said() == [("Normal", "VolumeRecycled", "Volume recycled")]


def test_a_volume_that_was_bound_by_its_user_stays_reserved_for_the_name():
    world = World(volume(annotations={}))
    world.ends("Succeeded")

    left = {"kind": "PersistentVolumeClaim", "namespace": "d", "name": "c"}
    assert world.volume()["spec"]["claimRef"] == left


@pytest.mark.parametrize(
    ("message", "text"),
    [("DeadlineExceeded", "DeadlineExceeded"), ("", "pod failed, pod.Status.Message unknown")],
)
def test_a_pod_that_fails_is_told_and_another_one_tries_later(message, text):
    world = World(volume())
    world.ends("Failed", message)
    failed, pods = world.volume()["status"], world.pods()
    world.advance(16)

    text = f"Recycle failed: failed to recycle volume: {text}"
    assert failed["phase"] == "Failed"
    assert failed["message"] == text
    assert pods == {}
    assert world.said() == [("Warning", "VolumeFailedRecycle", text)]
    world.ends("Succeeded")
    assert world.volume()["status"]["phase"] == "Available"


def test_a_pod_that_is_deleted_has_failed():
    world = World(volume())
    world.client.delete(PODS, "recycler-for-v", "default", options={"gracePeriodSeconds": 0})
    world.settle()

    text = "Recycle failed: failed to recycle volume: recycler pod was deleted"
    assert world.said() == [("Warning", "VolumeFailedRecycle", text)]
    assert world.volume()["status"]["phase"] == "Failed"


@pytest.mark.parametrize("gone", [True, False], ids=["6-6 gone", "6-7 recycled"])
def test_a_volume_that_needs_no_recycling_any_more_gets_no_pod(gone):
    world = World()
    stored = {**volume(), "status": {"phase": "Released"}}
    world.client.seed(PERSISTENT_VOLUMES, stored)
    (seen,) = world.client.objects(PERSISTENT_VOLUMES)
    if gone:
        world.client.delete(PERSISTENT_VOLUMES, "v")
    else:
        world.client.patch(PERSISTENT_VOLUMES, "v", {"spec": {"claimRef": None}})

    world.plugins[0]._recycling.sync(seen, list)

    assert world.pods() == {}
    assert world.said() == []


def test_an_old_pod_is_not_believed():
    old = {"kind": "Pod", "metadata": {"name": "recycler-for-v", "namespace": "default"}, "spec": {}}
    world = World(volume(), pods=[{**old, "status": {"phase": "Succeeded"}}])
    first = world.said(), world.pods()
    world.advance(16)

    assert first == (
        [("Warning", "VolumeFailedRecycle", "Recycle failed: old recycler pod found, will retry later")],
        {},
    )
    assert world.pods()["recycler-for-v"]["spec"]["containers"]


def test_a_volume_in_use_waits_for_its_pods():
    source = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    user = {"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": {"volumes": [source]}}
    world = World(volume(), pods=[user])
    before = set(world.pods())
    world.client.delete(PODS, "p", "d", options={"gracePeriodSeconds": 0})
    world.advance(16)

    assert before == {"p"}
    assert world.said() == [("Normal", "VolumeFailedRecycle", "Volume is used by pods: d/p")]
    assert set(world.pods()) == {"recycler-for-v"}


def test_pods_of_another_claim_of_that_name_do_not_count():
    source = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    user = {"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": {"volumes": [source]}}
    world = World()
    again = {"metadata": {"name": "c", "namespace": "d", "uid": "another"}, "spec": {"volumeName": "other"}}
    world.client.seed(PERSISTENT_VOLUME_CLAIMS, again)
    world.client.seed(PODS, user)
    world.client.seed(PERSISTENT_VOLUMES, volume())
    world.settle()

    assert "recycler-for-v" in world.pods()


def test_other_volumes_cannot_be_recycled():
    world = World(volume(csi={"driver": "x", "volumeHandle": "h"}))

    assert world.volume()["status"]["phase"] == "Failed"
    assert world.said() == [("Warning", "VolumeFailedRecycle", "No recycler plugin found for the volume!")]


def test_what_happens_to_the_pod_is_told_on_the_volume():
    of_other_tests = {*threading.enumerate()}  # which may still be ending
    world = World(volume())
    uid = world.pods()["recycler-for-v"]["metadata"]["uid"]
    for about in (uid, "another"):
        event = {"involvedObject": {"kind": "Pod", "name": "recycler-for-v", "uid": about}, "type": "Warning"}
        meta = {"name": f"e-{about}", "namespace": "default"}
        world.client.create(EVENTS, {"metadata": meta, **event, "reason": "Failed", "message": "no image"}, "default")
    with world.client.condition:
        arrived = world.client.condition.wait_for(lambda: len(world.client.objects(EVENTS)) > 2, 60)
    begun = {*threading.enumerate()} - of_other_tests
    readers = [thread for thread in begun if thread.name == "recycler-events"]
    told = world.said()
    world.ends("Succeeded")
    for reader in readers:
        reader.join(60)

    assert arrived
    assert told == [("Warning", "RecyclerPod", "Recycler pod: no image")]
    assert len(readers) == 1
    assert not readers[0].is_alive()


@pytest.mark.parametrize(
    ("source", "size", "seconds"),
    [
        ({"hostPath": {"path": "/d"}}, "5Gi", 150),
        ({"hostPath": {"path": "/d"}}, "100Mi", 60),
        ({"nfs": {"server": "s", "path": "/e", "readOnly": True}}, "1Gi", 300),
        ({"nfs": {"server": "s", "path": "/e"}}, "20Gi", 600),
    ],
    ids=["by size", "the least", "nfs", "nfs by size"],
)
def test_how_long_the_pod_may_take(source, size, seconds):
    pod = recycler_pod(volume(size=size, **source), recyclers_of(Settings())[next(iter(source))])
    ((member, value),) = ((key, value) for key, value in pod["spec"]["volumes"][0].items() if key != "name")

    assert pod["spec"]["activeDeadlineSeconds"] == seconds
    assert {member: value} == {member: {k: v for k, v in source[member].items() if k != "readOnly"}}


TEMPLATE = """
apiVersion: v1
kind: Pod
metadata: {generateName: x-, namespace: kube-system}
spec:
  volumes: [{name: first, emptyDir: {}}, {name: second, emptyDir: {}}]
  containers: [{name: c, image: i}]
"""


def test_a_template_of_ones_own(tmp_path):
    (tmp_path / "pod.yaml").write_text(TEMPLATE)
    world = World(volume(), settings={"pv_recycler_pod_template_filepath_hostpath": str(tmp_path / "pod.yaml")})
    (pod,) = world.pods().values()

    assert (pod["metadata"]["name"], pod["metadata"]["namespace"]) == ("recycler-for-v", "kube-system")
    assert "generateName" not in pod["metadata"]
    first = {"name": "first", "hostPath": {"path": "/data"}}
    assert pod["spec"]["volumes"] == [first, {"name": "second", "emptyDir": {}}]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (None, "No such file or directory"),
        ("kind: Pod\nspec: {}", "pod specification does not contain any volume(s)"),
        ("kind: Service", "it is not a Pod"),
        ("{", "yaml"),
    ],
    ids=["missing", "no volume", "no pod", "no yaml"],
)
def test_a_template_that_is_none_is_told_at_the_start(tmp_path, text, wrong):
    file = tmp_path / "pod.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(UsageError, match="--pv-recycler-pod-template-filepath-nfs: ") as told:
        recyclers_of(Settings(pv_recycler_pod_template_filepath_nfs=str(file)))

    assert wrong in str(told.value)
