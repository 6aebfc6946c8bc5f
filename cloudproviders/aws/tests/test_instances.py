"""Machines, and what nodes are told of them."""

import pytest
from hyperkube_cloud.aws.instances import addresses, instance_id

from hyperkube.hookspecs.cloud import CloudFailed, InstanceNotFound


@pytest.mark.parametrize(
    ("provider_id", "expected"),
    [
        ("aws:///us-east-1a/i-12345678", "i-12345678"),
        ("aws:////i-12345678", "i-12345678"),
        ("i-12345678", "i-12345678"),
        ("", ""),
    ],
)
def test_a_provider_id_names_an_instance(provider_id, expected):
    assert instance_id(provider_id) == expected


@pytest.mark.parametrize("provider_id", ["gce:///us-east-1a/i-12345678", "aws:///us-east-1a/", "aws:///z/vm-1"])
def test_the_id_of_something_else_is_refused(provider_id):
    with pytest.raises(CloudFailed, match="Invalid format for AWS instance"):
        instance_id(provider_id)


def test_addresses_come_interface_by_interface_then_public_ones_and_names():
    second = {
        "Attachment": {"DeviceIndex": 1},
        "Status": "in-use",
        "PrivateIpAddresses": [{"PrivateIpAddress": "10.0.1.9"}],
    }
    first = {
        "Attachment": {"DeviceIndex": 0},
        "Status": "in-use",
        "PrivateIpAddresses": [{"PrivateIpAddress": "10.0.0.9"}],
        "Ipv6Addresses": [{"Ipv6Address": "2001:db8::9"}],
    }
    machine = {
        "NetworkInterfaces": [second, first],
        "PublicIpAddress": "192.0.2.9",
        "PrivateDnsName": "ip-10-0-0-9.ec2.internal",
        "PublicDnsName": "",
    }

    assert [(row["type"], row["address"]) for row in addresses(machine)] == [
        ("InternalIP", "10.0.0.9"),
        ("InternalIP", "2001:db8::9"),
        ("InternalIP", "10.0.1.9"),
        ("ExternalIP", "192.0.2.9"),
        ("InternalDNS", "ip-10-0-0-9.ec2.internal"),
        ("Hostname", "ip-10-0-0-9.ec2.internal"),
    ]


def test_a_machine_is_found_by_its_name_too_and_followed_to_its_end(cloud):
    node = cloud.machine(subnet=1)
    nameless = {**node, "spec": {}}
    ident = node["spec"]["providerID"].rpartition("/")[2]
    instances = cloud.provider().instances

    told = instances.metadata(nameless)
    cloud.ec2.stop_instances(InstanceIds=[ident])
    off = instances.is_shut_down(node)
    cloud.ec2.terminate_instances(InstanceIds=[ident])

    assert (told.provider_id, told.zone, told.region) == (node["spec"]["providerID"], "us-east-1b", "us-east-1")
    assert told.instance_type == "m5.large"
    assert off
    assert not instances.exists(node)
    assert not instances.exists(nameless)
    with pytest.raises(InstanceNotFound):
        instances.metadata(node)
