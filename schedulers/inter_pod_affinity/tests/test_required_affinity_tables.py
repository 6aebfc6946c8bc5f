"""Which nodes fulfil the terms that pods require, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/interpodaffinity/filtering_test.go``.
"""

import pytest
from hyperkube_scheduler.inter_pod_affinity import (
    AFFINITY_REASON,
    ANTI_AFFINITY_REASON,
    EXISTING_REASON,
    PREFERRED,
    REQUIRED,
    InterPodAffinity,
)
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.plugin import PluginContext

TEAMS = {"subteam1.team1": "team1", "subteam2.team1": "team1", "subteam1.team2": "team2", "subteam2.team2": "team2"}
NOT_NEAR, FAR, UNWELCOME = f"! {AFFINITY_REASON}", ANTI_AFFINITY_REASON, EXISTING_REASON


def build():
    client = FakeClient()
    for name, team in TEAMS.items():
        client.create(NAMESPACES, {"metadata": {"name": name, "labels": {"team": team}}})
    informers = InformerFactory(client)
    informers.start()
    return InterPodAffinity(PluginContext(name="InterPodAffinity", client=client, informers=informers))


def expressions(text):
    """Read ``key in a,b``, ``key notin a,b``, ``key`` and ``!key``, between semicolons."""
    rows = []
    for each in text.split("; "):
        key, _, rest = each.partition(" ")
        operator, _, values = rest.partition(" ")
        if operator:
            rows.append({"key": key, "operator": {"in": "In", "notin": "NotIn"}[operator], "values": values.split(",")})
        else:
            rows.append({"key": key.lstrip("!"), "operator": "DoesNotExist" if key.startswith("!") else "Exists"})
    return {"matchExpressions": rows}


def term(text, key, **more):
    return {"labelSelector": expressions(text), "topologyKey": key, **more}


def pod(labels=None, near=(), far=(), namespace="default", name="new"):
    affinity = {"podAffinity": {REQUIRED: list(near)}, "podAntiAffinity": {REQUIRED: list(far)}}
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "affinity": affinity}}


def told(new, placed, nodes):
    """Return what is said of each node, given as name → labels; `placed` are (node, words of `pod`)."""
    rows = table(*({"name": name, "labels": labels} for name, labels in nodes.items()))
    for number, (node, words) in enumerate(placed):
        rows.put_pod(pod(**words, name=f"placed{number}"), node)
    return verdicts(build(), pod_info(pod(**new), rows), rows)


SCAN, S1 = {"service": "securityscan"}, {"security": "S1"}
WITH_SCAN = [("node1", {"labels": SCAN})]
SCANS, VIRUS = "service in securityscan,value2", "service in antivirusscan,value2"
NEAR_SCAN, FAR_VIRUS = term(SCANS, "region"), term(VIRUS, "node")
EXISTS = term("service; !wrongkey", "region")
TEAM1 = {"namespaceSelector": expressions("team in team1")}
ABC, DEF = {"abc": "", "xyz": ""}, {"def": "", "xyz": ""}
FAR_ABC_DEF = [term("abc", "zone"), term("def", "zone")]


