"""Virtual disks: where a class lets them be made, controllers and slots, policies, and who holds them."""

import sys

import pytest
from hyperkube_cloud.vsphere.disk_options import disk_name, options, plain_path
from hyperkube_cloud.vsphere.dummy_machines import dummy_name
from pyVmomi import vim

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import CloudFailed, DiskAttachedElsewhere, DiskNotFound, DiskRequest, RetryLater
from hyperkube.kinds.resources import NODES

GIB = 2**30


def request(name="pvc-1", size=GIB, zone="", **parameters):
    return DiskRequest(name=name, size=size, zone=zone, parameters=parameters)


@pytest.fixture
def node(double):
    return double.machine(double.hosts[0][0])


@pytest.mark.parametrize(
    ("parameters", "made"),
    [
        ({}, ("thin", "", "", "")),
        ({"diskformat": "EagerZeroedThick", "datastore": "fast", "fstype": "xfs"}, ("eagerZeroedThick", "fast", "", "")),
        ({"diskformat": "zeroedthick", "storagepolicyname": "gold"}, ("preallocated", "", "gold", "")),
        ({"hostfailurestotolerate": "2", "cachereservation": "20"},
         ("thin", "", "", '( ("hostFailuresToTolerate" i2) ("cacheReservation" i200000))')),
    ],
)  # fmt: skip
def test_parameters_of_a_class_make_a_disk(parameters, made):
    told = options(parameters)

    assert (told.format, told.datastore, told.policy, told.vsan) == made


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"diskformat": "thick"},
            "diskformat 'thick' is not valid. Valid options are thin, zeroedthick, eagerzeroedthick",
        ),
        ({"colour": "red"}, 'invalid option "colour" for volume plugin kubernetes.io/vsphere-volume'),
        (
            {"diskstripes": "many"},
            "Invalid value for diskstripes. The capabilityValue: many must be a valid integer value",
        ),
        ({"diskstripes": "13"}, "Invalid value for stripeWidth. The minimum value is 1 and maximum value is 12."),
        ({"iopslimit": "-1"}, "Invalid value for iopsLimit. The minimum value is 0."),
        ({"diskstripes": "1", "storagepolicyname": "gold"}, "Please specify only one"),
    ],
)
def test_what_vsphere_does_not_have_is_refused(parameters, message):
    with pytest.raises(CloudFailed) as raised:
        options(parameters)

    assert message in str(raised.value)


def test_disks_are_named_as_kubernetes_does():
    assert disk_name("shop", "pvc-1") == "shop-dynamic-pvc-1"
    assert disk_name("c" * 300, "pvc-1").endswith("-pvc-1")
    assert len(disk_name("c" * 300, "pvc-1") + ".vmdk") == 255
    assert plain_path("[pod/fast] kubevols/a.vmdk") == "[fast] kubevols/a.vmdk"
    assert [dummy_name(each) for each in ("a", "foobar")] == ["vsphere-k8s-3826002220", "vsphere-k8s-3214735720"]


@pytest.mark.parametrize(
    ("asked", "disk_id", "labels"),
    [
        (request(), "[fast] kubevols/kubernetes-dynamic-pvc-1.vmdk", "zone-0__zone-1"),
        (request(datastore="zone-1"), "[zone-1] kubevols/kubernetes-dynamic-pvc-1.vmdk", "zone-1"),
        (request(datastore="pod/zone-1"), "[pod/zone-1] kubevols/kubernetes-dynamic-pvc-1.vmdk", "zone-1"),
        (request(zone="zone-1"), "[zone-1] kubevols/kubernetes-dynamic-pvc-1.vmdk", "zone-1"),
        (request(zone="zone-0,zone-1"), "[fast] kubevols/kubernetes-dynamic-pvc-1.vmdk", "zone-0__zone-1"),
        (request(zone="zone-0", datastore="fast"), "[fast] kubevols/kubernetes-dynamic-pvc-1.vmdk", "zone-0__zone-1"),
    ],
    ids=["default", "named", "of a cluster of datastores", "zone, with most space", "two zones", "zone and name"],
)
def test_a_disk_is_made_where_its_class_lets_it(double, cloud, asked, disk_id, labels):
    made = cloud.disks.create(asked)

    assert (made.id, made.size) == (disk_id, GIB)
    assert made.labels == {"topology.kubernetes.io/region": "west", "topology.kubernetes.io/zone": labels}
    assert list(double.files) == [plain_path(disk_id)]
    volume = {"spec": {"vsphereVolume": {"volumePath": disk_id}}}
    assert cloud.volumes.labels(volume) == made.labels


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (request(datastore="none"), "Datastore 'none' not found"),
        (
            request(datastore="zone-0", zone="zone-1"),
            "The specified datastore zone-0 does not match the provided zones",
        ),
        (request(zone="zone-9"), "Failed to find a shared datastore matching zone"),
        (request(storagepolicyname="none"), "no pbm profile found with name: 'none'"),
        (
            request(storagepolicyname="iron"),
            "No compatible datastores found that satisfy the storage policy requirements: ",
        ),
        (request(diskstripes="2"), "is not a VSAN datastore"),
    ],
)
def test_a_place_that_is_not_there_is_told(double, cloud, asked, message):
    double.policies = {"gold": {"datastore-fast"}, "iron": set()}

    with pytest.raises(CloudFailed, match=message):
        cloud.disks.create(asked)
    assert double.files == {}


def test_a_disk_is_found_again_where_it_was_made_though_another_place_is_better_now(double, cloud):
    first = cloud.disks.create(request(zone="zone-1"))
    double.set(vim.Datastore("datastore-fast"), summary__freeSpace=1 << 45)

    assert (
        cloud.disks.create(request(zone="zone-1")).id == first.id == "[zone-1] kubevols/kubernetes-dynamic-pvc-1.vmdk"
    )
    assert len(double.files) == 1


