"""Which nodes can do what a pod needs, case by case, with features made up for it.

Source of the cases: kubernetes
``pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures_test.go``.
"""

import pytest
from hyperkube_scheduler import node_declared_features
from hyperkube_scheduler.node_declared_features import GATE, REASON, NodeDeclaredFeatures, needed
from hyperkube_testing.scheduling.tables import node, pod_info, table, verdicts

from hyperkube.plugin import PluginContext

POD = {"spec": {"containers": [{"name": "c"}]}}


@pytest.fixture
def features(monkeypatch):
    """Return what makes pods need the features it is given, of A, B and C."""

    def need(*names):
        known = {name: (lambda _pod, name=name: name in names) for name in ("A", "B", "C")}
        monkeypatch.setattr(node_declared_features, "FEATURES", known)

    return need


def build(*, enabled=True):
    return NodeDeclaredFeatures(PluginContext(name="NodeDeclaredFeatures", gates={GATE: enabled}))


@pytest.mark.parametrize(
    ("needs", "enabled", "skips"),
    [
        pytest.param("A", False, True, id="the gate is off"),
        pytest.param("A", True, False, id="one"),
        pytest.param("AB", True, False, id="two"),
        pytest.param("", True, True, id="none"),
    ],
)
def test_only_a_pod_that_needs_something_is_asked_about(features, needs, enabled, skips):
    features(*needs)

    assert needed(POD) == set(needs)
    assert build(enabled=enabled).skips(pod_info(POD, table())) is skips


@pytest.mark.parametrize(
    ("needs", "declares", "enabled", "kept"),
    [
        pytest.param("A", "B", False, True, id="the gate is off"),
        pytest.param("A", "AB", True, True, id="declared"),
        pytest.param("A", "B", True, False, id="another is declared"),
        pytest.param("AC", "ABC", True, True, id="all are declared"),
        pytest.param("A", None, True, False, id="nothing is declared"),
        pytest.param("AB", "A", True, False, id="one of two is declared"),
    ],
)
def test_nodes(features, needs, declares, enabled, kept):
    features(*needs)
    made = node("node-1")
    if declares is not None:
        made["status"]["declaredFeatures"] = list(declares)
    nodes = table()
    nodes.put_node(made)

    assert verdicts(build(enabled=enabled), pod_info(POD, nodes), nodes) == ["" if kept else f"! {REASON}"]


def test_the_reason_is_upstreams():
    assert REASON == "node(s) didn't match Pod's required features"


def test_it_is_asked_again_when_a_node_changed():
    """Upstream registers Node add and declared features; a changed pod is always tried again here."""
    assert NodeDeclaredFeatures.events_to_register == {"node"}