@pytest.mark.parametrize(
    ("new", "placed", "expected"),
    [
        pytest.param({}, [], "", id="nothing required"),
        pytest.param({"labels": S1, "near": [NEAR_SCAN]}, WITH_SCAN, "", id="in"),
        pytest.param(
            {"labels": S1, "near": [term("service notin securityscan3,value3", "region")]}, WITH_SCAN, "", id="not in",
        ),
        pytest.param(
            {"labels": S1, "near": [term(SCANS, "", namespaces=["DiffNameSpace"])]},
            [("node1", {"labels": SCAN, "namespace": "ns"})], NOT_NEAR, id="another namespace",
        ),
        pytest.param({"labels": SCAN, "near": [term(VIRUS, "")]}, WITH_SCAN, NOT_NEAR, id="no such pod"),
        pytest.param(
            {"labels": S1, "near": [EXISTS, term("service in securityscan; service notin WrongValue", "region")]},
            WITH_SCAN, "", id="several terms",
        ),
        pytest.param(
            {"labels": S1, "near": [EXISTS, term("service in securityscan2; service notin WrongValue", "region")]},
            WITH_SCAN, NOT_NEAR, id="several terms, one without a pod",
        ),
        pytest.param({"labels": S1, "near": [NEAR_SCAN], "far": [FAR_VIRUS]}, WITH_SCAN, "", id="near and far"),
        pytest.param(
            {"labels": S1, "near": [NEAR_SCAN], "far": [FAR_VIRUS]}, [("node1", {"labels": SCAN, "far": [FAR_VIRUS]})],
            "", id="near and far, both ways",
        ),
        pytest.param(
            {"labels": S1, "near": [NEAR_SCAN], "far": [term(SCANS, "zone")]}, WITH_SCAN, FAR, id="near but not far",
        ),
        pytest.param(
            {"labels": SCAN, "near": [NEAR_SCAN], "far": [FAR_VIRUS]},
            [("node1", {"labels": SCAN, "far": [term(SCANS, "zone")]})], UNWELCOME, id="near and far, but unwelcome",
        ),
        pytest.param(
            {"labels": SCAN, "near": [term("service notin securityscan,value2", "region")]},
            [("node2", {"labels": SCAN})], NOT_NEAR, id="a pod of a node that is gone",
        ),
        pytest.param({"labels": SCAN}, [("node1", {"labels": SCAN, "far": [term(SCANS, "zone")]})], UNWELCOME, id="un"),
        pytest.param(
            {"labels": SCAN}, [("node1", {"labels": SCAN, "far": [term("service notin securityscan,value2", "zone")]})],
            "", id="welcome",
        ),
        pytest.param(
            {"labels": SCAN, "far": [term("service", "region"), term("security", "region")]},
            [("node1", {"labels": S1, "far": [term("security", "zone")]})], FAR, id="the other is not far enough",
        ),
        pytest.param(
            {"labels": SCAN, "far": [term("service", "zone"), term("security", "zone")]},
            [("node1", {"labels": S1, "far": [term("security", "zone")]})], FAR, id="a1",
        ),
        pytest.param(
            {"labels": S1, "far": [term("security", "zone")]},
            [("node1", {"labels": SCAN, "far": [term("service", "zone"), term("security", "zone")]})], UNWELCOME,
            id="a2",
        ),
        pytest.param(
            {"labels": ABC, "far": FAR_ABC_DEF}, [("node1", {"labels": DEF, "far": FAR_ABC_DEF})], FAR, id="b1",
        ),
        pytest.param(
            {"labels": DEF, "far": FAR_ABC_DEF}, [("node1", {"labels": ABC, "far": FAR_ABC_DEF})], FAR, id="b2",
        ),
        pytest.param(
            {"labels": S1, "near": [term(SCANS, "region", **TEAM1)]},
            [("node1", {"labels": SCAN, "namespace": "subteam1.team1"})], "", id="near in a team's namespaces",
        ),
        pytest.param(
            {"labels": S1, "near": [term(SCANS, "region", **TEAM1)]},
            [("node1", {"labels": SCAN, "namespace": "subteam1.team2"})], NOT_NEAR, id="near in another team's",
        ),
        pytest.param(
            {"labels": S1, "namespace": "subteam1.team1", "far": [term(SCANS, "zone", **TEAM1)]},
            [("node1", {"labels": SCAN, "namespace": "subteam2.team1"})], FAR, id="far in a team's namespaces",
        ),
        pytest.param(
            {"labels": S1, "namespace": "subteam1.team1", "far": [term(SCANS, "zone", namespaceSelector={})]},
            [("node1", {"labels": SCAN, "namespace": "subteam2.team1"})], FAR, id="far in any namespace",
        ),
        pytest.param(
            {"labels": S1, "namespace": "subteam1.team1", "far": [term(SCANS, "zone", **TEAM1)]},
            [("node1", {"labels": SCAN, "namespace": "subteam1.team2"})], "", id="far in another team's",
        ),
    ],
)  # fmt: skip
def test_one_node(new, placed, expected):
    assert told(new, placed, {"node1": {"region": "r1", "zone": "z11"}}) == [expected]


