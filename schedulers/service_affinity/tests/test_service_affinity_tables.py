"""Service affinity, row by row.

Source of the rows: kubernetes 1.20 ``pkg/scheduler/framework/plugins/serviceaffinity/service_affinity_test.go``; the
filter's are 1.15's ``pkg/scheduler/algorithm/predicates/predicates_test.go`` (TestServiceAffinity) too.
"""

import numpy as np
import pytest
from hyperkube_scheduler.service_affinity import REASON, ServiceAffinity
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.plugin import PluginContext

HERE, DEFAULT, ONE, TWO = "here", "default", "ns1", "ns2"
LIKE = {"foo": "bar"}


def pod(name, labels=None, namespace=HERE, **spec):
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def machines(placed, **labels):
    nodes = table(*({"name": name, "labels": each} for name, each in labels.items()))
    for number, (name, *about) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", *about), name)
    return nodes


def asked(services, ask, **settings):
    """Return what `ask` says of the plugin among these services, each a selector and a namespace."""
    client = FakeClient()
    for number, (selector, namespace) in enumerate(services):
        client.seed(
            SERVICES, {"metadata": {"name": f"s{number}", "namespace": namespace}, "spec": {"selector": selector}}
        )
    informers = InformerFactory(client)
    informers.start()
    try:
        return ask(ServiceAffinity(PluginContext(name="x", client=client, informers=informers, settings=settings)))
    finally:
        informers.stop()


R1Z11, R1Z12, R2Z21, R2Z22 = (
    {"region": region, "zone": zone} for region, zone in (("r1", "z11"), ("r1", "z12"), ("r2", "z21"), ("r2", "z22"))
)
REGION, BOTH = ["region"], ["region", "zone"]


@pytest.mark.parametrize(
    ("wanted", "placed", "services", "labels", "node", "fits"),
    [
        pytest.param(pod("p"), (), (), REGION, "machine1", True, id="nothing scheduled"),
        pytest.param(
            pod("p", nodeSelector={"region": "r1"}), (), (), REGION, "machine1", True, id="pod with region label match"
        ),
        pytest.param(
            pod("p", nodeSelector={"region": "r2"}), (), (), REGION, "machine1", False, id="region label mismatch"
        ),
        pytest.param(
            pod("p", LIKE), (("machine1", LIKE),), ((LIKE, HERE),), REGION, "machine1", True, id="on same node"
        ),
        pytest.param(
            pod("p", LIKE), (("machine2", LIKE),), ((LIKE, HERE),), REGION, "machine1", True, id="region match"
        ),
        pytest.param(
            pod("p", LIKE), (("machine3", LIKE),), ((LIKE, HERE),), REGION, "machine1", False, id="region mismatch"
        ),
        pytest.param(
            pod("p", LIKE, ONE),
            (("machine3", LIKE, ONE),),
            ((LIKE, TWO),),
            REGION,
            "machine1",
            True,
            id="service in different namespace, region mismatch",
        ),
        pytest.param(
            pod("p", LIKE, ONE),
            (("machine3", LIKE, TWO),),
            ((LIKE, ONE),),
            REGION,
            "machine1",
            True,
            id="pod in different namespace, region mismatch",
        ),
        pytest.param(
            pod("p", LIKE, ONE),
            (("machine3", LIKE, ONE),),
            ((LIKE, ONE),),
            REGION,
            "machine1",
            False,
            id="service and pod in same namespace, region mismatch",
        ),
        pytest.param(
            pod("p", LIKE), (("machine2", LIKE),), ((LIKE, HERE),), BOTH, "machine1", False, id="not all labels match"
        ),
        pytest.param(
            pod("p", LIKE), (("machine5", LIKE),), ((LIKE, HERE),), BOTH, "machine4", True, id="all labels match"
        ),
    ],
)
def test_the_filter(wanted, placed, services, labels, node, fits):
    nodes = machines(placed, machine1=R1Z11, machine2=R1Z12, machine3=R2Z21, machine4=R2Z22, machine5=R2Z22)
    info, column = pod_info(wanted, nodes), nodes.index_of(node)

    answer = asked(services, lambda plugin: plugin.filter(info, nodes), affinityLabels=labels)

    assert bool(answer.mask[column]) is fits
    assert [text for text, mask in answer.reasons.items() if mask[column]] == ([] if fits else [REASON])


