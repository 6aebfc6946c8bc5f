"""Persistent disks: names, what parameters make of them, zones."""

import pytest
from hyperkube_cloud.gce.disks import GIB, disk_name, options

from hyperkube.hookspecs.cloud import CloudFailed, DiskAttachedElsewhere, DiskRequest


def test_a_disk_is_named_as_kubernetes_does_and_keeps_the_volumes_name():
    assert disk_name("kubernetes", "pvc-1") == "kubernetes-dynamic-pvc-1"
    assert disk_name("c" * 80, "pvc-1") == "c" * 57 + "-pvc-1"


@pytest.mark.parametrize(
    ("parameters", "made"),
    [
        ({}, ("pd-standard", [])),
        ({"type": "pd-ssd", "zone": "us-central1-b"}, ("pd-ssd", ["us-central1-b"])),
        ({"replication-type": "regional-pd", "zones": "a-1-a,a-1-b"}, ("pd-standard", ["a-1-a", "a-1-b"])),
        ({"replication-type": "none", "zones": "a-1-a,a-1-b"}, ("pd-standard", ["a-1-a"])),
    ],
)
def test_parameters_of_a_class_make_a_disk(parameters, made):
    assert options(DiskRequest(name="pvc-1", size=GIB, parameters=parameters)) == made


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"type": "floppy"}, "invalid GCE disk type 'floppy'"),
        ({"colour": "red"}, "invalid option 'colour'"),
        ({"replication-type": "twice"}, "only none and regional-pd"),
        ({"replication-type": "regional-pd", "zone": "a-1-a"}, "needs two zones, not 1"),
    ],
)
def test_what_google_does_not_have_is_refused(parameters, message):
    with pytest.raises(CloudFailed, match=message):
        options(DiskRequest(name="pvc-1", size=GIB, parameters=parameters))


def test_a_disk_that_another_machine_has_is_told_with_that_machines_node(double, cloud):
    first, second = double.machine("node-1"), double.machine("node-2")
    disk = cloud.disks.create(DiskRequest(name="pvc-1", size=GIB, zone="us-central1-a", tags={"team": "shop"}))

    device = cloud.disks.attach(disk.id, first)

    assert device == "/dev/disk/by-id/google-kubernetes-dynamic-pvc-1"
    assert double.things["zones/us-central1-a/disks/kubernetes-dynamic-pvc-1"]["description"] == '{"team":"shop"}'
    with pytest.raises(DiskAttachedElsewhere) as raised:
        cloud.disks.attach(disk.id, second)
    assert raised.value.node == "node-1"


def test_a_regional_disk_is_in_both_zones(cloud):
    parameters = {"replication-type": "regional-pd", "zones": "us-central1-b,us-central1-a"}
    disk = cloud.disks.create(DiskRequest(name="pvc-1", size=GIB, parameters=parameters))

    volume = {"spec": {"gcePersistentDisk": {"pdName": disk.id}}}

    assert cloud.volumes.labels(volume) == {
        "topology.kubernetes.io/zone": "us-central1-a__us-central1-b",
        "topology.kubernetes.io/region": "us-central1",
    }
    assert cloud.disks.resize(disk.id, 3 * GIB + 1) == 4 * GIB
