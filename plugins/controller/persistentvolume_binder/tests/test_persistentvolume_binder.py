"""The persistentvolume-binder: claims find volumes, or get them made, and leave them."""

import importlib.util
from pathlib import Path

import pytest
from hyperkube_controller.persistentvolume_binder import PersistentvolumeBinder
from hyperkube_controller.persistentvolume_binder.decision import decide_volume

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from hyperkube.testing.contracts.controller import ControllerContract

_spec = importlib.util.spec_from_file_location("binder_world", Path(__file__).with_name("binder_world.py"))
assert _spec is not None
assert _spec.loader is not None
_world = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_world)
Disks, World, claim, storage_class, volume = (
    _world.Disks, _world.World, _world.claim, _world.storage_class, _world.volume,
)  # fmt: skip


class TestContract(ControllerContract):
    plugin = PersistentvolumeBinder

    def populate(self, rig):
        rig.client.seed(PERSISTENT_VOLUME_CLAIMS, claim())
        rig.client.seed(PERSISTENT_VOLUMES, volume())


def test_a_claim_and_a_volume_find_each_other():
    world = World([claim()], [volume()])

    bound, found = world.claim(), world.volume()
    assert bound["spec"]["volumeName"] == "v"
    assert bound["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    assert bound["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }
    assert found["spec"]["claimRef"]["uid"] == "uid-c"
    assert found["status"]["phase"] == "Bound"


def test_the_smallest_that_is_large_enough_is_taken():
    world = World([claim(size="2Gi")], [volume("small"), volume("huge", "100Gi"), volume("right", "3Gi")])

    assert world.claim()["spec"]["volumeName"] == "right"
    assert world.volume("small")["status"]["phase"] == "Available"


def test_one_volume_is_not_given_twice():
    world = World([claim("a"), claim("b")], [volume()])

    phases = sorted(world.claim(name).get("status", {}).get("phase", "Pending") for name in "ab")
    assert phases == ["Bound", "Pending"]


@pytest.mark.parametrize(
    "unfit",
    [
        volume(size="1Mi"),
        volume(storage_class="slow"),
        volume(accessModes=["ReadOnlyMany"]),
        volume(volumeMode="Block"),
        volume(claimRef={"namespace": "d", "name": "another"}),
    ],
    ids=["size", "class", "access", "mode", "reserved"],
)
def test_volumes_that_do_not_fit(unfit):
    world = World([claim()], [unfit])

    assert "volumeName" not in world.claim()["spec"]
    assert world.said()["FailedBinding"] == "no persistent volumes available for this claim and no storage class is set"


def test_a_selector_chooses():
    wanted = claim(selector={"matchLabels": {"tier": "gold"}})

    world = World([wanted], [volume("a"), volume("b", labels={"tier": "gold"})])

    assert world.claim()["spec"]["volumeName"] == "b"


def test_a_volume_may_be_reserved_for_a_claim():
    world = World([claim()], [volume("a"), volume("b", "9Gi", claimRef={"namespace": "d", "name": "c"})])

    assert world.claim()["spec"]["volumeName"] == "b"


def test_a_claim_may_name_its_volume():
    world = World([claim(volumeName="b")], [volume("a"), volume("b")])

    assert world.claim()["status"]["phase"] == "Bound"
    assert "pv.kubernetes.io/bound-by-controller" not in world.claim()["metadata"]["annotations"]


def test_a_named_volume_that_does_not_fit_is_told():
    world = World([claim(volumeName="v", size="5Gi")], [volume()])

    assert world.said()["VolumeMismatch"] == 'Cannot bind to requested volume "v": requested PV is too small'


def test_a_volume_is_made_for_a_claim_with_a_class():
    world = World([claim(storage_class="fast")], classes=[storage_class()])

    made = world.volume("pvc-uid-c")
    assert world.disks.made == ["c"]
    assert world.claim()["status"]["phase"] == "Bound"
    assert made["status"]["phase"] == "Bound"
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    assert made["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "example.com/disks"
    assert world.said()["ProvisioningSucceeded"] == "Successfully provisioned volume pvc-uid-c using example.com/disks"


def test_a_made_volume_goes_with_its_claim():
    world = World([claim(storage_class="fast")], classes=[storage_class()])

    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    world.settle()

    assert world.disks.gone == ["pvc-uid-c"]
    assert world.client.objects(PERSISTENT_VOLUMES) == []


def test_a_retained_volume_is_released():
    world = World([claim()], [volume(persistentVolumeReclaimPolicy="Retain")])

    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    world.settle()

    assert world.volume()["status"]["phase"] == "Released"


def test_a_volume_that_nobody_can_delete_has_failed():
    world = World([claim()], [volume(persistentVolumeReclaimPolicy="Delete")])

    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    world.settle()

    assert world.volume()["status"]["phase"] == "Failed"
    text = 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched'
    assert world.said()["VolumeFailedDelete"] == text


def test_a_claim_that_waits_for_its_pod():
    late = storage_class(volumeBindingMode="WaitForFirstConsumer")
    world = World([claim(storage_class="fast")], classes=[late])
    before = [*world.disks.made]
    source = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}

    world.client.seed(
        PODS,
        {"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": {"nodeName": "n", "volumes": [source]}},
    )
    world.settle()

    assert before == []
    assert world.said()["WaitForFirstConsumer"] == "waiting for first consumer to be created before binding"
    assert world.claim()["status"]["phase"] == "Bound"


