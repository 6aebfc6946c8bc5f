"""csi-snapshotter: snapshots are taken, bound and deleted; none is left behind whatever fails."""

import itertools

import pytest
from hyperkube_controller.csi_snapshotter import CsiSnapshotter
from hyperkube_controller.csi_snapshotter.objects import CLASSES, CONTENTS, SNAPSHOTS
from hyperkube_lib.csi.memory_driver import MemoryDriver

from hyperkube.kinds.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
)
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

DRIVER = "memory.csi.example.com"
ALL = ("CREATE_DELETE_VOLUME", "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS")
DEFAULT = {"snapshot.storage.kubernetes.io/is-default-class": "true"}


def plugin_with(driver):
    return type("CsiSnapshotter", (CsiSnapshotter,), {"own_drivers": lambda _self: {driver.name: driver}})


class World(ControllerRig):
    """A bound claim, a default class with `policy`, and a snapshot of the claim unless it is another."""

    def __init__(self, driver=None, plugin=None, earlier=None, policy="Delete", source=None, phase="Bound"):
        self.driver = driver or MemoryDriver(controller=ALL)
        super().__init__(plugin or plugin_with(self.driver))
        if earlier is not None:
            self.client.inherit(earlier.client)
            return
        self.driver.volumes["h"] = 1 << 30
        for resource in (SNAPSHOTS, CONTENTS, CLASSES):
            status = {"conditions": [{"type": "Established", "status": "True"}]}
            name = f"{resource.resource}.{resource.group}"
            self.client.seed(CUSTOM_RESOURCE_DEFINITIONS, {"metadata": {"name": name}, "status": status})
        meta = {"name": "k", "annotations": DEFAULT}
        self.client.seed(
            CLASSES, {"metadata": meta, "driver": DRIVER, "deletionPolicy": policy, "parameters": {"a": "b"}}
        )
        claim = {"metadata": {"name": "c", "namespace": "d", "uid": "u"}, "spec": {"volumeName": "pv"}}
        self.client.seed(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": {"phase": phase}})
        spec = {"csi": {"driver": DRIVER, "volumeHandle": "h"}, "claimRef": {"uid": "u"}}
        self.client.seed(PERSISTENT_VOLUMES, {"metadata": {"name": "pv"}, "spec": spec})
        spec = {"source": source or {"persistentVolumeClaimName": "c"}}
        self.client.seed(
            SNAPSHOTS,
            {"kind": "VolumeSnapshot", "metadata": {"name": "s", "namespace": "d", "uid": "us"}, "spec": spec},
        )

    def snapshot(self):
        return self.client.get(SNAPSHOTS, "s", "d")

    def contents(self):
        return self.client.objects(CONTENTS)

    def delete(self):
        self.client.delete(SNAPSHOTS, "s", "d")
        self.settle()

    def said(self):
        self.plugins[0].recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]


class TestContract(ControllerContract):
    driver = MemoryDriver(controller=ALL)
    plugin = plugin_with(driver)

    def rig(self):
        return World(driver=self.driver, plugin=self.plugin)


def test_a_snapshot_is_taken_and_deleted_with_its_content():
    world = World()
    world.settle()
    (content,), snapshot = world.contents(), world.snapshot()
    taken = dict(world.driver.snapshots)
    claim = world.client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    world.delete()

    assert content["metadata"]["name"] == "snapcontent-us"
    assert content["spec"]["source"] == {"volumeHandle": "h"}
    assert content["status"]["snapshotHandle"] == "snap-snapshot-us"
    assert snapshot["status"] == {
        "boundVolumeSnapshotContentName": "snapcontent-us", "readyToUse": True, "restoreSize": "1Gi",
        "creationTime": "1970-01-01T00:00:01Z",
    }  # fmt: skip
    assert world.driver.requests["CreateSnapshot"] == {
        "name": "snapshot-us", "source_volume_id": "h", "parameters": {"a": "b"},
    }  # fmt: skip
    assert list(taken) == ["snap-snapshot-us"]
    assert not claim["metadata"].get("finalizers")
    assert (world.client.objects(SNAPSHOTS), world.contents(), world.driver.snapshots) == ([], [], {})
    assert [reason for reason, _ in world.said()][:3] == ["CreatingSnapshot", "SnapshotCreated", "SnapshotReady"]


