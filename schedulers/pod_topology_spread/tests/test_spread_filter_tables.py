"""What counts in each domain and what the filter says of each node, case by case.

Source of the numbers and verdicts: kubernetes ``pkg/scheduler/framework/plugins/podtopologyspread/filtering_test.go``.
Nodes are written ``b@zone2+foo=bar-node!``: another zone, one more label, one label less, a taint. Pods are written
``a*2:foo,bar/ns1~``: the node, how many, the labels (``foo`` alone unless told), the namespace, ending.
"""

import re

import pytest
from hyperkube_scheduler.pod_topology_spread import (
    HARD,
    LABEL_REASON,
    REASON,
    SOFT,
    PodTopologySpread,
    like_pods,
    with_all_keys,
)
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.plugin import PluginContext

NODE = re.compile(r"(\w)(?:@(\w+))?((?:\+[\w=]+)*)(?:-(\w+))?(!?)")
POD = re.compile(r"(\w)(?:\*(\d))?(:[\w,=]*)?(?:/(\w+))?(~?)")
ZONES = {**dict.fromkeys("ab", "zone1"), **dict.fromkeys("xycd", "zone2"), **dict.fromkeys("op", "zone3")}
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CORDONED = {"key": UNSCHEDULABLE, "effect": "NoSchedule"}


def labels_from(text):
    return {word.partition("=")[0]: word.partition("=")[2] for word in text.split(",") if word}


def pod(name, labels="foo", namespace="default", **spec):
    meta = {"name": name, "namespace": namespace, "uid": name, "labels": labels_from(labels)}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def world(nodes, pods):
    filled = []
    for name, zone, more, less, tainted in (NODE.fullmatch(word).groups() for word in nodes.split()):
        labels = {"zone": zone or ZONES[name], "node": name, **labels_from(more.replace("+", ","))}
        labels.pop(less, None)
        filled.append({"name": name, "labels": labels, "taints": [CORDONED] if tainted else []})
    result = table(*filled)
    for word in pods.split():
        add(result, word)
    return result


def add(nodes, word):
    name, count, labels, namespace, ending = POD.fullmatch(word).groups()
    for number in range(int(count or 1)):
        each = pod(f"{word}-{number}", (labels or ":foo")[1:], namespace or "default")
        if ending:
            each["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
        nodes.put_pod(each, name)


def row(key, select="foo", skew=1, when=HARD, **more):
    """A constraint: `select` is a label that must exist, ``label=value``, empty, or None for no selector."""
    made = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when, **more}
    if select is not None:
        label, equals, value = select.partition("=")
        exists = {"matchExpressions": [{"key": label, "operator": "Exists"}]} if label else {}
        made["labelSelector"] = {"matchLabels": {label: value}} if equals else exists
    return made


def counted(plugin, info, nodes):
    """The hard constraints' numbers: ``zone1=3 zone2=2 | a=2 b=1``."""
    constraints = plugin.constraints(info, HARD)
    labelled, told = with_all_keys(nodes, constraints), []
    for each in constraints:
        sums, there, codes = like_pods(info, nodes, each, labelled)
        values = nodes.label_codes(each.key)[1]
        told.append(" ".join(sorted(f"{values[code]}={sums[code]}" for code in set(codes.tolist()) if there[code])))
    return " | ".join(told)


def affinity(key, operator, *values):
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


ZONE, EACH = row("zone"), row("node")
BAR = row("node", "bar")
ONLY_FOO, IN_FOO, NOT_BAR = {"nodeSelector": {"foo": ""}}, affinity("foo", "In", ""), affinity("foo", "NotIn", "bar")
TOLERANT = {"tolerations": [{"key": UNSCHEDULABLE, "operator": "Exists"}]}
ANY_NODE, NO_TAINT = {"nodeAffinityPolicy": "Ignore"}, {"nodeTaintsPolicy": "Honor"}
FEW, MANY = "a*2 b y*2", "a*2 b y*4"
SOME_FOO, ONE_TAINT = "a+foo b+foo c+bar", "a b c+bar!"
BARS = "a:bar b*2:bar c:"
ALIKE = "a*2:foo=a b:foo=a y*2:foo=a"


