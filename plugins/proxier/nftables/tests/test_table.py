"""What is written when: everything at first, then only what changed."""

import re

import pytest
from hyperkube_proxier.nftables import NftablesProxier
from hyperkube_proxier.nftables.metrics import TableMetrics
from hyperkube_proxier.nftables.programs import TransactionFailed
from hyperkube_proxier.nftables.settings import NftablesSettings
from hyperkube_proxier.nftables.table import TIDY_SECONDS

from hyperkube.hookspecs.proxier import Endpoint, ProxyNode, ProxyState, ServicePort, ServicePortName
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

LINE = re.compile(r"(\w+) (table|chain|rule|set|map|element) ip kube-proxy ?(\S*) ?(.*)")


class Kernel:
    """A family's table as far as the tests look; takes what `nft -f` takes, and is as strict about what is used."""

    def __init__(self):
        self.rules, self.containers, self.elements, self.written = {}, {}, {}, []
        self.refuses = 0

    def run(self, text):
        if self.refuses:
            self.refuses -= 1
            raise TransactionFailed("no")
        self.written.append(text)
        for line in text.splitlines():
            verb, kind, name, rest = LINE.fullmatch(line).groups()
            getattr(self, f"_{verb}_{kind}")(name, rest)

    def _add_table(self, _name, _rest):
        pass

    def _delete_table(self, _name, _rest):
        self.rules, self.containers, self.elements = {}, {}, {}

    def _add_chain(self, name, _rest):
        self.rules.setdefault(name, [])

    def _flush_chain(self, name, _rest):
        assert name in self.rules
        self.rules[name] = []

    def _delete_chain(self, name, _rest):
        assert self.rules.pop(name) == []
        assert not self._users(f"(jump|goto) {re.escape(name)}( |,|$)")

    def _add_rule(self, name, rule):
        for used in re.findall(r"(?:goto|jump) ([^ ,]+)", rule):
            assert used in self.rules
        for used in re.findall(r"@(\S+)", rule):
            assert used in self.containers
        self.rules[name].append(rule)

    def _add_set(self, name, definition):
        self.containers.setdefault(name, definition)
        self.elements.setdefault(name, {})

    _add_map = _add_set

    def _flush_set(self, name, _rest):
        self.elements[name] = {}

    _flush_map = _flush_set

    def _delete_set(self, name, _rest):
        assert not self._users(f"@{re.escape(name)}( |$)")
        del self.containers[name], self.elements[name]

    def _add_element(self, name, rest):
        for text in rest[2:-2].split(", "):
            key, _, value = text.partition(" : ")
            key = key.partition(" comment ")[0]
            assert key not in self.elements[name]
            self.elements[name][key] = value

    def _delete_element(self, name, rest):
        for key in rest[2:-2].split(", "):
            del self.elements[name][key]

    def _users(self, pattern):
        texts = [rule for rules in self.rules.values() for rule in rules]
        texts += [value for elements in self.elements.values() for value in elements.values()]
        return [text for text in texts if re.search(pattern, text)]

    def chains(self):
        return set(self.rules)

    def sets(self):
        timeouts = {name: re.search(r"timeout (\d+)s", definition) for name, definition in self.containers.items()}
        return {name: int(found[1]) if found else 0 for name, found in timeouts.items()}

    def is_there(self):
        return "services" in self.rules

    def content(self):
        return {name: rules for name, rules in self.rules.items() if rules}, self.containers, self.elements


@pytest.fixture
def kernel():
    return Kernel()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def built(kernel, clock, monkeypatch):
    own = ["127.0.0.1", "192.0.2.7", "10.244.1.1"]
    monkeypatch.setattr("hyperkube_lib.proxy_rules.node_port_addresses.interface_addresses", lambda _family: own)

    def built(**settings):
        given = NftablesSettings(cluster_cidr=("10.244.0.0/16",), **settings)
        return NftablesProxier(given, {"IPv4": kernel}, TableMetrics(), clock)

    return built


def port(name="web", *ips, **fields):
    endpoints = tuple(Endpoint(ip, 8080, local=ip.startswith("10.244.1.")) for ip in ips)
    given = {"protocol": "TCP", "cluster_ip": f"10.96.0.{len(name)}", "port": 80, "endpoints": endpoints, **fields}
    return ServicePort(name=ServicePortName("d", name, ""), **given)


def state(*ports, changed=None, service_cidrs=("10.96.0.0/16", "fd00:10:96::/112")):
    services = {each.name: each for each in ports}
    names = None if changed is None else frozenset(ServicePortName("d", name, "") for name in changed)
    return ProxyState("IPv4", services, names, ProxyNode("here", ips=("192.0.2.7",)), service_cidrs)


def of_service(kernel, name):
    return {chain.partition("-")[0] for chain in kernel.rules if f"-d/{name}/" in chain}


