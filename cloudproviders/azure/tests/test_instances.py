"""Machines, alone or of a scale set, and what nodes are told of them."""

import pytest
from hyperkube_cloud.azure.instances import machine_id, provider_id

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, InstanceNotFound

ALONE = "azure:///subscriptions/s/resourceGroups/Shop/providers/Microsoft.Compute/virtualMachines/node-1"


@pytest.mark.parametrize("wrong", ["gce://p/z/n", "azure:///subscriptions/s/resourceGroups/g/virtualMachines/n", "n"])
def test_the_id_of_something_else_is_refused(wrong):
    with pytest.raises(CloudFailed, match="error splitting providerID"):
        machine_id(wrong)


def test_a_provider_id_has_its_group_in_lower_case():
    assert machine_id(ALONE) == ALONE.removeprefix("azure://")
    assert provider_id(machine_id(ALONE)) == ALONE.replace("Shop", "shop")


def test_a_machine_alone_is_described(double, cloud):
    node = double.machine("node-1")
    outer = double.put("/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Network/publicIPAddresses/node-1", {
        "location": "westeurope", "properties": {"ipAddress": "20.1.1.1"}})  # fmt: skip
    card = double.things[
        "/subscriptions/sub/resourcegroups/shop/providers/microsoft.network/networkinterfaces/node-1-nic"
    ]
    card["properties"]["ipConfigurations"][0]["properties"]["publicIPAddress"] = {"id": outer["id"]}

    by_name = cloud.instances.metadata({"metadata": {"name": "node-1"}})
    by_id = cloud.instances.metadata(node)

    assert by_name == by_id
    assert (by_id.provider_id, by_id.instance_type) == (node["spec"]["providerID"], "Standard_D2s_v5")
    assert (by_id.zone, by_id.region) == ("westeurope-1", "westeurope")
    assert [(row["type"], row["address"]) for row in by_id.addresses] == [
        ("InternalIP", "10.240.0.5"), ("Hostname", "node-1"), ("ExternalIP", "20.1.1.1")
    ]  # fmt: skip


def test_a_machine_of_a_scale_set_is_found_by_its_computers_name(double, cloud):
    for number in range(5):
        node = double.instance(number, f"pool00000{number}")

    told = cloud.instances.metadata({"metadata": {"name": "pool000004"}})

    assert told.provider_id == node["spec"]["providerID"]
    assert (told.instance_type, told.zone) == ("Standard_D4s_v5", "westeurope-2")
    assert told.addresses[0]["address"] == "10.240.0.9"


def test_a_machine_of_a_flexible_set_is_found_by_its_computers_name(double, cloud):
    double.instance()
    for number in range(5):
        node = double.flexible(f"flex-{number}_ab12", f"flex00000{number}", zone="2")

    told = cloud.instances.metadata({"metadata": {"name": "flex000004"}})

    assert told.provider_id == node["spec"]["providerID"]
    assert told.provider_id.endswith("/virtualMachines/flex-4_ab12")
    assert (told.instance_type, told.zone) == ("Standard_D2s_v5", "westeurope-2")
    assert told.addresses[0]["type"] == "InternalIP"
    assert cloud.instances.metadata(node) == told
    assert not cloud.instances.is_shut_down({"metadata": {"name": "flex000004"}})
    assert not cloud.instances.exists({"metadata": {"name": "flex000009"}})


def test_a_list_without_an_end_is_no_word_that_machines_are_gone(double, cloud):
    double.instance()
    play = double.play

    def endless(method, path, query, body):
        status, content = play(method, path, query, body)
        if path.endswith("/virtualMachineScaleSets"):
            content["nextLink"] = f"https://x{path}?api-version=1&$skiptoken=0"
        return status, content

    double.play = endless
    with pytest.raises(CloudUnavailable, match="a page of the list names an earlier one as the next"):
        cloud.instances.exists({"metadata": {"name": "other"}, "spec": {}})


def test_a_machine_without_zones_tells_its_fault_domain(double, cloud):
    assert cloud.instances.metadata(double.machine(zone="")).zone == "1"


def test_a_machine_is_followed_to_its_end(double, cloud):
    node = double.machine()
    machine = double.things[machine_id(node["spec"]["providerID"]).lower()]
    states = []
    for code, provisioning in (("running", "Succeeded"), ("deallocated", "Updating"), ("deallocated", "Succeeded")):
        machine["properties"]["instanceView"]["statuses"] = [{"code": f"PowerState/{code}"}]
        machine["properties"]["provisioningState"] = provisioning
        states.append(cloud.instances.is_shut_down(node))
    del double.things[machine["id"].lower()]

    assert states == [False, False, True]
    assert not cloud.instances.exists(node)
    with pytest.raises(InstanceNotFound):
        cloud.instances.metadata(node)


def test_a_wrong_resource_group_is_no_word_that_machines_are_gone(double, tmp_path):
    from azure_microsoft import built, provider

    instances = provider(built(double, tmp_path, resourceGroup="shpo")).instances

    with pytest.raises(CloudFailed, match="ResourceGroupNotFound"):
        instances.exists({"metadata": {"name": "node-1"}})


def test_a_node_that_azure_does_not_manage_is_left_alone(double, cloud):
    node = {"metadata": {"name": "outside", "labels": {"kubernetes.azure.com/managed": "false"}}}

    assert cloud.instances.exists(node)
    assert not cloud.instances.is_shut_down(node)
    assert cloud.instances.metadata(node).addresses == ()
    assert double.sent == []


def test_a_kubelet_learns_its_name_and_zone(cloud):
    assert cloud.instances.current_node_name("node-1") == "node-1"
    assert cloud.instances.current_zone() == ("westeurope-3", "westeurope")
