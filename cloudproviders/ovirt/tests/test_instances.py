"""Machines, what nodes are told of them, and what of an engine's answers is believed."""

from __future__ import annotations

import pytest
from hyperkube_cloud.ovirt.engine import Engine
from hyperkube_cloud.ovirt.instances import OVirtInstances, split_provider_id
from hyperkube_lib.cloud_provider.rest import Refused
from hyperkube_testing.rest_cloud import answer
from ovirt_engine import URI, built, fault, provider

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceNotFound

IDENT = "11111111-0000-4000-8000-000000000009"


@pytest.mark.parametrize("provider_id", [f"ovirt:///{IDENT}", f"ovirt://{IDENT}", f"ovirt://engine/{IDENT}"])
def test_a_provider_id_names_a_machine(provider_id):
    assert split_provider_id(provider_id) == IDENT


@pytest.mark.parametrize(
    "provider_id", ["gce://p/z/n", "ovirt:///", "ovirt:///x or name=*", f"ovirt:///{IDENT} or id=*"]
)
def test_the_id_of_something_else_is_refused_before_it_is_searched_for(provider_id):
    with pytest.raises(CloudFailed, match="is no ovirt:///UUID"):
        split_provider_id(provider_id)


def test_a_machine_is_described_and_followed_to_its_end(double, cloud):
    node = double.machine("node-1.shop.example")
    double.machine("node-10")

    told = cloud.instances.metadata({"metadata": {"name": "node-1.shop.example"}})
    on = cloud.instances.is_shut_down(node)
    double.vms[IDENT] |= {"status": "down", "fqdn": ""}
    off = cloud.instances.is_shut_down(node), cloud.instances.exists(node)
    del double.vms[IDENT]

    assert (told.provider_id, told.zone, told.instance_type) == (f"ovirt:///{IDENT}", "", "")
    assert [(row["type"], row["address"]) for row in told.addresses] == [
        ("InternalIP", "10.0.0.9"), ("ExternalIP", "10.0.0.9"), ("InternalIP", "2001:db8::9"), ("ExternalIP", "2001:db8::9"),
        ("Hostname", "node-1.shop.example"),
    ]  # fmt: skip
    assert not on
    assert off == (True, True)
    assert not cloud.instances.exists(node)
    with pytest.raises(InstanceNotFound):
        cloud.instances.metadata(node)


@pytest.mark.parametrize("status", ["suspended", "paused", "not_responding", "unknown", "powering_down"])
def test_only_what_is_down_is_off(double, cloud, status):
    assert not cloud.instances.is_shut_down(double.machine(status=status))


def test_a_machine_without_a_guest_agent_is_found_by_name_and_its_address_looked_up(double):
    def instances(found):
        def resolve(name):
            assert name == "node-1"
            if not found:
                raise OSError("no such host")
            return found

        return OVirtInstances(Engine(double, URI), "", resolve)

    double.machine("node-1", fqdn="", devices=[])
    node = {"metadata": {"name": "node-1"}}

    assert instances(["127.0.1.1", "10.9.0.1"]).metadata(node).addresses[0]["address"] == "10.9.0.1"
    with pytest.raises(CloudFailed, match="couldn't lookup address: node-1"):
        instances([]).metadata(node)


def test_machines_are_those_of_the_filter_and_one_name_is_one_machine(double, tmp_path):
    double.machine("node-1", tag="shop")
    double.machine("node-1", tag="other")
    node = {"metadata": {"name": "node-1"}}

    assert (
        provider(built(double, tmp_path, "[filters]\nvms = tag=shop\n"))
        .instances.metadata(node)
        .provider_id.endswith("9")
    )
    with pytest.raises(CloudFailed, match="multiple instances found for node 'node-1'"):
        provider(built(double, tmp_path)).instances.exists(node)


def test_a_search_that_is_none_is_told_in_the_engines_words(double, tmp_path):
    instances = provider(built(double, tmp_path, "[filters]\nvms = colour=red\n")).instances

    with pytest.raises(Refused, match=r"GET vms: 400 Operation Failed: \[Invalid search text: colour=red\]"):
        instances.exists({"metadata": {"name": "node-1"}})


def test_a_node_that_has_its_id_costs_one_call(double, cloud):
    nodes = [double.machine(f"node-{number}") for number in range(100)]

    for node in nodes:
        cloud.instances.metadata(node)

    assert len(double.sent) == 100


RUBBISH = {
    "a page": (200, b"<html><body>it works</body></html>"),
    "half a list": (200, b"<vms>"),
    "another list": (200, b"<hosts/>"),
    "a machine without a state": (200, f'<vms><vm id="{IDENT}"><name>n</name></vm></vms>'.encode()),
    "another machine": (200, b'<vms><vm id="x"><name>n</name><status>up</status></vm></vms>'),
    "entities": (200, b'<!DOCTYPE vms [<!ENTITY a "aa">]><vms/>'),
    "depth": (200, b"<vms>" * 200_000),
    "JSON": (200, b"{}"),
    "a proxy's 404": (404, b"<html>not found</html>"),
    "an engine's 404": (404, b""),
    "a list as a failure": (500, b"<vms/>"),
    "a fault as a success": (200, fault("x", "y")),
}


@pytest.mark.parametrize("name", RUBBISH)
def test_rubbish_is_no_word_that_a_machine_is_gone(double, cloud, name):
    node = double.machine()
    assert cloud.instances.exists(node)

    with double.answering(answer(*RUBBISH[name])), pytest.raises(CloudUnavailable):
        cloud.instances.exists(node)
