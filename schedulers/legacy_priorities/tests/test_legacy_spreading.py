"""What 1.x gave for like pods, row by row.

Source of the numbers: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/selector_spreading_test.go``.
"""

import numpy as np
import pytest
from hyperkube_scheduler.legacy_priorities import (
    SelectorSpreadPriority,
    ServiceAntiAffinity,
    ServiceSpreadingPriority,
)
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, SERVICES, STATEFUL_SETS
from hyperkube.plugin import PluginContext
from hyperkube.testing.waiting import eventually

HERE, DEFAULT, ONE, TWO = "here", "default", "ns1", "ns2"
FOO_BAZ, BAR_BAZ, BOTH = {"foo": "bar", "baz": "blah"}, {"bar": "foo", "baz": "blah"}, {"foo": "bar", "bar": "foo"}
BAZ, FOO, BAR = {"baz": "blah"}, {"foo": "bar"}, {"bar": "foo"}
CONTROLLERS = {
    "ReplicationController": (REPLICATION_CONTROLLERS, lambda labels: labels),
    "ReplicaSet": (REPLICA_SETS, lambda labels: {"matchLabels": labels}),
    "StatefulSet": (STATEFUL_SETS, lambda labels: {"matchLabels": labels}),
}


def pod(name, labels, namespace=HERE):
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}]}}


def plugin_of(made, services=(), controllers=(), **settings):
    """Build a plugin that knows services as (selector, namespace) and controllers as (kind, selector)."""
    client = FakeClient()
    for number, (selector, namespace) in enumerate(services):
        client.seed(
            SERVICES, {"metadata": {"name": f"s{number}", "namespace": namespace}, "spec": {"selector": selector}}
        )
    for kind, selector in controllers:
        resource, written = CONTROLLERS[kind]
        client.seed(resource, {"metadata": {"name": "c", "namespace": HERE}, "spec": {"selector": written(selector)}})
    informers = InformerFactory(client)
    informers.start()
    context = PluginContext(name=made.__name__, client=client, informers=informers, settings=settings)
    return made(context), informers


def placed_on(nodes, placed):
    for number, (column, labels, *namespace) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", labels, *namespace), nodes.names[column])


def scores(made, nodes, wanted, placed=(), services=(), controllers=(), feasible=None, **settings):
    placed_on(nodes, placed)
    plugin, informers = plugin_of(made, services, controllers, **settings)
    info = pod_info(wanted, nodes)
    every = np.array(feasible if feasible is not None else [True] * len(nodes))
    try:
        return plugin.normalize(info, nodes, plugin.score(info, nodes), every).tolist()
    finally:
        informers.stop()


def machines(*labels):
    return table(*({"name": f"machine{number}", "labels": each} for number, each in enumerate(labels)))


@pytest.mark.parametrize("made", [SelectorSpreadPriority, ServiceSpreadingPriority])
@pytest.mark.parametrize(
    ("wanted", "placed", "services", "expected"),
    [
        pytest.param(({},), (), (), [10, 10], id="nothing scheduled"),
        pytest.param((FOO_BAZ,), ((0, {}),), (), [10, 10], id="no services"),
        pytest.param((FOO_BAZ,), ((0, BAR_BAZ),), (({"key": "value"}, HERE),), [10, 10], id="different services"),
        pytest.param(
            (FOO_BAZ,), ((0, BAR_BAZ), (1, FOO_BAZ)), ((FOO_BAZ, HERE),), [10, 0], id="two pods, one service pod"
        ),
        pytest.param(
            (FOO_BAZ,),
            ((0, BAR_BAZ), (0, FOO_BAZ, DEFAULT), (0, FOO_BAZ, ONE), (1, FOO_BAZ), (1, BAR_BAZ)),
            ((FOO_BAZ, HERE),),
            [10, 0],
            id="five pods, one service pod here",
        ),
        pytest.param(
            (FOO_BAZ, DEFAULT),
            ((0, FOO_BAZ), (0, FOO_BAZ, ONE), (1, FOO_BAZ, DEFAULT), (1, BAR_BAZ)),
            ((FOO_BAZ, DEFAULT),),
            [10, 0],
            id="four pods, one service pod in default namespace",
        ),
        pytest.param(
            (FOO_BAZ, ONE),
            ((0, FOO_BAZ), (0, FOO_BAZ, DEFAULT), (0, FOO_BAZ, TWO), (1, FOO_BAZ, ONE), (1, BAR_BAZ)),
            ((FOO_BAZ, ONE),),
            [10, 0],
            id="five pods, one service pod in specific namespace",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((0, BAR_BAZ), (0, FOO_BAZ), (1, FOO_BAZ)),
            ((FOO_BAZ, HERE),),
            [0, 0],
            id="three pods, two service pods on different machines",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((0, BAR_BAZ), (0, FOO_BAZ), (1, FOO_BAZ), (1, FOO_BAZ)),
            ((FOO_BAZ, HERE),),
            [5, 0],
            id="four pods, three service pods",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((0, BAR_BAZ), (0, FOO_BAZ), (1, FOO_BAZ)),
            ((BAZ, HERE),),
            [0, 5],
            id="service with partial pod label matches",
        ),
    ],
)
def test_services_spread(made, wanted, placed, services, expected):
    assert scores(made, machines({}, {}), pod("new", *wanted), placed, services) == expected