@pytest.mark.parametrize(
    ("rows", "nodes", "pods", "spec", "expected"),
    [
        pytest.param([row("zone", "foo=bar", 5)], "a b x y", "", {}, "zone1=0 zone2=0", id="empty cluster"),
        pytest.param([ZONE], "a b x y", FEW, {}, "zone1=3 zone2=2", id="one constraint"),
        pytest.param([row("zone", None)], "a b x y", FEW, {}, "zone1=0 zone2=0", id="no selector"),
        pytest.param([row("zone", "")], "a b x y", FEW, {}, "zone1=0 zone2=0", id="empty selector"),
        pytest.param([ZONE], "a b x y o p", FEW, {}, "zone1=3 zone2=2 zone3=0", id="three zones"),
        pytest.param([ZONE], "a b x y", "a a/ns1 b y/ns2 y", {}, "zone1=2 zone2=1", id="other namespaces"),
        pytest.param([ZONE, EACH], "a b x y", MANY, {}, "zone1=3 zone2=4 | a=2 b=1 x=0 y=4", id="two constraints"),
        pytest.param(
            [row("zone", when=SOFT), ZONE, row("node", when=SOFT), EACH], "a b y", MANY, {},
            "zone1=3 zone2=4 | a=2 b=1 y=4", id="soft ones left out",
        ),
        pytest.param([ZONE, BAR], "a b y", "a b:bar", {}, "zone1=1 zone2=0 | a=0 b=1 y=0", id="two selectors"),
        pytest.param(
            [ZONE, BAR], "a b y", "a a:foo,bar b y*2 y*2:foo,bar", {"labels": "foo,bar"},
            "zone1=3 zone2=4 | a=1 b=0 y=2", id="two selectors, pods matching both",
        ),
        pytest.param(
            [ZONE, EACH], "a b x y", MANY, affinity("node", "NotIn", "x"), "zone1=3 zone2=4 | a=2 b=1 y=4",
            id="node affinity leaves a node out",
        ),
        pytest.param([BAR], SOME_FOO, BARS, ONLY_FOO, "a=1 b=2", id="node selector honoured"),
        pytest.param([{**BAR, **ANY_NODE}], SOME_FOO, BARS, ONLY_FOO, "a=1 b=2 c=0", id="node selector ignored"),
        pytest.param([BAR], SOME_FOO, BARS, IN_FOO, "a=1 b=2", id="node affinity honoured"),
        pytest.param([{**BAR, **ANY_NODE}], SOME_FOO, BARS, IN_FOO, "a=1 b=2 c=0", id="node affinity ignored"),
        pytest.param([BAR], ONE_TAINT, BARS, {}, "a=1 b=2 c=0", id="taints ignored"),
        pytest.param([{**BAR, **NO_TAINT}], ONE_TAINT, BARS, {}, "a=1 b=2", id="taints honoured"),
        pytest.param([{**BAR, **NO_TAINT}], ONE_TAINT, BARS, TOLERANT, "a=1 b=2 c=0", id="taints tolerated"),
        pytest.param(
            [ZONE, {**EACH, **ANY_NODE}], "a+foo b x+foo", "b*2 x", ONLY_FOO, "zone1=0 zone2=1 | a=0 b=2 x=1",
            id="zone honours affinity, node ignores all",
        ),
        pytest.param(
            [{**ZONE, **NO_TAINT}, EACH], "a+foo b! x+foo", "b*2 x", {}, "zone1=0 zone2=1 | a=0 b=2 x=1",
            id="zone honours both, node honours affinity",
        ),
        pytest.param(
            [ZONE, EACH], "a b+foo! x+foo y", "a*2 x y", ONLY_FOO, "zone1=0 zone2=1 | b=0 x=1",
            id="both honour affinity",
        ),
        pytest.param(
            [{**ZONE, **ANY_NODE}, {**EACH, **NO_TAINT}], "a b+foo! x+foo y+foo", "a*2 x*2 y", ONLY_FOO,
            "zone1=2 zone2=3 | x=2 y=1", id="zone ignores all, node honours both",
        ),
        pytest.param(
            [row("zone", matchLabelKeys=["bar"])], "a b x y", "a a:foo,bar=a b y:foo,bar=a y:bar",
            {"labels": "foo,bar=a"}, "zone1=1 zone2=1", id="label keys narrow the selector",
        ),
        pytest.param(
            [row("zone", "", matchLabelKeys=["foo"])], "a b x y", ALIKE, {"labels": "foo=a"}, "zone1=3 zone2=2",
            id="label keys with an empty selector",
        ),
        pytest.param(
            [row("zone", None, matchLabelKeys=["bar"])], "a b x y", ALIKE, {}, "zone1=0 zone2=0",
            id="label keys without a selector",
        ),
        pytest.param(
            [row("zone", matchLabelKeys=["bar"])], "a b x y", ALIKE, {}, "zone1=3 zone2=2",
            id="label keys the pod has not",
        ),
    ],
)  # fmt: skip
def test_pods_of_each_domain(rows, nodes, pods, spec, expected):
    nodes = world(nodes, pods)
    info = pod_info(pod("new", topologySpreadConstraints=rows, **spec), nodes)

    assert counted(PodTopologySpread(None), info, nodes) == expected


