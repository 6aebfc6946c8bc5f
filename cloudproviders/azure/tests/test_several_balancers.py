"""Several standard balancers: Services and nodes are spread over them, move, and leave nothing."""

from dataclasses import replace

import pytest
from azure_microsoft import built, provider
from hyperkube_testing.rest_cloud import shape

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.kinds.resources import NAMESPACES

PREFIX = "service.beta.kubernetes.io/azure-"
LOCAL = {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
NETWORK = "/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Network"
TWO = ({"name": "c", "primaryVMSet": "pool"}, {"name": "other", "primaryVMSet": "second"})


def configured(double, folder, *told):
    words = {"loadBalancerBackendPoolConfigurationType": "nodeIP"}
    return built(double, folder, **words, multipleStandardLoadBalancerConfigurations=list(told or TWO))


@pytest.fixture
def balancers(double, tmp_path):
    return provider(configured(double, tmp_path)).load_balancers


def addressed(node, address):
    return {**node, "status": {"addresses": [{"type": "InternalIP", "address": address}]}}


@pytest.fixture
def nodes(double):
    return [
        addressed(double.instance(0, "pool000000", "pool"), "10.240.0.10"),
        addressed(double.instance(0, "second000000", "second"), "10.240.0.20"),
        addressed(double.machine("alone-1"), "10.240.0.31"),
        addressed(double.machine("alone-2"), "10.240.0.32"),
    ]


def at(name, word="web", internal=False, **spec):
    words = {PREFIX + "load-balancer-configurations": name} if name else {}
    kind = {PREFIX + "load-balancer-internal": "true"} if internal else {}
    return shape(word, annotations={**words, **kind}, **spec)


def services_of(double, name):
    held = double.things.get(f"{NETWORK}/loadBalancers/{name}".lower())
    return sorted(row["name"].split("-")[0] for row in held["properties"]["loadBalancingRules"]) if held else None


def test_services_are_spread_and_stay_where_they_are(double, balancers, nodes):
    for name in ("one", "two", "three", "four"):
        balancers.ensure("c", at("", name), nodes)
    assert services_of(double, "c") == ["auidone", "auidthree"]
    assert services_of(double, "other") == ["auidfour", "auidtwo"]

    balancers.ensure_deleted("c", at("", "one"))
    status = balancers.ensure("c", at("", "two"), nodes)

    assert services_of(double, "other") == ["auidfour", "auidtwo"]
    assert balancers.get("c", at("", "two")) == status


def test_nothing_is_asked_to_change_where_all_is_as_it_should_be(double, balancers, nodes):
    shapes = [at("", "one"), at("", "two"), at("", "inner", internal=True), at("", "local", **LOCAL)]
    for each in shapes * 2:  # nodes move to balancers that come later
        balancers.ensure("c", each, nodes)
    double.sent.clear()

    for each in shapes:
        balancers.ensure("c", each, nodes)
        balancers.update("c", each, nodes)

    assert [(method, path) for method, path, _ in double.sent if double.changes(method, path)] == []


def test_nodes_are_those_of_the_balancers_set_and_the_others_are_spread(double, balancers, nodes):
    balancers.ensure("c", at("c", "one"), nodes)
    assert sorted(double.listed_in("c")) == ["10.240.0.10", "10.240.0.20", "10.240.0.31", "10.240.0.32"]

    balancers.ensure("c", at("other", "two"), nodes)

    assert sorted(double.listed_in("c")) == ["10.240.0.10", "10.240.0.31", "10.240.0.32"]
    assert sorted(double.listed_in("other")) == ["10.240.0.20"]
    more = [*nodes, addressed(double.machine("alone-3"), "10.240.0.33")]
    balancers.update("c", at("c", "one"), more)
    assert sorted(double.listed_in("other")) == ["10.240.0.20", "10.240.0.33"]
    balancers.update("c", at("c", "one"), more[2:])
    assert sorted(double.listed_in("c")) == ["10.240.0.31", "10.240.0.32"]


def test_availability_sets_and_flexible_sets_are_sets(double, tmp_path):
    told = [{"name": "c", "primaryVMSet": "avset"}, {"name": "other", "primaryVMSet": "flex"}]
    balancers = provider(configured(double, tmp_path, *told)).load_balancers
    both = [
        addressed(double.machine("one", availability_set="avset"), "10.240.0.41"),
        addressed(double.flexible(), "10.240.0.42"),
    ]
    for name in ("c", "other"):
        balancers.ensure("c", at(name, f"of-{name}"), both)

    assert (double.listed_in("c"), double.listed_in("other")) == ({"10.240.0.41": "one"}, {"10.240.0.42": "flex000000"})


@pytest.mark.parametrize("internal", [False, True], ids=["external", "internal"])
def test_a_service_moves_with_its_address_and_leaves_nothing(double, balancers, nodes, internal):
    before = double.everything()
    status = balancers.ensure("c", at("c", internal=internal), nodes)

    assert balancers.ensure("c", at("other", internal=internal), nodes) == status

    suffix = "-internal" if internal else ""
    assert double.made("loadBalancers") == [f"other{suffix}"]
    assert balancers.get("c", at("other", internal=internal)) == status
    balancers.ensure_deleted("c", at("other", internal=internal))
    assert double.everything() == before


def test_a_service_that_changes_its_kind_leaves_the_other(double, balancers, nodes):
    balancers.ensure("c", at("c"), nodes)
    balancers.ensure("c", at("other", internal=True), nodes)

    assert double.made("loadBalancers") == ["other-internal"]
    assert double.made("publicIPAddresses") == []


def test_a_service_at_anothers_address_is_where_that_is(double, balancers, nodes):
    address = balancers.ensure("c", at("other", "one"), nodes)["ingress"][0]["ip"]
    balancers.ensure("c", shape("two", (443, "TCP"), loadBalancerIP=address), nodes)

    assert services_of(double, "other") == ["auidone", "auidtwo"]
    words = {PREFIX + "load-balancer-configurations": "c"}
    moved = shape("two", (443, "TCP"), loadBalancerIP=address, annotations=words)
    with pytest.raises(CloudFailed, match=r"'other' has the address that it asks for, and is not one that it may have"):
        balancers.ensure("c", moved, nodes)


def test_a_local_service_has_a_pool_of_its_own_with_all_nodes(double, balancers, nodes):
    def pools():
        held = double.things[f"{NETWORK}/loadBalancers/c".lower()]["properties"]
        return [each["name"] for each in held["backendAddressPools"]]

    balancers.ensure("c", at("c", "one"), nodes)
    balancers.ensure("c", at("other", "two"), nodes)
    balancers.ensure("c", at("c", "local", **LOCAL), nodes)
    assert len(double.listed_in("c", "default-local")) == 4

    balancers.ensure("c", at("c", "local"), nodes)
    assert pools() == ["c"]
    balancers.ensure("c", at("c", "local", **LOCAL), nodes)
    assert pools() == ["c", "default-local"]
    balancers.ensure_deleted("c", at("c", "local", **LOCAL))
    assert pools() == ["c"]


def test_a_closed_balancer_keeps_its_services_and_gets_no_other(double, balancers, tmp_path, nodes):
    balancers.ensure("c", at("", "one"), nodes)
    told = [{**TWO[0], "allowServicePlacement": False}, TWO[1]]
    closed = provider(configured(double, tmp_path, *told)).load_balancers

    for name in ("one", "two", "three"):
        closed.ensure("c", at("", name), nodes)

    assert (services_of(double, "c"), services_of(double, "other")) == (["auidone"], ["auidthree", "auidtwo"])


def test_namespaces_choose_by_their_labels(double, tmp_path, nodes):
    shop = {"name": "shop", "primaryVMSet": "third", "serviceNamespaceSelector": {"matchLabels": {"team": "shop"}}}
    client = FakeClient()
    client.seed(NAMESPACES, {"metadata": {"name": "default", "labels": {"team": "shop"}}})
    plugin = configured(double, tmp_path, *TWO, shop)
    plugin.context = replace(plugin.context, client=client)

    provider(plugin).load_balancers.ensure("c", at(""), nodes)

    assert double.made("loadBalancers") == ["shop"]


def test_what_others_made_is_no_balancer_of_the_clusters(double, balancers, nodes):
    row = {"name": "f", "properties": {"subnet": {"id": f"{NETWORK}/virtualNetworks/net/subnets/nodes"}}}
    double.put(f"{NETWORK}/loadBalancers/foreign", {"location": "x", "properties": {"frontendIPConfigurations": [row]}})
    before = double.everything()
    balancers.ensure("c", at(""), nodes)
    balancers.ensure_deleted("c", at(""))

    assert double.everything() == before
