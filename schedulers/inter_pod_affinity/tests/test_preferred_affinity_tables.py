"""How nodes score by the terms that pods prefer, number by number.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/interpodaffinity/scoring_test.go``. Where upstream
skips the plugin, all nodes score alike here.
"""

import numpy as np
import pytest
from hyperkube_scheduler.inter_pod_affinity import PREFERRED, REQUIRED, InterPodAffinity
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.plugin import PluginContext

TEAMS = {"subteam1.team1": "team1", "subteam2.team1": "team1", "subteam1.team2": "team2", "subteam2.team2": "team2"}


def build(**settings):
    client = FakeClient()
    for name, team in TEAMS.items():
        client.create(NAMESPACES, {"metadata": {"name": name, "labels": {"team": team}}})
    informers = InformerFactory(client)
    informers.start()
    return InterPodAffinity(
        PluginContext(name="InterPodAffinity", client=client, informers=informers, settings=settings)
    )


def rows(*expressions):
    words = ("key", "operator", "values")
    return {"matchExpressions": [dict(zip(words, each, strict=False)) for each in expressions]}


def term(key, *expressions, **more):
    return {"labelSelector": rows(*expressions), "topologyKey": key, **more}


def prefers(weight, *terms):
    return [{"weight": weight, "podAffinityTerm": each} for each in terms]


def near(*weighted):
    return {"podAffinity": {PREFERRED: [row for each in weighted for row in each]}}


def far(*weighted):
    return {"podAntiAffinity": {PREFERRED: [row for each in weighted for row in each]}}


def pod(name, labels=None, affinity=None, namespace="default"):
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **({"affinity": affinity} if affinity else {})}}


def scores(plugin, new, placed, labels):
    """Score the nodes with these labels; `placed` are (node number, words of `pod`)."""
    nodes = table(*({"name": f"node{number}", "labels": each} for number, each in enumerate(labels, 1)))
    for number, (node, *words) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", *words), f"node{node}")
    info = pod_info(pod("new", *new), nodes)
    if plugin.skips_score(info, nodes):
        return [0] * len(nodes)
    return plugin.normalize(info, nodes, plugin.score(info, nodes), np.ones(len(nodes), dtype=bool)).tolist()


CHINA, INDIA, AZ1, AZ2 = {"region": "China"}, {"region": "India"}, {"az": "az1"}, {"az": "az2"}
CHINA_AZ1 = {**CHINA, **AZ1}
S1, S2 = {"security": "S1"}, {"security": "S2"}
IS_S1, IS_S2 = ("security", "In", ["S1"]), ("security", "In", ["S2"])
SECURED, NOT_WRONG = ("security", "Exists"), ("wrongkey", "DoesNotExist")
NEAR_S1, NEAR_S2 = near(prefers(5, term("region", IS_S1))), near(prefers(6, term("region", IS_S2)))
NEAR_SEVERAL = near(
    prefers(8, term("region", ("security", "NotIn", ["S1"]), IS_S2)),
    prefers(2, term("region", SECURED, NOT_WRONG)),
)
HARD = {
    "podAffinity": {
        REQUIRED: [term("region", ("security", "In", ["S1", "value2"])), term("region", SECURED, NOT_WRONG)],
    }
}
FAR_S1, FAR_S2 = far(prefers(5, term("az", IS_S1))), far(prefers(5, term("az", IS_S2)))
NEAR_S1_FAR_S2 = {**near(prefers(8, term("region", IS_S1))), **FAR_S2}
SOME = {"namespaces": ["subteam2.team2"], "namespaceSelector": rows(("team", "In", ["team1"]))}
NEAR_IN_SOME, FAR_IN_SOME = (kind(prefers(5, term("region", IS_S1, **SOME))) for kind in (near, far))
THREE = (CHINA, INDIA, AZ1)
TWO_TEAMS = [
    (1, S1, None, "subteam1.team1"), (1, S1, None, "subteam1.team1"), (1, S1, None, "subteam1.team2"),
    (2, S1, None, "subteam2.team1"),
]  # fmt: skip
TWO_TEAMS_NAMED = [*TWO_TEAMS[:2], (1, S1, None, "subteam2.team2"), TWO_TEAMS[3]]