BOTH = [ZONE, EACH]
MIXED = [ZONE, BAR]
ODD = "a+foo=bar b@zone2+foo"


@pytest.mark.parametrize(
    ("rows", "nodes", "pods", "added", "spec", "expected"),
    [
        pytest.param([EACH], "a b", "", "a", {}, "a=1 b=0", id="empty cluster"),
        pytest.param([EACH], "a b", "b", "a", {}, "a=1 b=1", id="now even"),
        pytest.param([EACH], "a b", "b", "a/ns1", {}, "a=0 b=1", id="another namespace"),
        pytest.param([EACH], "a b", "b", "b", {}, "a=0 b=2", id="on the fuller node"),
        pytest.param(BOTH, "a x", "", "a", {}, "zone1=1 zone2=0 | a=1 x=0", id="two keys, empty cluster"),
        pytest.param(BOTH, "a x", "x", "a", {}, "zone1=1 zone2=1 | a=1 x=1", id="two keys, now even"),
        pytest.param(BOTH, "a b x", "b*2 x", "a", {}, "zone1=3 zone2=1 | a=1 b=2 x=1", id="two keys, three nodes"),
        pytest.param(
            MIXED, "a b x", "b:foo,bar x:foo,bar x:bar", "a", {"labels": "foo,bar"},
            "zone1=2 zone2=1 | a=0 b=1 x=2", id="counts for the zone only",
        ),
        pytest.param(
            MIXED, "a b x", "b:bar x:foo,bar x:bar", "a:foo,bar", {"labels": "foo,bar"},
            "zone1=1 zone2=1 | a=1 b=1 x=2", id="counts for zone and node",
        ),
        pytest.param([ZONE], ODD, "a b", "a", NOT_BAR, "zone2=1", id="node affinity leaves its node out"),
        pytest.param([ZONE], ODD, "a b", "b", {}, "zone1=1 zone2=2", id="no node affinity"),
        pytest.param([ZONE], ODD, "a b", "b:", {}, "zone1=1 zone2=1", id="not selected"),
        pytest.param([ZONE], "a! b@zone2", "a b", "b", {}, "zone1=1 zone2=2", id="taints ignored"),
        pytest.param([ZONE], "a! b@zone2", "a b", "b", TOLERANT, "zone1=1 zone2=2", id="taints tolerated"),
    ],
)  # fmt: skip
def test_a_pod_added(rows, nodes, pods, added, spec, expected):
    nodes = world(nodes, pods)
    plugin, new = PodTopologySpread(None), pod("new", topologySpreadConstraints=rows, **spec)
    counted(plugin, pod_info(new, nodes), nodes)
    nodes.put_pod(pod("added", (POD.fullmatch(added)[3] or ":foo")[1:], POD.fullmatch(added)[4] or "default"), added[0])

    assert counted(plugin, pod_info(new, nodes), nodes) == expected