BAD = (
    'values[0][service]: Invalid value: "{{.bad-value.}}": a valid label must be an empty string or consist of '
    "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
    "or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("kind", "rule", "word"),
    [
        ("podAffinity", REQUIRED, "requiredAffinityTerms"),
        ("podAntiAffinity", REQUIRED, "requiredAntiAffinityTerms"),
        ("podAffinity", PREFERRED, "preferredAffinityTerms"),
        ("podAntiAffinity", PREFERRED, "preferredAntiAffinityTerms"),
    ],
)
def test_terms_that_cannot_be_read(kind, rule, word):
    bad, nodes = term("service in {{.bad-value.}}", "region"), table({"name": "node1"})
    new = pod(SCAN)
    new["spec"]["affinity"] = {kind: {rule: [bad if rule == REQUIRED else {"weight": 5, "podAffinityTerm": bad}]}}

    assert verdicts(build(), pod_info(new, nodes), nodes) == [f"! parsing pod: {word}: {BAD}"]


CHINA, CHINA_AZ1, INDIA = {"region": "China"}, {"region": "China", "az": "az1"}, {"region": "India"}
THREE = {"nodeA": CHINA, "nodeB": CHINA_AZ1, "nodeC": INDIA}
TWO_ZONES = {
    "nodeA": {"region": "r1", "zone": "z1", "hostname": "nodeA"},
    "nodeB": {"region": "r1", "zone": "z2", "hostname": "nodeB"},
}
THREE_ZONES = {**TWO_ZONES, "nodeC": {"region": "r1", "zone": "z3", "hostname": "nodeC"}}
ONE_ZONE = {**TWO_ZONES, "nodeB": {"region": "r1", "zone": "z1", "hostname": "nodeB"}}
COLLECTION = {
    "labels": {"foo": "bar", **SCAN},
    "near": [term("foo in bar", "zone"), term("service in securityscan", "zone")],
}
FOO_BAR, BOTH_FAR = {"foo": "", "bar": ""}, [term("foo", "region"), term("bar", "zone")]
HALF_FAR = [term("foo", "invalid-node-label"), term("bar", "zone")]


