"""The clusterrole-aggregation controller: unions of rules, without doubles.

The table has the cases of kubernetes ``clusterroleaggregation_controller_test.go``.
"""

import pytest
from hyperkube_controller.clusterrole_aggregation import ClusterroleAggregation

from hyperkube.client.client import APPLY_PATCH
from hyperkube.kinds.resources import CLUSTER_ROLES
from hyperkube.machinery.errors import UnsupportedMediaType
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
JOBS = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]}


def role(name, *rules, **more):
    return {"kind": "ClusterRole", "metadata": {"name": name, "labels": {"to-view": "true"}}, "rules": [*rules], **more}


VIEW = role("view", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"to-view": "true"}}]})


class TestContract(ControllerContract):
    plugin = ClusterroleAggregation

    def populate(self, rig):
        rig.client.seed(CLUSTER_ROLES, VIEW, role("a", PODS))


def test_a_role_is_the_union_of_those_that_it_selects():
    rig = ControllerRig(ClusterroleAggregation)
    rig.client.seed(CLUSTER_ROLES, VIEW, role("b", JOBS, PODS), role("a", PODS))
    rig.settle()
    assert rig.client.get(CLUSTER_ROLES, "view")["rules"] == [PODS, JOBS]

    rig.client.delete(CLUSTER_ROLES, "b")
    rig.settle()
    assert rig.client.get(CLUSTER_ROLES, "view")["rules"] == [PODS]


HAMMER = [{"verbs": ["hammer"], "resources": ["nails"]}, {"verbs": ["hammer"], "resources": ["wedges"]}]
CHISEL = [{"verbs": ["chisel"], "resources": ["mortises"]}]
SAW = [{"verbs": ["saw"], "resources": ["boards"]}]


def labelled(name, foo, rules):
    return {"kind": "ClusterRole", "metadata": {"name": name, "labels": {"foo": foo}}, "rules": rules}


def combined(*foos, rules=()):
    selectors = [{"matchLabels": {"foo": foo}} for foo in foos]
    rule = {"clusterRoleSelectors": selectors}
    return {"kind": "ClusterRole", "metadata": {"name": "combined"}, "aggregationRule": rule, "rules": [*rules]}


TABLE = {
    "dead rules go": ([labelled("hammer", "bar", HAMMER), combined("bar", rules=SAW)], HAMMER),
    "all rules go": ([labelled("hammer", "not-bar", HAMMER), combined("bar", rules=HAMMER)], []),
    "selected, in order of names": (
        [
            labelled("hammer", "bar", HAMMER),
            labelled("chisel", "bar", CHISEL),
            labelled("saw", "not-bar", SAW),
            combined("bar"),
        ],
        CHISEL + HAMMER,
    ),
    "several selectors, in their order": (
        [
            labelled("hammer", "bar", HAMMER),
            labelled("chisel", "bar", CHISEL),
            labelled("saw", "not-bar", SAW),
            combined("bar", "not-bar"),
        ],
        CHISEL + HAMMER + SAW,
    ),
    "no doubles": (
        [
            labelled("hammer", "bar", HAMMER),
            labelled("chisel", "bar", CHISEL),
            labelled("saw", "bar", SAW),
            labelled("other-saw", "not-bar", SAW),
            combined("bar", "not-bar"),
        ],
        CHISEL + HAMMER + SAW,
    ),
    "nothing to write": ([labelled("hammer", "bar", HAMMER), combined("bar", rules=HAMMER)], None),
    "no selectors": ([labelled("hammer", "bar", HAMMER), combined(rules=HAMMER)], []),
}


@pytest.mark.parametrize("applies", [True, False], ids=["apply", "update"])
@pytest.mark.parametrize(("roles", "expected"), TABLE.values(), ids=TABLE)
def test_aggregated_rules_are_written_by_an_apply_or_an_update(roles, expected, applies):
    rig = ControllerRig(ClusterroleAggregation)
    rig.client.seed(CLUSTER_ROLES, *roles)
    if not applies:
        rig.client.fail_next("patch", "clusterroles", UnsupportedMediaType("Apply not supported"))
    rig.settle()

    writes = [verb for verb, _, path in rig.client.actions if path == "combined"]
    found = rig.client.get(CLUSTER_ROLES, "combined")
    if expected is None:
        assert writes == []
    else:
        assert writes == (["patch"] if applies else ["patch", "update"])
        assert found.get("rules", []) == expected
    assert found["aggregationRule"] == roles[-1]["aggregationRule"]


def test_the_rules_are_applied_so_that_nothing_else_of_the_role_is_touched(monkeypatch):
    rig = ControllerRig(ClusterroleAggregation)
    rig.client.seed(CLUSTER_ROLES, VIEW, role("a", PODS))
    asked = []
    patch = rig.client.patch
    monkeypatch.setattr(
        rig.client, "patch", lambda *args, **options: asked.append((args, options)) or patch(*args, **options)
    )

    rig.settle()

    wanted = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "view"},
        "rules": [PODS],
    }
    options = {"patch_type": APPLY_PATCH, "field_manager": "clusterrole-aggregation-controller", "force": True}
    assert asked == [((CLUSTER_ROLES, "view", wanted), options)]
