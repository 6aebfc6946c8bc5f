"""Which nodes a pod's labels and terms match, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/nodeaffinity/node_affinity_test.go``.
"""

import pytest
from hyperkube_scheduler.node_affinity import (
    CONFLICT_REASON,
    ENFORCED_REASON,
    PREFERRED,
    REASON,
    REQUIRED,
    NodeAffinity,
)
from hyperkube_testing.scheduling.tables import pod_info, scores, table, verdicts

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import PreFiltered
from hyperkube.machinery.errors import UsageError

REFUSED, ENFORCED, CONFLICT = f"! {REASON}", f"! {ENFORCED_REASON}", f"! {CONFLICT_REASON}"
FOO = {"foo": "bar"}
GPU = {"GPU": "NVIDIA-GRID-K1"}


def row(key, operator, *values):
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def term(*expressions, names=()):
    """Return a term of these requirements on labels, and of one on the name for each list of names."""
    fields = [row("metadata.name", "In", *each) for each in names]
    return {"matchExpressions": list(expressions), "matchFields": fields}


def pod(*terms, selector=None, preferred=None):
    affinity = {REQUIRED: {"nodeSelectorTerms": list(terms)}} if terms else {REQUIRED: None}
    affinity[PREFERRED] = likes(*preferred) if preferred else []
    return {"spec": {"nodeSelector": selector or {}, "affinity": {"nodeAffinity": affinity}}}


def likes(*given):
    """Return preferred terms of (weight, requirement, ...)."""
    return [{"weight": weight, "preference": {"matchExpressions": list(rows)}} for weight, *rows in given]


def build(required=(), preferred=()):
    added = {REQUIRED: {"nodeSelectorTerms": list(required)}} if required else {}
    if preferred:
        added[PREFERRED] = likes(*preferred)
    return NodeAffinity(PluginContext(name="NodeAffinity", settings={"addedAffinity": added}))


def verdict(plugin, wanted, labels, name="node"):
    nodes = table({"name": name, "labels": labels})
    return verdicts(plugin, pod_info(wanted, nodes), nodes)[0]


IN = row("foo", "In", "bar", "value2")
EXISTS = row("GPU", "Exists")


@pytest.mark.parametrize(
    ("wanted", "labels", "expected"),
    [
        pytest.param(pod(selector=FOO), {}, REFUSED, id="selector: missing"),
        pytest.param(pod(selector=FOO), FOO, "", id="selector: the same"),
        pytest.param(pod(selector=FOO), {**FOO, "baz": "blah"}, "", id="selector: more labels"),
        pytest.param(pod(selector={**FOO, "baz": "blah"}), FOO, REFUSED, id="selector: fewer labels"),
        pytest.param(pod(term(IN)), FOO, "", id="in"),
        pytest.param(pod(term(row("kernel-version", "Gt", "0204"))), {"kernel-version": "0206"}, "", id="gt"),
        pytest.param(pod(term(row("mem-type", "NotIn", "DDR", "DDR2"))), {"mem-type": "DDR3"}, "", id="not in"),
        pytest.param(pod(term(EXISTS)), GPU, "", id="exists"),
        pytest.param(pod(term(row("foo", "In", "value1", "value2"))), FOO, REFUSED, id="not in the list"),
        pytest.param(pod(term()), FOO, REFUSED, id="an empty term"),
        pytest.param({"spec": {}}, FOO, "", id="no affinity"),
        pytest.param(pod(), FOO, "", id="no required terms"),
        pytest.param(pod(term(EXISTS, row("GPU", "NotIn", "AMD", "INTER"))), GPU, "", id="all hold"),
        pytest.param(pod(term(EXISTS, row("GPU", "In", "AMD", "INTER"))), GPU, REFUSED, id="one does not hold"),
        pytest.param(pod(term(IN), term(row("diffkey", "In", "wrong", "value2"))), FOO, "", id="one term matches"),
        pytest.param(pod(term(row("foo", "Exists")), selector=FOO), FOO, "", id="selector and terms"),
        pytest.param(
            pod(term(row("foo", "Exists")), selector=FOO),
            {"foo": "barrrrrr"},
            REFUSED,
            id="terms, but not the selector",
        ),
        pytest.param(
            pod(term(row("foo", "NotIn", "invalid value: ___@#$%^"))), FOO, REFUSED, id="a value that cannot be"
        ),
    ],
)
def test_labels(wanted, labels, expected):
    assert verdict(NodeAffinity(None), wanted, labels) == expected


BAR = row("foo", "In", "bar")
FIRST, SECOND = term(names=[["node1"]]), term(names=[["node2"]])


