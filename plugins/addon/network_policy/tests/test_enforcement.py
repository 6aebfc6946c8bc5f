"""Sixty policies, each cell of source, target, port and IP family tried out on the kernel's rules."""

import itertools
import os
import shutil
import socket

import pytest
from hyperkube_addon.network_policy.resolution import Cluster, isolations, pod_of
from hyperkube_addon.network_policy.ruleset import ruleset
from hyperkube_addon.network_policy.table import NAME, difference, removal, whole
from network_world import CELLS, SECONDS, World, address, in_block

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces"),
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in ("ip", "nft", "sysctl")), reason="needs ip, nft and sysctl"
    ),
]

LABELS = {"a": {"team": "a", "tier": "front"}, "b": {"team": "b"}}
PODS = {
    "a-web": ("a", {"app": "web"}, 80),
    "a-api": ("a", {"app": "api"}, 81),
    "b-web": ("b", {"app": "web"}, 81),
    "b-db": ("b", {"app": "db"}, 80),
}
EVERYTHING = {"cidr": "0.0.0.0/0", "except": ["10.9.2.0/24", "10.9.3.0/24"]}
PEERS = {
    "nobody": None,
    "anyone": [],
    "own-namespace": [{"podSelector": {}}],
    "label": [{"podSelector": {"matchLabels": {"app": "api"}}}],
    "namespace": [{"namespaceSelector": {"matchLabels": {"team": "b"}}}],
    "both": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "web"}}}],
    "expression": [{"namespaceSelector": {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}}],
    "range": [{"ipBlock": EVERYTHING}],
    "range-6": [{"ipBlock": {"cidr": "fd09::/16", "except": ["fd09:1::/64"]}}, {"ipBlock": {"cidr": "10.9.5.2/32"}}],
    "mixed": [{"podSelector": {"matchLabels": {"app": "no-such"}}}, {"ipBlock": {"cidr": "10.9.4.0/24"}}],
}
PORTS = {
    "all": None,
    "number": [{"port": 80}, {"port": 80, "protocol": "UDP"}],
    "name-and-range": [{"port": "http"}, {"port": 70, "endPort": 80, "protocol": "UDP"}],
}
DIRECTIONS = {"ingress": ("Ingress", "from"), "egress": ("Egress", "to")}
MATRICES = [*itertools.product(DIRECTIONS, PEERS, PORTS)]


def _pods():
    for name, (namespace, labels, port) in PODS.items():
        yield {
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"containers": [{"ports": [{"name": "http", "containerPort": port}]}]},
            "status": {"podIPs": [{"ip": address(name, version)} for version in (4, 6)]},
        }


CLUSTER = Cluster(LABELS, [pod_of(pod) for pod in _pods()])


def policy(direction, peers, ports, namespace="a"):
    section, (kind, side) = direction, DIRECTIONS[direction]
    spec = {"podSelector": {}, "policyTypes": [kind]}
    if peers is not None:
        spec[section] = [{**({side: peers} if peers else {}), **({"ports": ports} if ports else {})}]
    return {"metadata": {"name": f"{direction}-{namespace}", "namespace": namespace}, "spec": spec}


def _has(labels, selector):
    """Tell what a selector says, only as far as this file's policies go."""
    absent = [row["key"] for row in selector.get("matchExpressions", ())]
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and not any(
        key in labels for key in absent
    )


def _means(peer, name, version, home):
    if "ipBlock" in peer:
        return in_block(address(name, version), peer["ipBlock"])
    if name not in PODS:
        return False
    namespace, labels, _ = PODS[name]
    of_namespace = (
        _has(LABELS[namespace], peer["namespaceSelector"]) if "namespaceSelector" in peer else namespace == home
    )
    return of_namespace and _has(labels, peer.get("podSelector", {}))


def _covers(port, cell):
    if port.get("protocol", "TCP").lower() != cell.protocol:
        return False
    if port["port"] == "http":
        return cell.target in PODS and PODS[cell.target][2] == cell.port
    return port["port"] <= cell.port <= port.get("endPort", port["port"])