def test_an_external_provisioner_is_waited_for():
    world = World([claim(storage_class="fast")], classes=[storage_class("ebs.csi.aws.com")])

    assert "external provisioner 'ebs.csi.aws.com'" in world.said()["ExternalProvisioning"]
    assert world.claim()["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"] == "ebs.csi.aws.com"


def test_a_claim_that_says_no_class_gets_the_default_one_also_later():
    world = World([claim(storage_class=None), claim("none", storage_class="")])
    marked = storage_class()
    marked["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}

    world.client.seed(STORAGE_CLASSES, marked)
    world.settle()

    assert world.claim()["spec"]["storageClassName"] == "fast"
    assert world.disks.made == ["c"]


def test_failures_to_make_a_volume_are_told_and_retried():
    disks = Disks("no space")
    world = World([claim(storage_class="fast")], classes=[storage_class()], disks=disks)
    text = world.said()["ProvisioningFailed"]

    disks.refuse = ""
    world.advance(30)

    assert text == 'Failed to provision volume with StorageClass "fast": no space'
    assert world.claim()["status"]["phase"] == "Bound"


def test_without_dynamic_provisioning_claims_wait_for_a_volume_made_by_hand():
    classes = [storage_class()]
    world = World([claim(storage_class="fast")], classes=classes, enable_dynamic_provisioning=False)

    assert world.disks.made == []
    assert world.client.objects(EVENTS) == []

    world.client.create(PERSISTENT_VOLUMES, volume(storage_class="fast"))
    world.settle()

    assert world.claim()["status"]["phase"] == "Bound"


def test_a_missing_class_is_told():
    world = World([claim(storage_class="fast")])

    assert world.said()["ProvisioningFailed"] == 'storageclass.storage.k8s.io "fast" not found'


def test_a_claim_whose_volume_vanished_is_lost():
    world = World([claim()], [volume()])

    world.client.delete(PERSISTENT_VOLUMES, "v")
    world.settle()

    assert world.claim()["status"] == {"phase": "Lost"}
    assert world.said()["ClaimLost"] == "Bound claim has lost its PersistentVolume. Data on the volume is lost!"


def pod(name, node=""):
    source = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    spec = {"volumes": [source]} | ({"nodeName": node} if node else {})
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "d"}, "spec": spec}


LATE = {"volumeBindingMode": "WaitForFirstConsumer"}


@pytest.mark.parametrize(
    ("pods", "reason", "text"),
    [
        ([], "WaitForFirstConsumer", "waiting for first consumer to be created before binding"),
        ([pod("a")], "WaitForPodScheduled", "waiting for pod a to be scheduled"),
        ([pod("b"), pod("a")], "WaitForPodScheduled", "waiting for pods a,b to be scheduled"),
    ],
)
def test_a_claim_that_binds_late_tells_what_it_waits_for(pods, reason, text):
    world = World([claim(storage_class="fast")], classes=[storage_class(**LATE)], pods=pods)

    assert world.said() == {reason: text}
    assert world.claim()["status"]["phase"] == "Pending"


