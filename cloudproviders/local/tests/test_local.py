"""Load balancers without a cloud."""

import pytest
from hyperkube_cloud.local import Local, NoAddress
from hyperkube_cloud.local.addresses import AddressPool
from hyperkube_testing.cloud import CLUSTER, CloudContract, service

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

NODE = {
    "metadata": {"name": "n1"},
    "spec": {},
    "status": {
        "addresses": [
            {"type": "InternalIP", "address": "192.0.2.11"},
            {"type": "InternalIP", "address": "2001:db8::11"},
            {"type": "Hostname", "address": "n1"},
        ]
    },
}


def built(*ranges, services=()):
    client = FakeClient()
    client.seed(SERVICES, *services)
    informers = InformerFactory(client)
    made = Local(PluginContext(name="local", informers=informers, settings={"load_balancer_addresses": ranges}))
    informers.refresh()
    return made


def balancers(*ranges, services=()):
    return built(*ranges, services=services).cloud_provider().load_balancers


def ips(status):
    return [row["ip"] for row in status["ingress"]]


class TestContractOfRanges(CloudContract):
    @pytest.fixture
    def built(self):
        return built("198.51.100.0/28")


class TestContractOfNodes(CloudContract):
    shares_addresses = True

    @pytest.fixture
    def built(self):
        return built()

    def nodes(self):
        return [NODE]


def test_addresses_are_given_in_order_and_given_back():
    made = balancers("198.51.100.1-198.51.100.2")

    first = made.ensure(CLUSTER, service("a"), [])
    second = made.ensure(CLUSTER, service("b"), [])
    with pytest.raises(NoAddress, match=r"no address is free in 198.51.100.1-198.51.100.2"):
        made.ensure(CLUSTER, service("c"), [])
    made.ensure_deleted(CLUSTER, service("a", first))

    assert (ips(first), ips(second)) == (["198.51.100.1"], ["198.51.100.2"])
    assert ips(made.ensure(CLUSTER, service("c"), [])) == ["198.51.100.1"]


def test_what_other_services_have_stays_theirs_after_a_restart():
    other = service("a", {"ingress": [{"ip": "198.51.100.1"}]})

    made = balancers("198.51.100.0/30", services=[other])

    assert ips(made.ensure(CLUSTER, service("b"), [])) == ["198.51.100.2"]
    assert ips(made.ensure(CLUSTER, other, [])) == ["198.51.100.1"]


def test_a_service_may_ask_for_an_address():
    wish = service("a")
    wish["spec"]["loadBalancerIP"] = "198.51.100.9"
    made = balancers("198.51.100.0/28")
    small = balancers("198.51.100.0/30")

    assert ips(made.ensure(CLUSTER, wish, [])) == ["198.51.100.9"]
    with pytest.raises(NoAddress, match="is not in"):
        small.ensure(CLUSTER, wish, [])
    rival = service("b")
    rival["spec"]["loadBalancerIP"] = "198.51.100.9"
    with pytest.raises(NoAddress, match="is taken"):
        made.ensure(CLUSTER, rival, [])


def test_both_families_get_an_address_each():
    both = service("a")
    both["spec"]["ipFamilies"] = ["IPv6", "IPv4"]

    assert ips(balancers("198.51.100.0/28", "2001:db8::/120").ensure(CLUSTER, both, [])) == [
        "2001:db8::1",
        "198.51.100.1",
    ]
    assert ips(balancers("198.51.100.0/28").ensure(CLUSTER, both, [])) == ["198.51.100.1"]
    assert ips(balancers().ensure(CLUSTER, both, [NODE])) == ["192.0.2.11", "2001:db8::11"]


def test_a_port_of_the_nodes_belongs_to_one_service():
    made = balancers()
    made.ensure(CLUSTER, service("a"), [NODE])

    with pytest.raises(NoAddress, match="port 80/TCP of the nodes is taken by Service 'default/a'"):
        made.ensure(CLUSTER, service("b"), [NODE])
    with pytest.raises(NoAddress, match="no node has an address"):
        made.ensure(CLUSTER, service("c", port=81), [])


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("10.0.0.0/30", ["10.0.0.1", "10.0.0.2"], ["10.0.0.0", "10.0.0.3", "::1"]),
        ("10.0.0.4/31", ["10.0.0.4", "10.0.0.5"], ["10.0.0.6"]),
        ("10.0.0.7", ["10.0.0.7"], ["10.0.0.6"]),
        ("10.0.0.7 - 10.0.0.9", ["10.0.0.7", "10.0.0.9"], ["10.0.0.10"]),
        ("fd00::/126", ["fd00::1", "fd00::3"], ["fd00::", "10.0.0.1"]),
    ],
)
def test_a_range(text, inside, outside):
    pool = AddressPool([text])

    assert all(address in pool for address in inside)
    assert not any(address in pool for address in outside)


@pytest.mark.parametrize("text", ["10.0.0.9-10.0.0.1", "10.0.0.1-fd00::1", "somewhere", "10.0.0.1/8", ""])
def test_a_range_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="invalid range"):
        AddressPool([text])
