"""EBS volumes: what parameters make of them, device names, zones."""

import pytest
from hyperkube_cloud.aws.disks import DEVICES, GIB, free_device, options

from hyperkube.hookspecs.cloud import CloudFailed, DiskAttachedElsewhere, DiskRequest


@pytest.mark.parametrize(
    ("parameters", "made"),
    [
        ({}, {"VolumeType": "gp3", "Size": 2}),
        ({"type": "io1", "iopspergb": "50"}, {"VolumeType": "io1", "Size": 2, "Iops": 100}),
        ({"encrypted": "true"}, {"VolumeType": "gp3", "Size": 2, "Encrypted": True}),
        ({"kmskeyid": "arn:k"}, {"VolumeType": "gp3", "Size": 2, "KmsKeyId": "arn:k", "Encrypted": True}),
        ({"type": "gp3", "throughput": "200"}, {"VolumeType": "gp3", "Size": 2, "Throughput": 200}),
    ],
)
def test_parameters_of_a_class_make_a_volume(parameters, made):
    assert options(DiskRequest(name="pvc-1", size=GIB + 1, parameters=parameters)) == made


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"type": "floppy"}, "invalid AWS VolumeType 'floppy'"), ({"colour": "red"}, "invalid option 'colour'")],
)
def test_what_ebs_does_not_have_is_refused(parameters, message):
    with pytest.raises(CloudFailed, match=message):
        options(DiskRequest(name="pvc-1", size=GIB, parameters=parameters))


def test_device_names_are_given_in_order_until_there_are_none():
    assert free_device([]) == "/dev/xvdba"
    assert free_device(["/dev/xvdba", "/dev/sda1"]) == "/dev/xvdbb"
    with pytest.raises(CloudFailed, match="too many EBS volumes"):
        free_device(DEVICES)


def test_a_volume_that_another_machine_has_is_told_with_that_machines_node(cloud):
    first, second = cloud.machine(), cloud.machine()
    disks = cloud.provider().disks
    disk = disks.create(DiskRequest(name="pvc-1", size=GIB, zone="us-east-1a"))
    disks.attach(disk.id, first)

    with pytest.raises(DiskAttachedElsewhere) as raised:
        disks.attach(disk.id, second)

    assert raised.value.node == first["metadata"]["name"]


def test_a_persistent_volume_is_told_where_its_disk_is(cloud):
    provider = cloud.provider()
    disk = provider.disks.create(DiskRequest(name="pvc-1", size=GIB, zone="us-east-1b"))
    (volume,) = cloud.ec2.describe_volumes()["Volumes"]

    told = provider.volumes.labels({"spec": {"awsElasticBlockStore": {"volumeID": disk.id}}})

    assert told == {"topology.kubernetes.io/zone": "us-east-1b", "topology.kubernetes.io/region": "us-east-1"}
    assert {tag["Key"]: tag["Value"] for tag in volume["Tags"]} == {
        "Name": "testing-dynamic-pvc-1",
        "kubernetes.io/created-for/pv/name": "pvc-1",
        "kubernetes.io/cluster/testing": "owned",
    }
