"""How like pods spread over nodes and zones, number by number.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/selectorspread/selector_spread_test.go``, as it was
up to 1.27.
"""

import numpy as np
import pytest
from hyperkube_scheduler.selector_spread import SelectorSpread
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, SERVICES, STATEFUL_SETS
from hyperkube.plugin import PluginContext

KINDS = {
    "rc": ("ReplicationController", "v1", REPLICATION_CONTROLLERS),
    "rs": ("ReplicaSet", "apps/v1", REPLICA_SETS),
    "ss": ("StatefulSet", "apps/v1", STATEFUL_SETS),
}
FOO, BAR, BAZ = {"foo": "bar"}, {"bar": "foo"}, {"baz": "blah"}
ONE, TWO, BOTH = {**FOO, **BAZ}, {**BAR, **BAZ}, {**FOO, **BAR}


def build(services, owners):
    """The plugin among services, given as (namespace, selector), and owners, as (kind, name, selector)."""
    client = FakeClient()
    for number, (namespace, selector) in enumerate(services):
        meta = {"name": f"s{number}", "namespace": namespace}
        client.create(SERVICES, {"metadata": meta, "spec": {"selector": selector}})
    for kind, name, selector in owners:
        meta = {"name": name, "namespace": "default"}
        spec = {"selector": selector if kind == "rc" else {"matchLabels": selector}}
        client.create(KINDS[kind][2], {"metadata": meta, "spec": spec})
    informers = InformerFactory(client)
    informers.start()
    return SelectorSpread(PluginContext(name="SelectorSpread", client=client, informers=informers))


def pod(name, labels, namespace="default", owner="", **spec):
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}}
    if owner:
        kind, version, _ = KINDS[owner[:2]]
        meta["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": owner, "controller": True}]
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def scores(plugin, nodes, new, placed):
    for number, (node, *words) in enumerate(placed):
        nodes.put_pod(pod(f"p{number}", *words), nodes.names[node])
    info = pod_info(new, nodes)
    return plugin.normalize(info, nodes, plugin.score(info, nodes), np.ones(len(nodes), dtype=bool)).tolist()


@pytest.mark.parametrize(
    ("new", "placed", "services", "expected"),
    [
        pytest.param((None,), [], [], [100, 100], id="nothing placed"),
        pytest.param((ONE,), [(0, None)], [], [100, 100], id="no service"),
        pytest.param((ONE,), [(0, TWO)], [("default", {"key": "value"})], [100, 100], id="another service"),
        pytest.param((ONE,), [(0, TWO), (1, ONE)], [("default", ONE)], [100, 0], id="one of two pods is like it"),
        pytest.param(
            (ONE,), [(0, TWO), (0, ONE, "other"), (0, ONE, "ns1"), (1, ONE), (1, TWO)], [("default", ONE)], [100, 0],
            id="other namespaces do not count",
        ),
        pytest.param(
            (ONE,), [(0, ONE, "other"), (0, ONE, "ns1"), (1, ONE), (1, TWO, "other")], [("default", ONE)], [100, 0],
            id="one of four, in its namespace",
        ),
        pytest.param(
            (ONE, "ns1"), [(0, TWO), (0, ONE), (0, ONE, "ns2"), (1, ONE, "ns1"), (1, TWO)], [("ns1", ONE)], [100, 0],
            id="one of five, in a namespace of its own",
        ),
        pytest.param((ONE,), [(0, TWO), (0, ONE), (1, ONE)], [("default", ONE)], [0, 0], id="one on each"),
        pytest.param((ONE,), [(0, TWO), (0, ONE), (1, ONE), (1, ONE)], [("default", ONE)], [50, 0], id="one and two"),
        pytest.param((ONE,), [(0, TWO), (0, ONE), (1, ONE)], [("default", BAZ)], [0, 50], id="a service of both kinds"),
    ],
)  # fmt: skip
def test_pods_of_a_service(new, placed, services, expected):
    nodes = table({"name": "node1"}, {"name": "node2"})

    assert scores(build(services, ()), nodes, pod("new", *new), placed) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("labels", "owner", "owners", "services", "expected"),
    [
        pytest.param(ONE, 1, ((1, FOO), (2, BAR)), [("default", BAZ)], [0, 0], id="of an owner and a service"),
        pytest.param(BOTH, 3, ((3, FOO),), [("default", BAR)], [100, 100], id="that have nothing in common"),
        pytest.param(ONE, 1, ((1, FOO),), [], [0, 0], id="of an owner"),
        pytest.param(ONE, 3, ((3, BAZ),), [], [0, 50], id="of an owner of both kinds"),
    ],
)
def test_pods_of_an_owner(kind, labels, owner, owners, services, expected):
    nodes = table({"name": "node1"}, {"name": "node2"})
    plugin = build(services, [(kind, f"{kind}{number}", selector) for number, selector in owners])
    placed = [(0, TWO, "default", f"{kind}2"), (0, ONE, "default", f"{kind}1"), (1, ONE, "default", f"{kind}1")]

    assert scores(plugin, nodes, pod("new", labels, "default", f"{kind}{owner}"), placed) == expected


