"""csi-attacher: attachments are carried out, told of, and undone; none is left behind."""

import itertools

import pytest
from hyperkube_controller.csi_attacher import CsiAttacher
from hyperkube_lib.csi.memory_driver import MemoryDriver

from hyperkube.kinds.resources import CSI_NODES, NODES, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

DRIVER = "memory.csi.example.com"
FINALIZER = "external-attacher/memory-csi-example-com"
ALL = ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "LIST_VOLUMES", "LIST_VOLUMES_PUBLISHED_NODES")


def plugin_with(driver):
    return type("CsiAttacher", (CsiAttacher,), {"own_drivers": lambda _self: {driver.name: driver}})


class World(ControllerRig):
    """One volume that is to be attached to one node."""

    def __init__(self, driver=None, plugin=None, earlier=None, on_node=True, in_tree=None, **source):
        self.driver = driver or MemoryDriver(controller=ALL)
        super().__init__(plugin or plugin_with(self.driver))
        self.driver.volumes.setdefault("h", 5)
        if earlier is not None:
            self.client.inherit(earlier.client)
            return
        self.client.seed(NODES, {"kind": "Node", "metadata": {"name": "n"}})
        if on_node:
            row = {"name": self.driver.name, "nodeID": "id-of-n"}
            self.client.seed(CSI_NODES, {"metadata": {"name": "n"}, "spec": {"drivers": [row]}})
        csi = {"driver": DRIVER, "volumeHandle": "h", "volumeAttributes": {"a": "b"}, **source}
        spec = {**(in_tree or {"csi": csi}), "accessModes": ["ReadWriteOnce"]}
        self.client.seed(PERSISTENT_VOLUMES, {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec})
        spec = {"attacher": self.driver.name, "nodeName": "n", "source": {"persistentVolumeName": "pv"}}
        self.client.seed(VOLUME_ATTACHMENTS, {"kind": "VolumeAttachment", "metadata": {"name": "a"}, "spec": spec})

    def attachment(self):
        found = self.client.objects(VOLUME_ATTACHMENTS)
        return found[0] if found else None

    def volume(self):
        return self.client.get(PERSISTENT_VOLUMES, "pv")

    def detach(self):
        self.client.delete(VOLUME_ATTACHMENTS, "a")
        self.settle()


class TestContract(ControllerContract):
    driver = MemoryDriver(controller=ALL)
    plugin = plugin_with(driver)

    def rig(self):
        return World(driver=self.driver, plugin=self.plugin)


def test_a_volume_is_attached_and_detached():
    world = World()
    world.settle()
    attachment, volume, request = world.attachment(), world.volume(), world.driver.requests["ControllerPublishVolume"]
    world.detach()

    assert attachment["status"] == {"attached": True, "attachmentMetadata": {"device": "d1"}}
    assert attachment["metadata"]["finalizers"] == [FINALIZER]
    assert attachment["metadata"]["annotations"] == {"csi.alpha.kubernetes.io/node-id": "id-of-n"}
    assert volume["metadata"]["finalizers"] == [FINALIZER]
    assert request == {
        "volume_id": "h", "node_id": "id-of-n", "volume_context": {"a": "b"},
        "volume_capability": {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {}},
    }  # fmt: skip
    assert (world.attachment(), world.driver.attached) == (None, set())


FAULTS = list(
    itertools.product(
        ("ControllerPublishVolume", "ControllerUnpublishVolume"),
        ("before", "after"),
        ("UNAVAILABLE", "INTERNAL"),
        (0, 1),
    )
)


@pytest.mark.parametrize(("method", "when", "code", "restarts"), FAULTS)
def test_nothing_is_left_attached_whatever_fails(method, when, code, restarts):
    """A driver is killed in the middle of a call and brought back, and the controller with it or not."""
    driver = MemoryDriver(controller=ALL)
    failures = driver.fail_before if when == "before" else driver.fail_after
    world, errors = World(driver=driver), []
    failures[method] = code

    def settled(world):
        if not failures or method not in driver.calls:
            return world
        errors.append(world.attachment()["status"])
        failures.clear()
        world = World(driver=driver, earlier=world) if restarts else world
        world.advance(2)
        return world

    world.settle()
    world = settled(world)
    status, attached = world.attachment()["status"], set(driver.attached)
    world.detach()
    world = settled(world)

    assert (status["attached"], attached) == (True, {("h", "id-of-n")})
    assert "attachError" not in status
    (told,) = errors
    error = told.get("attachError") or told.get("detachError")
    assert error["errorCode"] == {"UNAVAILABLE": 14, "INTERNAL": 13}[code]
    assert method in error["message"]
    assert (world.attachment(), driver.attached) == (None, set())