@pytest.mark.parametrize(
    ("rows", "nodes", "pods", "removed", "spec", "expected"),
    [
        pytest.param([ZONE], "a b x", "a b x", "a-0", {}, "zone1=1 zone2=1", id="now even"),
        pytest.param([ZONE], "a b x y", "a b x y", "a-0", {}, "zone1=1 zone2=2", id="no longer even"),
        pytest.param([ZONE], "a b x y", "a:bar a b x y", "a:bar-0", {}, "zone1=2 zone2=2", id="not selected"),
        pytest.param([ZONE], "a b x y", "a b x y", "unknown", {}, "zone1=2 zone2=2", id="not there"),
        pytest.param(BOTH, "a b x", "a*2 b x*2", "x*2-0", {}, "zone1=3 zone2=1 | a=2 b=1 x=1", id="two keys"),
        pytest.param([ZONE], ODD, "a b", "a-0", NOT_BAR, "zone2=1", id="node affinity leaves its node out"),
        pytest.param([ZONE], ODD, "a b", "b-0", {}, "zone1=1 zone2=0", id="the zone's last"),
    ],
)  # fmt: skip
def test_a_pod_removed(rows, nodes, pods, removed, spec, expected):
    nodes = world(nodes, pods)
    plugin, new = PodTopologySpread(None), pod("new", topologySpreadConstraints=rows, **spec)
    counted(plugin, pod_info(new, nodes), nodes)
    nodes.remove_pod(f"default/{removed}", removed[0] if removed[0] in nodes.names else "a")

    assert counted(plugin, pod_info(new, nodes), nodes) == expected


SIGNS = {"": ".", REASON: "s", f"! {LABEL_REASON}": "U"}
SPREAD, FULL = "a*2 b y*3", "a b y"
CLEAN, TAINTED = "a+foo b+foo x+foo y", "a+foo b+foo x+foo y!"


@pytest.mark.parametrize(
    ("rows", "nodes", "pods", "spec", "expected"),
    [
        pytest.param([ZONE], "a b x y", "", {}, "....", id="empty cluster"),
        pytest.param([row("zone", "bar")], "a b x y", "", {}, "....", id="the pod is not its own kind"),
        pytest.param([ZONE], "a b x y", "a/ns1 a/ns2 x y", {}, "..ss", id="other namespaces"),
        pytest.param([row("zone", None)], "a b x y", "x y", {}, "....", id="no selector"),
        pytest.param([ZONE], "a b x y", SPREAD, {}, "....", id="zones 3 3"),
        pytest.param([ZONE], "a b-zone x y", "a b x y", {}, ".Uss", id="a node without zone"),
        pytest.param([row("rack")], "a x", "", {}, "UU", id="no node has the key"),
        pytest.param([EACH], "a b x y", SPREAD, {}, "ss.s", id="nodes 2 1 0 3"),
        pytest.param([row("node", skew=2)], "a b x y", SPREAD, {}, "s..s", id="nodes 2 1 0 3, skew 2"),
        pytest.param([EACH], "a b x y", SPREAD, {"labels": "bar"}, "s..s", id="nodes 2 1 0 3, not its own kind"),
        pytest.param([EACH], "a b x y", SPREAD, affinity("node", "In", "a", "y"), "...s", id="affinity to a and y"),
        pytest.param([EACH], "a b", "a~ b", {}, ".s", id="ending pods"),
        pytest.param([ZONE], "a b x y", "b*2 y", affinity("node", "NotIn", "b"), "..ss", id="affinity against b"),
        pytest.param([row("node", skew=2, minDomains=4)], "a b c", "a*2 b*2 c", {}, "ss.", id="too few domains"),
        pytest.param([row("node", skew=2, minDomains=2)], "a b c", "a*2 b*2 c", {}, "...", id="enough domains"),
        pytest.param([row("zone", skew=2, minDomains=3)], "a b x y", "a b y", {}, "ss..", id="too few zones"),
        pytest.param([row("zone", skew=2, minDomains=1)], "a b x y", "a b y", {}, "....", id="enough zones"),
        pytest.param([EACH], CLEAN, FULL, ONLY_FOO, "ss..", id="node selector honoured"),
        pytest.param([{**EACH, **ANY_NODE}], CLEAN, FULL, ONLY_FOO, "ss.s", id="node selector ignored"),
        pytest.param([EACH], CLEAN, FULL, IN_FOO, "ss..", id="node affinity honoured"),
        pytest.param([{**EACH, **ANY_NODE}], CLEAN, FULL, IN_FOO, "ss.s", id="node affinity ignored"),
        pytest.param([{**EACH, **NO_TAINT}], TAINTED, FULL, {}, "ss..", id="taints honoured"),
        pytest.param([EACH], TAINTED, FULL, {}, "ss.s", id="taints ignored"),
        pytest.param([row("zone", "")], "a b x y", "x*3", {}, "....", id="empty selector counts none"),
        pytest.param(BOTH, "a b x y", SPREAD, {}, "ss.s", id="two keys, zones 3 3"),
        pytest.param(BOTH, "a b x y", MANY, {}, "ssss", id="two keys, zones 3 4"),
        pytest.param(MIXED, "a b x y", "a y:bar", {"labels": "foo,bar"}, "ss.s", id="selectors, 1 0 and 1 0 0 1"),
        pytest.param(MIXED, "a b x y", "a x:bar y:bar", {"labels": "foo,bar"}, "ssss", id="selectors, 1 0, 0 0 1 1"),
        pytest.param(
            MIXED, "a b x y", "a a:foo,bar y*2 y:foo,bar", {"labels": "foo,bar"}, "s.ss", id="selectors, 2 3, 1 0 0 1",
        ),
        pytest.param(MIXED, "a b x y", "a x:bar y:bar", {"labels": "bar"}, "..ss", id="selectors, one not its own"),
        pytest.param(BOTH, "a b x-node y", "a y", {}, "s.Us", id="a node without one of two keys"),
        pytest.param([ZONE, {**EACH, **ANY_NODE}], CLEAN, FULL, ONLY_FOO, "ss.s", id="node ignores affinity"),
        pytest.param([{**ZONE, **NO_TAINT}, EACH], TAINTED, FULL, {}, "ss.s", id="zone honours taints"),
        pytest.param(BOTH, "a+foo b x+foo y+foo!", FULL, ONLY_FOO, "s..s", id="both honour affinity"),
        pytest.param(
            [{**ZONE, **NO_TAINT}, {**EACH, **ANY_NODE}], "a+foo b x+foo y+foo!", FULL, ONLY_FOO, "ss.s",
            id="zone honours both, node ignores both",
        ),
    ],
)  # fmt: skip
def test_verdicts(rows, nodes, pods, spec, expected):
    nodes = world(nodes, pods)
    info = pod_info(pod("new", topologySpreadConstraints=rows, **spec), nodes)

    assert "".join(SIGNS[each] for each in verdicts(PodTopologySpread(None), info, nodes)) == expected


