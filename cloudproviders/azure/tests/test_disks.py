"""Managed disks: what parameters make of them, LUNs, zones."""

import pytest
from hyperkube_cloud.azure.disks import GIB, disk_name, options

from hyperkube.hookspecs.cloud import CloudFailed, DiskAttachedElsewhere, DiskRequest


def test_a_disk_is_named_as_kubernetes_does_and_keeps_the_volumes_name():
    assert disk_name("kubernetes", "pvc-1") == "kubernetes-dynamic-pvc-1"
    assert disk_name("c" * 90, "pvc-1") == "c" * 74 + "-pvc-1"


@pytest.mark.parametrize(
    ("parameters", "made"),
    [
        ({}, ("StandardSSD_LRS", "", {})),
        ({"skuname": "premium_lrs", "kind": "managed", "zone": "westeurope-1"}, ("Premium_LRS", "westeurope-1", {})),
        ({"storageaccounttype": "UltraSSD_LRS", "diskiopsreadwrite": "700"}, ("UltraSSD_LRS", "", {"diskIOPSReadWrite": 700})),
        ({"maxshares": "2", "cachingmode": "None", "fstype": "ext4"}, ("StandardSSD_LRS", "", {"maxShares": 2})),
    ],
)  # fmt: skip
def test_parameters_of_a_class_make_a_disk(parameters, made):
    told = options(DiskRequest(name="pvc-1", size=GIB, parameters=parameters))

    assert (told["kind"], told["zone"], told["more"]) == made


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"skuname": "floppy"}, "floppy is not supported sku/storageaccounttype"),
        ({"kind": "shared"}, "shared is not supported kind"),
        ({"colour": "red"}, "invalid option colour in storage class"),
        ({"diskiopsreadwrite": "700"}, "only applicable in UltraSSD_LRS"),
        ({"maxshares": "none"}, "failed to parse maxShares"),
    ],
)
def test_what_azure_does_not_have_is_refused(parameters, message):
    with pytest.raises(CloudFailed, match=message):
        options(DiskRequest(name="pvc-1", size=GIB, parameters=parameters))


def test_disks_take_the_first_free_lun_and_tell_who_has_them(double, cloud):
    first, second = double.machine("node-1"), double.instance()
    made = [cloud.disks.create(DiskRequest(name=f"pvc-{number}", size=GIB, zone="westeurope-2")) for number in range(3)]

    devices = [cloud.disks.attach(disk.id, first) for disk in made[:2]]
    cloud.disks.detach(made[0].id, "node-1")
    devices += [cloud.disks.attach(made[2].id, first), cloud.disks.attach(made[0].id, second)]

    assert [device.rpartition("/")[2] for device in devices] == ["lun0", "lun1", "lun0", "lun0"]
    assert cloud.disks.attached([disk.id for disk in made], "node-1") == {
        made[0].id: False, made[1].id: True, made[2].id: True
    }  # fmt: skip
    for disk, holder, other in ((made[0], "pool000000", first), (made[1], "node-1", second)):
        with pytest.raises(DiskAttachedElsewhere) as raised:
            cloud.disks.attach(disk.id, other)
        assert raised.value.node == holder


def test_a_persistent_volume_is_told_where_its_disk_is(double, cloud):
    disk = cloud.disks.create(DiskRequest(name="pvc-1", size=GIB, zone="westeurope-2", tags={"a/b": "c/d"}))

    told = cloud.volumes.labels({"spec": {"azureDisk": {"diskName": "d", "diskURI": disk.id}}})

    assert told == {"topology.kubernetes.io/zone": "westeurope-2", "topology.kubernetes.io/region": "westeurope"}
    assert double.things[disk.id.lower()]["tags"] == {"created-by": "kubernetes-azure-dd", "a-b": "c-d"}
    assert cloud.disks.resize(disk.id, 3 * GIB + 1) == 4 * GIB