THREE = ((0, BAR_BAZ), (0, FOO_BAZ), (1, FOO_BAZ))


@pytest.mark.parametrize("kind", CONTROLLERS)
@pytest.mark.parametrize(
    ("labels", "services", "selector", "expected"),
    [
        pytest.param(FOO_BAZ, ((BAZ, HERE),), FOO, [0, 0], id="service and controller with partial matches"),
        pytest.param(BOTH, ((BAR, HERE),), FOO, [10, 10], id="disjoined service and controller match no pods"),
        pytest.param(FOO_BAZ, (), FOO, [0, 0], id="controller with partial pod label matches"),
        pytest.param(FOO_BAZ, (), BAZ, [0, 5], id="another controller with partial pod label matches"),
    ],
)
def test_controllers_spread(kind, labels, services, selector, expected):
    found = scores(SelectorSpreadPriority, machines({}, {}), pod("new", labels), THREE, services, ((kind, selector),))

    assert found == expected


def test_services_alone_are_looked_at_by_the_name_of_1_0():
    found = scores(
        ServiceSpreadingPriority, machines({}, {}), pod("new", BOTH), THREE, ((BAR, HERE),), (("ReplicaSet", FOO),)
    )

    assert found == [0, 10]


ZONE = "failure-domain.beta.kubernetes.io/zone"
L1, L2 = {"label1": "l1", "baz": "blah"}, {"label2": "l2", "baz": "blah"}
M1Z1, M1Z2, M2Z2, M1Z3, M2Z3, M3Z3 = range(6)


def zoned(key=ZONE):
    return machines(*({key: zone} for zone in ("zone1", "zone2", "zone2", "zone3", "zone3", "zone3")))


ZONE_ROWS = [
    pytest.param({}, (), (), (), [10] * 6, id="nothing scheduled"),
    pytest.param(L1, ((M1Z1, {}),), (), (), [10] * 6, id="no services"),
    pytest.param(L1, ((M1Z1, L2),), ({"key": "value"},), (), [10] * 6, id="different services"),
    pytest.param(L1, ((M1Z1, L2), (M1Z2, L2)), (L1,), (), [10] * 6, id="two pods, 0 matching"),
    pytest.param(L1, ((M1Z1, L2), (M1Z2, L1)), (L1,), (), [10, 0, 3, 10, 10, 10], id="two pods, 1 matching (in z2)"),
    pytest.param(
        L1,
        ((M1Z1, L2), (M1Z2, L1), (M2Z2, L1), (M1Z3, L2), (M2Z3, L1)),
        (L1,),
        (),
        [10, 0, 0, 6, 3, 6],
        id="five pods, 3 matching (z2=2, z3=1)",
    ),
    pytest.param(
        L1,
        ((M1Z1, L1), (M1Z2, L1), (M2Z2, L2), (M1Z3, L1)),
        (L1,),
        (),
        [0, 0, 3, 0, 3, 3],
        id="four pods, 3 matching (z1=1, z2=1, z3=1)",
    ),
    pytest.param(
        L1,
        ((M1Z3, L1), (M1Z2, L1), (M1Z3, L1)),
        (),
        (("ReplicationController", L1),),
        [10, 5, 6, 0, 3, 3],
        id="replication controller spreading (z1=0, z2=1, z3=2)",
    ),
]


@pytest.mark.parametrize("key", [ZONE, "topology.kubernetes.io/zone"])
@pytest.mark.parametrize(("labels", "placed", "services", "controllers", "expected"), ZONE_ROWS)
def test_zones_spread(key, labels, placed, services, controllers, expected):
    known = [(selector, HERE) for selector in services]

    found = scores(SelectorSpreadPriority, zoned(key), pod("new", labels), placed, known, controllers)

    assert found == expected


def test_a_service_that_comes_later_counts_from_then_on():
    client = FakeClient()
    informers = InformerFactory(client)
    informers.start()
    plugin = SelectorSpreadPriority(PluginContext(name="x", client=client, informers=informers))
    nodes = machines({}, {})
    placed_on(nodes, ((0, FOO),))
    every = np.ones(2, dtype=bool)

    def now():
        info = pod_info(pod("new", FOO), nodes)
        return plugin.normalize(info, nodes, plugin.score(info, nodes), every).tolist()

    before = now()
    client.create(SERVICES, {"metadata": {"name": "s", "namespace": HERE}, "spec": {"selector": FOO}})

    assert before == [10, 10]
    eventually(lambda: now() == [0, 10])
    informers.stop()


def test_zones_of_one_name_in_two_regions_are_two_zones_whichever_label_says_so():
    region = "topology.kubernetes.io/region"
    nodes = machines({ZONE: "a", region: "r1"}, {"topology.kubernetes.io/zone": "a", region: "r1"}, {ZONE: "a"}, {})

    found = scores(SelectorSpreadPriority, nodes, pod("new", FOO), ((0, FOO), (3, FOO)), ((FOO, HERE),))

    assert found == [0, 3, 10, 0]


