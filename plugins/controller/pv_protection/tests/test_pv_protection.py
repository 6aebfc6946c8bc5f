"""The pv-protection controller: volumes wait for their claims."""

import pytest
from hyperkube_controller.pv_protection import PvProtection

from hyperkube.kinds.resources import PERSISTENT_VOLUMES
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def volume(phase="Available"):
    return {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {}, "status": {"phase": phase}}


class TestContract(ControllerContract):
    plugin = PvProtection

    def populate(self, rig):
        rig.client.seed(PERSISTENT_VOLUMES, volume())


@pytest.mark.parametrize(("phase", "stays"), [("Bound", True), ("Released", False), ("Available", False)])
def test_a_deleted_volume_stays_while_it_is_bound(phase, stays):
    rig = ControllerRig(PvProtection)
    rig.client.seed(PERSISTENT_VOLUMES, volume(phase))
    rig.settle()
    assert rig.client.objects(PERSISTENT_VOLUMES)[0]["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]

    rig.client.delete(PERSISTENT_VOLUMES, "v")
    rig.settle()

    assert bool(rig.client.objects(PERSISTENT_VOLUMES)) == stays


@pytest.mark.parametrize("deleted", [True, False], ids=["off", "on"])
def test_the_finalizer_is_tried_again_when_the_write_is_refused(deleted):
    rig = ControllerRig(PvProtection)
    given = volume()
    if deleted:
        marks = {"finalizers": ["kubernetes.io/pv-protection"], "deletionTimestamp": "2030-01-01T00:00:00Z"}
        given["metadata"] |= marks
    for _ in range(2):
        rig.client.fail_next("update", "persistentvolumes", Forbidden("mock error"))
    rig.client.seed(PERSISTENT_VOLUMES, given)

    rig.settle()
    rig.advance(1)

    left = rig.client.objects(PERSISTENT_VOLUMES)
    assert [each["metadata"]["finalizers"] for each in left] == ([] if deleted else [["kubernetes.io/pv-protection"]])


def test_a_volume_with_the_finalizer_is_left_alone():
    rig = ControllerRig(PvProtection)
    given = volume()
    given["metadata"]["finalizers"] = ["kubernetes.io/pv-protection"]
    rig.client.seed(PERSISTENT_VOLUMES, given)

    rig.settle()

    assert rig.client.actions == []
