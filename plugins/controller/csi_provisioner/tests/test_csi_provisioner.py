"""csi-provisioner: volumes are made for claims, where they are wanted, and deleted once; nothing leaks."""

import itertools

import pytest
from hyperkube_lib.csi.memory_driver import MemoryDriver
from provisioner_world import ALL, DRIVER, GI, KEY, World, claim, plugin_with

from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    SECRETS,
    VOLUME_ATTACHMENTS,
)
from hyperkube.testing.contracts.controller import ControllerContract

FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"


class TestContract(ControllerContract):
    driver = MemoryDriver(controller=ALL)
    plugin = plugin_with(driver)

    def rig(self):
        return World(claim(), driver=self.driver, plugin=self.plugin)


def test_a_claim_gets_a_volume():
    world = World(claim(), mountOptions=["noatime"], parameters={"tier": "gold", "csi.storage.k8s.io/fstype": "xfs"})
    world.settle()

    volume = world.volumes["pvc-u-c"]
    assert volume["metadata"]["finalizers"] == [FINALIZER]
    assert volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == DRIVER
    csi = volume["spec"]["csi"]
    assert (csi["driver"], csi["volumeHandle"], csi["fsType"]) == (DRIVER, "vol-pvc-u-c", "xfs")
    assert {key: volume["spec"][key] for key in ("capacity", "accessModes", "volumeMode", "storageClassName")} == {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
        "storageClassName": "fast",
    }  # fmt: skip
    assert volume["spec"]["mountOptions"] == ["noatime"]
    assert (volume["spec"]["claimRef"]["uid"], volume["spec"]["persistentVolumeReclaimPolicy"]) == ("u-c", "Delete")
    request = world.driver.requests["CreateVolume"]
    assert request["parameters"] == {"tier": "gold"}
    assert request["capacity_range"] == {"required_bytes": GI}
    (capability,) = request["volume_capabilities"]
    assert capability == {
        "access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {"fs_type": "xfs", "mount_flags": ["noatime"]},
    }  # fmt: skip
    assert world.said() == [
        ("Provisioning", 'External provisioner is provisioning volume for claim "d/c"'),
        ("ProvisioningSucceeded", "Successfully provisioned volume pvc-u-c"),
    ]


def test_a_block_volume():
    world = World(claim(volumeMode="Block"), parameters={"csi.storage.k8s.io/fstype": "xfs"})
    world.settle()

    assert world.driver.requests["CreateVolume"]["volume_capabilities"][0]["block"] == {}
    spec = world.volumes["pvc-u-c"]["spec"]
    assert (spec["volumeMode"], "fsType" in spec["csi"]) == ("Block", False)


@pytest.mark.parametrize(
    "other",
    [
        claim(annotations={"volume.kubernetes.io/storage-provisioner": "other.example.com"}),
        claim(volumeName="pv"),
        claim(class_name="none"),
    ],
    ids=["of another driver", "bound", "without a class"],
)
def test_what_is_not_its_work(other):
    world = World(other)
    world.settle()

    assert (world.volumes, world.driver.volumes, world.said()) == ({}, {}, [])


