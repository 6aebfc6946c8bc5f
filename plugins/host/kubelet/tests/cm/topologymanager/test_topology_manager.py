"""Merged hints, by upstream's tables (``pkg/kubelet/cm/topologymanager/policy_test.go``)."""

import pytest
from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaInfo, TopologyHint, discover_numa
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import (
    TopologyManager,
    TopologyOptions,
    merge_by_policy,
)

from hyperkube.machinery.errors import UsageError

TWO = NumaInfo((0, 1), {0: (10, 20), 1: (20, 10)})
FOUR = NumaInfo((0, 1, 2, 3), {0: (10, 11, 12, 12), 1: (11, 10, 12, 12), 2: (12, 12, 10, 11), 3: (12, 12, 11, 10)})


def hint(*nodes, preferred=True):
    return TopologyHint(frozenset(nodes), preferred)


def merged(policy, *providers, numa=TWO, closest=False):
    best, admitted = merge_by_policy(TopologyOptions(policy=policy, prefer_closest=closest), numa, providers)
    return (None if best.nodes is None else sorted(best.nodes)), best.preferred, admitted


NO = {"preferred": False}


@pytest.mark.parametrize(
    ("providers", "nodes", "preferred"),
    [
        pytest.param([], [0, 1], True, id="no-provider"),
        pytest.param([{}], [0, 1], True, id="no-preference"),
        pytest.param([{"r": None}], [0, 1], True, id="no-preference-of-a-resource"),
        pytest.param([{"r": []}], [0, 1], False, id="nothing-fits"),
        pytest.param([{"r": [hint(0)]}, {"s": [hint(0)]}], [0], True, id="the-same"),
        pytest.param([{"r": [hint(0)]}, {"s": [hint(1)]}], [0, 1], False, id="nothing-in-common"),
        pytest.param([{"r": [hint(0), hint(1)]}, {"s": [hint(1)]}], [1], True, id="the-one-in-common"),
        pytest.param([{"r": [hint(0), hint(1)]}, {"s": [hint(0), hint(1)]}], [0], True, id="the-lower-of-two"),
        pytest.param([{"r": [hint(0, 1)]}, {"s": [hint(0)]}], [0], False, id="wider-and-narrower"),
        pytest.param([{"r": [hint(0, **NO)]}, {"s": [hint(0)]}], [0], False, id="one-does-not-prefer"),
        pytest.param([{"r": [hint(1)], "s": [hint(1), hint(0)]}], [1], True, id="two-resources-of-one"),
    ],
)
def test_the_narrowest_preferred_hint_of_all_wins(providers, nodes, preferred):
    assert merged("best-effort", *providers) == (nodes, preferred, True)
    assert merged("restricted", *providers) == (nodes, preferred, preferred)


def test_hints_that_are_not_preferred_keep_the_nodes_of_the_most_demanding():
    wide = {"r": [hint(0, 1, 2, 3, **NO), hint(0, 1, **NO)]}
    narrow = {"s": [hint(1, 2, 3, **NO), hint(1, 2, **NO), hint(1, 3, **NO), hint(2, 3, **NO)]}

    assert merged("best-effort", wide, narrow, numa=FOUR) == ([1, 2], False, True)


@pytest.mark.parametrize(
    ("providers", "nodes", "admitted"),
    [
        pytest.param([{"r": [hint(0), hint(1), hint(0, 1, **NO)]}], [0], True, id="one-node"),
        pytest.param([{"r": [hint(0, 1)]}], [0, 1], False, id="two-nodes"),
        pytest.param([{}], None, True, id="no-preference-is-anywhere"),
        pytest.param([{"r": [hint(0)]}, {"s": [hint(1)]}], [0, 1], False, id="different-nodes"),
    ],
)
def test_a_single_node_has_it_all_or_the_pod_is_refused(providers, nodes, admitted):
    found, _, was_admitted = merged("single-numa-node", *providers)

    assert was_admitted is admitted
    assert found == (nodes if admitted else found)


def test_of_equally_many_nodes_the_nearest_can_be_preferred():
    hints = {"r": [hint(0, 2), hint(2, 3)]}

    assert merged("best-effort", hints, numa=FOUR) == ([0, 2], True, True)
    assert merged("best-effort", hints, numa=FOUR, closest=True) == ([2, 3], True, True)


class Provider:
    """Offers the same hints for all, and writes down the affinity at each allocation."""

    def __init__(self, manager, hints):
        self.manager, self.hints, self.given = manager, hints, []

    def topology_hints(self, _pod, container):
        return self.hints[container["name"]]

    def pod_topology_hints(self, _pod):
        return self.hints["pod"]

    def allocate(self, pod, container):
        self.given.append((container["name"], self.manager.affinity("p", container["name"]).nodes))


POD = {"metadata": {"uid": "p"}, "spec": {"initContainers": [{"name": "i"}], "containers": [{"name": "c"}]}}
HINTS = {"i": {"r": [hint(0)]}, "c": {"r": [hint(1)]}, "pod": {"r": [hint(0, 1)]}}


@pytest.mark.parametrize(
    ("scope", "expected"), [("container", [("i", {0}), ("c", {1})]), ("pod", [("i", {0, 1}), ("c", {0, 1})])]
)
def test_the_scope_says_what_is_aligned_together(scope, expected):
    manager = TopologyManager(TopologyOptions(policy="restricted", scope=scope), TWO)
    provider = Provider(manager, HINTS)
    manager.add_provider(provider)

    manager.admit(POD)

    assert provider.given == expected


def test_a_refused_pod_is_told_upstreams_reason():
    manager = TopologyManager(TopologyOptions(policy="single-numa-node"), TWO)
    manager.add_provider(Provider(manager, {**HINTS, "i": {"r": [hint(0, 1)]}}))

    with pytest.raises(AllocationFailed) as caught:
        manager.admit(POD)

    assert caught.value.as_failure() == (
        "TopologyAffinityError",
        "Resources cannot be allocated with Topology locality",
    )


def test_pods_that_are_gone_are_forgotten():
    manager = TopologyManager(TopologyOptions(policy="best-effort"), TWO)
    manager.add_provider(Provider(manager, HINTS))
    manager.admit(POD)

    manager.forget(set())

    assert manager.affinity("p", "c").nodes is None


@pytest.mark.parametrize(
    ("policy", "scope", "options", "message"),
    [
        ("other", "container", {}, 'unknown policy: "other"'),
        ("none", "other", {}, 'unknown scope: "other"'),
        ("none", "pod", {"other": "1"}, "unknown Topology Manager Policy option"),
        ("none", "pod", {"max-allowable-numa-nodes": "4"}, "minimum value"),
        ("none", "pod", {"prefer-closest-numa-nodes": "perhaps"}, "bad value"),
    ],
)
def test_options_that_cannot_be_are_refused(policy, scope, options, message):
    with pytest.raises(UsageError, match=message):
        TopologyOptions.of(policy, scope, options)


def test_machines_with_too_many_nodes_need_an_option():
    many = NumaInfo(tuple(range(9)), {})

    with pytest.raises(UsageError, match="more than 8 NUMA Nodes"):
        TopologyManager(TopologyOptions(policy="best-effort"), many)


def test_a_machine_without_numa_has_one_node(tmp_path):
    assert discover_numa(tmp_path).nodes == (0,)
