"""Machines, and what nodes are told of them."""

from types import SimpleNamespace

import pytest
from hyperkube_cloud.gce.compute import Compute
from hyperkube_cloud.gce.instances import addresses, split_provider_id
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceNotFound


@pytest.mark.parametrize("provider_id", ["aws:///z/i-1", "gce://p/z", "gce://p/z/n/more", "n"])
def test_the_id_of_something_else_is_refused(provider_id):
    with pytest.raises(CloudFailed, match="error splitting providerID"):
        split_provider_id(provider_id)


def test_addresses_come_interface_by_interface_and_the_clusters_family_first():
    machine = {
        "networkInterfaces": [
            {"networkIP": "10.0.0.9", "ipv6Address": "2001:db8::9", "accessConfigs": [{"natIP": "192.0.2.9"}, {}]},
            {"networkIP": "10.0.1.9", "ipv6AccessType": "EXTERNAL", "ipv6AccessConfigs": [{"externalIpv6": "2001:db8::a"}]},
        ]
    }  # fmt: skip

    four = [
        ("InternalIP", "10.0.0.9"), ("ExternalIP", "192.0.2.9"), ("InternalIP", "10.0.1.9"),
        ("InternalIP", "2001:db8::9"), ("InternalIP", "2001:db8::a"),
    ]  # fmt: skip
    assert [(row["type"], row["address"]) for row in addresses(machine, "")] == four
    assert [(row["type"], row["address"]) for row in addresses(machine, "IPV6")] == four[3:] + four[:3]


def test_a_machine_is_found_by_its_name_in_all_zones_and_followed_to_its_end(double, tmp_path):
    from gce_google import ZONES, built, provider

    node = double.machine("node-2", ZONES[1])
    instances = provider(built(double, tmp_path, multizone="true")).instances

    told = instances.metadata({"metadata": {"name": "node-2.c.shop.internal"}})
    double.things[f"zones/{ZONES[1]}/instances/node-2"]["status"] = "TERMINATED"
    off = instances.is_shut_down(node)
    del double.things[f"zones/{ZONES[1]}/instances/node-2"]

    assert (told.provider_id, told.zone, told.region) == (node["spec"]["providerID"], ZONES[1], "us-central1")
    assert told.instance_type == "n2-standard-4"
    assert off
    assert not instances.exists(node)
    with pytest.raises(InstanceNotFound):
        instances.metadata(node)


def test_a_thousand_nodes_are_one_list_of_each_zone(double, cloud):
    nodes = [double.machine(f"node-{number}", f"us-central1-{'ab'[number % 2]}") for number in range(1000)]
    double.page = 500
    from hyperkube_testing.cloud import service

    cloud.load_balancers.ensure("c", service("a"), nodes)
    double.sent.clear()
    cloud.load_balancers.update("c", service("a"), nodes)

    listed = [path for method, path, _ in double.sent if "/instances" in path]
    assert len(listed) == 2
    assert not [method for method, path, _ in double.sent if double.changes(method, path)]


def test_a_balancer_is_not_emptied_because_no_machine_is_found(double, cloud):
    from hyperkube_testing.cloud import service

    nodes = [double.machine()]
    cloud.load_balancers.ensure("c", service("a"), nodes)
    before = double.everything()
    del double.things["zones/us-central1-a/instances/node-1"]

    with pytest.raises(InstanceNotFound):
        cloud.load_balancers.update("c", service("a"), nodes)
    assert double.everything() == before


def test_a_kubelet_learns_its_name_and_zone(cloud):
    assert cloud.instances.current_node_name("node-1") == "node-1"
    assert cloud.instances.current_zone() == ("us-central1-a", "us-central1")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_list_without_an_end_is_no_list(double, method):
    compute = Compute(double, SimpleNamespace(project="p", network_project="p", endpoint="https://gce.example/"))
    asked = {
        "GET": lambda: list(compute.listed("zones/us-central1-a/instances")),
        "POST": lambda: compute.query("global/backendServices/b/getHealth", {}, "items"),
    }

    page = answer(200, {"items": [{"name": "a"}], "nextPageToken": "again"})
    with (
        double.answering(page),
        pytest.raises(CloudUnavailable, match=rf"{method} .* names an earlier one as the next"),
    ):
        asked[method]()

    assert len(double.sent) == 2


def test_the_alias_ranges_of_a_machine_are_its_pods(double, cloud):
    node = double.machine()
    (card,) = double.things["zones/us-central1-a/instances/node-1"]["networkInterfaces"]
    assert cloud.instances.pod_ranges(node) == []

    card["aliasIpRanges"] = [{"ipCidrRange": "10.8.0.0/24", "subnetworkRangeName": "pods"}]

    assert cloud.instances.pod_ranges(node) == ["10.8.0.0/24"]


def test_a_machine_is_given_an_alias_range_once(double, tmp_path):
    from gce_google import built, provider

    instances = provider(built(double, tmp_path, secondary_range_name="pods")).instances
    node = double.machine()

    for _ in range(2):
        instances.add_pod_range(node, "10.8.0.0/24")

    (card,) = double.things["zones/us-central1-a/instances/node-1"]["networkInterfaces"]
    assert card["aliasIpRanges"] == [{"ipCidrRange": "10.8.0.0/24", "subnetworkRangeName": "pods"}]
    assert instances.pod_ranges(node) == ["10.8.0.0/24"]
    assert [method for method, path, _ in double.sent if "updateNetworkInterface" in path] == ["PATCH"]


def test_an_interface_that_has_changed_since_it_was_read_is_given_no_range(double, cloud):
    node = double.machine()
    (card,) = double.things["zones/us-central1-a/instances/node-1"]["networkInterfaces"]
    play = double.play

    def raced(method, path, query, body):
        if method == "PATCH":
            card["fingerprint"] = "another's"
        return play(method, path, query, body)

    double.play = raced
    with pytest.raises(CloudFailed, match="412 conditionNotMet"):
        cloud.instances.add_pod_range(node, "10.8.0.0/24")
    assert cloud.instances.pod_ranges(node) == []


def test_a_machine_without_an_interface_is_given_no_range(double, cloud):
    node = double.machine()
    double.things["zones/us-central1-a/instances/node-1"]["networkInterfaces"] = []

    with pytest.raises(CloudFailed, match="instance 'node-1' has no network interfaces"):
        cloud.instances.add_pod_range(node, "10.8.0.0/24")