@pytest.mark.parametrize(
    ("new", "placed", "nodes", "expected"),
    [
        pytest.param(
            {"near": [term("foo in bar", "region")]},
            [("nodeA", {"labels": {"foo": "bar"}})], THREE, ["", "", NOT_NEAR],
            id="near in the region",
        ),
        pytest.param(
            COLLECTION, [("nodeA", {"labels": {"foo": "bar"}})],
            {"nodeA": {"zone": "az1", "hostname": "h1"}, "nodeB": {"zone": "az2", "hostname": "h2"}}, ["", ""],
            id="the first of a collection goes anywhere",
        ),
        pytest.param(
            COLLECTION, [("nodeA", {"labels": {"foo": "bar"}})],
            {"nodeA": {"zoneLabel": "az1", "hostname": "h1"}, "nodeB": {"zoneLabel": "az2", "hostname": "h2"}},
            [NOT_NEAR, NOT_NEAR],
            id="but where the label is",
        ),
        pytest.param(
            {"far": [term("foo in abc", "region")]}, [("nodeA", {"labels": {"foo": "abc"}})],
            {"nodeA": {"region": "r1", "hostname": "nodeA"}, "nodeB": {"region": "r1", "hostname": "nodeB"}},
            [FAR, FAR],
            id="far in the region",
        ),
        pytest.param(
            {"far": [term("foo in abc", "region"), term("service in securityscan", "zone")]},
            [("nodeA", {"labels": {"foo": "abc", **SCAN}})], TWO_ZONES, [FAR, FAR],
            id="any term is enough",
        ),
        pytest.param(
            {"far": [term("foo in abc", "region")]},
            [("nodeA", {"labels": {"foo": "abc"}})], THREE, [FAR, FAR, ""],
            id="far in one of two regions",
        ),
        pytest.param(
            {"labels": {"foo": "123"}, "namespace": "NS1", "far": [term("foo in bar", "region")]},
            [
                ("nodeA", {"labels": {"foo": "bar"}, "namespace": "NS1"}),
                ("nodeC", {"namespace": "NS2", "far": [term("foo in 123", "region")]}),
            ],
            THREE, [FAR, FAR, ""],
            id="another namespace does not mind",
        ),
        pytest.param(
            {"labels": {"foo": ""}},
            [("nodeA", {"far": [term("foo", "invalid-node-label")]})], ONE_ZONE, ["", ""],
            id="unwelcome by a label that no node has",
        ),
        pytest.param(
            {"far": [term("foo", "invalid-node-label")]},
            [("nodeA", {"labels": {"foo": ""}})], ONE_ZONE, ["", ""],
            id="far by a label that no node has",
        ),
        pytest.param(
            {"labels": FOO_BAR},
            [("nodeA", {"far": [term("foo", "zone")]}), ("nodeA", {"far": [term("bar", "region")]})],
            TWO_ZONES, [UNWELCOME, UNWELCOME],
            id="unwelcome everywhere",
        ),
        pytest.param(
            {"far": [term("foo", "zone"), term("bar", "region")]},
            [("nodeA", {"labels": {"foo": ""}}), ("nodeB", {"labels": {"bar": ""}})], TWO_ZONES, [FAR, FAR],
            id="far from each node's pod",
        ),
        pytest.param(
            {"labels": FOO_BAR}, [("nodeA", {"far": HALF_FAR})], TWO_ZONES, [UNWELCOME, ""],
            id="unwelcome by one of two labels",
        ),
        pytest.param(
            {"far": HALF_FAR}, [("nodeA", {"labels": FOO_BAR})], TWO_ZONES, [FAR, ""], id="far by one of two labels"
        ),
        pytest.param(
            {"labels": FOO_BAR}, [("nodeA", {"far": BOTH_FAR})], TWO_ZONES, [UNWELCOME, UNWELCOME],
            id="unwelcome by both labels",
        ),
        pytest.param(
            {"far": BOTH_FAR}, [("nodeA", {"labels": FOO_BAR})], TWO_ZONES, [FAR, FAR], id="far by both labels"
        ),
        pytest.param(
            {"labels": FOO_BAR},
            [
                ("nodeA", {"far": [term("foo", "zone"), term("labelA", "zone")]}),
                ("nodeB", {"far": [term("bar", "zone"), term("labelB", "zone")]}),
            ],
            THREE_ZONES, [UNWELCOME, UNWELCOME, ""],
            id="unwelcome in two of three zones",
        ),
        pytest.param(
            {"near": BOTH_FAR}, [("nodeA", {"labels": FOO_BAR})], ONE_ZONE, ["", ""], id="near to one pod by both"
        ),
        pytest.param(
            {"near": BOTH_FAR},
            [("nodeA", {"labels": {"foo": ""}}), ("nodeB", {"labels": {"bar": ""}})], TWO_ZONES, [NOT_NEAR, NOT_NEAR],
            id="near to two pods, but to none by both",
        ),
    ],
)  # fmt: skip
def test_several_nodes(new, placed, nodes, expected):
    assert told(new, placed, nodes) == expected


A, B = {"aaa": ""}, {"bbb": ""}


@pytest.mark.parametrize(
    ("labels", "near", "far", "is_near", "is_far"),
    [
        pytest.param(None, (), (), True, True, id="nothing at all"),
        pytest.param(A, (), (), True, True, id="no terms"),
        pytest.param(B, ("aaa",), ("aaa",), False, True, id="no pod"),
        pytest.param(A, ("aaa",), ("aaa",), True, False, id="one term"),
        pytest.param({**A, **B}, ("aaa", "bbb"), ("aaa",), True, False, id="two terms to be near"),
        pytest.param(A, ("aaa", "bbb"), ("aaa", "bbb"), False, False, id="only far"),
        pytest.param({**A, **B}, ("aaa", "ccc"), ("aaa", "ccc"), False, False, id="only far, one of two terms"),
        pytest.param(B, ("aaa", "bbb"), ("aaa", "bbb"), False, False, id="only far, the other of two terms"),
    ],
)
def test_pods_are_near_by_all_terms_and_far_by_any(labels, near, far, is_near, is_far):
    """Upstream counts pods per domain here (TestGetTPMapMatchingIncomingAffinityAntiAffinity): what counts is whether."""
    placed = [("nodeA", {"labels": labels})] if labels is not None else []
    nodes = {"nodeA": {"hostname": "nodeA"}}
    near, far = ([term(each, "hostname") for each in keys] for keys in (near, far))

    assert told({"near": near}, placed, nodes) == ["" if is_near else NOT_NEAR]
    assert told({"far": far}, placed, nodes) == ["" if is_far else FAR]


