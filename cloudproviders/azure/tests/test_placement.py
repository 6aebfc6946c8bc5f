"""Which of several balancers Services and nodes belong to: decisions only."""

import pytest
from hyperkube_cloud.azure.balancer_configs import BalancerConfig
from hyperkube_cloud.azure.load_balancers.placement import eligible, most_eligible, node_places
from hyperkube_testing.rest_cloud import shape

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.labels import selector_from_map

SHOP, BANK = {"team": "shop"}, {"team": "bank"}


def config(name, **more):
    made = {key: selector_from_map(value) if isinstance(value, dict) else value for key, value in more.items()}
    return BalancerConfig(**{"name": name, "primary_vm_set": f"set-{name}", **made})


def service(labels=None, annotation=""):
    words = {"service.beta.kubernetes.io/azure-load-balancer-configurations": annotation} if annotation else {}
    made = shape("web", annotations=words)
    made["metadata"]["labels"] = labels or {}
    return made


def node(name, **labels):
    return {"metadata": {"name": name, "labels": labels}}


@pytest.mark.parametrize(
    ("wanted", "configs", "using", "names"),
    [
        (service(), [config("a"), config("b")], (), ["a", "b"]),
        (service(annotation="B, c"), [config("a"), config("b")], (), ["b"]),
        (service(), [config("a", allow_service_placement=False), config("b")], (), ["b"]),
        (service(), [config("a", allow_service_placement=False), config("b")], ("a",), ["a", "b"]),
        (service(SHOP), [config("a"), config("b", services=SHOP)], (), ["b"]),
        (service(BANK), [config("a"), config("b", services=SHOP)], (), ["a"]),
        (service(), [config("a"), config("b", namespaces=SHOP)], (), ["b"]),
        (service(), [config("a"), config("b", namespaces=BANK)], (), ["a"]),
        (service(BANK), [config("a"), config("b", services=SHOP, namespaces=SHOP)], (), ["a"]),
    ],
    ids=[
        "all", "named", "closed", "closed but used", "by label", "not by label", "by namespace", "not by namespace", "both"
    ],
)  # fmt: skip
def test_a_service_may_have(wanted, configs, using, names):
    assert eligible(wanted, SHOP, configs, using) == names


def test_why_a_service_may_have_none_is_told_of_each():
    configs = [
        config("a", allow_service_placement=False),
        config("b", services=SHOP),
        config("c", namespaces=BANK),
        config("d", services=SHOP),
    ]
    with pytest.raises(CloudFailed) as raised:
        eligible(service(), SHOP, configs, ())

    assert str(raised.value) == (
        'service "default/web" selects 4 load balancers (a, b, c, d), but 1 of them (a) have AllowServicePlacement set to'
        " false and the service is not using any of them, 2 of them (b, d) do not match the service label selector, and"
        " 1 of them (c) do not match the service namespace selector"
    )


def test_names_that_the_file_does_not_have_are_a_mistake():
    with pytest.raises(
        CloudFailed, match='service "web" selects 2 load balancers by annotation, but none of them is def'
    ):
        eligible(service(annotation="x,y"), SHOP, [config("a")], ())


@pytest.mark.parametrize(
    ("names", "using", "rules", "name"),
    [
        (["a", "b"], ["b"], {"a": 0, "b": 9}, "b"),
        (["a", "b"], ["c"], {"a": 0}, "b"),
        (["a", "b"], [], {"a": 3, "b": 2, "c": 0}, "b"),
        (["a", "b"], [], {"a": 2, "b": 2}, "a"),
    ],
    ids=["where it is", "not there yet", "fewest rules", "the first of equals"],
)
def test_a_service_gets(names, using, rules, name):
    assert most_eligible(names, using, rules) == name


def places(nodes, configs, held):
    found = node_places(nodes, configs, held)
    return {name: [each["metadata"]["name"] for each in rows] for name, rows in found.items()}


def test_a_node_belongs_to_the_balancer_of_its_set_before_all():
    configs = [config("a", nodes=SHOP), config("b")]
    assert places([(node("n", **SHOP), "SET-B")], configs, {"a": {"n"}, "b": ()}) == {"a": [], "b": ["n"]}


def test_a_balancer_that_is_not_there_has_no_nodes():
    configs = [config("a"), config("b")]
    assert places([(node("n"), "set-b")], configs, {"a": ()}) == {"a": ["n"]}


def test_a_node_belongs_to_a_balancer_whose_selector_fits_else_to_one_without():
    configs = [config("a", nodes=SHOP), config("b")]
    nodes = [(node("shop", **SHOP), ""), (node("bank", **BANK), "")]
    assert places(nodes, configs, {"a": (), "b": ()}) == {"a": ["shop"], "b": ["bank"]}


def test_a_node_stays_where_it_may_be_and_new_ones_go_where_the_fewest_are():
    configs = [config("a"), config("b")]
    nodes = [(node(name), "") for name in ("new-1", "old-1", "old-2", "new-2", "new-3")]
    found = places(nodes, configs, {"a": {"old-1", "old-2"}, "b": ()})
    assert found == {"a": ["old-1", "old-2", "new-3"], "b": ["new-1", "new-2"]}


def test_a_node_that_fits_none_belongs_to_none():
    assert places([(node("n"), "")], [config("a", nodes=SHOP)], {"a": ()}) == {"a": []}
