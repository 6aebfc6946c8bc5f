"""Which pods and ports policies mean."""

import pytest
from hyperkube_addon.network_policy.resolution import (
    Block,
    Cluster,
    Direction,
    Place,
    Port,
    Rule,
    directions,
    isolations,
    pod_of,
)


def pod(name, address, namespace="default", *, labels=None, ports=(), **spec):
    obj = {
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {"app": name}},
        "spec": {"containers": [{"ports": list(ports)}], "nodeName": "here", **spec},
        "status": {"podIPs": [{"ip": address}], "phase": "Running"},
    }
    return pod_of(obj)


HTTP = {"name": "http", "containerPort": 8080}
NAMESPACES = {"default": {"team": "a"}, "shop": {"team": "b"}, "other": {}}
PODS = [
    pod("web", "10.0.0.1", ports=[HTTP]),
    pod("api", "10.0.0.2", ports=[{"name": "http", "containerPort": 9090}]),
    pod("db", "10.0.0.3", "shop"),
    pod("web", "10.0.0.4", "shop", ports=[HTTP, {"name": "dns", "containerPort": 53, "protocol": "UDP"}]),
    pod("probe", "10.0.0.5", "other"),
]
CLUSTER = Cluster(NAMESPACES, PODS)


def policy(name="p", namespace="default", **spec):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"podSelector": {}, **spec}}


def only(*policies):
    (found,) = isolations(CLUSTER, policies)
    return found


def rule(**peers_and_ports):
    """Return the one rule of a policy for `web` with this ingress row."""
    selector = {"matchLabels": {"app": "web"}}
    return only(policy(podSelector=selector, ingress=[peers_and_ports])).rules[0]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, [Direction.INGRESS]),
        ({"egress": [{}]}, [Direction.INGRESS, Direction.EGRESS]),
        ({"egress": []}, [Direction.INGRESS]),
        ({"policyTypes": ["Egress"], "ingress": [{}]}, [Direction.EGRESS]),
        ({"policyTypes": ["Egress", "Ingress"]}, [Direction.INGRESS, Direction.EGRESS]),
    ],
    ids=["default", "egress-rules", "no-egress-rules", "egress-only", "both"],
)
def test_a_policy_isolates_in_directions(spec, expected):
    assert directions(policy(**spec)) == expected


def test_a_policy_without_rules_isolates_all_pods_of_its_namespace():
    found = only(policy())

    assert found.addresses == ("10.0.0.2", "10.0.0.1")
    assert found.rules == ()


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ({"podSelector": {}}, ("10.0.0.1", "10.0.0.2")),
        ({"podSelector": {"matchLabels": {"app": "api"}}}, ("10.0.0.2",)),
        ({"podSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["api"]}]}}, ("10.0.0.1",)),
        ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, ("10.0.0.3", "10.0.0.4")),
        ({"namespaceSelector": {}}, ("10.0.0.1", "10.0.0.2", "10.0.0.5", "10.0.0.3", "10.0.0.4")),
        ({"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "web"}}}, ("10.0.0.1", "10.0.0.4")),
        ({"namespaceSelector": {"matchLabels": {"team": "z"}}}, ()),
    ],
    ids=["own-namespace", "labels", "expressions", "namespace", "every-namespace", "both", "nobody"],
)  # fmt: skip
def test_a_peer_means_pods(peer, expected):
    found = rule(**{"from": [peer]})

    assert sorted(found.addresses) == sorted(expected)
    assert not found.anyone
    assert found.every_port


def test_a_rule_without_peers_allows_anyone():
    assert rule() == Rule(True, (), (), True, (), ())


def test_a_range_and_what_it_leaves_out():
    found = rule(**{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]})

    assert found.blocks == (Block("10.0.0.0/8", ("10.1.0.0/16",)),)


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({"port": 80}, Port("tcp", 80, 80)),
        ({"port": 53, "protocol": "UDP"}, Port("udp", 53, 53)),
        ({"port": 8000, "endPort": 9000}, Port("tcp", 8000, 9000)),
        ({"protocol": "SCTP"}, Port("sctp", 0, 0)),
    ],
    ids=["one", "udp", "range", "all-of-a-protocol"],
)
def test_a_port_by_number(port, expected):
    assert rule(ports=[port]).ports == (expected,)


def test_a_named_port_is_the_isolated_pods_own_for_ingress():
    assert rule(ports=[{"port": "http"}]).places == (Place("10.0.0.1", "tcp", 8080),)
    assert rule(ports=[{"port": "http", "protocol": "UDP"}]).places == ()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"to": [{"podSelector": {}}]}, {("10.0.0.1", 8080), ("10.0.0.2", 9090)}),
        ({}, {("10.0.0.1", 8080), ("10.0.0.2", 9090), ("10.0.0.4", 8080)}),
        ({"to": [{"ipBlock": {"cidr": "10.0.0.4/32"}}]}, {("10.0.0.1", 8080), ("10.0.0.2", 9090), ("10.0.0.4", 8080)}),
    ],
    ids=["pods", "anyone", "range"],
)
def test_a_named_port_is_the_peers_for_egress(row, expected):
    found = only(policy(policyTypes=["Egress"], egress=[{**row, "ports": [{"port": "http"}]}])).rules[0]

    assert {(place.address, place.port) for place in found.places} == expected


def test_pods_of_the_same_policies_are_one_group():
    every, web = policy("every"), policy("web", podSelector={"matchLabels": {"app": "web"}}, ingress=[{}])

    groups = {group.policies: group for group in isolations(CLUSTER, [web, every])}

    assert groups["default/every",].addresses == ("10.0.0.2",)
    assert groups["default/every", "default/web"].addresses == ("10.0.0.1",)
    assert len(groups["default/every", "default/web"].rules) == 1


def test_pods_of_other_nodes_are_peers_only():
    found = isolations(CLUSTER, [policy(ingress=[{"from": [{"podSelector": {}}]}])], lambda one: one.name == "web")

    assert [group.addresses for group in found] == [("10.0.0.1",)]
    assert found[0].rules[0].addresses == ("10.0.0.2", "10.0.0.1")


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"hostNetwork": True}, {"podIP": "10.0.0.9"}),
        ({}, {"podIP": "10.0.0.9", "phase": "Succeeded"}),
        ({}, {}),
        ({}, {"podIPs": [{"ip": "fd00::1%}\nflush ruleset\n#"}]}),
        ({}, {"podIP": "10.0.0.9, 10.0.0.10"}),
    ],
    ids=["of-the-nodes-network", "ended", "without-address", "words-of-nftables", "a-list"],
)
def test_a_pod_without_an_address_of_its_own_does_not_count(spec, status):
    assert pod_of({"metadata": {"name": "x", "namespace": "default"}, "spec": spec, "status": status}) is None