def test_a_late_binding_claim_waits_for_its_node_and_is_made_there():
    driver = MemoryDriver(controller=ALL, services=("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"))
    world = World(claim(), driver=driver, volumeBindingMode="WaitForFirstConsumer")
    world.settle()
    before = world.volumes
    world.client.patch(
        PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n2"}}}, "d"
    )
    world.settle()

    places = driver.requests["CreateVolume"]["accessibility_requirements"]
    assert before == {}
    assert [each["segments"][KEY] for each in places["preferred"]] == ["n2", "n1"]
    assert [each["segments"][KEY] for each in places["requisite"]] == ["n1", "n2"]
    (term,) = world.volumes["pvc-u-c"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": KEY, "operator": "In", "values": ["n2"]}]}


def test_allowed_topologies_are_all_that_is_allowed():
    driver = MemoryDriver(controller=ALL, services=("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"))
    allowed = [{"matchLabelExpressions": [{"key": KEY, "values": ["n1"]}]}]
    world = World(claim(), driver=driver, allowedTopologies=allowed)
    world.settle()

    assert driver.requests["CreateVolume"]["accessibility_requirements"]["requisite"] == [{"segments": {KEY: "n1"}}]


def test_a_full_node_is_given_back_to_the_scheduler():
    driver = MemoryDriver(controller=ALL, services=("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"))
    driver.fail_before["CreateVolume"] = "RESOURCE_EXHAUSTED"
    world = World(claim(node="n1"), driver=driver, volumeBindingMode="WaitForFirstConsumer")
    world.settle()

    assert "volume.kubernetes.io/selected-node" not in world.claim()["metadata"]["annotations"]
    assert world.said()[1] == (
        "ProvisioningFailed",
        (
            'failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = CreateVolume '
            "fails before it begins"
        ),
    )


def test_secrets_are_passed_on_and_found_again_for_the_deletion():
    prefix = "csi.storage.k8s.io/"
    parameters = {
        f"{prefix}provisioner-secret-name": "s", f"{prefix}provisioner-secret-namespace": "${pvc.namespace}",
        f"{prefix}node-stage-secret-name": "${pv.name}", f"{prefix}node-stage-secret-namespace": "k",
    }  # fmt: skip
    world = World(claim(), parameters=parameters)
    world.client.seed(SECRETS, {"metadata": {"name": "s", "namespace": "d"}, "data": {"key": "aHVzaA=="}})
    world.settle()
    volume = world.volumes["pvc-u-c"]
    world.release()

    assert world.driver.requests["CreateVolume"]["secrets"] == {"key": "hush"}
    assert volume["spec"]["csi"]["nodeStageSecretRef"] == {"name": "pvc-u-c", "namespace": "k"}
    assert world.driver.requests["DeleteVolume"] == {"volume_id": "vol-pvc-u-c", "secrets": {"key": "hush"}}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"parameters": {"csi.storage.k8s.io/x": "1"}},
            'found unknown parameter key "csi.storage.k8s.io/x" with reserved',
        ),
        ({"parameters": {"fsType": "a", "csi.storage.k8s.io/fstype": "b"}}, 'with both "fstype" and'),
        (
            {"parameters": {"csi.storage.k8s.io/provisioner-secret-name": "s"}},
            "either name and namespace for Provisioner",
        ),
    ],
)
def test_a_class_that_is_wrong(fields, text):
    world = World(claim(), **fields)
    world.settle()

    reason, message = world.said()[-1]
    assert reason == "ProvisioningFailed"
    assert text in message
    assert world.driver.volumes == {}


def test_a_volume_is_deleted_once_and_its_object_after_it():
    world = World(claim())
    world.settle()
    world.client.patch(PERSISTENT_VOLUMES, "pvc-u-c", {"status": {"phase": "Bound"}}, subresource="status")
    world.settle()
    world.release()

    assert (world.volumes, world.driver.volumes) == ({}, {})
    assert world.driver.calls.count("DeleteVolume") == 1


def test_a_volume_that_is_kept_has_no_finalizer():
    world = World(claim(), reclaimPolicy="Retain")
    world.settle()
    world.release()

    assert "finalizers" not in world.volumes["pvc-u-c"]["metadata"]
    assert world.driver.volumes == {"vol-pvc-u-c": GI}


def test_a_volume_that_is_attached_stays_until_it_is_not():
    world = World(claim())
    world.settle()
    spec = {"attacher": DRIVER, "nodeName": "n1", "source": {"persistentVolumeName": "pvc-u-c"}}
    world.client.seed(VOLUME_ATTACHMENTS, {"metadata": {"name": "a"}, "spec": spec})
    world.settle()
    world.release()
    before = (world.said()[-1], world.driver.calls.count("DeleteVolume"))
    world.client.delete(VOLUME_ATTACHMENTS, "a")
    world.settle()

    assert before == (("VolumeFailedDelete", "persistentvolume pvc-u-c is still attached to node n1"), 0)
    assert world.driver.volumes == {}


FAULTS = list(
    itertools.product(("CreateVolume", "DeleteVolume"), ("before", "after"), ("UNAVAILABLE", "INTERNAL"), (0, 1))
)


