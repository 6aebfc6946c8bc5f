"""What belongs to a pool: addresses that it lists, interfaces that name it, and the machines that flexible sets make next."""

import pytest
from azure_microsoft import built, provider
from hyperkube_testing.rest_cloud import shape

from hyperkube.hookspecs.cloud import InstanceNotFound

NETWORK = "/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Network"


def changes(double):
    return [
        (method, path.partition("?")[0].split("/")[-2])
        for method, path, _ in double.sent
        if double.changes(method, path)
    ]


def addressed(node, *addresses):
    rows = [{"type": "InternalIP", "address": each} for each in addresses]
    return {**node, "status": {"addresses": [{"type": "Hostname", "address": "h"}, *rows]}}


@pytest.fixture
def by_address(double, tmp_path):
    return provider(built(double, tmp_path, loadBalancerBackendPoolConfigurationType="nodeIP")).load_balancers


@pytest.fixture
def nodes(double):
    return [addressed(double.machine("node-1"), "fd00::4", "10.240.0.4"), addressed(double.instance(), "10.240.0.5")]


def test_a_pool_lists_the_nodes_addresses_and_no_machine_is_asked_for(double, by_address, nodes):
    by_address.ensure("c", shape("web"), nodes)

    assert double.listed_in() == {"10.240.0.4": "node-1", "10.240.0.5": "pool000000"}
    (pool,) = double.things[f"{NETWORK}/loadBalancers/c".lower()]["properties"]["backendAddressPools"]
    assert pool["properties"]["virtualNetwork"] == {"id": f"{NETWORK}/virtualNetworks/net"}
    assert not any("Microsoft.Compute/virtualMachine" in path for _, path, _ in double.sent)
    double.sent.clear()
    by_address.ensure("c", shape("web"), nodes)
    assert changes(double) == []


def test_a_pool_of_addresses_follows_the_nodes(double, by_address, nodes):
    by_address.ensure("c", shape("web"), nodes)
    master = addressed(double.machine("master"), "10.240.0.9")
    master["metadata"]["labels"] = {"node-role.kubernetes.io/control-plane": ""}
    double.sent.clear()

    by_address.update("c", shape("web"), [nodes[1], master, double.machine("new")])

    assert double.listed_in() == {"10.240.0.5": "pool000000"}
    assert changes(double) == [("PUT", "backendAddressPools")]
    with pytest.raises(InstanceNotFound):
        by_address.update("c", shape("web"), [double.machine("new")])
    assert double.listed_in() == {"10.240.0.5": "pool000000"}


def test_a_cluster_is_moved_from_interfaces_to_addresses_and_back(double, cloud, by_address, nodes):
    before = double.everything()
    cloud.load_balancers.ensure("c", shape("web"), nodes)
    of_interfaces = double.everything()

    by_address.ensure("c", shape("web"), nodes)
    assert [ident for ident, pools in double._members() if pools] == []
    assert sorted(double.listed_in()) == ["10.240.0.4", "10.240.0.5"]
    cloud.load_balancers.ensure("c", shape("web"), nodes)
    assert double.listed_in() == {}
    assert [ident.split("/")[-3] for ident, pools in double._members() if pools] == ["node-1-nic", "nic"]
    assert of_interfaces[0].keys() == double.everything()[0].keys()
    cloud.load_balancers.ensure_deleted("c", shape("web"))
    assert double.everything() == before


def pools_of_model(double, scale_set="flex"):
    held = double.things[
        f"/subscriptions/sub/resourcegroups/shop/providers/microsoft.compute/virtualmachinescalesets/{scale_set}"
    ]
    (card,) = held["properties"]["virtualMachineProfile"]["networkProfile"]["networkInterfaceConfigurations"]
    (row,) = card["properties"]["ipConfigurations"]
    return [each["id"].rpartition("/")[2] for each in row["properties"].get("loadBalancerBackendAddressPools", [])]


def test_machines_of_a_flexible_set_and_those_that_it_makes_next_belong_to_the_pool(double, cloud):
    flexible, alone = double.flexible(), double.machine("node-1")
    before = double.everything()
    cloud.load_balancers.ensure("c", shape("web"), [flexible, alone])

    assert sorted(ident.split("/")[-3] for ident, pools in double._members() if pools) == [
        "flex-0_ab12-nic",
        "node-1-nic",
    ]
    assert pools_of_model(double) == ["c"]
    double.sent.clear()
    cloud.load_balancers.ensure("c", shape("web"), [flexible, alone])
    assert changes(double) == []
    cloud.load_balancers.update("c", shape("web"), [alone])
    assert pools_of_model(double) == []
    cloud.load_balancers.ensure_deleted("c", shape("web"))
    assert double.everything() == before


def test_a_flexible_set_of_which_no_machine_serves_is_left_alone(double, cloud):
    double.flexible()
    cloud.load_balancers.ensure("c", shape("web"), [double.machine("node-1")])

    assert pools_of_model(double) == []
