"""Rules that exist already, addresses of users, what is opened for whom, and what becomes of all that."""

from __future__ import annotations

import pytest
from cloudstack_stack import AsWatched, built, provider
from hyperkube_cloud.cloudstack.load_balancers.addresses import ID, OURS
from hyperkube_testing.rest_cloud import shape

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import CloudFailed, RetryLater
from hyperkube.kinds.resources import SERVICES

PREFIX = "service.beta.kubernetes.io/cloudstack-load-balancer-"


@pytest.fixture
def client():
    return FakeClient()


@pytest.fixture
def balancers(double, tmp_path, client):
    return AsWatched(provider(built(double, tmp_path, client=client)).load_balancers, client)


def notes(client, name="web"):
    (service,) = (each for each in client.objects(SERVICES) if each["metadata"]["name"] == name)
    annotations = service["metadata"].get("annotations") or {}
    return annotations.get(ID), annotations.get(OURS)


def acquired(double, ident, **more):
    """Acquire an address by hand."""
    double.things["publicipaddress", ident] |= {"state": "Allocated", "associatednetworkid": "n-1", **more}


def in_tree_rule(double, ident="old", **more):
    """Put a rule as the in-tree provider made it, on an address that it acquired."""
    acquired(double, "ip-50")
    double.members[ident] = set()
    return double.put("loadbalancerrule", ident, **{
        "name": "auidweb-80", "algorithm": "roundrobin", "privateport": "30080", "publicport": "80", "protocol": "TCP",
        "networkid": "n-1", "cidrlist": "", "publicip": "203.0.113.50", "publicipid": "ip-50", "state": "Active", **more,
    })  # fmt: skip


def changes(double):
    return [method for method, path, _ in double.sent if double.changes(method, path)]


def test_a_rule_of_the_in_tree_provider_is_adopted_renamed_and_goes_with_its_address(double, balancers, client):
    rule = in_tree_rule(double)

    status = balancers.ensure("shop", shape("web"), [double.machine()])

    assert status == {"ingress": [{"ip": "203.0.113.50"}]}
    assert (rule["name"], rule["protocol"]) == ("auidweb-tcp-80", "tcp")
    assert changes(double) == ["updateLoadBalancerRule", "assignToLoadBalancerRule", "createFirewallRule"]
    assert notes(client) == ("ip-50", "true")
    balancers.ensure_deleted("shop", shape("web"))
    assert double.all("loadbalancerrule") == double.all("firewallrule") == []
    assert double.things["publicipaddress", "ip-50"]["state"] == "Free"
    assert notes(client) == (None, None)


def test_an_address_that_cloudstacks_own_controller_acquired_goes_with_the_service(double, balancers, client):
    in_tree_rule(double, name="auidweb-tcp-80", protocol="tcp")
    wanted = shape("web", loadBalancerIP="203.0.113.50", annotations={OURS: "true"})

    balancers.ensure("shop", wanted, [double.machine()])
    noted = notes(client)
    balancers.ensure_deleted("shop", wanted)

    assert noted == ("ip-50", "true")
    assert double.things["publicipaddress", "ip-50"]["state"] == "Free"


def test_nothing_is_asked_to_change_where_all_is_as_it_should_be(double, balancers):
    nodes = [double.machine()]
    wanted = shape("web", (80, "TCP"), (53, "UDP"), loadBalancerSourceRanges=["192.0.2.0/24"],
                   annotations={f"{PREFIX}source-cidrs": "10.0.0.0/8"})  # fmt: skip
    status = balancers.ensure("shop", wanted, nodes)
    double.sent.clear()

    assert balancers.ensure("shop", wanted, nodes) == status
    assert changes(double) == []


