"""Machines over all vCenters, and what nodes are told of them."""

import sys
from collections import Counter

import pytest
from hyperkube_cloud.vsphere.guests import system_of
from hyperkube_cloud.vsphere.instances import VSphereInstances
from hyperkube_cloud.vsphere.machines import turned, uuid_of
from hyperkube_testing.rest_cloud import answer
from pyVmomi import vim

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceNotFound

UUID = "422e4956-ad22-1139-6d72-59cc8f26bc90"
OF_FIRMWARE = "56492e42-22ad-3911-6d72-59cc8f26bc90"
TWO = """
[Global]
user = administrator@vsphere.local
password = secret-of-the-test
[VirtualCenter "one"]
[VirtualCenter "two"]
datacenters = dc
"""


@pytest.fixture
def vmware():
    return sys.modules["vsphere_vmware"]


def node(name="node-1", **status):
    return {"metadata": {"name": name}, "spec": {}, "status": {"nodeInfo": status}}


@pytest.mark.parametrize("wrong", ["vsphere://4200", "aws:///a/i-1", "node-1"])
def test_the_id_of_something_else_is_refused(wrong):
    with pytest.raises(CloudFailed, match="is no machine of vSphere's"):
        uuid_of(wrong)


def test_firmware_tells_a_uuid_in_another_order():
    assert turned(OF_FIRMWARE) == UUID
    assert turned(UUID) == OF_FIRMWARE


@pytest.mark.parametrize(
    ("guest", "system"),
    [
        ("ubuntu64Guest", "ubuntu"), ("otherGuest64", "other"), ("other3xLinux64Guest", "linux"), ("rhel7_64Guest", "rhel7"),
        ("centos64Guest", "centos64"), ("darwin16_64Guest", "darwin"), ("windows9Server64Guest", "win10server"),
        ("winNetEnterprise64Guest", "winnetenterprise"), ("vmwarePhoton64Guest", "photon"), ("rhel9_64Guest", "unknown"),
        ("", "unknown"),
    ],
)  # fmt: skip
def test_a_guest_is_called_as_kubernetes_does(guest, system):
    assert system_of(guest) == system


@pytest.mark.parametrize(
    "asked",
    [
        node(systemUUID=OF_FIRMWARE),
        node(systemUUID=UUID.upper()),
        node(),
        node(systemUUID="4200ffff-0000-0000-0000-000000000000"),
        node("10.0.0.1"),
        {**node("other"), "spec": {"providerID": f"vsphere://{UUID.upper()}"}},
        {**node("other"), "spec": {"providerID": f"vsphere://{OF_FIRMWARE}"}},
    ],
    ids=["firmware", "firmware, turned", "name", "name, as nobody has the uuid", "address", "id", "id of firmware"],
)
def test_a_machine_is_found_and_described(double, cloud, asked):
    double.machine(double.hosts[1][1], uuid=UUID)

    told = cloud.instances.metadata(asked)

    assert told.provider_id.lower() in {f"vsphere://{UUID}", f"vsphere://{OF_FIRMWARE}"}
    assert told.instance_type == "vsphere-vm.cpu-4.mem-8gb.os-ubuntu"
    assert [(row["type"], row["address"]) for row in told.addresses] == [
        ("Hostname", "node-1"), ("InternalIP", "10.0.0.1"), ("ExternalIP", "10.0.0.1")
    ]  # fmt: skip
    assert (told.zone, told.region) == ("zone-1", "west")
    assert cloud.instances.exists(asked)


def test_the_nearest_tag_is_a_hosts_zone(double, cloud):
    double.tag(double.hosts[0][1], "k8s-zone", "zone-special")
    machines = [double.machine(host, name) for host, name in zip(double.hosts[0], ("a", "b"), strict=True)]

    assert [cloud.instances.metadata(each).zone for each in machines] == ["zone-0", "zone-special"]


def test_a_host_without_a_zone_holds_its_nodes_up(double, cloud):
    bare = double.datacenter("bare")
    cluster = double.cluster(bare, "untagged")
    machine = double.machine(double.get(cluster, "host")[0])

    with pytest.raises(
        CloudFailed, match="vSphere region category k8s-region does not match any tags for mo: host-untagged-0"
    ):
        cloud.instances.metadata(machine)


