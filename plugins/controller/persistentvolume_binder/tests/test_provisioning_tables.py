"""Making volumes, case by case: what is written on the claim, what is told, and what becomes of storage.

Source of the cases: kubernetes ``pkg/controller/volume/persistentvolume/provision_test.go``.
"""

import importlib.util
from pathlib import Path

import pytest

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.errors import AlreadyExists, InternalError

_spec = importlib.util.spec_from_file_location("binder_world", Path(__file__).with_name("binder_world.py"))
assert _spec is not None
assert _spec.loader is not None
_world = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_world)
Disks, World, claim, storage_class, volume = (
    _world.Disks, _world.World, _world.claim, _world.storage_class, _world.volume,
)  # fmt: skip

PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
NODE = "volume.kubernetes.io/selected-node"
REFUSED = InternalError("no")


class Stubborn(Disks):
    """A provisioner that deletes nothing the first times it is asked."""

    def __init__(self, refusals):
        super().__init__()
        self.refusals = refusals

    def delete(self, volume):
        if self.refusals:
            self.refusals -= 1
            raise VolumeFailed("busy")
        super().delete(volume)


def world(*volumes, of=None, refusals=(), disks=None, **of_class):
    made = storage_class(**of_class)
    return World([of or claim(storage_class="fast")], volumes, [made], disks=disks, refusals=refusals)


def annotations(cluster):
    return cluster.claim()["metadata"].get("annotations") or {}


def names(cluster):
    return sorted(each["metadata"]["name"] for each in cluster.client.objects(PERSISTENT_VOLUMES))


def test_a_claim_bears_the_name_of_its_provisioner():  # 11-1, 11-13, 12-1
    cluster = world()

    marks = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    assert annotations(cluster) == marks | dict.fromkeys((PROVISIONER, BETA_PROVISIONER), "example.com/disks")
    assert cluster.volume("pvc-uid-c")["metadata"]["annotations"] == {
        "pv.kubernetes.io/bound-by-controller": "yes",
        "pv.kubernetes.io/provisioned-by": "example.com/disks",
    }
    assert list(cluster.said()) == ["ProvisioningSucceeded"]


@pytest.mark.parametrize(
    ("of_class", "named"),
    [
        ({"provisioner": "kubernetes.io/unknown"}, None),
        ({"provisioner": "example.com/disks"}, "example.com/disks"),
    ],
    ids=["11-18 unknown", "11-4 it fails"],
)
def test_a_failure_is_told(of_class, named):
    cluster = world(disks=Disks("no"), **of_class)

    assert list(cluster.said()) == ["ProvisioningFailed"]
    assert annotations(cluster).get(PROVISIONER) == named
    assert names(cluster) == []


class Mounted(Disks):
    """A provisioner that says whether it takes mount options."""

    def __init__(self, takes):
        super().__init__()
        self.takes = takes

    def supports_mount_option(self):
        return self.takes


@pytest.mark.parametrize(("disks", "made"), [(Disks(), []), (Mounted(False), []), (Mounted(True), ["c"])])
def test_mount_options_are_for_provisioners_that_take_them(disks, made):  # 11-20
    cluster = world(disks=disks, mountOptions=["ro", "nfsvers=4"])

    text = 'Mount options are not supported by the provisioner but StorageClass "fast" has mount options [ro nfsvers=4]'
    assert disks.made == made
    assert ("ProvisioningFailed" in cluster.said()) is not bool(made)
    assert made or cluster.said()["ProvisioningFailed"] == text
    assert annotations(cluster)[PROVISIONER] == "example.com/disks"


def test_nothing_is_made_where_a_volume_fits():  # 11-6, 11-22
    for provisioner in ("example.com/disks", "vendor.com/my-volume"):
        cluster = world(volume(storage_class="fast"), provisioner=provisioner)

        assert (cluster.disks.made, names(cluster)) == ([], ["v"])
        assert cluster.claim()["status"]["phase"] == "Bound"
        assert cluster.said() == {}


def test_nothing_is_made_twice():  # 11-7
    cluster = world()
    provisioning = cluster.plugins[0]._provisioning

    provisioning.provision(cluster.claim(), storage_class(), "")

    assert cluster.disks.made == ["c"]