def test_a_balancer_follows_its_service_and_its_nodes(double, balancers):
    first, second = double.machine("node-1"), double.machine("node-2")
    status = balancers.ensure("shop", shape("web", (80, "TCP"), (443, "TCP")), [first])
    (kept,) = (rule["id"] for rule in double.all("loadbalancerrule") if rule["publicport"] == "443")

    changed = shape(
        "web", (443, "TCP"), (8080, "TCP"), sessionAffinity="ClientIP", loadBalancerSourceRanges=["192.0.2.0/24"],
        annotations={f"{PREFIX}proxy-protocol": "true"},
    )  # fmt: skip
    assert balancers.ensure("shop", changed, [first]) == status
    balancers.update("shop", changed, [first, second])

    rules = {rule["publicport"]: rule for rule in double.all("loadbalancerrule")}
    assert sorted(rules) == ["443", "8080"]
    assert rules["443"]["id"] == kept
    assert {(rule["algorithm"], rule["protocol"]) for rule in rules.values()} == {("source", "tcp-proxy")}
    assert {(rule["startport"], rule["cidrlist"]) for rule in double.all("firewallrule")} == {
        (443, "192.0.2.0/24"), (8080, "192.0.2.0/24"),
    }  # fmt: skip
    assert [len(held) for held in double.members.values()] == [2, 2]
    balancers.update("shop", changed, [second])
    assert {len(held) for held in double.members.values()} == {1}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"ports": ((80, "TCP"),)}, {"ports": ((80, "UDP"),)}),
        ({"annotations": {f"{PREFIX}source-cidrs": "10.0.0.0/8"}}, {"annotations": {f"{PREFIX}source-cidrs": "192.0.2.0/24"}}),
    ],
    ids=["protocol", "sources"],
)  # fmt: skip
def test_what_cannot_be_changed_in_a_rule_makes_a_new_one_at_the_same_address(double, balancers, first, then):
    nodes = [double.machine()]

    def service(given):
        return shape("web", *given.get("ports", ()), annotations=given.get("annotations"))

    status = balancers.ensure("shop", service(first), nodes)
    double.sent.clear()

    assert balancers.ensure("shop", service(then), nodes) == status
    assert changes(double)[:3] == ["deleteFirewallRule", "deleteLoadBalancerRule", "createLoadBalancerRule"]
    assert len(double.all("loadbalancerrule")) == len(double.all("firewallrule")) == 1


def test_an_address_of_the_user_is_used_and_stays(double, balancers, client):
    acquired(double, "ip-52")
    wanted = shape("web", loadBalancerIP="203.0.113.52")

    assert balancers.ensure("shop", wanted, [double.machine()]) == {"ingress": [{"ip": "203.0.113.52"}]}
    assert notes(client) == ("ip-52", "false")
    balancers.ensure_deleted("shop", shape("web"))  # whatever the Service asks for at its end

    assert double.things["publicipaddress", "ip-52"]["state"] == "Allocated"
    assert double.all("loadbalancerrule") == []


def test_a_service_that_asks_for_another_address_moves_and_leaves_only_its_users_behind(double, balancers, client):
    acquired(double, "ip-52")
    nodes = [double.machine()]
    (first,) = balancers.ensure("shop", shape("web"), nodes)["ingress"]

    balancers.ensure("shop", shape("web", loadBalancerIP="203.0.113.52"), nodes)
    states = {row["ipaddress"]: row["state"] for row in double.all("publicipaddress")}
    balancers.ensure("shop", shape("web", loadBalancerIP="203.0.113.51"), nodes)

    assert (states[first["ip"]], states["203.0.113.52"]) == ("Free", "Allocated")
    assert double.things["publicipaddress", "ip-52"]["state"] == "Allocated"
    assert [rule["publicip"] for rule in double.all("loadbalancerrule")] == ["203.0.113.51"]
    assert notes(client) == ("ip-51", "true")


def test_an_address_that_others_use_is_not_released(double, balancers):
    nodes = [double.machine()]
    balancers.ensure("shop", shape("web", loadBalancerIP="203.0.113.51"), nodes)
    balancers.ensure("shop", shape("api", (81, "TCP"), loadBalancerIP="203.0.113.51"), nodes)

    balancers.ensure_deleted("shop", shape("web", loadBalancerIP="203.0.113.51"))

    assert double.things["publicipaddress", "ip-51"]["state"] == "Allocated"
    assert [rule["name"] for rule in double.all("loadbalancerrule")] == ["auidapi-tcp-81"]


def test_an_address_that_was_freed_and_is_another_services_now_is_not_released(double, balancers, client):
    acquired(double, "ip-54")
    service, other = shape("web", annotations={ID: "ip-54", OURS: "true"}), shape("api", annotations={ID: "ip-54"})
    client.seed(SERVICES, service, other)

    balancers.ensure_deleted("shop", service)

    assert double.things["publicipaddress", "ip-54"]["state"] == "Allocated"