def test_only_nodes_to_choose_from_count():
    found = scores(
        SelectorSpreadPriority, zoned(), pod("new", L1), ((M1Z2, L1), (M1Z3, L1), (M1Z3, L1)), ((L1, HERE),),
        feasible=[True, True, True, False, True, True],
    )  # fmt: skip

    assert found == [10, 0, 3, 0, 10, 10]


NO_ZONE, Z1, Z2 = {"name": "value"}, {"zone": "zone1"}, {"zone": "zone2"}
M01, M02, M11, M12, M21, M22 = range(6)


@pytest.mark.parametrize(
    ("wanted", "placed", "services", "expected"),
    [
        pytest.param(({},), (), (), [0, 0, 10, 10, 10, 10], id="nothing scheduled"),
        pytest.param((FOO_BAZ,), ((M11, {}),), (), [0, 0, 10, 10, 10, 10], id="no services"),
        pytest.param(
            (FOO_BAZ,), ((M11, BAR_BAZ),), (({"key": "value"}, HERE),), [0, 0, 10, 10, 10, 10], id="different services"
        ),
        pytest.param(
            (FOO_BAZ,),
            ((M01, BAR_BAZ), (M11, BAR_BAZ), (M21, FOO_BAZ)),
            ((FOO_BAZ, HERE),),
            [0, 0, 10, 10, 0, 0],
            id="three pods, one service pod",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((M11, BAR_BAZ), (M11, FOO_BAZ), (M21, FOO_BAZ)),
            ((FOO_BAZ, HERE),),
            [0, 0, 5, 5, 5, 5],
            id="three pods, two service pods on different machines",
        ),
        pytest.param(
            (FOO_BAZ, DEFAULT),
            ((M11, FOO_BAZ), (M11, FOO_BAZ, DEFAULT), (M21, FOO_BAZ), (M21, FOO_BAZ, ONE)),
            ((FOO_BAZ, DEFAULT),),
            [0, 0, 0, 0, 10, 10],
            id="three service label match pods in different namespaces",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((M11, BAR_BAZ), (M11, FOO_BAZ), (M21, FOO_BAZ), (M21, FOO_BAZ)),
            ((FOO_BAZ, HERE),),
            [0, 0, 6, 6, 3, 3],
            id="four pods, three service pods",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((M11, BAR_BAZ), (M11, FOO_BAZ), (M21, FOO_BAZ)),
            ((BAZ, HERE),),
            [0, 0, 3, 3, 6, 6],
            id="service with partial pod label matches",
        ),
        pytest.param(
            (FOO_BAZ,),
            ((M01, FOO_BAZ), (M11, FOO_BAZ), (M21, FOO_BAZ), (M21, FOO_BAZ)),
            ((FOO_BAZ, HERE),),
            [0, 0, 7, 7, 5, 5],
            id="service pod on non-zoned node",
        ),
    ],
)
def test_services_spread_over_a_labels_values(wanted, placed, services, expected):
    nodes = machines(NO_ZONE, NO_ZONE, Z1, Z1, Z2, Z2)

    found = scores(ServiceAntiAffinity, nodes, pod("new", *wanted), placed, services, labels=[{"label": "zone"}])

    assert found == expected


def test_several_labels_count_by_their_weights():
    nodes = machines({"zone": "1", "rack": "1"}, {"zone": "1", "rack": "2"}, {"zone": "2", "rack": "1"})
    labels = [{"label": "zone", "weight": 2}, {"label": "rack"}]

    found = scores(ServiceAntiAffinity, nodes, pod("new", FOO), ((0, FOO),), ((FOO, HERE),), labels=labels)

    assert found == [0, 10, 20]


BY_ZONE = {"labels": [{"label": "zone"}]}


class SpreadingContract(SchedulingContract):
    """One of the plugins among two nodes, of which one has a like pod."""

    def build(self):
        plugin, informers = plugin_of(self.plugin, ((FOO, HERE),), **self.settings)
        self.informers = [*getattr(self, "informers", ()), informers]
        return plugin

    def teardown_method(self):
        for each in getattr(self, "informers", ()):
            each.stop()

    def world(self):
        nodes = machines({"zone": "a"}, {"zone": "b"})
        placed_on(nodes, ((0, FOO),))
        return nodes, [pod_info(each, nodes) for each in self.pods]

    nodes = ({"name": "a", "labels": {"zone": "a"}}, {"name": "b", "labels": {"zone": "b"}})
    pods = (pod("new", FOO),)


class TestSelectorSpreadPriority(SpreadingContract):
    plugin = SelectorSpreadPriority


class TestServiceSpreadingPriority(SpreadingContract):
    plugin = ServiceSpreadingPriority


class TestServiceAntiAffinity(SpreadingContract):
    plugin = ServiceAntiAffinity
    settings = BY_ZONE