@pytest.mark.parametrize(
    ("new", "placed", "labels", "expected"),
    [
        pytest.param((S1,), [], THREE, [0, 0, 0], id="no affinity"),
        pytest.param((S1, NEAR_S1), [(1, S1), (2, S2), (3, S1)], THREE, [100, 0, 0], id="label and pod match"),
        pytest.param((None, NEAR_S1), [(1, S1)], (CHINA, CHINA_AZ1, INDIA), [100, 100, 0], id="the whole region"),
        pytest.param(
            (S1, NEAR_S2), [(1, S2), (1, S2), (2, S2), (3, S2), (4, S2), (5, S2)], (CHINA, INDIA, CHINA, CHINA, INDIA),
            [100, 0, 100, 100, 0],
            id="the region with more pods",
        ),
        pytest.param((S1, NEAR_SEVERAL), [(1, S1), (2, S2), (3, S1)], THREE, [20, 100, 0], id="several terms"),
        pytest.param((S2,), [(1, S1, NEAR_S1), (2, S2, NEAR_S2)], THREE, [0, 100, 0], id="placed pods prefer it"),
        pytest.param(
            (S1, None, "subteam1.team1"), [(1, S1, NEAR_IN_SOME), (2, S2, NEAR_S2)], THREE, [100, 0, 0],
            id="placed pods prefer it by its namespace",
        ),
        pytest.param(
            (S1, None, "subteam1.team1"), [(1, S1, FAR_IN_SOME), (2, S2, NEAR_S2)], THREE, [0, 100, 100],
            id="placed pods avoid it by its namespace",
        ),
        pytest.param((S1,), [(1, S1, HARD), (2, S2, HARD)], THREE, [100, 100, 0], id="placed pods require it"),
        pytest.param((S1, FAR_S1), [(1, S1), (2, S2)], (AZ1, CHINA), [0, 100], id="away from a pod"),
        pytest.param((S1, FAR_S1), [(1, S1), (2, S1)], (AZ1, CHINA), [0, 100], id="away, where the label is"),
        pytest.param((S1, FAR_S1), [(1, S1), (1, S1), (2, S2)], (AZ1, INDIA), [0, 100], id="away from more pods"),
        pytest.param((S2,), [(1, S1, FAR_S2), (2, S2, FAR_S1)], (AZ1, AZ2), [0, 100], id="placed pods avoid it"),
        pytest.param((S1, NEAR_S1_FAR_S2), [(1, S1), (2, S1)], (CHINA, AZ1), [100, 0], id="near and away"),
        pytest.param(
            (S1, NEAR_S1_FAR_S2), [(1, S1), (1, S1), (2, S1), (3, S1), (3, S1), (4, S1), (5, S1)],
            (CHINA_AZ1, INDIA, CHINA, CHINA, INDIA), [100, 0, 100, 100, 0],
            id="near and away, all pods alike",
        ),
        pytest.param(
            (S1, NEAR_S1_FAR_S2), [(1, S1), (2, S2), (3, None, NEAR_S1_FAR_S2), (4, None, FAR_S1)],
            (CHINA, AZ1, INDIA, AZ2), [100, 0, 100, 0],
            id="near and away, both ways",
        ),
        pytest.param((S1,), [(1, S1), (2, None, NEAR_S1_FAR_S2)], (CHINA, CHINA), [0, 0], id="one region alone"),
        pytest.param(
            (S1, NEAR_IN_SOME, "subteam1.team1"), TWO_TEAMS, (CHINA, INDIA), [100, 0], id="near in a team's namespaces"
        ),
        pytest.param(
            (S1, NEAR_IN_SOME, "subteam1.team1"), TWO_TEAMS_NAMED, (CHINA, INDIA), [100, 0],
            id="near in a team's namespaces and a named one",
        ),
        pytest.param(
            (S1, FAR_IN_SOME, "subteam1.team1"), TWO_TEAMS, (CHINA, INDIA), [0, 100], id="away in a team's namespaces"
        ),
        pytest.param(
            (S1, FAR_IN_SOME, "subteam1.team1"), TWO_TEAMS_NAMED, (CHINA, INDIA), [0, 100],
            id="away in a team's namespaces and a named one",
        ),
        pytest.param((S2,), [], (), [], id="no nodes"),
    ],
)  # fmt: skip
def test_preferred_terms(new, placed, labels, expected):
    assert scores(build(), new, placed, labels) == expected


@pytest.mark.parametrize(("ignore", "expected"), [(True, [0, 0]), (False, [0, 100])])
def test_what_placed_pods_prefer_may_be_ignored(ignore, expected):
    plugin = build(ignorePreferredTermsOfExistingPods=ignore)

    assert scores(plugin, (S2,), [(1, S1, NEAR_S1_FAR_S2), (2, S2, NEAR_S2)], (CHINA, INDIA)) == expected


SERVICE = {"service": "S1"}
IN_SOME = {"namespaces": ["default", "subteam2.team2"], "namespaceSelector": rows(("team", "In", ["team1"]))}
NEEDS_IT = {"podAffinity": {REQUIRED: [term("region", ("service", "In", ["S1"]), **IN_SOME)]}}


@pytest.mark.parametrize(
    ("namespace", "weight", "expected"),
    [
        pytest.param("default", 1, [100, 100, 0], id="usual weight"),
        pytest.param("default", 0, [0, 0, 0], id="no weight"),
        pytest.param("subteam1.team2", 1, [0, 0, 0], id="another namespace"),
        pytest.param("subteam1.team1", 1, [100, 100, 0], id="a team's namespace"),
        pytest.param("subteam2.team2", 1, [100, 100, 0], id="a named namespace"),
    ],
)
def test_the_weight_of_what_placed_pods_require(namespace, weight, expected):
    plugin = build(hardPodAffinityWeight=weight)

    assert scores(plugin, (SERVICE, None, namespace), [(1, None, NEEDS_IT), (2, None, NEEDS_IT)], THREE) == expected