def test_an_address_that_no_rule_stands_on_yet_is_found_by_its_note_and_goes(double, balancers, client):
    acquired(double, "ip-54")
    client.seed(SERVICES, shape("web", annotations={ID: "ip-54", OURS: "true"}))

    balancers.ensure_deleted("shop", shape("web"))

    assert double.things["publicipaddress", "ip-54"]["state"] == "Free"


def test_where_free_addresses_are_not_shown_the_network_chooses(double, balancers, client):
    listed = double._listed

    def hidden(command, given):
        return {} if given.get("state") == "Free" else listed(command, given)

    double._listed = hidden

    status = balancers.ensure("shop", shape("web"), [double.machine()])

    assert status == {"ingress": [{"ip": "203.0.113.50"}]}
    assert notes(client) == ("ip-50", "true")
    assert [body for method, _, body in double.sent if method == "associateIpAddress"] == [{"networkid": "n-1"}]


def test_an_address_that_another_takes_first_is_left_to_it(double, balancers, client):
    chosen = balancers.ensure("shop", shape("web"), [double.machine()])["ingress"][0]["ip"]
    balancers.ensure_deleted("shop", shape("web"))

    def taken():
        acquired(double, f"ip-{chosen[-2:]}", associatednetworkid="n-7")

    with double.interrupted(1, taken):
        status = balancers.ensure("shop", shape("web"), [double.machine("node-2")])

    assert status["ingress"][0]["ip"] != chosen
    assert notes(client)[1] == "true"


def test_an_address_that_does_not_get_ready_is_asked_for_again(double, balancers):
    acquired(double, "ip-52", state="Releasing")

    with pytest.raises(RetryLater, match=r"public address 203.0.113.52 is Releasing"):
        balancers.ensure("shop", shape("web", loadBalancerIP="203.0.113.52"), [double.machine()])


def test_two_services_on_a_tier_have_an_opening_each_and_leave_those_of_others(double, balancers):
    nodes = [double.machine(network="n-2")]
    double.put(
        "networkacl",
        "mine",
        aclid="acl-1",
        protocol="tcp",
        startport="443",
        endport="443",
        traffictype="Ingress",
        reason="mine",
    )
    balancers.ensure("shop", shape("web"), nodes)
    balancers.ensure("shop", shape("api", (80, "TCP"), (443, "TCP")), nodes)

    reasons = sorted((item["startport"], item["reason"]) for item in double.all("networkacl"))
    balancers.ensure_deleted("shop", shape("web"))
    left = [(item["startport"], item["reason"]) for item in double.all("networkacl")]

    managed = "Managed by the CloudStack Kubernetes Provider for"
    assert reasons == [("443", "mine"), ("80", f"{managed} auidapi"), ("80", f"{managed} auidweb")]
    assert sorted(left) == [("443", "mine"), ("80", f"{managed} auidapi")]


@pytest.mark.parametrize("name", ["default_allow", "default_deny"])
def test_a_list_that_cannot_be_changed_is_left_as_it_is(double, balancers, name):
    double.things["networkacllist", "acl-1"]["name"] = name

    balancers.ensure("shop", shape("web"), [double.machine(network="n-2")])
    balancers.ensure_deleted("shop", shape("web"))

    assert double.all("networkacl") == double.all("loadbalancerrule") == []


def test_nodes_of_two_networks_or_without_machines_are_refused(double, balancers):
    stranger = {"metadata": {"name": "stranger"}, "spec": {}}
    nodes = [double.machine("node-1"), double.machine("node-2", network="n-2")]

    with pytest.raises(CloudFailed, match="found hosts that belong to different networks"):
        balancers.ensure("shop", shape("web"), nodes)
    with pytest.raises(CloudFailed, match="none of the hosts matched the list of VMs"):
        balancers.ensure("shop", shape("web"), [stranger])
    with pytest.raises(CloudFailed, match="there are no available nodes for LoadBalancer service default/web"):
        balancers.ensure("shop", shape("web"), [])
    with pytest.raises(CloudFailed, match="load balancer auidweb not found"):
        balancers.update("shop", shape("web"), nodes)
    assert changes(double) == []