def test_the_first_sync_makes_everything_and_a_second_proxy_takes_over(kernel, built):
    ports = port("web", "10.244.1.1", affinity_seconds=10, node_port=30080), port("other", "10.244.2.2")
    built().sync(state(*ports))
    before = kernel.content()
    built().sync(state(*ports))

    assert kernel.content() == before
    assert kernel.elements["cluster-ips"].keys() == {"10.96.0.3", "10.96.0.5"}
    assert kernel.elements["nodeport-ips"].keys() == {"192.0.2.7"}
    assert kernel.rules["cluster-ips-check"][1].startswith("ip daddr { 10.96.0.0/16 } drop")
    assert len(kernel.written) == 2


def test_a_change_of_endpoints_writes_one_chain(kernel, built):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1"), port("other", "10.244.2.2")))
    proxier.sync(state(port("web", "10.244.1.1", "10.244.1.2"), port("other", "10.244.2.2"), changed=["web"]))

    flush, rule, hairpin = kernel.written[-1].splitlines()
    assert re.fullmatch(r"flush chain ip kube-proxy service-\S+-d/web/tcp/", flush)
    assert rule.endswith("mod 2 map { 0 : 10.244.1.1 . 8080, 1 : 10.244.1.2 . 8080 }")
    assert hairpin == "add element ip kube-proxy hairpin-connections { 10.244.1.2 . 10.244.1.2 . tcp . 8080 }"


def test_a_change_that_means_nothing_here_writes_nothing(kernel, built):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    proxier.sync(state(port("web", "10.244.1.1", health_check_node_port=32000), changed=["web"]))

    assert len(kernel.written) == 1


@pytest.mark.parametrize(
    "after",
    [
        port("web", "10.244.1.1", node_port=30080, external_local=True),
        port("web", "10.244.2.1", node_port=30081, external_local=True),
        port("web", "10.244.1.1", affinity_seconds=10),
        port("web", "10.244.1.1", "10.244.1.2", affinity_seconds=20),
        port("web"),
        port("web", "10.244.2.1", load_balancer_ips=("192.0.2.99",), source_ranges=("192.0.2.0/24",)),
    ],
    ids=["local", "local elsewhere", "affinity", "other affinity", "no endpoints", "firewall"],
)
@pytest.mark.parametrize("seconds", [0, 10], ids=["plain", "affinity"])
def test_changes_come_to_what_a_start_writes(kernel, built, clock, after, seconds):
    other = port("other", "10.244.1.1")
    before = port("web", "10.244.1.1", "10.244.2.2", node_port=30080, affinity_seconds=seconds)
    proxier = built()
    for each in (before, after, before, after):
        proxier.sync(state(each, other, changed=["web"]))
        clock.advance(2)
    found = kernel.content()

    kernel._delete_table("", "")
    built().sync(state(after, other))
    assert found == kernel.content()


def test_chains_are_emptied_at_once_and_deleted_a_second_later(kernel, built, clock):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    proxier.sync(state(changed=["web"]))
    assert of_service(kernel, "web") == {"service"}
    assert kernel.elements["service-ips"] == {}

    clock.advance(1.5)
    proxier.sync(state(port("other", "10.244.1.2"), changed=["other"]))
    assert of_service(kernel, "web") == set()


def test_chains_that_cannot_be_deleted_yet_do_not_stop_a_sync(kernel, built, clock):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    proxier.sync(state(changed=["web"]))
    clock.advance(2)
    kernel.refuses = 1

    proxier.sync(state(port("other", "10.244.1.2"), changed=["other"]))
    assert (of_service(kernel, "web"), of_service(kernel, "other")) == ({"service"}, {"service"})
    clock.advance(31)
    proxier.sync(state(port("other", "10.244.1.2"), changed=[]))
    assert of_service(kernel, "web") == set()


def test_empty_chains_go_without_another_change(kernel, built, clock):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    assert proxier.tidy() is None
    proxier.sync(state(changed=["web"]))

    assert proxier.tidy() == TIDY_SECONDS
    clock.advance(TIDY_SECONDS)
    assert proxier.tidy() is None
    assert of_service(kernel, "web") == set()


def test_chains_that_the_kernel_keeps_are_tried_now_and_then(kernel, built, clock):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    proxier.sync(state(changed=["web"]))
    clock.advance(TIDY_SECONDS)
    kernel.refuses = 1

    assert proxier.tidy() == 30.0
    clock.advance(30.0)
    assert proxier.tidy() is None
    assert of_service(kernel, "web") == set()


def test_nothing_is_deleted_after_a_failure(kernel, built, clock):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    kernel.refuses = 1
    with pytest.raises(TransactionFailed):
        proxier.sync(state(changed=["web"]))
    clock.advance(2)

    assert proxier.tidy() is None
    assert of_service(kernel, "web") != set()


