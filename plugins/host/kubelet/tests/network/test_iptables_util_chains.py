"""The chains that the kubelet keeps in iptables: made once, made again when they were flushed."""

import logging

import pytest
from hyperkube_host.kubelet.network import iptables_util_chains
from hyperkube_host.kubelet.network.iptables_util_chains import PERIOD_SECONDS, IptablesUtilChains


class Tables:
    """iptables in memory: table and chain → rules; notes what was run."""

    def __init__(self):
        self.chains = {("filter", "INPUT"): [], ("filter", "OUTPUT"): []}
        self.lines, self.broken = [], False

    def run(self, line):
        program, _, _, action, chain, *rest = line
        self.lines.append((program, action, chain))
        if self.broken:
            return False
        position = rest.index("-t")
        key, rule = (rest[position + 1], chain), tuple(rest[position + 2 :])
        rules = self.chains.get(key)
        if action == "-N":
            self.chains[key] = []
        elif action == "-S":
            return rules is not None
        elif action == "-C":
            return rules is not None and rule in rules
        else:
            rules.insert(0 if action == "-I" else len(rules), rule)
        return True


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    monkeypatch.setattr(iptables_util_chains, "which", lambda program: f"/usr/sbin/{program}")


@pytest.fixture
def tables():
    return Tables()


def test_hint_firewall_and_canaries_are_made(tables):
    assert IptablesUtilChains(["iptables"], tables.run).sync() == PERIOD_SECONDS

    made = {f"{table} {chain}" for table, chain in tables.chains}
    assert made == {
        "filter INPUT", "filter OUTPUT", "filter KUBE-FIREWALL", "mangle KUBE-IPTABLES-HINT",
        "filter KUBE-KUBELET-CANARY", "mangle KUBE-KUBELET-CANARY", "nat KUBE-KUBELET-CANARY",
    }  # fmt: skip
    assert tables.chains["filter", "INPUT"] == tables.chains["filter", "OUTPUT"] == [("-j", "KUBE-FIREWALL")]
    (rule,) = tables.chains["filter", "KUBE-FIREWALL"]
    assert " ".join(rule) == (
        "-m comment --comment block incoming localnet connections --dst 127.0.0.0/8 ! --src 127.0.0.0/8 "
        "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP"
    )


def test_ipv6_needs_no_firewall(tables):
    IptablesUtilChains(["ip6tables"], tables.run).sync()

    assert ("mangle", "KUBE-IPTABLES-HINT") in tables.chains
    assert ("filter", "KUBE-FIREWALL") not in tables.chains


def test_a_later_look_costs_three_questions_and_changes_nothing(tables):
    chains = IptablesUtilChains(["iptables"], tables.run)
    chains.sync()
    before = {key: list(rules) for key, rules in tables.chains.items()}
    tables.lines.clear()

    chains.sync()

    assert tables.lines == [("iptables", "-S", "KUBE-KUBELET-CANARY")] * 3
    assert tables.chains == before


def test_what_was_flushed_is_made_again(tables):
    chains = IptablesUtilChains(["iptables"], tables.run)
    chains.sync()
    tables.chains = {("filter", "INPUT"): [], ("filter", "OUTPUT"): []}

    chains.sync()

    assert tables.chains["filter", "INPUT"] == [("-j", "KUBE-FIREWALL")]


def test_a_failure_is_told_once_and_tried_again(tables, caplog):
    chains = IptablesUtilChains(["iptables"], tables.run)
    tables.broken = True
    with caplog.at_level(logging.INFO, "hyperkube.kubelet"):
        for _ in range(3):
            chains.sync()
        tables.broken = False
        chains.sync()

    assert [record.getMessage() for record in caplog.records] == [
        "Failed to initialize iptables rules (IPv4); some functionality may be missing.",
        "Initialized iptables rules (IPv4).",
    ]


def test_a_node_without_iptables_is_left_alone(monkeypatch, tables, caplog):
    monkeypatch.setattr(iptables_util_chains, "which", lambda _program: None)

    with caplog.at_level(logging.INFO, "hyperkube.kubelet"):
        IptablesUtilChains(run=tables.run).sync()

    assert tables.lines == []
    assert "No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain" in caplog.text
