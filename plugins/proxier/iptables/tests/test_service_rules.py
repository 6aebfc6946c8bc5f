"""The rules of one service port, by its policies and endpoints."""

import pytest
from hyperkube_lib.proxy_rules.local_detector import LocalDetector
from hyperkube_proxier.iptables.chains import endpoint_chain, service_chains
from hyperkube_proxier.iptables.service_rules import Context, service_rules

from hyperkube.hookspecs.proxier import Endpoint, ProxyNode, ServicePort, ServicePortName

NODE = ProxyNode("here", "a", ("192.168.77.2", "fd00:77::2"))
CONTEXT = Context(family="IPv4", node=NODE, detector=LocalDetector(cidr="10.244.0.0/16"))
HERE, THERE = Endpoint("10.244.1.10", 8080, local=True), Endpoint("10.244.2.10", 8080)
HASH = "2E4JDXZFP6DUHQUR"
SVC, SVL, EXT, FW = (f"KUBE-{kind}-{HASH}" for kind in ("SVC", "SVL", "EXT", "FW"))
SEP_HERE, SEP_THERE = "KUBE-SEP-XIYINOMI7WXVXI7L", "KUBE-SEP-EVLWTW52SW7444TC"


def port(*endpoints, **fields):
    name = ServicePortName("g-proxy", "web", "http")
    given = {"protocol": "TCP", "cluster_ip": "10.96.10.1", "port": 80, "endpoints": endpoints, **fields}
    return ServicePort(name=name, **given)


def lines_of(rules, chain):
    return [
        line.removeprefix(f"-A {chain} ") for line in (*rules.filter, *rules.nat, *rules.own) if f"-A {chain} " in line
    ]


def targets(rules, chain):
    """Return where the rules of a chain lead."""
    return [line.rpartition("-j ")[2] for line in lines_of(rules, chain) if "-j " in line]


def test_names_are_upstreams_hashes():
    assert service_chains("g-proxy/web:http", "tcp") == (SVC, SVL, FW, EXT)
    assert endpoint_chain("g-proxy/web:http", "tcp", "10.244.1.10:8080") == SEP_HERE


def test_a_cluster_ip_leads_to_each_endpoint_by_chance():
    rules = service_rules(port(HERE, THERE), CONTEXT)

    match = '-m comment --comment "g-proxy/web:http cluster IP" -m tcp -p tcp -d 10.96.10.1 --dport 80'
    assert rules.filter == ()
    assert rules.nat == (f"-A KUBE-SERVICES {match} -j {SVC}",)
    assert rules.chains == (SVC, SEP_HERE, SEP_THERE)
    assert lines_of(rules, SVC) == [
        f"{match} ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ",
        (
            f'-m comment --comment "g-proxy/web:http -> 10.244.1.10:8080" -m statistic --mode random'
            f" --probability 0.5000000000 -j {SEP_HERE}"
        ),
        f'-m comment --comment "g-proxy/web:http -> 10.244.2.10:8080" -j {SEP_THERE}',
    ]
    assert lines_of(rules, SEP_HERE) == [
        '-m comment --comment "g-proxy/web:http" -s 10.244.1.10 -j KUBE-MARK-MASQ',
        '-m comment --comment "g-proxy/web:http" -m tcp -p tcp -j DNAT --to-destination 10.244.1.10:8080',
    ]


@pytest.mark.parametrize(
    ("endpoints", "fields", "comment", "target"),
    [
        pytest.param((), {}, "has no endpoints", "REJECT", id="none"),
        pytest.param((THERE,), {"internal_local": True}, "has no local endpoints", "DROP", id="none-here"),
    ],
)
def test_a_cluster_ip_without_endpoints_refuses(endpoints, fields, comment, target):
    rules = service_rules(port(*endpoints, **fields), CONTEXT)

    assert rules.nat == ()
    assert rules.filter == (
        (
            f'-A KUBE-SERVICES -m comment --comment "g-proxy/web:http {comment}" -m tcp -p tcp -d 10.96.10.1'
            f" --dport 80 -j {target}"
        ),
    )


