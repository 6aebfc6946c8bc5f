"""What one service port adds to the table, by its policies and endpoints."""

import pytest
from hyperkube_lib.proxy_rules.local_detector import LocalDetector
from hyperkube_proxier.nftables.names import endpoint_base, service_chains
from hyperkube_proxier.nftables.service_rules import Context, service_rules

from hyperkube.hookspecs.proxier import Endpoint, ProxyNode, ServicePort, ServicePortName

NODE = ProxyNode("here", "a", ("192.168.77.2", "fd00:77::2"))
CONTEXT = Context(family="IPv4", node=NODE, detector=LocalDetector(cidr="10.244.0.0/16"), mark=1 << 14)
HERE, THERE = Endpoint("10.244.1.10", 8080, local=True), Endpoint("10.244.2.10", 8080)
BASE = "EZFAVNST-g-proxy/web/tcp/http"
BASE_HERE, BASE_THERE = (
    "7AD2CNTW-g-proxy/web/tcp/http__10.244.1.10/8080",
    "PGYH6EGM-g-proxy/web/tcp/http__10.244.2.10/8080",
)
LOCAL_ROUTES = [
    f'ip saddr 10.244.0.0/16 goto service-{BASE} comment "short-circuit pod traffic"',
    'fib saddr type local mark set mark or 0x00004000 comment "masquerade local traffic"',
    f'fib saddr type local goto service-{BASE} comment "short-circuit local traffic"',
]


def port(*endpoints, **fields):
    name = ServicePortName("g-proxy", "web", "http")
    given = {"protocol": "TCP", "cluster_ip": "10.96.10.1", "port": 80, "endpoints": endpoints, **fields}
    return ServicePort(name=name, **given)


def elements(rules, container):
    return [str(each) for each in rules.elements if each.container == container]


def test_names_are_upstreams_hashes():
    assert service_chains(port()) == tuple(f"{kind}-{BASE}" for kind in ("service", "local", "external", "firewall"))
    assert endpoint_base(port(), HERE) == BASE_HERE
    assert endpoint_base(port(), THERE) == BASE_THERE
    assert endpoint_base(port(), Endpoint("fd00::1", 80)).endswith("-g-proxy/web/tcp/http__fd00..1/80")


def test_a_long_name_is_cut_and_its_hash_tells_it_from_others():
    long = ServicePort(
        name=ServicePortName("n" * 63, "s" * 63, "p" * 63), protocol="SCTP", cluster_ip="fd00::1", port=1
    )  # fmt: skip
    address = "fd00:1111:2222:3333:4444:5555:6666:7777"
    one, other = (endpoint_base(long, Endpoint(address, number)) for number in (65534, 65535))

    assert len(one) == len(other) == 240
    assert one.endswith("...")
    assert one[:8] != other[:8]


def test_a_cluster_ip_leads_to_each_endpoint_by_chance():
    rules = service_rules(port(HERE, THERE), CONTEXT)

    assert dict(rules.chains) == {
        f"service-{BASE}": (
            ("meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.1.10 . 8080, 1 : 10.244.2.10 . 8080 }"),
        )
    }
    assert elements(rules, "service-ips") == [f"10.96.10.1 . tcp . 80 : goto service-{BASE}"]
    assert elements(rules, "cluster-ips") == ["10.96.10.1"]
    assert elements(rules, "hairpin-connections") == ["10.244.1.10 . 10.244.1.10 . tcp . 8080"]


def test_clients_keep_their_endpoint_by_sets():
    rules = service_rules(port(HERE, THERE, affinity_seconds=10800), CONTEXT)

    assert rules.affinity_sets == (f"affinity-{BASE_HERE}", f"affinity-{BASE_THERE}")
    assert rules.affinity_seconds == 10800
    assert rules.chains[f"service-{BASE}"] == (
        f"ip saddr @affinity-{BASE_HERE} goto endpoint-{BASE_HERE}",
        f"ip saddr @affinity-{BASE_THERE} goto endpoint-{BASE_THERE}",
        f"numgen random mod 2 vmap {{ 0 : goto endpoint-{BASE_HERE}, 1 : goto endpoint-{BASE_THERE} }}",
    )
    assert rules.chains[f"endpoint-{BASE_HERE}"] == (
        f"update @affinity-{BASE_HERE} {{ ip saddr }}",
        "meta l4proto tcp dnat to 10.244.1.10:8080",
    )


@pytest.mark.parametrize(
    ("endpoints", "local", "external", "refused"),
    [
        ((HERE, THERE), False, ['mark set mark or 0x00004000 comment "masquerade"', f"goto service-{BASE}"], []),
        ((HERE, THERE), True, [*LOCAL_ROUTES, f"goto local-{BASE}"], []),
        ((THERE,), True, LOCAL_ROUTES, ['tcp . 30080 comment "g-proxy/web:http" : drop']),
        ((), True, None, ['tcp . 30080 comment "g-proxy/web:http" : goto reject-chain']),
    ],
    ids=["cluster", "local", "local without endpoints here", "without endpoints"],
)
def test_external_traffic_follows_its_policy(endpoints, local, external, refused):
    rules = service_rules(port(*endpoints, node_port=30080, external_local=local), CONTEXT)

    found = rules.chains.get(f"external-{BASE}")
    assert (found and list(found)) == external
    assert elements(rules, "no-endpoint-nodeports") == refused
    assert elements(rules, "service-nodeports") == ([f"tcp . 30080 : goto external-{BASE}"] if endpoints else [])


def test_a_cluster_ip_of_policy_local_drops_without_endpoints_here():
    rules = service_rules(port(THERE, internal_local=True), CONTEXT)

    assert elements(rules, "no-endpoint-services") == ['10.96.10.1 . tcp . 80 comment "g-proxy/web:http" : drop']
    assert elements(rules, "service-ips") == []


@pytest.mark.parametrize(
    ("ranges", "sources"),
    [
        (("203.0.113.0/24",), "203.0.113.0/24"),
        (("203.0.113.0/24", "192.168.77.0/24"), "203.0.113.0/24, 192.168.77.0/24, 198.51.100.20"),
    ],
    ids=["others", "the node's own"],
)
def test_source_ranges_are_a_firewall_before_the_load_balancers_address(ranges, sources):
    rules = service_rules(port(HERE, load_balancer_ips=("198.51.100.20",), source_ranges=ranges), CONTEXT)

    assert rules.chains[f"firewall-{BASE}"] == (f"ip saddr != {{ {sources} }} drop",)
    assert elements(rules, "firewall-ips") == [f"198.51.100.20 . tcp . 80 : goto firewall-{BASE}"]
    assert f"198.51.100.20 . tcp . 80 : goto external-{BASE}" in elements(rules, "service-ips")
