"""Machines, routes to them and disks on them, and what nodes are told."""

import pytest
from hyperkube_cloud.openstack.apis import NOVA, Apis
from hyperkube_cloud.openstack.config import Networking
from hyperkube_cloud.openstack.disks import GIB, options
from hyperkube_cloud.openstack.instances import addresses, sanitized, split_provider_id
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import (
    CloudFailed,
    CloudUnavailable,
    DiskAttachedElsewhere,
    DiskRequest,
    InstanceNotFound,
    Route,
)
from hyperkube.machinery.clock import FakeClock


@pytest.mark.parametrize(
    ("provider_id", "split"),
    [("openstack:///i-1", ("", "i-1")), ("openstack://RegionOne/i-1", ("RegionOne", "i-1")), ("/i-1", ("", "i-1"))],
)
def test_a_provider_id_names_a_region_and_a_server(provider_id, split):
    assert split_provider_id(provider_id) == split


@pytest.mark.parametrize("provider_id", ["gce://p/z/n", "openstack://", "i-1"])
def test_the_id_of_something_else_is_refused(provider_id):
    with pytest.raises(CloudFailed, match="didn't match expected format"):
        split_provider_id(provider_id)


def test_addresses_are_the_worlds_or_the_clusters_by_network_and_kind():
    fixed, floating = {"OS-EXT-IPS:type": "fixed", "version": 4}, {"OS-EXT-IPS:type": "floating", "version": 4}
    machine = {
        "addresses": {
            "storage": [fixed | {"addr": "10.2.0.9"}],
            "inner": [
                fixed | {"addr": "10.0.0.9"},
                floating | {"addr": "203.0.113.9"},
                fixed | {"addr": "2001:db8::9"},
            ],
            "outer": [fixed | {"addr": "198.51.100.9"}],
        },
        "accessIPv4": "203.0.113.9",
    }
    networking = Networking(
        internal_network_name=("inner",), public_network_name=("outer",), ipv6_support_disabled=True
    )

    told = [(row["type"], row["address"]) for row in addresses(machine, networking)]

    assert told == [("InternalIP", "10.0.0.9"), ("ExternalIP", "203.0.113.9"), ("ExternalIP", "198.51.100.9")]


def test_a_machine_is_found_by_its_name_and_followed_to_its_end(double, cloud):
    node = double.machine("node-1")
    double.machine("node-10")
    ident = node["spec"]["providerID"].rpartition("/")[2]

    told = cloud.instances.metadata({"metadata": {"name": "node-1"}})
    double.things["server", ident]["status"] = "SHUTOFF"
    off = cloud.instances.is_shut_down(node)
    del double.things["server", ident]

    assert (told.provider_id, told.instance_type, told.zone) == (f"openstack:///{ident}", "m1.large", "az-1")
    assert (told.region, told.labels) == ("RegionOne", {"topology.openstack.org/host-id": "host-1"})
    assert off
    assert not cloud.instances.exists(node)
    with pytest.raises(InstanceNotFound):
        cloud.instances.metadata(node)
    assert sanitized("az 1/") == "az-1"


def test_five_hundred_nodes_that_are_looked_at_cost_one_call_each_and_one_for_the_flavor(double, cloud):
    nodes = [double.machine(f"node-{number}") for number in range(500)]

    for node in nodes:
        cloud.instances.metadata(node)

    assert len(double.sent) == 500 + 1


def test_a_route_leads_to_the_machines_address_and_its_port_may_send_from_there(double, cloud):
    node = double.machine()
    address = node["status"]["addresses"][0]["address"]
    route = Route("r", "node-1", "10.244.1.0/24")

    cloud.routes.create("shop", route)

    assert double.things["router", "r-1"]["routes"] == [{"destination": "10.244.1.0/24", "nexthop": address}]
    assert double.things["port", "port-node-1"]["allowed_address_pairs"] == [{"ip_address": "10.244.1.0/24"}]
    assert [(each.target, each.destination) for each in cloud.routes.list("shop")] == [("node-1", "10.244.1.0/24")]
    cloud.routes.delete("shop", route)
    assert (
        double.things["router", "r-1"]["routes"] == double.things["port", "port-node-1"]["allowed_address_pairs"] == []
    )


def test_a_route_of_another_family_than_the_machines_is_refused(double, cloud):
    double.machine()

    with pytest.raises(CloudFailed, match="no address found for host 'node-1'"):
        cloud.routes.create("shop", Route("r", "node-1", "2001:db8:1::/64"))


def test_parameters_of_a_class_make_a_volume():
    parameters = {"type": "ssd", "availability": "nova", "fstype": "ext4"}

    assert options(DiskRequest(name="v", size=GIB, parameters=parameters)) == {
        "volume_type": "ssd",
        "availability_zone": "nova",
    }
    with pytest.raises(CloudFailed, match=r"invalid option 'colour' for volume plugin kubernetes.io/cinder"):
        options(DiskRequest(name="v", size=GIB, parameters={"colour": "red"}))


def test_a_volume_that_another_machine_has_is_told_with_that_machines_node(double, cloud):
    first, second = double.machine("node-1"), double.machine("node-2")
    disk = cloud.disks.create(DiskRequest(name="pvc-1", size=GIB + 1, zone="az 1"))

    device = cloud.disks.attach(disk.id, first)

    assert device == f"/dev/disk/by-id/virtio-{disk.id[:20]}"
    assert (disk.size, disk.labels["topology.kubernetes.io/zone"]) == (2 * GIB, "az-1")
    with pytest.raises(DiskAttachedElsewhere) as raised:
        cloud.disks.attach(disk.id, second)
    assert raised.value.node == "node-1"


def test_a_list_without_an_end_is_no_list(double):
    apis = Apis(double, lambda _service: "https://nova.example", FakeClock())
    links = [{"rel": "next", "href": "https://nova.example/servers?marker=again"}]

    page = answer(200, {"servers": [{"id": "a"}], "servers_links": links})
    with double.answering(page), pytest.raises(CloudUnavailable, match="names an earlier one as the next"):
        apis.listed(NOVA, "servers", "servers")

    assert len(double.sent) == 2
