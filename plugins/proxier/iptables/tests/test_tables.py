"""What is written when: everything at first, then only what changed."""

import pytest
from hyperkube_proxier.iptables import IptablesProxier
from hyperkube_proxier.iptables.metrics import RuleMetrics
from hyperkube_proxier.iptables.programs import RestoreFailed, parse
from hyperkube_proxier.iptables.settings import IptablesSettings

from hyperkube.hookspecs.proxier import Endpoint, ProxyNode, ProxyState, ServicePort, ServicePortName
from hyperkube.machinery.errors import UsageError


class Kernel:
    """A family's tables as far as the tests look: chains by table, with their rules; takes what `iptables-restore` takes."""

    def __init__(self):
        self.tables = {
            "mangle": {},
            "nat": {"PREROUTING": [], "OUTPUT": [], "POSTROUTING": []},
            "filter": {"INPUT": [], "OUTPUT": [], "FORWARD": []},
        }
        self.written = []
        self.saves = 0
        self.refuses = False

    def save(self):
        self.saves += 1
        return "\n".join(
            line
            for table, chains in self.tables.items()
            for line in (
                f"*{table}",
                *(f":{chain} - [0:0]" for chain in chains),
                *(f"-A {chain} {rule}" for chain, rules in chains.items() for rule in rules),
                "COMMIT",
            )
        )

    def restore(self, text):
        if self.refuses:
            raise RestoreFailed("no")
        self.written.append(text)
        table = {}
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            chain, _, rule = rest.partition(" ")
            if word.startswith("*"):
                table = self.tables[word[1:]]
            elif word.startswith(":"):
                table[word[1:]] = []
            elif word == "-A":
                table[chain].append(rule)
            elif word == "-I":
                table[chain].insert(0, rule)
            elif word == "-D":
                table[chain].remove(rule)
            elif word == "-X":
                assert not table.pop(chain)
                assert not [each for rules in table.values() for each in rules if each.endswith(f"-j {chain}")]

    def has_chain(self, table, chain):
        return chain in self.tables[table]


@pytest.fixture
def kernel():
    return Kernel()


@pytest.fixture
def sysctls():
    return {}


@pytest.fixture
def built(kernel, sysctls):
    def built(**settings):
        return IptablesProxier(
            IptablesSettings(cluster_cidr=("10.244.0.0/16",), **settings), {"IPv4": kernel}, RuleMetrics(lambda _name: 0),
            has_counter=lambda _name: False, ensure=lambda name, value: sysctls.update({name: value}) or True,
        )  # fmt: skip

    return built


def port(name="web", *ips, **fields):
    endpoints = tuple(Endpoint(ip, 8080) for ip in ips)
    given = {"protocol": "TCP", "cluster_ip": f"10.96.0.{len(name)}", "port": 80, "endpoints": endpoints, **fields}
    return ServicePort(name=ServicePortName("d", name, ""), **given)


def state(*ports, changed=None):
    services = {each.name: each for each in ports}
    names = None if changed is None else frozenset(ServicePortName("d", name, "") for name in changed)
    return ProxyState("IPv4", services, names, ProxyNode("here", ips=("192.0.2.7",)))


def chains(kernel, prefix):
    return {chain for chain in kernel.tables["nat"] if chain.startswith(prefix)}


def test_the_first_sync_makes_everything_and_a_second_proxy_takes_over(kernel, built, sysctls):
    built().sync(state(port("web", "10.244.1.1"), port("other", "10.244.1.2")))
    before = {table: dict(rules) for table, rules in kernel.tables.items()}
    built().sync(state(port("web", "10.244.1.1"), port("other", "10.244.1.2")))

    assert kernel.tables == before
    assert kernel.tables["filter"]["INPUT"][0] == "-j KUBE-FIREWALL"
    assert len(kernel.tables["filter"]["FORWARD"]) == 4
    assert [rule.rpartition(" ")[2] for rule in kernel.tables["nat"]["PREROUTING"]] == ["KUBE-SERVICES"]
    assert "NOTE: this must be the last rule" in kernel.tables["nat"]["KUBE-SERVICES"][-1]
    assert sysctls == {"net/ipv4/conf/all/route_localnet": 1}


def test_what_an_earlier_proxy_left_goes(kernel, built):
    built().sync(state(port("web", "10.244.1.1"), port("gone", "10.244.1.2")))

    built().sync(state(port("web", "10.244.1.1")))

    assert len(chains(kernel, "KUBE-SVC-")) == len(chains(kernel, "KUBE-SEP-")) == 1


def test_an_endpoints_change_writes_the_chains_of_its_service_only(kernel, built):
    proxier = built()
    other = port("other", "10.244.1.2")
    proxier.sync(state(port("web", "10.244.1.1"), other))

    proxier.sync(state(port("web", "10.244.1.3"), other, changed=["web"]))

    text = kernel.written[-1]
    assert "*filter" not in text
    assert "KUBE-SERVICES" not in text
    assert "d/other" not in text
    assert len(chains(kernel, "KUBE-SEP-")) == 2
    assert kernel.saves == 1


