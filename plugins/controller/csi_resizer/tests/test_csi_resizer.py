"""csi-resizer: claims that ask for more get it, whatever fails meanwhile, and may ask for less after a refusal."""

import itertools

import pytest
from hyperkube_controller.csi_resizer import CsiResizer
from hyperkube_lib.csi.memory_driver import MemoryDriver

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

DRIVER = "memory.csi.example.com"
GI = 1 << 30


def plugin_with(driver):
    return type("CsiResizer", (CsiResizer,), {"own_drivers": lambda _self: {driver.name: driver}})


class World(ControllerRig):
    """A bound claim of 1Gi that asks for `asked`."""

    def __init__(self, asked="2Gi", driver=None, plugin=None, earlier=None, mode="Filesystem"):
        self.driver = driver or MemoryDriver()
        super().__init__(plugin or plugin_with(self.driver))
        if earlier is not None:
            self.client.inherit(earlier.client)
            return
        self.driver.volumes["h"] = GI
        claim = {
            "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "d", "uid": "u"},
            "spec": {"volumeName": "pv", "resources": {"requests": {"storage": asked}}},
            "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}},
        }  # fmt: skip
        spec = {
            "csi": {"driver": DRIVER, "volumeHandle": "h"}, "capacity": {"storage": "1Gi"}, "claimRef": {"uid": "u"},
            "accessModes": ["ReadWriteOnce"], "volumeMode": mode,
        }  # fmt: skip
        self.client.seed(PERSISTENT_VOLUME_CLAIMS, claim)
        self.client.seed(PERSISTENT_VOLUMES, {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec})

    def status(self):
        return self.client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d")["status"]

    def capacity(self):
        return self.client.get(PERSISTENT_VOLUMES, "pv")["spec"]["capacity"]["storage"]

    def said(self):
        self.plugins[0].recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]

    def ask(self, size):
        patch = {"spec": {"resources": {"requests": {"storage": size}}}}
        self.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", patch, "d")
        self.settle()


class TestContract(ControllerContract):
    driver = MemoryDriver()
    plugin = plugin_with(driver)

    def rig(self):
        return World(driver=self.driver, plugin=self.plugin)


def test_the_driver_grows_a_volume_and_the_rest_is_the_nodes():
    world = World()
    world.settle()

    assert (world.driver.volumes["h"], world.capacity()) == (2 * GI, "2Gi")
    status = world.status()
    assert status["capacity"] == {"storage": "1Gi"}
    assert status["allocatedResources"] == {"storage": "2Gi"}
    assert status["allocatedResourceStatuses"] == {"storage": "NodeResizePending"}
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"]) == ("FileSystemResizePending", "True")
    assert world.said() == [
        ("Resizing", "External resizer is resizing volume pv"),
        ("FileSystemResizeRequired", "Require file system resize of volume on node"),
    ]


def test_a_claim_has_grown_where_the_node_has_nothing_to_do():
    driver = MemoryDriver()
    grow = driver.controller_expand_volume
    driver.controller_expand_volume = lambda request: {"capacity_bytes": grow(request)["capacity_bytes"]}
    world = World(driver=driver)
    world.settle()

    assert world.status()["capacity"] == {"storage": "2Gi"}
    assert "allocatedResourceStatuses" not in world.status()
    assert world.said()[-1] == ("VolumeResizeSuccessful", "Resize volume succeeded")


@pytest.mark.parametrize("asked", ["1Gi", "512Mi"])
def test_nothing_shrinks(asked):
    world = World(asked)
    world.settle()

    assert "ControllerExpandVolume" not in world.driver.calls


FAULTS = list(itertools.product(("before", "after"), ("UNAVAILABLE", "INTERNAL"), (False, True)))


@pytest.mark.parametrize(("when", "code", "restarts"), FAULTS)
def test_it_is_done_once_whatever_fails(when, code, restarts):
    """A driver is killed in the middle of the call and brought back, and the controller with it or not."""
    driver = MemoryDriver()
    failures = driver.fail_before if when == "before" else driver.fail_after
    failures["ControllerExpandVolume"] = code
    world = World(driver=driver)
    world.settle()
    told = [row["type"] for row in world.status()["conditions"]]
    failures.clear()
    world = World(driver=driver, earlier=world) if restarts else world
    world.advance(2)

    assert told == (["Resizing"] if code == "UNAVAILABLE" else ["Resizing", "ControllerResizeError"])
    assert (driver.volumes["h"], world.capacity()) == (2 * GI, "2Gi")
    assert world.status()["allocatedResourceStatuses"] == {"storage": "NodeResizePending"}
    assert [row["type"] for row in world.status()["conditions"]] == ["FileSystemResizePending"]


def test_a_claim_may_ask_for_less_after_a_refusal():
    driver = MemoryDriver()
    driver.fail_before["ControllerExpandVolume"] = "OUT_OF_RANGE"
    world = World("9Gi", driver=driver)
    world.settle()
    refused = world.status()
    driver.fail_before.clear()
    world.ask("2Gi")
    world.advance(2)

    assert refused["allocatedResourceStatuses"] == {"storage": "ControllerResizeInfeasible"}
    assert refused["allocatedResources"] == {"storage": "9Gi"}
    assert world.said()[1][1].startswith('resize volume "pv" by resizer "memory.csi.example.com" failed: rpc error')
    assert driver.volumes["h"] == 2 * GI
    assert world.status()["allocatedResources"] == {"storage": "2Gi"}


def test_what_may_be_under_way_is_ended_before_more_is_begun():
    driver = MemoryDriver()
    driver.fail_before["ControllerExpandVolume"] = "DEADLINE_EXCEEDED"
    world = World(driver=driver)
    world.settle()
    world.ask("4Gi")

    assert driver.requests["ControllerExpandVolume"]["capacity_range"]["required_bytes"] == 2 * GI