def test_a_volume_that_cannot_be_saved_is_saved_later_and_not_made_again():  # 11-8
    cluster = world(refusals=[REFUSED])
    before = names(cluster)

    cluster.advance(10)

    assert before == []
    assert cluster.claim()["status"]["phase"] == "Bound"
    assert cluster.disks.made == ["c"]
    assert list(cluster.said()) == ["ProvisioningSucceeded"]


@pytest.mark.parametrize(
    ("disks", "reasons", "gone"),
    [
        (Stubborn(0), {"ProvisioningFailed"}, ["pvc-uid-c"]),
        (Stubborn(1), {"ProvisioningFailed"}, ["pvc-uid-c"]),
        (Stubborn(5), {"ProvisioningFailed", "ProvisioningCleanupFailed"}, []),
    ],
    ids=["11-9 deleted", "11-12 deleted the second time", "11-11 not deleted"],
)
def test_storage_whose_volume_is_refused_five_times_is_deleted(disks, reasons, gone):
    cluster = world(refusals=[REFUSED] * 5 + [AlreadyExists("stop here")], disks=disks)
    for _ in range(4):
        cluster.advance(10)
    said = cluster.said()

    assert said["ProvisioningFailed"] == (
        "Error creating provisioned PV object for claim d/c: no. Deleting the volume."
    )
    assert reasons == set(said)
    assert disks.gone == gone
    if not gone:
        text = "Error cleaning provisioned volume for claim d/c: busy. Please delete manually."
        assert said["ProvisioningCleanupFailed"] == text


def test_storage_goes_with_a_claim_whose_volume_was_never_saved():
    cluster = world(refusals=[REFUSED])

    cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    cluster.settle()

    assert (names(cluster), cluster.disks.gone) == ([], ["pvc-uid-c"])


def test_a_volume_that_was_saved_though_the_answer_was_lost_stays():  # 11-19
    cluster = world(refusals=[REFUSED, AlreadyExists("it is there")])

    cluster.advance(10)

    assert cluster.disks.gone == []
    assert "ProvisioningFailed" not in cluster.said()


@pytest.mark.parametrize("name", ["", None], ids=["11-15 none", "11-16 not said"])
def test_nothing_is_made_without_a_class(name):
    cluster = world(of=claim(storage_class=name))

    assert (cluster.disks.made, names(cluster)) == ([], [])
    assert cluster.claim()["status"]["phase"] == "Pending"


def test_an_external_provisioner_finds_its_name_on_the_claim():  # 11-17, 12-3
    cluster = world(provisioner="vendor.com/my-volume")

    assert annotations(cluster) == dict.fromkeys((PROVISIONER, BETA_PROVISIONER), "vendor.com/my-volume")
    assert list(cluster.said()) == ["ExternalProvisioning"]
    assert "volumeName" not in cluster.claim()["spec"]


@pytest.mark.parametrize("reference", [None, {"namespace": "d", "name": "c", "uid": "uid-c"}], ids=["12-2", "12-4"])
def test_the_volume_of_an_external_provisioner_is_bound(reference):
    cluster = world(provisioner="vendor.com/my-volume")

    cluster.client.seed(
        PERSISTENT_VOLUMES,
        volume("made", storage_class="fast", **({"claimRef": reference} if reference else {})),
    )
    cluster.settle()

    assert cluster.claim()["spec"]["volumeName"] == "made"
    assert cluster.claim()["status"]["phase"] == "Bound"


@pytest.mark.parametrize(
    ("provisioner", "made", "reason"),
    [
        ("example.com/disks", ["c"], "ProvisioningSucceeded"),
        ("vendor.com/my-volume", [], "ExternalProvisioning"),
    ],
    ids=["11-23", "11-24"],
)
def test_a_claim_with_a_selected_node_gets_a_volume_of_its_own(provisioner, made, reason):
    wanted = claim(storage_class="fast")
    wanted["metadata"]["annotations"] = {NODE: "n"}

    cluster = world(
        volume(storage_class="fast"), of=wanted, provisioner=provisioner, volumeBindingMode="WaitForFirstConsumer"
    )

    assert cluster.disks.made == made
    assert cluster.volume()["status"]["phase"] == "Available"
    assert annotations(cluster)[NODE] == "n"
    assert list(cluster.said()) == [reason]