def test_a_driver_that_is_not_on_the_node():
    world = World(on_node=False)
    world.settle()

    assert world.attachment()["status"]["attachError"]["message"] == 'csinode.storage.k8s.io "n" not found'
    assert "finalizers" not in world.attachment()["metadata"]


def test_a_node_that_is_gone_is_detached_from_by_the_id_that_was_kept():
    world = World()
    world.settle()
    world.client.delete(CSI_NODES, "n")
    world.client.delete(NODES, "n")
    world.detach()

    assert (world.attachment(), world.driver.attached) == (None, set())


def test_a_driver_that_does_not_attach_has_nothing_to_do():
    world = World(driver=MemoryDriver(controller=("CREATE_DELETE_VOLUME",)))
    world.settle()

    assert world.attachment()["status"] == {"attached": True}
    assert "finalizers" not in world.attachment()["metadata"]
    assert world.driver.attached == set()


def test_what_the_driver_has_detached_by_itself_is_attached_again():
    world = World()
    world.settle()
    world.driver.attached.clear()
    world.advance(60)

    assert world.driver.attached == {("h", "id-of-n")}


class Endless(MemoryDriver):
    """Lists page after page: each is full of volumes that are not ours, and names the next, or itself."""

    next_token = staticmethod(lambda token: str(int(token or 0) + 1))

    def list_volumes(self, request):
        token = request.get("starting_token", "")
        entries = [{"volume": {"volume_id": f"{token}-{number}"}} for number in range(1000)]
        return {"entries": entries, "next_token": self.next_token(token)}


@pytest.mark.parametrize(("next_token", "pages"), [(Endless.next_token, 1001), (lambda _token: "again", 2)])
def test_a_driver_that_lists_without_end_is_asked_no_more(monkeypatch, caplog, next_token, pages):
    monkeypatch.setattr(Endless, "next_token", staticmethod(next_token))
    world = World(driver=Endless(controller=ALL))
    world.settle()
    world.advance(60)

    assert world.driver.calls.count("ListVolumes") == pages
    assert "does not list its volumes: ListVolumes: " in caplog.text
    assert world.driver.attached == {("h", "id-of-n")}  # what it attached is not taken for what it has detached
    assert world.driver.calls.count("ControllerPublishVolume") == 1


def test_a_deleted_volume_is_let_go_when_it_is_attached_nowhere():
    world = World()
    world.settle()
    world.client.delete(PERSISTENT_VOLUMES, "pv")
    world.settle()
    kept = len(world.client.objects(PERSISTENT_VOLUMES))
    world.detach()

    assert (kept, world.client.objects(PERSISTENT_VOLUMES)) == (1, [])


def test_attachments_of_other_drivers_are_left_alone():
    world = World(plugin=plugin_with(MemoryDriver("other.example.com")))
    world.settle()

    assert "status" not in world.attachment()


def test_a_volume_of_a_kind_that_a_driver_took_over():
    driver = MemoryDriver("ebs.csi.aws.com", controller=ALL)
    driver.volumes["vol-1"] = 5
    world = World(driver=driver, in_tree={"awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}})
    world.settle()
    attached, kept = set(driver.attached), world.volume()["metadata"]["finalizers"]
    world.client.delete(PERSISTENT_VOLUMES, "pv")
    world.detach()

    assert world.driver.requests["ControllerPublishVolume"]["volume_context"] == {"partition": "0"}
    assert (attached, kept) == ({("vol-1", "id-of-n")}, ["external-attacher/ebs-csi-aws-com"])
    assert driver.attached == set()
    assert world.client.objects(PERSISTENT_VOLUMES) == []
