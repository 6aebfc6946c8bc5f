"""csi-modifier: volumes get the attributes that their claims ask for, whatever fails meanwhile."""

import itertools

import pytest
from hyperkube_controller.csi_modifier import CsiModifier
from hyperkube_lib.csi.memory_driver import MemoryDriver

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

DRIVER = "memory.csi.example.com"
CALL = "ControllerModifyVolume"


def memory_driver(*controller):
    return MemoryDriver(controller=controller or ("CREATE_DELETE_VOLUME", "MODIFY_VOLUME"))


def plugin_with(driver):
    return type("CsiModifier", (CsiModifier,), {"own_drivers": lambda _self: {driver.name: driver}})


def attributes(name, driver=DRIVER):
    kind = {"kind": "VolumeAttributesClass", "metadata": {"name": name}}
    return {**kind, "driverName": driver, "parameters": {"speed": name}}


class World(ControllerRig):
    """A bound claim of class ``asked``; its volume is of class ``slow``."""

    def __init__(self, asked="fast", driver=None, plugin=None, earlier=None):
        self.driver = driver or memory_driver()
        super().__init__(plugin or plugin_with(self.driver))
        if earlier is not None:
            self.client.inherit(earlier.client)
            return
        self.driver.volumes["h"] = 1
        claim = {
            "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "d", "uid": "u"},
            "spec": {"volumeName": "pv", "volumeAttributesClassName": asked},
            "status": {"phase": "Bound", "currentVolumeAttributesClassName": "slow"},
        }  # fmt: skip
        spec = {
            "csi": {"driver": DRIVER, "volumeHandle": "h"}, "claimRef": {"uid": "u"},
            "volumeAttributesClassName": "slow",
        }  # fmt: skip
        self.client.seed(PERSISTENT_VOLUME_CLAIMS, claim)
        self.client.seed(PERSISTENT_VOLUMES, {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec})
        self.client.seed(VOLUME_ATTRIBUTES_CLASSES, *(attributes(name) for name in ("slow", "fast")))

    def status(self):
        return self.client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d")["status"]

    def conditions(self):
        return [(row["type"], row["message"]) for row in self.status().get("conditions") or ()]

    def has(self):
        """Return the class of the volume and of the claim, and what the driver was told."""
        volume = self.client.get(PERSISTENT_VOLUMES, "pv")["spec"]["volumeAttributesClassName"]
        return volume, self.status()["currentVolumeAttributesClassName"], self.driver.parameters.get("h")

    def said(self):
        self.plugins[0].recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]

    def ask(self, name):
        patch = {"spec": {"volumeAttributesClassName": name}}
        self.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", patch, "d")
        self.settle()


class TestContract(ControllerContract):
    driver = memory_driver()
    plugin = plugin_with(driver)

    def rig(self):
        return World(driver=self.driver, plugin=self.plugin)


def test_the_driver_modifies_the_volume_and_both_objects_say_so():
    world = World()
    world.settle()

    assert world.has() == ("fast", "fast", {"speed": "fast"})
    assert "modifyVolumeStatus" not in world.status()
    assert world.conditions() == []
    assert world.said() == [
        ("VolumeModify", "external resizer is modifying volume c with vac fast"),
        ("VolumeModifySuccessful", "external resizer modified volume c with vac fast successfully"),
    ]


def test_nothing_is_done_for_a_claim_that_has_what_it_asks_for():
    world = World("slow")
    world.settle()

    assert CALL not in world.driver.calls


FAULTS = list(itertools.product(("before", "after"), ("UNAVAILABLE", "INTERNAL"), (False, True)))