@pytest.mark.parametrize(
    ("wanted", "name", "labels", "names", "expected"),
    [
        pytest.param(pod(FIRST), "node1", {}, ["node1"], "", id="the name"),
        pytest.param(pod(FIRST), "node2", {}, ["node1"], REFUSED, id="another name"),
        pytest.param(pod(term(names=[["node1"], ["node2"]]), term(BAR)), "node2", FOO, None, "", id="or labels"),
        pytest.param(pod(term(BAR, names=[["node1"]])), "node2", FOO, ["node1"], REFUSED, id="and labels, not both"),
        pytest.param(pod(term(BAR, names=[["node1"]])), "node1", FOO, ["node1"], "", id="and labels, both"),
        pytest.param(pod(FIRST, term(row("foo", "In", "other"))), "node2", FOO, None, REFUSED, id="or labels, neither"),
        pytest.param(pod(FIRST, SECOND), "node2", {}, ["node1", "node2"], "", id="one of two names"),
    ],
)
def test_names(wanted, name, labels, names, expected):
    plugin = NodeAffinity(None)

    narrowed = plugin.pre_filter(pod_info(wanted, table()))

    assert narrowed == (PreFiltered(names=frozenset(names)) if names else None)
    assert verdict(plugin, wanted, labels, name) == expected


def test_two_names_at_once_are_a_conflict():
    wanted = pod(term(names=[["node1"], ["node2"]]))
    nodes = table({"name": "node2", "labels": FOO})
    plugin = NodeAffinity(None)

    assert plugin.pre_filter(pod_info(wanted, nodes)) == PreFiltered("pod affinity terms conflict")
    assert not plugin.filter(pod_info(wanted, nodes), nodes).mask.any()


ZONE, OTHER_ZONE = row("zone", "In", "foo"), row("zone", "In", "bar")


@pytest.mark.parametrize(
    ("added", "wanted", "expected"),
    [
        pytest.param(SECOND, pod(term(ZONE)), "", id="both match"),
        pytest.param(SECOND, pod(term(OTHER_ZONE)), REFUSED, id="the pod's does not"),
        pytest.param(term(OTHER_ZONE), {"spec": {}}, ENFORCED, id="the added one does not"),
    ],
)
def test_the_settings_add_terms(added, wanted, expected):
    assert verdict(build([added]), wanted, {"zone": "foo"}, "node2") == expected


LABELS = {
    1: FOO,
    2: {"key": "value"},
    3: {"az": "az1"},
    4: {"abc": "az11", "def": "az22"},
    5: {**FOO, "key": "value", "az": "az1"},
}
KEY, AZ = row("key", "In", "value"), row("az", "In", "az1")
LIKES_FOO = [(2, BAR)]
LIKES_MUCH = [(2, BAR), (4, KEY), (5, BAR, KEY, AZ)]


@pytest.mark.parametrize(
    ("wanted", "added", "nodes", "expected"),
    [
        pytest.param({"spec": {}}, (), [1, 2, 3], None, id="nothing is preferred"),
        pytest.param(pod(preferred=LIKES_FOO), (), [4, 2, 3], [0, 0, 0], id="no node is"),
        pytest.param(pod(preferred=LIKES_FOO), (), [1, 2, 3], [100, 0, 0], id="one node is"),
        pytest.param(pod(preferred=LIKES_MUCH), (), [1, 5, 2], [18, 100, 36], id="all are, more or less"),
        pytest.param({"spec": {}}, LIKES_FOO, [1, 2], [100, 0], id="the settings prefer one"),
        pytest.param(pod(preferred=LIKES_FOO), [(3, KEY)], [1, 2, 5], [40, 60, 100], id="the settings and the pod"),
    ],
)
def test_scores_number_by_number(wanted, added, nodes, expected):
    world = table(*({"name": f"node{number}", "labels": LABELS[number]} for number in nodes))

    assert scores(build(preferred=added), pod_info(wanted, world), world) == expected


def test_a_broken_preference_is_worth_nothing():
    """Upstream fails the attempt; the API accepts no such pod."""
    world = table({"name": "node1", "labels": LABELS[1]}, {"name": "node2"})
    broken = pod(preferred=[(9, row("invalid key", "In", "bar")), *LIKES_FOO])

    assert scores(NodeAffinity(None), pod_info(broken, world), world) == [100, 0]


@pytest.mark.parametrize(
    ("required", "preferred"),
    [
        pytest.param([term(row("invalid key", "Exists"))], (), id="required"),
        pytest.param((), [(1, row("foo", "In"))], id="preferred"),
    ],
)
def test_broken_terms_in_the_settings_are_a_mistake(required, preferred):
    with pytest.raises(UsageError, match=r"^addedAffinity\.(required|preferred)DuringSch.*\.matchExpressions\[0\]: "):
        build(required, preferred)


def test_only_a_pod_that_demands_something_is_asked_about():
    """Upstream skips the filter for pods without required terms, and the score for pods without preferred ones."""
    nodes = table({"name": "node1"})
    demanding, liking = pod_info(pod(term(IN)), nodes), pod_info(pod(preferred=LIKES_FOO), nodes)
    plugin = NodeAffinity(None)

    assert (plugin.skips_filter(demanding, nodes), plugin.skips_score(demanding, nodes)) == (False, True)
    assert (plugin.skips_filter(liking, nodes), plugin.skips_score(liking, nodes)) == (True, False)
    assert not plugin.skips(demanding)
    assert not plugin.skips(liking)


def test_the_reasons_are_upstreams():
    assert REASON == "node(s) didn't match Pod's node affinity/selector"
    assert ENFORCED_REASON == "node(s) didn't match scheduler-enforced node affinity"


def test_it_is_asked_again_when_a_node_changed():
    """Upstream registers Node add and label."""
    assert NodeAffinity.events_to_register == {"node"}