def test_services_come_and_go_by_parts(kernel, built):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))

    proxier.sync(state(port("web", "10.244.1.1"), port("other", "10.244.1.2"), changed=["other"]))
    both = dict(kernel.tables["nat"])
    proxier.sync(state(port("other", "10.244.1.2"), changed=["web"]))

    assert len([rule for rule in both["KUBE-SERVICES"] if "cluster IP" in rule]) == 2
    assert [rule.split('"')[1] for rule in kernel.tables["nat"]["KUBE-SERVICES"]][:-1] == ["d/other cluster IP"]
    assert len(chains(kernel, "KUBE-SVC-")) == 1
    assert kernel.saves == 1


def test_losing_the_last_endpoint_moves_a_service_to_the_other_table(kernel, built):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))

    proxier.sync(state(port("web"), changed=["web"]))

    assert "has no endpoints" in kernel.tables["filter"]["KUBE-SERVICES"][0]
    assert chains(kernel, "KUBE-SVC-") == set()


def test_after_a_failure_everything_is_written(kernel, built):
    proxier = built()
    proxier.sync(state(port("web", "10.244.1.1")))
    before = {table: dict(rules) for table, rules in kernel.tables.items()}
    kernel.refuses = True
    with pytest.raises(RestoreFailed):
        proxier.sync(state(port("web", "10.244.1.3"), changed=["web"]))
    assert kernel.tables == before
    kernel.refuses = False

    proxier.sync(state(port("web", "10.244.1.3"), changed=["web"]))

    assert kernel.saves == 2
    assert any("10.244.1.3" in rule for rules in kernel.tables["nat"].values() for rule in rules)


def test_a_missing_canary_tells_that_the_rules_are_gone(kernel, built):
    proxier = built()
    assert not proxier.rules_lost()
    proxier.sync(state())

    assert not proxier.rules_lost()
    del kernel.tables["mangle"]["KUBE-PROXY-CANARY"]
    assert proxier.rules_lost()


def test_cleanup_leaves_what_is_the_kubelets(kernel, built):
    built().sync(state(port("web", "10.244.1.1", node_port=30080), port("empty")))

    built().cleanup()

    assert {chain for rules in kernel.tables.values() for chain in rules if chain.startswith("KUBE-")} == {
        "KUBE-FIREWALL"
    }
    assert kernel.tables["filter"]["INPUT"] == ["-j KUBE-FIREWALL"]


def test_node_ports_are_where_the_flags_say(kernel, built, sysctls, monkeypatch):
    own = ["127.0.0.1", "192.0.2.7", "10.244.1.1"]
    monkeypatch.setattr("hyperkube_lib.proxy_rules.node_port_addresses.interface_addresses", lambda _family: own)
    built(nodeport_addresses=("primary",)).sync(state())

    (rule,) = kernel.tables["nat"]["KUBE-SERVICES"]
    assert " -d 192.0.2.7 " in rule
    assert kernel.tables["filter"]["KUBE-FIREWALL"] == []
    assert sysctls == {}

    built(localhost_node_ports=False).sync(state())
    (rule,) = kernel.tables["nat"]["KUBE-SERVICES"]
    assert "! -d 127.0.0.0/8" in rule


def test_large_clusters_leave_comments_out(kernel, built):
    many = [f"10.244.{number // 250}.{number % 250}" for number in range(1001)]

    built().sync(state(port("web", *many)))

    assert not any("comment" in rule for chain in chains(kernel, "KUBE-SEP-") for rule in kernel.tables["nat"][chain])


def test_the_masquerade_bit_is_within_a_mark():
    assert IptablesSettings(masquerade_bit=7).mark == 0x80
    with pytest.raises(UsageError, match="iptables-masquerade-bit=32"):
        IptablesSettings(masquerade_bit=32).check()


def test_only_the_chains_asked_for_are_read():
    saved = parse("*nat\n:A - [0:0]\n:B - [0:0]\n-A A -j B\n-A B -j C\nCOMMIT\n", frozenset({"A"}))

    assert saved.chains == {"nat": {"A", "B"}}
    assert saved.rules == {("nat", "A -j B")}


def test_many_services_are_written_in_parts_with_the_shared_chains_last(kernel, built, monkeypatch):
    monkeypatch.setattr("hyperkube_proxier.iptables.tables.SERVICES_PER_BATCH", 2)
    names = ["a" * length for length in range(1, 6)]

    built().sync(state(*(port(name, f"10.244.1.{len(name)}") for name in names)))

    parts = kernel.written[0].split("COMMIT\n")
    assert [part.count("\n-A KUBE-SVC-") > 0 for part in parts] == [False, True, True, False, True, False]
    assert ["KUBE-SERVICES" in part for part in parts] == [False, False, False, True, True, False]
    assert len(chains(kernel, "KUBE-SEP-")) == 5
