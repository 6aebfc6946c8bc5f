"""How soft constraints score nodes, number by number.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/podtopologyspread/scoring_test.go``. Nodes are
written ``a b+foo x-zone y!~``: one more label, one label less, a taint, not a candidate; pods as the name of their
node with their labels, ``a*2 b:foo,bar``, ``foo`` alone unless told.
"""

import re

import numpy as np
import pytest
from hyperkube_scheduler.pod_topology_spread import HARD, SOFT, PodTopologySpread, like_pods, with_all_keys
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import REPLICA_SETS, SERVICES
from hyperkube.plugin import PluginContext

HOST, SYSTEM_ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODE = re.compile(r"(\w)(\+\w+)?(-\w+)?(!?)(~?)")
POD = re.compile(r"(\w)(?:\*(\d))?(?::([\w,]+))?(?:/(\w+))?(~?)")
ZONES = {**dict.fromkeys("ab", "zone1"), **dict.fromkeys("xycd", "zone2")}
CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def pod(name, labels, namespace="default", **spec):
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def flags(text):
    return dict.fromkeys(text.split(","), "")


def world(nodes, pods):
    filled, candidates = [], []
    for name, more, less, tainted, failed in (NODE.fullmatch(word).groups() for word in nodes.split()):
        labels = {"zone": ZONES[name], "node": name, HOST: name}
        labels |= {more[1:]: ""} if more else {}
        labels.pop({"-host": HOST, "-zone": "zone"}.get(less), None)
        filled.append({"name": name, "labels": labels, "taints": [CORDONED] if tainted else []})
        candidates.append(not failed)
    result = table(*filled)
    for word in pods.split():
        node, count, labels, namespace, ending = POD.fullmatch(word).groups()
        for number in range(int(count or 1)):
            each = pod(f"{word}-{number}", flags(labels or "foo"), namespace or "default")
            if ending:
                each["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
            result.put_pod(each, node)
    return result, np.array(candidates)


def row(key, select="foo", skew=1, **more):
    made = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": SOFT, **more}
    if select is not None:
        made["labelSelector"] = {"matchExpressions": [{"key": select, "operator": "Exists"}]} if select else {}
    return made


def scored(plugin, new, nodes, candidates):
    """The candidates' scores, as the scheduler gets them."""
    info = pod_info(new, nodes)
    if plugin.skips_score(info, nodes):
        return None
    return plugin.normalize(info, nodes, plugin.score(info, nodes), candidates)[candidates].tolist()


def affinity(key):
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [""]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


HOSTS, ZONED, EACH = row(HOST), row("zone"), row("node")
TWO = [ZONED, row(HOST, "bar")]
FALLING, SPREAD, SIX = "a*4 b*3 c*2 d", "a*4 b*2 x y*3", "a*2 b d*3"
FOO_BAR, THREE = {"labels": "foo,bar"}, {"labels": "foo,bar,baz"}
ONLY_FOO, IN_FOO = {"nodeSelector": {"foo": ""}}, affinity("foo")
ANY_NODE, NO_TAINT = {"nodeAffinityPolicy": "Ignore"}, {"nodeTaintsPolicy": "Honor"}


@pytest.mark.parametrize(
    ("rows", "nodes", "pods", "spec", "expected"),
    [
        pytest.param([HOSTS], "a b", "", {}, [100, 100], id="hosts, no pods"),
        pytest.param([HOSTS], "a b~", "a*2 b", {}, [100], id="hosts, one candidate"),
        pytest.param([HOSTS], "a b", "a b", {}, [100, 100], id="hosts, equal"),
        pytest.param([HOSTS], "a b c d", SIX, {}, [20, 60, 100, 0], id="hosts 2 1 0 3"),
        pytest.param([row(HOST, None)], "a b c d", SIX, {}, [100, 100, 100, 100], id="hosts, no selector"),
        pytest.param([row(HOST, "")], "a b c d", SIX, {}, [100, 100, 100, 100], id="hosts, empty selector"),
        pytest.param([row(HOST, skew=2)], "a b c d", SIX, {}, [33, 66, 100, 16], id="hosts 2 1 0 3, skew 2"),
        pytest.param([row(HOST, skew=3)], "a b c d", FALLING, {}, [44, 66, 77, 100], id="hosts 4 3 2 1, skew 3"),
        pytest.param([HOSTS], "a b x y~", SPREAD, {}, [33, 83, 100], id="hosts 4 2 1, three candidates"),
        pytest.param([HOSTS], "a b-host x y~", SPREAD, {}, [16, 0, 100], id="hosts, one without the label"),
        pytest.param([ZONED], "a b x y~", SPREAD, {}, [75, 75, 100], id="zones 6 4"),
        pytest.param([ZONED, HOSTS], "a x b~ y~", "a*2 b x*2 y*4", {}, [100, 63], id="zones and hosts"),
        pytest.param(TWO, "a b x y", "a b:foo,bar y y:bar", FOO_BAR, [60, 20, 100, 60], id="two selectors"),
        pytest.param(TWO, "a b x y", "b:bar x y:foo,bar", FOO_BAR, [100, 60, 40, 0], id="two selectors, zone empty"),
        pytest.param(
            TWO, "a b x y~", "a b:foo,bar y y:bar", FOO_BAR, [50, 25, 100], id="two selectors, three candidates",
        ),
        pytest.param([HOSTS], "a b", "a/ns1 a b*2", {}, [100, 33], id="other namespaces"),
        pytest.param([HOSTS], "a b", "a~ b", {}, [100, 0], id="ending pods"),
        pytest.param([row("node", skew=2, minDomains=10)], "a b c", "a*2 b*2 c", {}, [75, 75, 100], id="min domains"),
        pytest.param([EACH], "a+foo b+foo c", "a*2 b c", ONLY_FOO, [0, 33, 100], id="node selector honoured"),
        pytest.param(
            [{**EACH, **ANY_NODE}], "a+foo b+foo c", "a*2 b c", ONLY_FOO, [66, 100, 100], id="node selector ignored",
        ),
        pytest.param([EACH], "a+foo b+foo c", "a*2 b c", IN_FOO, [0, 33, 100], id="node affinity honoured"),
        pytest.param(
            [{**EACH, **ANY_NODE}], "a+foo b+foo c", "a*2 b c", IN_FOO, [66, 100, 100], id="node affinity ignored",
        ),
        pytest.param([{**EACH, **NO_TAINT}], "a b c!", "a*2 b c", {}, [0, 33, 100], id="taints honoured"),
        pytest.param([EACH], "a b c!", "a*2 b c", {}, [66, 100, 100], id="taints ignored"),
        pytest.param(
            [row("zone", "", matchLabelKeys=["foo"]), row(HOST, "", matchLabelKeys=["bar"])], "a b c d",
            "a b:foo,bar c c:bar", FOO_BAR, [60, 20, 60, 100], id="label keys with an empty selector",
        ),
        pytest.param(
            [ZONED, row(HOST, "bar", matchLabelKeys=["baz"])], "a b c d", "a b:foo,bar,baz c c:bar c:bar,baz", THREE,
            [60, 20, 60, 100], id="label keys narrow the selector",
        ),
    ],
)  # fmt: skip
def test_scores(rows, nodes, pods, spec, expected):
    nodes, candidates = world(nodes, pods)
    spec = dict(spec)
    new = pod("new", flags(spec.pop("labels", "foo")), topologySpreadConstraints=rows, **spec)

    assert scored(PodTopologySpread(None), new, nodes, candidates) == expected


def build(service=None, owner=None, **settings):
    """The plugin with these settings, among one service of that selector and one replica set, as (name, label)."""
    client = FakeClient()
    if service:
        client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": service}})
    if owner:
        name, label = owner
        selector = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
        client.create(
            REPLICA_SETS, {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": selector}}
        )
    informers = InformerFactory(client)
    informers.start()
    return PodTopologySpread(PluginContext(name="p", client=client, informers=informers, settings=settings))


def owned(name, labels, **spec):
    made = pod("new", labels, **spec)
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "controller": True}
    ]
    return made