def is_allowed(policies, cell):
    """Tell whether a cell may be reached, by the letter of the API: policy by policy, rule by rule."""
    for section, (kind, side) in DIRECTIONS.items():
        isolated, peer = (cell.target, cell.source) if section == "ingress" else (cell.source, cell.target)
        if isolated not in PODS:
            continue
        home = PODS[isolated][0]
        own = [one for one in policies if one["metadata"]["namespace"] == home and kind in one["spec"]["policyTypes"]]
        rules = [row for one in own for row in one["spec"].get(section, ())]
        if own and not any(
            (not row.get(side) or any(_means(one, peer, cell.version, home) for one in row[side]))
            and (not row.get("ports") or any(_covers(port, cell) for port in row["ports"]))
            for row in rules
        ):
            return False
    return True


@pytest.fixture(scope="module")
def world():
    with World() as made:
        made.table = None
        yield made


def put(world, policies):
    """Change the rules as the addon does: what differs from the test before."""
    wanted = ruleset(isolations(CLUSTER, policies))
    world.apply(whole(wanted) if world.table is None else difference(world.table, wanted))
    world.table = wanted


def judge(world, policies, cells=CELLS):
    put(world, policies)
    expected = {cell for cell in cells if is_allowed(policies, cell)}
    reached = world.reached(cells, expected)
    assert reached == expected


def test_without_policies_everyone_is_reached(world):
    judge(world, [])


@pytest.mark.parametrize(
    ("direction", "peers", "ports"), MATRICES, ids=["-".join(row) for row in MATRICES]
)  # fmt: skip
def test_a_matrix_of_one_policy(world, direction, peers, ports):
    judge(world, [policy(direction, PEERS[peers], PORTS[ports])])


def test_policies_of_both_sides_must_allow(world):
    judge(
        world,
        [
            policy("egress", PEERS["both"], PORTS["number"]),
            policy("ingress", PEERS["label"], None),
            policy("ingress", PEERS["range"], PORTS["number"], "b"),
            policy("egress", None, None, "b"),
        ],
    )


DENY = [policy("ingress", None, None), policy("ingress", None, None, "b")]


def test_connections_go_on_when_policies_change_and_no_gap_opens(world):
    put(world, [])
    server = world.within("b-db", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    with server:
        server.bind(("0.0.0.0", 7000))
        server.settimeout(SECONDS)
        known, stranger = world.within(
            "a-web", lambda: [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        )
        with known, stranger:
            for one in (known, stranger):
                one.settimeout(SECONDS)
                one.connect((address("b-db", 4), 7000))
            known.send(b"first")
            server.sendto(b"answer", server.recvfrom(64)[1])
            assert known.recv(64) == b"answer"
            put(world, DENY)

            for number in range(20):
                more = [*DENY, policy("ingress", PEERS["namespace"], PORTS["number"])][: 2 + number % 2]
                stranger.send(b"stranger")
                put(world, more)
                stranger.send(b"stranger")
            known.send(b"last")

            assert server.recvfrom(64)[0] == b"last"


def test_a_transaction_that_fails_leaves_the_old_rules(world):
    put(world, DENY)

    with pytest.raises(AssertionError, match="Error"):
        world.apply(difference(world.table, ruleset([])) + "add rule inet no-such-table chain drop\n")

    cells = [cell for cell in CELLS if cell.source == "outside"]
    assert world.reached(cells, set()) == set()


def test_changes_come_to_the_same_as_a_table_written_anew(world):
    def listed():
        return world.shown("nft", "-s", "list", "table", *NAME.split())

    for direction, peers, ports in MATRICES[::7]:
        put(world, [*DENY, policy(direction, PEERS[peers], PORTS[ports])])
        changed = listed()
        world.apply(whole(world.table))
        assert _sorted(changed) == _sorted(listed())


def _sorted(text):
    """Return the listing's objects, and the elements in each, in a fixed order: nftables has them as they were made."""
    body = "\n".join(text.strip().splitlines()[1:-1])
    return sorted(sorted(part.replace(",", " ").split()) for part in body.split("\n\n"))


def test_removal_leaves_nothing(world):
    world.apply(removal())
    world.table = None

    cells = [cell for cell in CELLS if cell.source == "outside"]
    assert world.reached(cells, cells) == set(cells)
