"""The volumeattributesclass-protection controller: classes wait for the volumes and claims that refer to them."""

import pytest
from hyperkube_controller.volumeattributesclass_protection import (
    FINALIZER,
    VolumeattributesclassProtection,
    classes_of_claim,
)

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def attributes_class(**meta):
    return {"kind": "VolumeAttributesClass", "metadata": {"name": "gold", **meta}, "driverName": "d"}


def volume(name="gold"):
    return {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"volumeAttributesClassName": name}}


def claim(name=None, current=None, target=None):
    status = {"currentVolumeAttributesClassName": current}
    if target:
        status["modifyVolumeStatus"] = {"targetVolumeAttributesClassName": target}
    meta = {"name": "c", "namespace": "d"}
    spec = {"volumeAttributesClassName": name}
    return {"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": status}


def deleted_beside(*objects):
    """Delete a class beside some volumes and claims."""
    rig = ControllerRig(VolumeattributesclassProtection)
    rig.client.seed(VOLUME_ATTRIBUTES_CLASSES, attributes_class())
    for each in objects:
        rig.client.seed(PERSISTENT_VOLUMES if each["kind"] == "PersistentVolume" else PERSISTENT_VOLUME_CLAIMS, each)
    rig.settle()
    rig.client.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
    rig.settle()
    return rig


class TestContract(ControllerContract):
    plugin = VolumeattributesclassProtection

    def populate(self, rig):
        rig.client.seed(VOLUME_ATTRIBUTES_CLASSES, attributes_class())


def test_a_class_gets_the_finalizer():
    rig = ControllerRig(VolumeattributesclassProtection)
    rig.client.seed(VOLUME_ATTRIBUTES_CLASSES, attributes_class())

    rig.settle()

    assert rig.client.objects(VOLUME_ATTRIBUTES_CLASSES)[0]["metadata"]["finalizers"] == [FINALIZER]


@pytest.mark.parametrize(
    ("objects", "stays"),
    [
        pytest.param([], False, id="unused"),
        pytest.param([volume()], True, id="volume"),
        pytest.param([claim("gold")], True, id="claim-asks-for-it"),
        pytest.param([claim("silver", current="gold")], True, id="claim-has-it"),
        pytest.param([claim("silver", target="gold")], True, id="claim-moves-to-it"),
        pytest.param([volume("silver"), claim("silver")], False, id="others-use-another"),
    ],
)
def test_a_deleted_class_stays_while_it_is_referred_to(objects, stays):
    rig = deleted_beside(*objects)

    assert bool(rig.client.objects(VOLUME_ATTRIBUTES_CLASSES)) == stays


def test_it_goes_with_the_last_volume():
    rig = deleted_beside(volume())

    rig.client.delete(PERSISTENT_VOLUMES, "v")
    rig.settle()

    assert rig.client.objects(VOLUME_ATTRIBUTES_CLASSES) == []


def test_it_goes_once_a_claim_has_left_it():
    rig = deleted_beside(claim("gold"))

    rig.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"spec": {"volumeAttributesClassName": "silver"}}, "d")
    rig.settle()

    assert rig.client.objects(VOLUME_ATTRIBUTES_CLASSES) == []


def test_a_claim_may_refer_to_several_classes():
    assert classes_of_claim(claim("a", current="b", target="a")) == ("a", "b")