@pytest.mark.parametrize(("when", "code", "restarts"), FAULTS)
def test_it_is_done_whatever_fails(when, code, restarts):
    """A driver is killed in the middle of the call and brought back, and the controller with it or not."""
    driver = memory_driver()
    failures = driver.fail_before if when == "before" else driver.fail_after
    failures[CALL] = code
    world = World(driver=driver)
    world.settle()
    told, state = world.conditions(), world.status()["modifyVolumeStatus"]
    failures.clear()
    world = World(driver=driver, earlier=world) if restarts else world
    world.advance(2)

    ((kind, text),) = told
    assert kind == "ModifyVolumeError"
    assert text.startswith("ModifyVolume failed with error: rpc error: code = ")
    assert text.endswith(". Waiting for retry.")
    assert state == {"status": "InProgress", "targetVolumeAttributesClassName": "fast"}
    assert world.has() == ("fast", "fast", {"speed": "fast"})
    assert world.conditions() == []


def test_what_is_impossible_is_told_and_tried_again_five_minutes_later():
    driver = memory_driver()
    driver.fail_before[CALL] = "INVALID_ARGUMENT"
    world = World(driver=driver)
    world.settle()
    state = world.status()["modifyVolumeStatus"]
    world.advance(290)
    world.settle()
    early = driver.calls.count(CALL)
    driver.fail_before.clear()
    world.advance(20)
    world.settle()

    assert state == {"status": "Infeasible", "targetVolumeAttributesClassName": "fast"}
    assert early == 1
    assert world.has() == ("fast", "fast", {"speed": "fast"})


def test_another_class_is_tried_at_once_after_a_refusal():
    driver = memory_driver()
    driver.fail_before[CALL] = "INVALID_ARGUMENT"
    world = World(driver=driver)
    world.client.seed(VOLUME_ATTRIBUTES_CLASSES, attributes("other"))
    world.settle()
    driver.fail_before.clear()
    world.ask("other")

    assert world.has() == ("other", "other", {"speed": "other"})


def test_what_may_be_under_way_is_ended_before_another_class():
    driver = memory_driver()
    driver.fail_before[CALL] = "DEADLINE_EXCEEDED"
    world = World(driver=driver)
    world.settle()
    world.ask("slow")
    world.advance(2)
    world.settle()

    assert driver.requests[CALL]["mutable_parameters"] == {"speed": "fast"}
    driver.fail_before.clear()
    world.advance(10)
    world.settle()
    assert world.has() == ("slow", "slow", {"speed": "slow"})
    assert any(text.endswith(". Still modifying to VAC fast") for _, text in world.said())


def test_a_claim_waits_for_a_class_that_comes_later():
    world = World("late")
    world.settle()
    state = world.status()["modifyVolumeStatus"]
    told = world.said()
    world.client.seed(VOLUME_ATTRIBUTES_CLASSES, attributes("late"))
    world.settle()

    assert state == {"status": "Pending"}
    assert told == [("VolumeModifyFailed", 'VAC "late" does not exist.')]
    assert world.has() == ("late", "late", {"speed": "late"})


def test_a_claim_that_asks_for_none_after_a_refusal_is_left_alone():
    driver = memory_driver()
    driver.fail_before[CALL] = "INVALID_ARGUMENT"
    world = World(driver=driver)
    world.settle()
    world.ask("")
    world.settle()

    assert world.conditions() == []
    assert ("VolumeModifyCancelled", "Cancelled modify.") in world.said()
    assert driver.calls.count(CALL) == 1


@pytest.mark.parametrize(
    ("other", "driver", "text"),
    [
        ("else.example.com", None, f"for driver else.example.com which does not match driver name {DRIVER}"),
        (DRIVER, memory_driver("EXPAND_VOLUME"), f"driver {DRIVER} does not support modify volume"),
    ],
    ids=["of another driver", "of a driver that cannot"],
)
def test_a_class_that_is_of_no_use_is_told(other, driver, text):
    world = World("wrong", driver=driver)
    world.client.seed(VOLUME_ATTRIBUTES_CLASSES, attributes("wrong", other))
    world.settle()

    ((reason, message),) = world.said()
    assert (reason, message.endswith(text)) == ("VolumeModifyFailed", True)
    assert CALL not in world.driver.calls