@pytest.mark.parametrize(
    ("local", "endpoints", "wanted", "refused"),
    [
        pytest.param(False, (THERE,), ["KUBE-MARK-MASQ", SVC], [], id="cluster"),
        pytest.param(True, (HERE, THERE), [SVC, "KUBE-MARK-MASQ", SVC, SVL], [], id="local"),
        pytest.param(True, (THERE,), [SVC, "KUBE-MARK-MASQ", SVC], ["DROP"] * 3, id="local-none-here"),
        pytest.param(True, (), [], ["REJECT"] * 3, id="none"),
    ],
)
def test_external_traffic_follows_its_policy(local, endpoints, wanted, refused):
    external = {"external_ips": ("198.51.100.7",), "load_balancer_ips": ("198.51.100.20",), "node_port": 30080}

    rules = service_rules(port(*endpoints, external_local=local, **external), CONTEXT)

    assert targets(rules, EXT) == wanted
    assert targets(rules, "KUBE-EXTERNAL-SERVICES") == refused
    captured = [target for chain in ("KUBE-SERVICES", "KUBE-NODEPORTS") for target in targets(rules, chain)]
    assert captured.count(EXT) == (3 if endpoints else 0)


@pytest.mark.parametrize(
    ("ranges", "sources"),
    [
        pytest.param(("203.0.113.0/24",), ["203.0.113.0/24"], id="outside"),
        pytest.param(("192.168.0.0/16",), ["192.168.0.0/16", "198.51.100.20"], id="with-the-node"),
    ],
)
def test_source_ranges_guard_the_load_balancers_address(ranges, sources):
    rules = service_rules(port(HERE, load_balancer_ips=("198.51.100.20",), source_ranges=ranges), CONTEXT)

    *allowed, last = lines_of(rules, FW)
    assert [line.split(" -s ")[1] for line in allowed] == [f"{source} -j {EXT}" for source in sources]
    assert last == '-m comment --comment "other traffic to g-proxy/web:http will be dropped by KUBE-PROXY-FIREWALL"'
    assert targets(rules, "KUBE-PROXY-FIREWALL") == ["DROP"]
    assert targets(rules, "KUBE-SERVICES") == [SVC, FW]


def test_a_client_with_affinity_is_led_to_the_endpoint_it_had():
    rules = service_rules(port(HERE, THERE, affinity_seconds=7200), CONTEXT)

    checks = [line for line in lines_of(rules, SVC) if "--rcheck" in line]
    assert [f"--name {name} --rcheck --seconds 7200 --reap -j {name}" in line
            for name, line in zip((SEP_HERE, SEP_THERE), checks, strict=True)] == [True, True]  # fmt: skip
    assert f"-m recent --name {SEP_HERE} --set" in lines_of(rules, SEP_HERE)[1]


def test_what_the_flags_change():
    everything = service_rules(port(HERE), CONTEXT._replace(masquerade_all=True))
    untold = service_rules(port(HERE), CONTEXT._replace(detector=LocalDetector()))
    large = service_rules(port(HERE), CONTEXT._replace(comments=False))
    counted = service_rules(port(HERE, node_port=30080), CONTEXT._replace(counts_localhost=True))

    assert "10.244.0.0/16" not in lines_of(everything, SVC)[0]
    assert targets(untold, SVC) == [SEP_HERE]
    assert lines_of(large, SEP_HERE)[0] == "-s 10.244.1.10 -j KUBE-MARK-MASQ"
    assert "--nfacct-name localhost_nps_accepted_pkts" in lines_of(counted, "KUBE-NODEPORTS")[0]


def test_health_checks_are_let_in_and_ipv6_is_bracketed():
    six = ServicePort(
        name=ServicePortName("d", "w", ""), protocol="UDP", cluster_ip="fd00::1", port=53,
        endpoints=(Endpoint("fd01::1", 53),), health_check_node_port=32001,
    )  # fmt: skip

    rules = service_rules(six, CONTEXT._replace(family="IPv6"))

    assert rules.filter == (
        '-A KUBE-NODEPORTS -m comment --comment "d/w health check node port" -m tcp -p tcp --dport 32001 -j ACCEPT',
    )
    assert any("-m udp -p udp -j DNAT --to-destination [fd01::1]:53" in line for line in rules.own)