def test_a_chain_that_comes_back_is_not_deleted(kernel, built, clock):
    proxier = built()
    for ports in ([port("web", "10.244.1.1")], [], [port("web", "10.244.1.1")]):
        proxier.sync(state(*ports, changed=["web"]))
    clock.advance(2)
    proxier.sync(state(port("web", "10.244.1.1"), changed=[]))

    assert of_service(kernel, "web") == {"service"}
    assert len(kernel.elements["service-ips"]) == 1


def test_an_address_of_two_ports_stays_until_both_are_gone(kernel, built):
    one, two = (
        port("web", "10.244.1.1", cluster_ip="10.96.0.9"),
        port("sql", "10.244.1.1", cluster_ip="10.96.0.9", port=81),
    )
    proxier = built()
    proxier.sync(state(one, two))

    proxier.sync(state(two, changed=["web"]))
    assert kernel.elements["cluster-ips"].keys() == {"10.96.0.9"}
    assert len(kernel.elements["hairpin-connections"]) == 1
    proxier.sync(state(changed=["sql"]))
    assert (kernel.elements["cluster-ips"], kernel.elements["hairpin-connections"]) == ({}, {})


def test_after_a_failure_everything_is_written(kernel, built):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    kernel.refuses = 1
    with pytest.raises(TransactionFailed):
        proxier.sync(state(port("web", "10.244.1.2"), changed=["web"]))

    proxier.sync(state(port("web", "10.244.1.2"), changed=[]))
    assert kernel.elements["hairpin-connections"].keys() == {"10.244.1.2 . 10.244.1.2 . tcp . 8080"}
    assert "add table" in kernel.written[-1]


def test_a_table_that_cannot_be_mended_is_made_afresh(kernel, built):
    built().sync(state(port("web", "10.244.1.1")))
    kernel.refuses = 1

    built().sync(state(port("other", "10.244.1.1")))
    assert "delete table" in kernel.written[-1]
    assert (of_service(kernel, "web"), of_service(kernel, "other")) == (set(), {"service"})


def test_what_another_version_left_goes(kernel, built):
    kernel.rules = {"mark-for-masquerade": ["mark set 1"], "endpoints-check": ["jump mark-for-masquerade"]}
    kernel.containers = {"old-ips": "type ipv4_addr"}
    kernel.elements = {"old-ips": {}}

    built().sync(state())
    assert not kernel.rules.keys() & {"mark-for-masquerade", "endpoints-check"}
    assert "old-ips" not in kernel.containers


def test_a_table_that_is_gone_is_noticed_and_cleanup_leaves_nothing(kernel, built):
    proxier = built()
    assert not proxier.rules_lost()
    proxier.sync(state(port("web", "10.244.1.1")))
    assert not proxier.rules_lost()
    kernel._delete_table("", "")
    assert proxier.rules_lost()

    proxier.sync(state(port("web", "10.244.1.1")))
    proxier.cleanup()
    proxier.cleanup()
    assert kernel.content() == ({}, {}, {})
    assert sum("delete table" in text for text in kernel.written) == 1


@pytest.mark.parametrize(
    ("addresses", "ips", "match"),
    [
        (("primary",), {"192.0.2.7"}, "ip daddr @nodeport-ips"),
        (("10.244.0.0/16", "127.0.0.0/8"), {"10.244.1.1"}, "ip daddr @nodeport-ips"),
        (("0.0.0.0/0",), None, "fib daddr type local ip daddr != 127.0.0.0/8"),
    ],
    ids=["primary", "ranges", "all"],
)
def test_node_ports_are_where_the_flags_say(kernel, built, addresses, ips, match):
    built(nodeport_addresses=("10.0.0.0/8",)).sync(state())
    built(nodeport_addresses=addresses).sync(state())

    assert kernel.rules["services"][-1].startswith(match)
    assert (set(kernel.elements["nodeport-ips"]) if "nodeport-ips" in kernel.containers else None) == ips


def test_new_ranges_of_cluster_ips_are_written(kernel, built):
    proxier = built()
    proxier.sync(state(service_cidrs=()))
    assert len(kernel.rules["cluster-ips-check"]) == 1

    proxier.sync(state(changed=[], service_cidrs=("10.97.0.0/16", "10.96.0.0/16")))
    assert "{ 10.96.0.0/16, 10.97.0.0/16 } drop" in kernel.rules["cluster-ips-check"][1]


def test_all_traffic_may_be_masqueraded(kernel, built):
    built(masquerade_all=True, masquerade_bit=7).sync(state())

    assert kernel.rules["services"][0].startswith("ip daddr @cluster-ips mark set mark or 0x00000080")


def test_the_masquerade_bit_is_within_a_mark():
    with pytest.raises(UsageError, match=r"nftables\.masqueradeBit: 32"):
        NftablesSettings(masquerade_bit=32).check()