FOO, BAR, BLAH = {"foo": "bar", "baz": "blah"}, {"bar": "foo", "baz": "blah"}, {"baz": "blah"}
ZONED = {
    **{key: {"name": "value"} for key in ("machine01", "machine02")},
    **{key: {"zone": "zone1"} for key in ("machine11", "machine12")},
    **{key: {"zone": "zone2"} for key in ("machine21", "machine22")},
}
RACKED = {
    **ZONED,
    "machine11": {"zone": "zone1", "rack": "rack1"},
    "machine12": {"zone": "zone1", "rack": "rack2"},
    **{key: {"zone": "zone2", "rack": "rack1"} for key in ("machine21", "machine22")},
}
M01, M11, M21 = "machine01", "machine11", "machine21"


@pytest.mark.parametrize(
    ("wanted", "placed", "services", "expected"),
    [
        pytest.param(pod("p"), (), (), [100, 100, 100, 100], id="nothing scheduled"),
        pytest.param(pod("p", FOO), ((M11,),), (), [100, 100, 100, 100], id="no services"),
        pytest.param(
            pod("p", FOO), ((M11, BAR),), (({"key": "value"}, HERE),), [100, 100, 100, 100], id="different services"
        ),
        pytest.param(
            pod("p", FOO),
            ((M01, BAR), (M11, BAR), (M21, FOO)),
            ((FOO, HERE),),
            [100, 100, 0, 0],
            id="three pods, one service pod",
        ),
        pytest.param(
            pod("p", FOO),
            ((M11, BAR), (M11, FOO), (M21, FOO)),
            ((FOO, HERE),),
            [50, 50, 50, 50],
            id="three pods, two service pods on different machines",
        ),
        pytest.param(
            pod("p", FOO, DEFAULT),
            ((M11, FOO), (M11, FOO, DEFAULT), (M21, FOO), (M21, FOO, ONE)),
            ((FOO, DEFAULT),),
            [0, 0, 100, 100],
            id="three service label match pods in different namespaces",
        ),
        pytest.param(
            pod("p", FOO),
            ((M11, BAR), (M11, FOO), (M21, FOO), (M21, FOO)),
            ((FOO, HERE),),
            [66, 66, 33, 33],
            id="four pods, three service pods",
        ),
        pytest.param(
            pod("p", FOO),
            ((M11, BAR), (M11, FOO), (M21, FOO)),
            ((BLAH, HERE),),
            [33, 33, 66, 66],
            id="service with partial pod label matches",
        ),
        pytest.param(
            pod("p", FOO),
            ((M01, FOO), (M11, FOO), (M21, FOO), (M21, FOO)),
            ((FOO, HERE),),
            [75, 75, 50, 50],
            id="service pod on non-zoned node",
        ),
    ],
)
def test_the_score_over_zones(wanted, placed, services, expected):
    assert scores(ZONED, wanted, placed, services, ["zone"]) == [0, 0, *expected]


def test_the_score_over_zones_and_racks():
    placed = ((M01, BAR), (M11, FOO), (M21, FOO))

    found = scores(RACKED, pod("p", FOO), placed, ((FOO, HERE),), ["zone", "rack"])

    assert found == [0, 0, 25, 75, 25, 25]


def scores(labels, wanted, placed, services, over):
    nodes = machines(placed, **labels)
    info, every = pod_info(wanted, nodes), np.ones(len(nodes), dtype=bool)

    def ask(plugin):
        return plugin.normalize(info, nodes, plugin.score(info, nodes), every).tolist()

    return asked(services, ask, antiAffinityLabelsPreference=over)