def test_free_volumes_are_left_to_the_scheduler_that_selected_a_node():
    wanted = claim(storage_class="fast")
    wanted["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "n"}

    world = World([wanted], [volume(storage_class="fast")], [storage_class(**LATE)])

    assert world.claim()["spec"]["volumeName"] == "pvc-uid-c"
    assert world.volume()["status"]["phase"] == "Available"


def test_a_claim_that_binds_late_takes_the_volume_that_names_it():
    reserved = volume(storage_class="fast", claimRef={"namespace": "d", "name": "c"})

    world = World([claim(storage_class="fast")], [reserved], [storage_class(**LATE)])

    assert world.claim()["status"]["phase"] == "Bound"


def test_a_volume_that_names_the_claim_may_be_of_another_class():
    reserved = volume(storage_class="slow", claimRef={"namespace": "d", "name": "c"})

    world = World([claim(storage_class="fast")], [reserved], [storage_class()])

    assert world.claim()["spec"]["volumeName"] == "v"
    assert world.disks.made == []


@pytest.mark.parametrize(
    ("provisioner", "reason", "text"),
    [
        (
            "kubernetes.io/no-provisioner",
            "ProvisioningFailed",
            "no volume plugin matched name: kubernetes.io/no-provisioner",
        ),
        ("kubernetes.io/gce-pd", "ExternalProvisioning", "provisioner 'pd.csi.storage.gke.io' or manually"),
    ],
)
def test_provisioners_of_kubernetes_itself(provisioner, reason, text):
    world = World([claim(storage_class="fast")], classes=[storage_class(provisioner)])

    assert text in world.said()[reason]


@pytest.mark.parametrize(
    ("offered", "text"),
    [
        (volume(size="1Mi"), "requested PV is too small"),
        (volume(storage_class="slow"), "storageClassName does not match"),
        (volume(volumeAttributesClassName="gold"), "volumeAttributesClassName does not match"),
        (volume(volumeMode="Block"), "incompatible volumeMode"),
        (volume(accessModes=["ReadOnlyMany"]), "incompatible accessMode"),
    ],
)
def test_what_a_named_volume_lacks_is_told(offered, text):
    world = World([claim(volumeName="v")], [offered])

    assert world.said()["VolumeMismatch"] == f'Cannot bind to requested volume "v": {text}'
    assert world.claim()["status"]["phase"] == "Pending"


def test_a_named_volume_of_another_claim_is_told():
    taken = volume(claimRef={"namespace": "d", "name": "other", "uid": "uid-other"})

    world = World([claim(volumeName="v"), claim("other", volumeName="v")], [taken])

    assert world.said()["FailedBinding"] == 'volume "v" already bound to a different claim.'
    assert world.claim()["status"]["phase"] == "Pending"


def test_a_reserved_volume_of_another_mode_is_told_on_both_sides():
    reserved = volume(volumeMode="Block", claimRef={"namespace": "d", "name": "c", "uid": "uid-c"})

    told = {each.message for each in decide_volume(reserved, claim())}

    assert told == {
        'Cannot bind PersistentVolume to requested PersistentVolumeClaim "c" due to incompatible volumeMode.',
        'Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.',
    }


def test_a_volume_deleted_before_its_claim_is_released_with_it():
    world = World([claim()], [volume(persistentVolumeReclaimPolicy="Retain")])
    world.client.patch(PERSISTENT_VOLUMES, "v", {"metadata": {"finalizers": ["kubernetes.io/pv-protection"]}})
    world.client.delete(PERSISTENT_VOLUMES, "v")
    world.settle()

    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    world.settle()

    assert world.volume()["status"]["phase"] == "Released"


def test_the_class_of_attributes_is_taken_over_when_a_claim_is_bound():
    gold = {"volumeAttributesClassName": "gold"}

    world = World([claim(**gold)], [volume(**gold)])

    assert world.claim()["status"]["currentVolumeAttributesClassName"] == "gold"


def test_a_bound_claims_capacity_is_its_own_and_its_access_modes_are_the_volumes():
    world = World([claim()], [volume()])
    world.client.patch(
        PERSISTENT_VOLUMES,
        "v",
        {"spec": {"capacity": {"storage": "9Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}},
    )

    world.settle()

    status = world.claim()["status"]
    assert status["capacity"] == {"storage": "1Gi"}
    assert status["accessModes"] == ["ReadWriteOnce", "ReadOnlyMany"]


def test_of_two_claims_on_one_volume_the_wrong_one_is_lost():
    taken = volume(claimRef={"namespace": "d", "name": "other", "uid": "uid-other"})
    wrong = claim(volumeName="v")
    wrong["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}

    world = World([wrong, claim("other", volumeName="v")], [taken])

    text = "Two claims are bound to the same volume, this one is bound incorrectly"
    assert world.claim()["status"]["phase"] == "Lost"
    assert world.said()["ClaimMisbound"] == text


@pytest.mark.parametrize(
    ("annotations", "policy", "left"),
    [
        ({"pv.kubernetes.io/bound-by-controller": "yes"}, "Delete", None),
        ({}, "Delete", {"namespace": "d", "name": "c"}),
        ({"pv.kubernetes.io/provisioned-by": "example.com/disks"}, "Delete", "gone"),
    ],
    ids=["by-controller", "by-user", "provisioned"],
)
def test_a_volume_whose_claim_is_bound_elsewhere_is_let_go(annotations, policy, left):
    reference = {"namespace": "d", "name": "c", "uid": "uid-c"}
    lonely = volume("spare", annotations=annotations, claimRef=reference, persistentVolumeReclaimPolicy=policy)

    world = World([claim(volumeName="v")], [volume(), lonely])

    found = {each["metadata"]["name"]: each for each in world.client.objects(PERSISTENT_VOLUMES)}
    assert ("gone" if "spare" not in found else found["spare"]["spec"].get("claimRef")) == left


@pytest.mark.parametrize(
    ("provisioner", "before", "after"),
    [
        ("kubernetes.io/aws-ebs", None, "ebs.csi.aws.com"),
        ("kubernetes.io/aws-ebs", "other.example.com", "ebs.csi.aws.com"),
        ("example.com/p", "ebs.csi.aws.com", None),
        ("example.com/p", None, None),
    ],
)
def test_a_volume_says_which_driver_took_its_kind_over(provisioner, before, after):
    key, marks = "pv.kubernetes.io/migrated-to", {"pv.kubernetes.io/provisioned-by": provisioner}
    made = volume("v")
    marks |= {key: before} if before else {}
    world = World([], [{**made, "metadata": {**made["metadata"], "annotations": marks}}])

    assert world.volume("v")["metadata"]["annotations"].get(key) == after