def test_a_machine_is_followed_to_its_end(double, cloud):
    machine = double.machine(double.hosts[0][0])
    states = []
    for state in ("poweredOn", "suspended", "poweredOff"):
        double.set(double.ref_of(machine), runtime__powerState=state)
        states.append(cloud.instances.is_shut_down(machine))
    del double.objects[double.ref_of(machine)._moId]

    assert states == [False, True, True]
    assert not cloud.instances.exists(machine)
    assert not cloud.instances.is_shut_down(machine)
    with pytest.raises(InstanceNotFound):
        cloud.instances.metadata(machine)


def test_a_machine_that_was_made_anew_is_found_again(double, cloud):
    machine = double.machine(double.hosts[0][0], uuid=UUID)
    cloud.instances.metadata(machine)
    first = double.ref_of(machine)
    double.objects["vm-99"] = double.objects.pop(first._moId)
    double.add(vim.VirtualMachine, first._moId, name="another", config__uuid="42009999-0000-0000-0000-000000000000",
               runtime__host=double.hosts[0][0], guest__hostName="another")  # fmt: skip

    assert cloud.instances.metadata(machine).addresses[0]["address"] == "node-1"


def test_a_guest_without_its_tools_is_not_described_yet(double, cloud):
    machine = double.machine(double.hosts[0][0], guest__hostName="")

    with pytest.raises(CloudFailed, match="VM Guest hostname is empty"):
        cloud.instances.metadata(machine)
    assert cloud.instances.exists(machine)


def test_a_machine_is_gone_only_if_each_vcenter_says_so(vmware, tmp_path):
    one, two = vmware.furnished(), vmware.furnished()
    here = two.machine(two.hosts[0][0], uuid=UUID)
    instances = vmware.provider(vmware.built(None, tmp_path, TWO, one=one, two=two)).instances
    nowhere = {**node("gone"), "spec": {"providerID": "vsphere://42001111-0000-0000-0000-000000000000"}}

    assert instances.exists(here)
    assert not instances.exists(nowhere)
    with one.answering(answer(503, b"busy")):
        assert instances.exists(here)
        with pytest.raises(CloudUnavailable):
            instances.exists(nowhere)


def test_a_machine_that_was_found_is_looked_for_there_first(vmware, tmp_path):
    one, two = vmware.furnished(), vmware.furnished()
    here = two.machine(two.hosts[0][0], uuid=UUID)
    instances = vmware.provider(vmware.built(None, tmp_path, TWO, one=one, two=two)).instances
    instances.metadata(here)
    asked = len(one.sent)

    assert instances.exists(here)
    assert len(one.sent) == asked


def test_a_datacenter_that_is_not_there_is_no_word_that_machines_are_gone(vmware, tmp_path, double):
    machine = double.machine(double.hosts[0][0])
    wrong = vmware.CONFIG.replace('[VirtualCenter "vcenter"]', '[VirtualCenter "vcenter"]\ndatacenters = cd')
    instances = vmware.provider(vmware.built(double, tmp_path, wrong)).instances

    with pytest.raises(CloudFailed, match="has no datacenter 'cd'"):
        instances.exists(machine)


def test_a_kubelet_learns_its_name_and_zone(double, cloud, tmp_path):
    double.machine(double.hosts[1][0], uuid=UUID)
    serial = tmp_path / "serial"
    serial.write_text("VMware-42 2e 49 56 ad 22 11 39-6d 72 59 cc 8f 26 bc 90\n")
    held = cloud.instances
    of_machine = VSphereInstances(held._machines, held._config, held._zones, serial)

    assert of_machine.current_node_name("node-1") == "node-1"
    assert of_machine.current_zone() == ("zone-1", "west")
    serial.write_text("QEMU\n")
    with pytest.raises(CloudFailed, match="give vm-uuid"):
        of_machine.current_zone()


@pytest.mark.slow
def test_five_hundred_nodes_at_rest_cost_a_call_each_and_their_zones_a_few(vmware, tmp_path):
    double = vmware.furnished(page=1000)
    nodes = [double.machine(double.hosts[number % 2][number % 3 % 2], f"node-{number}") for number in range(500)]
    plugin = vmware.built(double, tmp_path)
    instances = vmware.provider(plugin).instances
    rounds = []
    for _ in range(3):
        start = len(double.sent)
        for each in nodes:
            instances.metadata(each)
        rounds.append(
            Counter("tags" if path.startswith("/rest") else method for method, path, _ in double.sent[start:])
        )
        plugin.context.clock.sleep(301)

    assert rounds[0]["FindByUuid"] == 500
    for each in rounds[1:]:  # the objects' tags, 4 tags, 3 categories
        assert each == {"RetrievePropertiesEx": 501, "tags": 8}