@pytest.mark.parametrize(("method", "when", "code", "restarts"), FAULTS)
def test_nothing_leaks_whatever_fails(method, when, code, restarts):
    """A driver is killed in the middle of a call and brought back, and the controller with it or not."""
    driver = MemoryDriver(controller=ALL)
    failures = driver.fail_before if when == "before" else driver.fail_after
    world = World(claim(), driver=driver)
    failures[method] = code

    def settled(world):
        if not failures or method not in driver.calls:
            return world
        failures.clear()
        world = world.after_restart() if restarts else world
        world.advance(2)
        return world

    world.settle()
    world = settled(world)
    made = (list(world.volumes), dict(driver.volumes))
    world.release()
    world = settled(world)

    assert not failures
    assert made == (["pvc-u-c"], {"vol-pvc-u-c": GI})
    assert (world.volumes, driver.volumes) == ({}, {})


def test_a_claim_that_goes_while_its_volume_is_made_leaves_no_volume():
    driver = MemoryDriver(controller=ALL)
    driver.fail_after["CreateVolume"] = "DEADLINE_EXCEEDED"
    world = World(claim(), driver=driver)
    world.settle()
    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    driver.fail_after.clear()
    world.advance(2)
    made = list(world.volumes)
    world.release()

    assert made == ["pvc-u-c"], "the binder finds it released"
    assert driver.volumes == {}


def test_a_volume_that_is_too_small_is_given_back():
    driver = MemoryDriver(controller=ALL)
    make = driver.create_volume
    driver.create_volume = lambda request: {"volume": {**make(request)["volume"], "capacity_bytes": 5}}
    world = World(claim(), driver=driver)
    world.settle()

    assert world.said()[-1][1].endswith(f"created volume capacity 5 less than requested capacity {GI}")
    assert driver.volumes == {}


def test_what_is_left_is_told_to_the_scheduler():
    driver = MemoryDriver(controller=ALL, services=("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"))
    world = World(driver=driver, volumeBindingMode="WaitForFirstConsumer")
    described = {"metadata": {"name": DRIVER, "uid": "x"}, "spec": {"storageCapacity": True}}
    world.client.seed(CSI_DRIVERS, described)
    world.settle()
    first = world.client.objects(CSI_STORAGE_CAPACITIES)
    world.client.seed(PERSISTENT_VOLUME_CLAIMS, claim(node="n1"))
    world.settle()
    after = world.client.objects(CSI_STORAGE_CAPACITIES)

    assert sorted(each["nodeTopology"]["matchLabels"][KEY] for each in first) == ["n1", "n2"]
    assert {each["capacity"] for each in first} == {"1Ti"}
    assert {each["capacity"] for each in after} == {"1023Gi"}


def test_a_class_of_a_kind_that_a_driver_took_over():
    driver = MemoryDriver("ebs.csi.aws.com", controller=ALL)
    asked = claim(annotations={"volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"})
    world = World(
        asked, driver=driver, provisioner="kubernetes.io/aws-ebs", parameters={"fsType": "xfs", "type": "gp3"}
    )
    world.settle()

    volume = world.volumes["pvc-u-c"]
    assert volume["spec"]["awsElasticBlockStore"] == {"volumeID": "vol-pvc-u-c", "fsType": "xfs"}
    assert "csi" not in volume["spec"]
    marks = volume["metadata"]["annotations"]
    assert marks["pv.kubernetes.io/provisioned-by"] == "kubernetes.io/aws-ebs"
    assert marks["pv.kubernetes.io/migrated-to"] == "ebs.csi.aws.com"
    assert driver.requests["CreateVolume"]["parameters"] == {"type": "gp3"}

    world.release()

    assert (world.volumes, driver.volumes) == ({}, {})


def test_a_driver_that_wants_to_know_is_told_of_the_claim():
    driver = MemoryDriver(controller=ALL)
    driver.extra_create_metadata = True
    world = World(claim(), driver=driver, parameters={"tier": "gold"})
    world.settle()

    assert driver.requests["CreateVolume"]["parameters"] == {
        "tier": "gold",
        "csi.storage.k8s.io/pvc/name": "c",
        "csi.storage.k8s.io/pvc/namespace": "d",
        "csi.storage.k8s.io/pv/name": "pvc-u-c",
    }
