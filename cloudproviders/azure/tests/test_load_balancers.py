"""Balancers that exist already, that Services share, and that change their kind."""

import pytest
from hyperkube_testing.cloud_faults import Fault
from hyperkube_testing.rest_cloud import shape

from hyperkube.hookspecs.cloud import CloudFailed, InstanceNotFound

INTERNAL = {"service.beta.kubernetes.io/azure-load-balancer-internal": "true"}
NETWORK = "/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Network"


def changes(double):
    return [(method, path) for method, path, _ in double.sent if double.changes(method, path)]


def rules(double, kind="loadBalancers", name="c"):
    (held,) = [each for each in double.things.values() if each["id"].endswith(f"/{kind}/{name}")]
    return sorted(
        row["name"] for row in held["properties"][{"loadBalancers": "loadBalancingRules"}.get(kind, "securityRules")]
    )


@pytest.mark.parametrize("annotations", [{}, INTERNAL], ids=["external", "internal"])
def test_nothing_is_asked_to_change_where_all_is_as_it_should_be(double, cloud, annotations):
    nodes = [double.machine(), double.instance()]
    wanted = shape("web", annotations=annotations)
    status = cloud.load_balancers.ensure("c", wanted, nodes)
    double.sent.clear()

    assert cloud.load_balancers.ensure("c", wanted, nodes) == status
    assert changes(double) == []


def test_services_share_one_balancer_and_the_last_takes_it_along(double, cloud):
    nodes = [double.machine()]
    before = double.everything()
    for name in ("one", "two"):
        cloud.load_balancers.ensure("c", shape(name), nodes)

    assert double.made("loadBalancers") == ["c"]
    assert rules(double) == ["auidone-TCP-80", "auidtwo-TCP-80"]
    cloud.load_balancers.ensure_deleted("c", shape("one"))
    assert rules(double) == ["auidtwo-TCP-80"]
    assert rules(double, "networkSecurityGroups", "nodes") == ["auidtwo-TCP-80-Internet"]
    cloud.load_balancers.ensure_deleted("c", shape("two"))
    assert double.everything() == before


@pytest.mark.parametrize("first", [{}, INTERNAL], ids=["external", "internal"])
def test_a_balancer_that_changes_its_kind_leaves_nothing_of_the_other(double, cloud, first):
    nodes = [double.machine()]
    second = {} if first else INTERNAL
    cloud.load_balancers.ensure("c", shape("web", annotations=second), nodes)
    alone = double.everything()
    cloud.load_balancers.ensure_deleted("c", shape("web", annotations=second))
    cloud.load_balancers.ensure("c", shape("web", annotations=first), nodes)

    cloud.load_balancers.ensure("c", shape("web", annotations=second), nodes)

    assert double.everything() == alone


def test_the_pool_follows_the_nodes_of_both_kinds(double, cloud):
    alone, other, of_set = double.machine("node-1"), double.machine("node-2"), double.instance()
    cloud.load_balancers.ensure("c", shape("web"), [alone, other, of_set])

    def members():
        return sorted(
            ident.split("/")[-5 if "scalesets" in ident.lower() else -3] for ident, pools in double._members() if pools
        )

    assert members() == ["0", "node-1-nic", "node-2-nic"]
    cloud.load_balancers.update("c", shape("web"), [other])
    assert members() == ["node-2-nic"]
    cloud.load_balancers.update("c", shape("web"), [of_set])
    assert members() == ["0"]


def test_the_control_plane_takes_no_traffic_of_a_standard_balancer(double, cloud):
    master = double.machine("master")
    master["metadata"]["labels"] = {"node-role.kubernetes.io/control-plane": ""}

    cloud.load_balancers.ensure("c", shape("web"), [master, double.machine("node-1")])

    assert [ident.split("/")[-3] for ident, pools in double._members() if pools] == ["node-1-nic"]


def test_a_thousand_nodes_are_one_list_of_interfaces(double, cloud):
    nodes = [double.machine(f"node-{number}") for number in range(50)]
    nodes += [double.instance(number, f"pool{number:06}") for number in range(950)]
    double.page = 500
    cloud.load_balancers.ensure("c", shape("web"), nodes)
    double.sent.clear()

    cloud.load_balancers.update("c", shape("web"), nodes)

    assert changes(double) == []
    assert len(double.sent) <= 4


def test_a_balancer_is_not_emptied_because_no_machine_is_found(double, cloud):
    node = double.machine()
    cloud.load_balancers.ensure("c", shape("web"), [node])
    before = double.everything()
    unnamed = {"metadata": {"name": "gone"}, "spec": {}}

    with pytest.raises(InstanceNotFound):
        cloud.load_balancers.update("c", shape("web"), [unnamed])
    assert double.everything() == before


def test_an_address_of_the_users_is_used_and_never_released(double, cloud):
    double.put(f"{NETWORK}/publicIPAddresses/mine", {"location": "x", "properties": {"ipAddress": "20.0.0.99"}})
    before, nodes = double.everything(), [double.machine()]
    before = double.everything()
    wanted = shape("web", loadBalancerIP="20.0.0.99")

    assert cloud.load_balancers.ensure("c", wanted, nodes) == {"ingress": [{"ip": "20.0.0.99"}]}
    cloud.load_balancers.ensure_deleted("c", wanted)

    assert double.everything() == before