def test_system_defaults_without_zones_score_like_one_constraint_on_hosts():
    nodes, candidates = world("a b c d", FALLING)

    assert scored(build({"foo": ""}), pod("new", {"foo": ""}), nodes, candidates) == [44, 66, 77, 100]


DEFAULTS = [
    {"topologyKey": HOST, "maxSkew": 1, "whenUnsatisfiable": SOFT},
    {"topologyKey": "rack", "maxSkew": 2, "whenUnsatisfiable": HARD},
    {"topologyKey": "planet", "maxSkew": 2, "whenUnsatisfiable": SOFT},
]
TAR, SUP = {"foo": "tar", "baz": "sup"}, {"foo": "bar", "baz": "sup"}
OWN = [
    {**row("zone", "bar"), "whenUnsatisfiable": HARD},
    {**row("planet", None, 2), "labelSelector": {"matchLabels": {"baz": "sup"}}},
]


@pytest.mark.parametrize(
    ("plugin", "new", "expected"),
    [
        pytest.param(
            {"owner": ("rs1", "foo"), "defaultingType": "System"}, owned("rs1", TAR),
            [(HOST, 3, "foo"), (SYSTEM_ZONE, 5, "foo")], id="of the system",
        ),
        pytest.param(
            {"owner": ("rs1", "foo"), "defaultingType": "List", "defaultConstraints": DEFAULTS}, owned("rs1", TAR),
            [(HOST, 1, "foo"), ("planet", 2, "foo")], id="of the settings",
        ),
        pytest.param(
            {"owner": ("rs1", "foo"), "defaultingType": "List", "defaultConstraints": [{**DEFAULTS[2], "maxSkew": 1}]},
            owned("rs1", SUP, topologySpreadConstraints=OWN), [("planet", 2, "baz=sup")], id="the pod's own instead",
        ),
        pytest.param({"defaultingType": "List"}, pod("new", {}), None, id="none at all"),
        pytest.param(
            {"owner": ("rs1", "tar"), "defaultingType": "List", "defaultConstraints": DEFAULTS[2:]},
            owned("rs2", SUP), None, id="a replica set of others",
        ),
    ],
)  # fmt: skip
def test_usual_constraints(plugin, new, expected):
    built, (nodes, _) = build(**plugin), world("a", "")
    info = pod_info(new, nodes)

    assert built.skips_score(info, nodes) is (expected is None)
    read = [(each.key, each.max_skew, str(each.selector)) for each in built.constraints(info, SOFT)]
    assert read == (expected or [])


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param("a b c d", [100, 100, 54, 54], id="every node in a zone"),
        pytest.param("a b c-zone d-zone", [66, 66, 100, 100], id="two without are one more zone"),
    ],
)
def test_system_defaults_keep_nodes_without_zone(nodes, expected):
    nodes, candidates = world(nodes, "c d")
    for index, name in enumerate(list(nodes.names)):
        zone = {SYSTEM_ZONE: "mars" if index < 2 else "venus"} if nodes.label_exists("zone")[index] else {}
        labels = {HOST: name, **zone}
        nodes.put_node({"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {}})
    new = pod("new", {"foo": ""})

    assert scored(build({"foo": ""}), new, nodes, candidates) == expected


@pytest.mark.parametrize(
    ("rows", "nodes", "spec", "domains", "ignored"),
    [
        pytest.param([ZONED, HOSTS], "a b x", {}, ["zone1 zone2", "a b x"], "", id="two keys"),
        pytest.param([row("zone", None)], "a b x", {}, ["zone1 zone2"], "", id="no selector"),
        pytest.param([ZONED, row(HOST, "bar")], "a b x-zone", {}, ["zone1", "a b"], "x", id="a node without zone"),
        pytest.param([row("zone", "bar")], "a+foo b+foo x", ONLY_FOO, ["zone1"], "", id="node selector honoured"),
        pytest.param(
            [row("zone", "bar", **ANY_NODE)], "a+foo b+foo x", ONLY_FOO, ["zone1 zone2"], "", id="node selector ignored",
        ),
        pytest.param([row("zone", "bar")], "a+foo b+foo x", IN_FOO, ["zone1"], "", id="node affinity honoured"),
        pytest.param(
            [row("zone", "bar", **ANY_NODE)], "a+foo b+foo x", IN_FOO, ["zone1 zone2"], "", id="node affinity ignored",
        ),
        pytest.param([row("zone", "bar", **NO_TAINT)], "a b x!", {}, ["zone1"], "", id="taints honoured"),
        pytest.param([row("zone", "bar")], "a b x!", {}, ["zone1 zone2"], "", id="taints ignored"),
    ],
)  # fmt: skip
def test_domains_that_are_counted(rows, nodes, spec, domains, ignored):
    """Upstream lists the candidates' domains, which start at zero; here those that are counted."""
    nodes, _ = world(nodes, "")
    plugin = PodTopologySpread(None)
    info = pod_info(pod("new", {"foo": ""}, topologySpreadConstraints=rows, **spec), nodes)
    constraints = plugin.constraints(info, SOFT)
    labelled, told = with_all_keys(nodes, constraints), []
    for each in constraints:
        _, there, codes = like_pods(info, nodes, each, labelled)
        values = nodes.label_codes(each.key)[1]
        told.append(" ".join(sorted(values[code] for code in set(codes.tolist()) if there[code])))

    assert told == domains
    assert " ".join(name for name, has in zip(nodes.names, labelled, strict=True) if not has) == ignored
