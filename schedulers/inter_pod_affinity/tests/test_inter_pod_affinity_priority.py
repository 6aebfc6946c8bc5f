"""The 1.x priority InterPodAffinityPriority, row by row.

Source of the numbers: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/interpod_affinity_test.go``.
"""

import numpy as np
import pytest
from hyperkube_scheduler.inter_pod_affinity import PREFERRED, REQUIRED, InterPodAffinityPriority
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.plugin import PluginContext

CHINA, INDIA, AZ1, AZ2 = {"region": "China"}, {"region": "India"}, {"az": "az1"}, {"az": "az2"}
S1, S2 = {"security": "S1"}, {"security": "S2"}


def term(key, *rows):
    expressions = [
        {"key": name, "operator": operator, **({"values": list(values)} if values else {})}
        for name, operator, *values in rows
    ]
    return {"topologyKey": key, "labelSelector": {"matchExpressions": expressions}}


def wish(weight, *args):
    return {"weight": weight, "podAffinityTerm": term(*args)}


def near(*wishes):
    return {"podAffinity": {PREFERRED: list(wishes)}}


def far(*wishes):
    return {"podAntiAffinity": {PREFERRED: list(wishes)}}


WITH_S1 = near(wish(5, "region", ("security", "In", "S1")))
WITH_S2 = near(wish(6, "region", ("security", "In", "S2")))
MIXED = near(
    wish(8, "region", ("security", "NotIn", "S1"), ("security", "In", "S2")),
    wish(2, "region", ("security", "Exists"), ("wrongkey", "DoesNotExist")),
)
HARD = {
    "podAffinity": {
        REQUIRED: [
            term("region", ("security", "In", "S1", "value2")),
            term("region", ("security", "Exists"), ("wrongkey", "DoesNotExist")),
        ]
    }
}
FROM_S1, FROM_S2 = (far(wish(5, "az", ("security", "In", each))) for each in ("S1", "S2"))
WITH_S1_FROM_S2 = near(wish(8, "region", ("security", "In", "S1"))) | FROM_S2
SERVICE = {"podAffinity": {REQUIRED: [term("region", ("service", "In", "S1"))]}}


def pod(name, labels, affinity=None):
    meta = {"name": name, "namespace": "default", "uid": name, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "affinity": affinity or {}}}


def scores(nodes, wanted, placed, **settings):
    found = table(*({"name": f"machine{number}", "labels": each} for number, each in enumerate(nodes)))
    for number, (column, *about) in enumerate(placed):
        found.put_pod(pod(f"placed{number}", *about), f"machine{column}")
    plugin = InterPodAffinityPriority(PluginContext(name="InterPodAffinityPriority", settings=settings))
    info = pod_info(pod("new", *wanted), found)
    return plugin.normalize(info, found, plugin.score(info, found), np.ones(len(found), dtype=bool)).tolist()


CHINA_INDIA_AZ = (CHINA, INDIA, AZ1)


@pytest.mark.parametrize(
    ("nodes", "wanted", "placed", "expected"),
    [
        pytest.param(CHINA_INDIA_AZ, (S1,), (), [0, 0, 0], id="no affinity"),
        pytest.param(
            CHINA_INDIA_AZ, (S1, WITH_S1), ((0, S1), (1, S2), (2, S1)), [10, 0, 0], id="topology key and pods match"
        ),
        pytest.param((CHINA, CHINA | AZ1, INDIA), ({}, WITH_S1), ((0, S1),), [10, 10, 0], id="nodes of one region"),
        pytest.param(
            (CHINA, INDIA, CHINA, CHINA, INDIA),
            (S1, WITH_S2),
            ((0, S2), (0, S2), (1, S2), (2, S2), (3, S2), (4, S2)),
            [10, 5, 10, 10, 5],
            id="the region with more matching pods",
        ),
        pytest.param(CHINA_INDIA_AZ, (S1, MIXED), ((0, S1), (1, S2), (2, S1)), [2, 10, 0], id="different operators"),
        pytest.param(
            CHINA_INDIA_AZ, (S2,), ((0, S1, WITH_S1), (1, S2, WITH_S2)), [0, 10, 0], id="symmetry of preferred terms"
        ),
        pytest.param(
            CHINA_INDIA_AZ, (S1,), ((0, S1, HARD), (1, S2, HARD)), [10, 10, 0], id="symmetry of required terms"
        ),
        pytest.param((AZ1, CHINA), (S1, FROM_S1), ((0, S1), (1, S2)), [0, 10], id="away from a pod that matches"),
        pytest.param((AZ1, CHINA), (S1, FROM_S1), ((0, S1), (1, S1)), [0, 10], id="away, no topology key there"),
        pytest.param((AZ1, INDIA), (S1, FROM_S1), ((0, S1), (0, S1), (1, S2)), [0, 10], id="away from more pods"),
        pytest.param(
            (AZ1, AZ2), (S2,), ((0, S1, FROM_S2), (1, S2, FROM_S1)), [0, 10], id="symmetry of preferred anti-affinity"
        ),
        pytest.param(
            (CHINA, AZ1), (S1, WITH_S1_FROM_S2), ((0, S1), (1, S1)), [10, 0], id="near to some, far from others"
        ),
        pytest.param(
            (CHINA | AZ1, INDIA, CHINA, CHINA, INDIA),
            (S1, WITH_S1_FROM_S2),
            ((0, S1), (0, S1), (1, S1), (2, S1), (2, S1), (3, S1), (4, S1)),
            [10, 4, 10, 10, 4],
            id="brothers near by region and far by zone",
        ),
        pytest.param(
            (CHINA, AZ1, INDIA, AZ2),
            (S1, WITH_S1_FROM_S2),
            ((0, S1), (1, S2), (2, {}, WITH_S1_FROM_S2), (3, {}, FROM_S1)),
            [10, 0, 10, 0],
            id="affinity, anti-affinity and symmetry",
        ),
    ],
)
def test_wishes_add_up(nodes, wanted, placed, expected):
    assert scores(nodes, wanted, placed) == expected


@pytest.mark.parametrize(("weight", "expected"), [(1, [10, 10, 0]), (0, [0, 0, 0])])
def test_the_hard_symmetric_weight(weight, expected):
    placed = ((0, {}, SERVICE), (1, {}, SERVICE))

    assert scores(CHINA_INDIA_AZ, ({"service": "S1"},), placed, hardPodAffinityWeight=weight) == expected