def test_two_services_share_an_address_but_no_port(double, cloud):
    nodes = [double.machine()]
    status = cloud.load_balancers.ensure("c", shape("one"), nodes)
    address = status["ingress"][0]["ip"]

    with pytest.raises(
        CloudFailed, match="port 80 is being referenced by an existing loadBalancing rule auidone-TCP-80"
    ):
        cloud.load_balancers.ensure("c", shape("two", loadBalancerIP=address), nodes)
    second = shape("two", (443, "TCP"), loadBalancerIP=address)
    assert cloud.load_balancers.ensure("c", second, nodes) == status
    cloud.load_balancers.ensure_deleted("c", shape("one"))

    assert cloud.load_balancers.get("c", second) == status
    cloud.load_balancers.ensure_deleted("c", second)
    assert double.made("loadBalancers") == double.made("publicIPAddresses") == []


def test_rules_are_shared_and_each_service_takes_its_own_address_out(double, cloud):
    nodes = [double.machine()]
    words = {"service.beta.kubernetes.io/azure-shared-securityrule": "true"}
    shapes = [shape(name, annotations=words) for name in ("one", "two")]
    for each in shapes:
        cloud.load_balancers.ensure("c", each, nodes)

    assert rules(double, "networkSecurityGroups", "nodes") == ["shared-TCP-80-Internet"]
    cloud.load_balancers.ensure_deleted("c", shapes[0])
    (rule,) = double.things[f"{NETWORK}/networkSecurityGroups/nodes".lower()]["properties"]["securityRules"]
    assert len(rule["properties"]["destinationAddressPrefixes"]) == 1
    cloud.load_balancers.ensure_deleted("c", shapes[1])
    assert rules(double, "networkSecurityGroups", "nodes") == []


def test_what_others_made_in_the_balancer_stays(double, cloud):
    nodes = [double.machine()]
    cloud.load_balancers.ensure("c", shape("web"), nodes)
    held = double.things[f"{NETWORK}/loadBalancers/c".lower()]["properties"]
    held["frontendIPConfigurations"].append({"name": "egress", "id": f"{NETWORK}/loadBalancers/c/frontendIPConfigurations/egress",
                                             "properties": {"publicIPAddress": {"id": f"{NETWORK}/publicIPAddresses/c-auidweb"}}})  # fmt: skip
    held["outboundRules"] = [
        {"name": "out", "properties": {"frontendIPConfigurations": [held["frontendIPConfigurations"][1]]}}
    ]

    with pytest.raises(CloudFailed, match="PublicIPAddressCannotBeDeleted"):
        cloud.load_balancers.ensure_deleted("c", shape("web"))

    assert [row["name"] for row in held["frontendIPConfigurations"]] == ["auidweb", "egress"]
    assert double.made("loadBalancers") == ["c"]
    assert rules(double) == []


def test_a_change_by_another_in_between_is_refused_and_nothing_of_it_is_lost(double, cloud):
    nodes = [double.machine()]
    cloud.load_balancers.ensure("c", shape("one"), nodes)
    play, ident = double.play, f"{NETWORK}/loadBalancers/c".lower()

    def raced(method, path, query, body):
        if method == "PUT" and path.lower() == ident:
            double.things[ident]["etag"] = "another's"
        return play(method, path, query, body)

    double.play = raced
    with pytest.raises(CloudFailed, match="412 PreconditionFailed"):
        cloud.load_balancers.ensure("c", shape("two"), nodes)
    double.play = play
    cloud.load_balancers.ensure("c", shape("two"), nodes)

    assert rules(double) == ["auidone-TCP-80", "auidtwo-TCP-80"]


def test_a_change_that_failed_in_the_end_is_told_and_made_again(double, cloud):
    nodes = [double.machine()]
    play = double.play

    def failing(method, path, query, body):
        status, content = play(method, path, query, body)
        if method == "PUT" and "/loadBalancers/" in path:
            content["properties"]["provisioningState"] = "Failed"
        return status, content

    double.play = failing
    with pytest.raises(CloudFailed, match="ended as Failed"):
        cloud.load_balancers.ensure("c", shape("one"), nodes)
    double.play = play

    assert cloud.load_balancers.ensure("c", shape("one"), nodes)["ingress"]


def test_a_route_that_is_half_written_is_finished(double, cloud):
    from hyperkube.hookspecs.cloud import Route

    double.machine("node-1")
    route = Route("r", "node-1", "10.1.0.0/24")
    with double.faulty(Fault.LOSE, 1), pytest.raises(CloudFailed):
        cloud.routes.create("c", route)

    cloud.routes.create("c", route)

    assert [(each.name, each.target, each.destination) for each in cloud.routes.list("c")] == [
        ("node-1", "node-1", "10.1.0.0/24")
    ]
