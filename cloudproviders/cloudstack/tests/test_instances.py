"""Machines, and what nodes are told of them."""

from __future__ import annotations

import pytest
from cloudstack_stack import Stack, built, provider
from hyperkube_cloud.cloudstack.instances import offering, sanitized, split_provider_id
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceNotFound


@pytest.mark.parametrize(
    "provider_id",
    ["cloudstack://i-1", "cloudstack:///i-1", "cloudstack://north/i-1", "cloudstack:///zone/i-1", "external-cloudstack:///i-1", "/i-1", "i-1"],
)  # fmt: skip
def test_a_provider_id_names_a_machine_whoever_wrote_it(provider_id):
    assert split_provider_id(provider_id) == "i-1"


@pytest.mark.parametrize("provider_id", ["gce://p/z/n", "cloudstack://", "cloudstack://a/b/c/d"])
def test_the_id_of_something_else_is_refused(provider_id):
    with pytest.raises(CloudFailed, match="didn't match expected format"):
        split_provider_id(provider_id)


def test_names_become_values_of_labels():
    assert (sanitized("zone one/"), sanitized("-a."), sanitized(None)) == ("zone_one", "a", "")
    assert offering("Medium Instance-2") == "MediumInstance2"


def test_a_machine_is_described_and_followed_to_its_end(double, cloud):
    node = double.machine("Node-1", publicip="203.0.113.9")
    double.machine("node-10")
    ident = node["spec"]["providerID"].rpartition("/")[2]
    machine = double.things["virtualmachine", ident]

    by_name = {"metadata": {"name": "node-1.shop.example"}}
    told = cloud.instances.metadata(by_name)
    machine["state"] = "Stopped"
    off = cloud.instances.is_shut_down(node)
    machine["state"] = "Destroyed"

    assert (told.provider_id, told.instance_type) == (f"cloudstack://{ident}", "MediumInstance")
    assert (told.zone, told.region) == ("zone_one", "zone_one")
    assert [(row["type"], row["address"]) for row in told.addresses] == [
        ("InternalIP", "10.0.0.9"), ("Hostname", "Node-1"), ("ExternalIP", "203.0.113.9"),
    ]  # fmt: skip
    assert off
    assert not cloud.instances.exists(node)
    assert not cloud.instances.exists(by_name)
    del double.things["virtualmachine", ident]
    assert not cloud.instances.exists(node)
    with pytest.raises(InstanceNotFound):
        cloud.instances.metadata(node)


def test_the_region_of_the_file_is_that_of_all_nodes(double, tmp_path):
    instances = provider(built(double, tmp_path, "region = north\n")).instances

    assert instances.metadata(double.machine()).region == "north"


def test_two_machines_of_one_name_and_one_without_a_card_are_told(double, cloud):
    double.machine("twin")
    double.machine("twin")
    bare = double.machine("bare", nic=[])

    with pytest.raises(CloudFailed, match="multiple instances found for node 'twin'"):
        cloud.instances.exists({"metadata": {"name": "twin"}})
    with pytest.raises(CloudFailed, match="instance does not have an internal IP"):
        cloud.instances.metadata(bare)


@pytest.mark.parametrize("machine", [{"id": "i-1"}, {"id": "i-1", "name": "n", "state": 5}])
def test_what_is_no_machine_says_nothing_of_a_node(double, cloud, machine):
    node = {"metadata": {"name": "n"}, "spec": {"providerID": "cloudstack://i-1"}}
    row = answer(200, {"listvirtualmachinesresponse": {"count": 1, "virtualmachine": [machine]}})

    with double.answering(row), pytest.raises(CloudUnavailable):
        cloud.instances.exists(node)


def test_five_hundred_nodes_that_are_looked_at_cost_one_call_each(double, cloud):
    nodes = [double.machine(f"node-{number}") for number in range(500)]

    for node in nodes:
        cloud.instances.metadata(node)

    assert len(double.sent) == 500


ROUTER = {
    "availability-zone": b"zone one\n",
    "instance-id": b"11111111-0000-4000-8000-000000000009",
    "local-hostname": b"node-1",
    "local-ipv4": b"10.0.0.9",
    "public-ipv4": b"203.0.113.9",
    "service-offering": b"Medium Instance",
}


def router(**more):
    """Return a virtual router that tells those things."""
    told = {f"http://data-server./latest/meta-data/{name}": body for name, body in {**ROUTER, **more}.items()}
    return lambda request: answer(200, told[request.url])


def test_a_machine_learns_its_zone_from_its_router_and_its_name_is_its_hosts(tmp_path):
    instances = provider(built(Stack(), tmp_path, router=router())).instances

    assert instances.current_zone() == ("zone_one", "zone_one")
    assert instances.current_node_name("node-1") == "node-1"


def test_a_kubelet_without_keys_describes_its_own_machine_and_no_other(double, tmp_path):
    instances = provider(built(double, tmp_path, keys="", router=router())).instances
    node = {"metadata": {"name": "node-1"}}

    told = instances.metadata(node)

    assert (told.provider_id, told.instance_type) == (
        "cloudstack://11111111-0000-4000-8000-000000000009",
        "MediumInstance",
    )
    assert [row["address"] for row in told.addresses] == ["10.0.0.9", "node-1", "203.0.113.9"]
    with pytest.raises(CloudFailed, match=r"\[Global\] has no api-url, api-key and secret-key"):
        instances.exists(node)
    assert double.sent == []


@pytest.mark.parametrize("reply", [answer(404, b"no"), answer(200, b"<html>"), answer(200, b"")])
def test_a_router_that_does_not_tell_is_no_machine_of_this_cloud(tmp_path, reply):
    instances = provider(built(Stack(), tmp_path, router=lambda _request: reply)).instances

    with pytest.raises(CloudUnavailable, match="does not tell this machine's availability-zone"):
        instances.current_zone()