@pytest.mark.parametrize(
    "parameters", [{"storagepolicyname": "gold"}, {"objectspacereservation": "50", "datastore": "san"}]
)
def test_a_policy_makes_a_disk_by_a_machine_that_goes(double, cloud, parameters):
    double.policies = {"gold": {"datastore-zone-0"}}
    double.datastore(vim.Datacenter("datacenter-dc"), "san", double.hosts[0], kind="vsan")

    made = cloud.disks.create(request(**parameters))

    where = "zone-0" if "storagepolicyname" in parameters else "san"
    assert made.id == f"[{where}] kubevols/kubernetes-dynamic-pvc-1.vmdk"
    assert list(double.files) == [made.id]
    assert double.everything()[1] == {}
    (change,) = [
        body for method, _, body in double.sent if method == "ReconfigVM_Task" and "fileOperation" in str(body)
    ]
    (profile,) = change["spec"]["deviceChange"][0]["profile"]
    assert profile["profileId"] == ("id-gold" if "storagepolicyname" in parameters else "")
    assert profile.get("profileData", {}).get("objectData", "") == (
        "" if "storagepolicyname" in parameters else '( ("proportionalCapacity" i50))'
    )


def test_sixteen_disks_need_a_second_controller_and_sixty_are_all(double, cloud, node):
    disks = [cloud.disks.create(request(f"pvc-{number}")).id for number in range(61)]
    devices = [cloud.disks.attach(disk, node) for disk in disks[:60]]

    held = double.get(double.ref_of(node), "config.hardware.device")
    slots = [(each.controllerKey, each.unitNumber) for each in held if isinstance(each, vim.vm.device.VirtualDisk)]
    assert len(set(devices)) == len(set(slots)) == 60
    assert 7 not in {unit for _, unit in slots}
    assert len({key for key, _ in slots}) == 4
    with pytest.raises(CloudFailed, match="SCSI Controller Limit of 4 has been reached"):
        cloud.disks.attach(disks[60], node)
    assert cloud.disks.attached(disks, "node-1") == {disk: disk != disks[60] for disk in disks}


def test_a_disk_that_another_machine_holds_is_told(double, cloud, node):
    other = double.machine(double.hosts[1][0], "node-2")
    disk = cloud.disks.create(request()).id
    cloud.disks.attach(disk, node)

    with pytest.raises(DiskAttachedElsewhere, match="is held by another machine"):
        cloud.disks.attach(disk, other)
    for refused in (lambda: cloud.disks.delete(disk), lambda: cloud.disks.resize(disk, 2 * GIB)):
        with pytest.raises(CloudFailed, match="FileLocked"):
            refused()
    cloud.disks.detach(disk, "node-1")
    assert cloud.disks.attach(disk, other).startswith("/dev/disk/by-id/wwn-0x6000c29")


def test_a_folder_that_the_vcenter_writes_by_its_id_is_the_same(double, cloud, node):
    double.datastore(vim.Datacenter("datacenter-dc"), "san", double.hosts[0], kind="vsan")
    disk = cloud.disks.create(request(datastore="san")).id
    device = cloud.disks.attach(disk, node)
    held = double.get(double.ref_of(node), "config.hardware.device")[-1]

    assert held.backing.fileName.startswith("[san] 25d8b159-")
    assert cloud.disks.attached([disk], "node-1") == {disk: True}
    assert cloud.disks.attach(disk, node) == device
    cloud.disks.detach(disk, "node-1")
    assert cloud.disks.attached([disk], "node-1") == {disk: False}


def test_the_node_tells_which_machine_is_its(double, tmp_path, node):
    vmware, client = sys.modules["vsphere_vmware"], FakeClient()
    client.seed(NODES, {**node, "metadata": {"name": "in-the-cluster"}})
    disks = vmware.provider(vmware.built(double, tmp_path, client=client)).disks
    disk = disks.create(request()).id
    disks.attach(disk, node)

    assert disks.attached([disk], "in-the-cluster") == {disk: True}
    disks.detach(disk, "in-the-cluster")
    assert disks.attached([disk], "in-the-cluster") == {disk: False}


def test_what_is_gone_is_nothing_to_detach(double, cloud, node):
    disk = cloud.disks.create(request()).id
    cloud.disks.attach(disk, node)
    del double.objects[double.ref_of(node)._moId]

    cloud.disks.detach(disk, "node-1")
    assert cloud.disks.attached([disk], "node-1") == {disk: False}
    with pytest.raises(DiskNotFound):
        cloud.volumes.labels({"spec": {"vsphereVolume": {"volumePath": "[none] a.vmdk"}}})


def test_a_task_that_takes_its_time_is_asked_for_again(double, cloud):
    running = vim.TaskInfo(
        key="t", task=vim.Task("t"), descriptionId="", cancelled=False, cancelable=False, state="running",
        reason=vim.TaskReasonUser(userName=""), queueTime=sys.modules["vsphere_inventory"].NOW, eventChainId=1,
    )  # fmt: skip
    done = double.task
    double.task = lambda result: double.add(vim.Task, "t", info=running)

    with pytest.raises(RetryLater, match="is still under way") as raised:
        cloud.disks.create(request())
    double.task = done
    assert raised.value.retry_after == 30
    assert cloud.disks.create(request()).size == GIB


def test_without_a_workspace_there_are_no_disks(double, tmp_path):
    vmware = sys.modules["vsphere_vmware"]
    bare = vmware.CONFIG.partition("[Workspace]")[0]

    assert vmware.provider(vmware.built(double, tmp_path, bare)).disks is None