def test_pods_that_say_themselves_how_to_spread_are_left_alone():
    nodes, plugin = table({"name": "node1"}, {"name": "node2"}), build((), [("ss", "ss1", BAZ)])
    row = {"maxSkew": 1, "topologyKey": "foo", "whenUnsatisfiable": "DoNotSchedule"}

    new = pod_info(pod("new", ONE, "default", "ss1", topologySpreadConstraints=[row]), nodes)

    assert plugin.skips_score(new, nodes)


L1, L2 = {"label1": "l1", **BAZ}, {"label2": "l2", **BAZ}
Z1, Z2, Z2_TOO, Z3, Z3_TOO, Z3_THREE = range(6)
ALL = [100] * 6
ZONES = ("zone1", "zone2", "zone2", "zone3", "zone3", "zone3")


@pytest.mark.parametrize(
    ("new", "placed", "services", "owners", "expected"),
    [
        pytest.param((None,), [], (), (), ALL, id="nothing placed"),
        pytest.param((L1,), [(Z1, None)], (), (), ALL, id="no service"),
        pytest.param((L1,), [(Z1, L2)], [{"key": "value"}], (), ALL, id="another service"),
        pytest.param((L1,), [(Z1, L2), (Z2, L2)], [L1], (), ALL, id="none is like it"),
        pytest.param((L1,), [(Z1, L2), (Z2, L1)], [L1], (), [100, 0, 33, 100, 100, 100], id="one, in zone 2"),
        pytest.param(
            (L1,), [(Z1, L2), (Z2, L1), (Z2_TOO, L1), (Z3, L2), (Z3_TOO, L1)], [L1], (), [100, 0, 0, 66, 33, 66],
            id="two in zone 2, one in zone 3",
        ),
        pytest.param(
            (L1,), [(Z1, L1), (Z2, L1), (Z2_TOO, L2), (Z3, L1)], [L1], (), [0, 0, 33, 0, 33, 33], id="one in each"
        ),
        pytest.param(
            (L1,), [(Z1, L1), (Z2, L1), (Z2_TOO, L1), (Z2_TOO, L2), (Z3, L1)], [L1], (), [33, 0, 0, 33, 66, 66],
            id="two in zone 2, one in each other",
        ),
        pytest.param(
            (L1, "default", "rc1"), [(Z3, L1), (Z2, L1), (Z3, L1)], (), [("rc", "rc1", L1)], [100, 50, 66, 0, 33, 33],
            id="an owner's: one in zone 2, two in zone 3",
        ),
    ],
)  # fmt: skip
def test_zones_count_more_than_nodes(new, placed, services, owners, expected):
    labels = ({"topology.kubernetes.io/zone": zone} for zone in ZONES)
    nodes = table(*({"name": f"n{index}", "labels": each} for index, each in enumerate(labels)))
    plugin = build([("default", selector) for selector in services], owners)

    assert scores(plugin, nodes, pod("new", *new), placed) == expected


NEW, OLD = "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param(({f"{NEW}zone": "a"}, {f"{OLD}zone": "a"}), [0, 33], id="by its old name too"),
        pytest.param(
            ({f"{NEW}zone": "a", f"{NEW}region": "x"}, {f"{NEW}zone": "a"}), [0, 100], id="of one region only"
        ),
        pytest.param(({f"{NEW}region": "x"}, {f"{NEW}region": "x"}), [0, 33], id="a region is enough"),
        pytest.param(({f"{NEW}zone": "a", f"{OLD}zone": "b"}, {f"{NEW}zone": "b"}), [0, 33], id="the old name first"),
    ],
)
def test_what_makes_a_zone(labels, expected):
    """Source: kubernetes ``staging/src/k8s.io/component-helpers/node/topology/helpers.go``."""
    nodes = table(*({"name": f"n{index}", "labels": each} for index, each in enumerate(labels)))

    assert scores(build([("default", ONE)], ()), nodes, pod("new", ONE), [(0, ONE)]) == expected