def test_a_content_that_is_kept_outlives_its_snapshot():
    world = World(policy="Retain")
    world.settle()
    world.delete()

    assert world.client.objects(SNAPSHOTS) == []
    assert [each["metadata"]["name"] for each in world.contents()] == ["snapcontent-us"]
    assert list(world.driver.snapshots) == ["snap-snapshot-us"]


def test_it_is_asked_again_until_it_is_ready_and_the_claim_is_kept_meanwhile():
    driver = MemoryDriver(controller=ALL)
    driver.are_ready = False
    world = World(driver=driver)
    world.settle()
    before = world.snapshot()["status"]["readyToUse"]
    held = world.client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d")["metadata"]["finalizers"]
    driver.are_ready = True
    world.advance(5)

    assert (before, world.snapshot()["status"]["readyToUse"]) == (False, True)
    assert held == ["snapshot.storage.kubernetes.io/pvc-as-source-protection"]


def test_a_snapshot_that_is_there_already_is_bound():
    world = World(source={"volumeSnapshotContentName": "given"})
    spec = {
        "driver": DRIVER, "deletionPolicy": "Retain", "source": {"snapshotHandle": "old"},
        "volumeSnapshotRef": {"name": "s", "namespace": "d"},
    }  # fmt: skip
    world.driver.snapshots["old"] = {"snapshot_id": "old", "size_bytes": 5}
    world.client.seed(CONTENTS, {"kind": "VolumeSnapshotContent", "metadata": {"name": "given"}, "spec": spec})
    world.settle()

    status = world.snapshot()["status"]
    assert (status["boundVolumeSnapshotContentName"], status["readyToUse"], status["restoreSize"]) == (
        "given",
        True,
        "5",
    )
    assert world.contents()[0]["spec"]["volumeSnapshotRef"]["uid"] == "us"


@pytest.mark.parametrize(
    ("world", "text"),
    [
        (lambda: World(phase="Pending"), "the PVC c is not yet bound to a PV, will not attempt to take a snapshot"),
        (lambda: World(source={"persistentVolumeClaimName": "x"}), "failed to retrieve PVC x from the lister"),
        (lambda: World(source={"volumeSnapshotContentName": "x"}), "VolumeSnapshotContent x is missing"),
    ],
)
def test_what_cannot_be_taken(world, text):
    made = world()
    made.settle()

    assert text in made.snapshot()["status"]["error"]["message"]
    assert made.said()[-1][0] == "SnapshotContentCreationFailed"
    assert made.driver.snapshots == {}


FAULTS = list(
    itertools.product(("CreateSnapshot", "DeleteSnapshot"), ("before", "after"), ("UNAVAILABLE", "INTERNAL"), (0, 1))
)


@pytest.mark.parametrize(("method", "when", "code", "restarts"), FAULTS)
def test_nothing_leaks_whatever_fails(method, when, code, restarts):
    """A driver is killed in the middle of a call and brought back, and the controller with it or not."""
    driver = MemoryDriver(controller=ALL)
    failures = driver.fail_before if when == "before" else driver.fail_after
    world, told = World(driver=driver), []
    failures[method] = code

    def settled(world):
        if not failures or method not in driver.calls:
            return world
        told.append(world.contents()[0]["status"]["error"]["message"])
        failures.clear()
        world = World(driver=driver, earlier=world) if restarts else world
        world.advance(2)
        world.advance(5)
        return world

    world.settle()
    world = settled(world)
    taken, status = list(driver.snapshots), world.snapshot()["status"]
    world.delete()
    world = settled(world)

    assert len(told) == 1
    assert (taken, status["readyToUse"], "error" in status) == (["snap-snapshot-us"], True, False)
    assert (world.client.objects(SNAPSHOTS), world.contents(), driver.snapshots) == ([], [], {})


def test_a_snapshot_that_is_deleted_while_it_is_taken_leaves_none():
    driver = MemoryDriver(controller=ALL)
    driver.fail_after["CreateSnapshot"] = "DEADLINE_EXCEEDED"
    world = World(driver=driver)
    world.settle()
    driver.fail_after.clear()
    world.delete()
    world.advance(2)

    assert (world.client.objects(SNAPSHOTS), world.contents(), driver.snapshots) == ([], [], {})