FAR_FOO_BAR = [term("foo in bar", "region")]
COMPLEX = [term("foo in bar,buzz", "region"), term("service notin bar,security,test", "zone")]
ZONES = {
    "nodeA": {"region": "r1", "zone": "z11"},
    "nodeB": {"region": "r1", "zone": "z12"},
    "nodeC": {"region": "r2", "zone": "z21"},
}
FOO = {"foo": "bar"}


@pytest.mark.parametrize(
    ("new", "second", "added", "before", "after"),
    [
        pytest.param(
            {"far": FAR_FOO_BAR}, {"far": FAR_FOO_BAR}, ("nodeB", {"labels": FOO, "far": FAR_FOO_BAR}),
            [FAR, FAR, UNWELCOME], [FAR, FAR, UNWELCOME],
            id="far",
        ),
        pytest.param(
            {"far": COMPLEX}, {"far": FAR_FOO_BAR}, ("nodeA", {"labels": FOO, "far": COMPLEX}),
            [FAR, FAR, FAR], [FAR, FAR, FAR],
            id="far by several terms",
        ),
        pytest.param(
            {"near": COMPLEX}, {"far": FAR_FOO_BAR, "near": COMPLEX}, ("nodeA", {"labels": FOO, "far": COMPLEX}),
            ["", NOT_NEAR, NOT_NEAR], [UNWELCOME, NOT_NEAR, NOT_NEAR],
            id="near",
        ),
    ],
)  # fmt: skip
def test_a_pod_that_comes_and_goes(new, second, added, before, after):
    """Preemption takes pods away and puts them back: the answer follows, and leaves no trace."""
    nodes = table(*({"name": name, "labels": labels} for name, labels in ZONES.items()))
    nodes.put_pod(pod(FOO, name="p1"), "nodeA")
    nodes.put_pod(pod(**second, name="p2"), "nodeC")
    plugin, info = build(), pod_info(pod(FOO, **new), nodes)

    said = [verdicts(plugin, info, nodes)]
    nodes.put_pod(pod(**added[1], name="added"), added[0])
    said.append(verdicts(plugin, info, nodes))
    nodes.remove_pod("default/added", added[0])
    said.append(verdicts(plugin, info, nodes))

    assert said == [before, after, before]


@pytest.mark.parametrize(
    ("field", "labels", "expected"),
    [
        pytest.param("matchLabelKeys", {"app": "web", "version": "1"}, "", id="the same version is there"),
        pytest.param("matchLabelKeys", {"app": "web", "version": "2"}, NOT_NEAR, id="another version is there"),
        pytest.param("mismatchLabelKeys", {"app": "web", "version": "1"}, NOT_NEAR, id="not of the same version"),
        pytest.param("mismatchLabelKeys", {"app": "web", "version": "2"}, "", id="of another version"),
    ],
)
def test_label_keys_join_the_selector(field, labels, expected):
    """Source: kubernetes ``pkg/registry/core/pod/strategy.go`` (applyMatchLabelKeysAndMismatchLabelKeys)."""
    new = {"labels": {"app": "db", "version": "1"}, "near": [term("app in web", "zone", **{field: ["version"]})]}

    assert told(new, [("node1", {"labels": labels})], {"node1": {"zone": "z"}}) == [expected]


def test_what_may_help_wakes_the_pods_that_were_refused():
    assert {"node", "pod", "pod gone"} <= InterPodAffinity.events_to_register
