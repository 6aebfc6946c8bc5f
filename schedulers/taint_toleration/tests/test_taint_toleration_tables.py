"""Which taints keep a pod off, and which are only disliked, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration_test.go``.
"""

import pytest
from hyperkube_scheduler.taint_toleration import GATE, REASON, TaintToleration
from hyperkube_testing.scheduling.tables import pod_info, scores, table, verdicts

from hyperkube.hookspecs.base import PluginContext

HARD, SOFT = "NoSchedule", "PreferNoSchedule"
REFUSED = f"! {REASON}"
SLA, LEVEL = "node.kubernetes.io/sla", "node.example.com/priority-level"
UNREADABLE = '! failed to parse taint value "high" as int64: must be a valid decimal integer in canonical form'


def taint(key, value, effect=HARD):
    return {"key": key, "value": value, "effect": effect}


def tolerates(key, operator, value="", effect=HARD):
    said = {"key": key, "operator": operator, "value": value, "effect": effect}
    return {name: text for name, text in said.items() if text}


def verdict(tolerations, taints, *, gate=True):
    nodes = table({"name": "nodeA", "taints": taints})
    plugin = TaintToleration(PluginContext(name="TaintToleration", gates={GATE: gate}))
    return verdicts(plugin, pod_info({"spec": {"tolerations": tolerations}}, nodes), nodes)[0]


USER1, USER2, FOO = taint("dedicated", "user1"), taint("dedicated", "user2"), taint("foo", "bar")


@pytest.mark.parametrize(
    ("tolerations", "taints", "expected"),
    [
        pytest.param([], [USER1], REFUSED, id="nothing is tolerated"),
        pytest.param([tolerates("dedicated", "", "user1")], [USER1], "", id="the value"),
        pytest.param([tolerates("dedicated", "Equal", "user2")], [USER1], REFUSED, id="another value"),
        pytest.param([tolerates("foo", "Exists")], [FOO], "", id="the key"),
        pytest.param(
            [tolerates("dedicated", "Equal", "user2"), tolerates("foo", "Exists")], [USER2, FOO], "", id="all"
        ),
        pytest.param([tolerates("foo", "Equal", "bar", SOFT)], [FOO], REFUSED, id="another effect"),
        pytest.param([tolerates("foo", "Equal", "bar", "")], [FOO], "", id="any effect"),
        pytest.param(
            [tolerates("dedicated", "Equal", "user2")], [taint("dedicated", "user1", SOFT)], "", id="a soft taint"
        ),
        pytest.param([], [taint("dedicated", "user1", SOFT)], "", id="a soft taint, nothing tolerated"),
        pytest.param([tolerates(LEVEL, "Gt", "950")], [taint(LEVEL, "800")], REFUSED, id="gt: lower"),
        pytest.param([tolerates(SLA, "Gt", "750")], [taint(SLA, "950")], "", id="gt: higher"),
        pytest.param([tolerates(LEVEL, "Lt", "800")], [taint(LEVEL, "950")], REFUSED, id="lt: higher"),
        pytest.param([tolerates(SLA, "Lt", "950")], [taint(SLA, "800")], "", id="lt: lower"),
        pytest.param([tolerates(SLA, "Gt", "950")], [taint(SLA, "high")], UNREADABLE, id="no number"),
        pytest.param([tolerates(SLA, "Gt", "950")], [taint(SLA, "high"), USER1], REFUSED, id="no number, and worse"),
    ],
)
def test_hard_taints(tolerations, taints, expected):
    assert verdict(tolerations, taints) == expected


GT, LT, USER = tolerates(SLA, "Gt", "750"), tolerates(SLA, "Lt", "950"), tolerates("dedicated", "Equal", "user1")


@pytest.mark.parametrize(
    ("tolerations", "taints", "gate", "expected"),
    [
        pytest.param([GT], [taint(SLA, "950")], True, "", id="gt"),
        pytest.param([GT], [taint(SLA, "950")], False, REFUSED, id="gt, off"),
        pytest.param([LT], [taint(SLA, "800")], True, "", id="lt"),
        pytest.param([LT], [taint(SLA, "800")], False, REFUSED, id="lt, off"),
        pytest.param([USER, GT], [USER1], False, "", id="equal is always on"),
        pytest.param([USER, GT], [USER1, taint(SLA, "950")], False, REFUSED, id="equal is not enough"),
    ],
)
def test_the_gate_of_comparisons(tolerations, taints, gate, expected):
    assert verdict(tolerations, taints, gate=gate) == expected


ARM, SSD = ("cpu-type", "arm64"), ("disk-type", "ssd")


def soft(*taints):
    return [taint(*each, SOFT) for each in taints]


@pytest.mark.parametrize(
    ("tolerations", "nodes", "expected"),
    [
        pytest.param(
            [tolerates("foo", "Equal", "bar", SOFT)],
            [soft(("foo", "bar")), soft(("foo", "blah"))],
            [100, 0],
            id="a tolerated one costs nothing",
        ),
        pytest.param(
            [tolerates(key, "Equal", value, SOFT) for key, value in (ARM, SSD)],
            [[], soft(ARM), soft(ARM, SSD)],
            [100, 100, 100],
            id="nor do two",
        ),
        pytest.param(
            [tolerates("foo", "Equal", "bar", SOFT)], [[], soft(ARM), soft(ARM, SSD)], [100, 50, 0], id="more cost more"
        ),
        pytest.param(
            [tolerates(key, "Equal", value) for key, value in (ARM, SSD)],
            [[], [taint(*ARM)], soft(ARM, SSD)],
            [100, 100, 0],
            id="only soft ones count",
        ),
        pytest.param([], [[], soft(ARM)], [100, 0], id="nothing is tolerated"),
        pytest.param([tolerates(SLA, "Gt", "950", SOFT)], [soft((SLA, "800")), soft((SLA, "999"))], [0, 100], id="gt"),
        pytest.param([tolerates(SLA, "Lt", "800", SOFT)], [soft((SLA, "950")), soft((SLA, "700"))], [0, 100], id="lt"),
        pytest.param([tolerates(SLA, "Gt", "950", SOFT)], [[], soft((SLA, "high"))], [100, 0], id="no number"),
    ],
)
def test_soft_taints(tolerations, nodes, expected):
    world = table(*({"name": f"node{number}", "taints": taints} for number, taints in enumerate(nodes)))

    assert scores(TaintToleration(None), pod_info({"spec": {"tolerations": tolerations}}, world), world) == expected


def test_the_reason_is_upstreams():
    assert REASON == "node(s) had untolerated taint(s)"


def test_it_is_asked_again_when_a_node_changed():
    """Upstream registers Node add and taint; a pod whose tolerations changed is always tried again here."""
    assert TaintToleration.events_to_register == {"node"}