DEFAULTS = [row("node", None, 3), row("node", None, 2, SOFT), row("rack", None, 5)]


@pytest.mark.parametrize(
    ("defaults", "selector", "spec", "expected"),
    [
        pytest.param(DEFAULTS, "foo=bar", {}, [("node", 3, "foo=bar"), ("rack", 5, "foo=bar")], id="usual ones"),
        pytest.param(DEFAULTS[:1], "baz=kep", {}, None, id="a service of others"),
        pytest.param(
            DEFAULTS[:1], "foo=bar",
            {"topologySpreadConstraints": [row("zone", "baz=tar"), row("planet", "fot=rok", 2, SOFT)]},
            [("zone", 1, "baz=tar")], id="the pod's own instead",
        ),
        pytest.param(DEFAULTS[1:2], "foo=bar", {}, None, id="soft ones only"),
        pytest.param([], "foo=bar", {}, None, id="none"),
    ],
)  # fmt: skip
def test_usual_constraints(defaults, selector, spec, expected):
    client = FakeClient()
    meta = {"name": "s", "namespace": "default"}
    client.create(SERVICES, {"metadata": meta, "spec": {"selector": labels_from(selector)}})
    informers = InformerFactory(client)
    informers.start()
    settings = {"defaultingType": "List", "defaultConstraints": defaults}
    plugin = PodTopologySpread(PluginContext(name="p", client=client, informers=informers, settings=settings))
    nodes = world("a", "")
    info = pod_info(pod("new", "foo=bar,baz=tar", **spec), nodes)

    assert plugin.skips_filter(info, nodes) is (expected is None)
    read = [(each.key, each.max_skew, str(each.selector)) for each in plugin.constraints(info, HARD)]
    assert read == (expected or [])
