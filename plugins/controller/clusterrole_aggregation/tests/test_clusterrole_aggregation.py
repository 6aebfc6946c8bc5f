"""The clusterrole-aggregation controller: unions of rules, without doubles."""

from hyperkube_controller.clusterrole_aggregation import ClusterroleAggregation

from hyperkube.client.client import APPLY_PATCH
from hyperkube.kinds.resources import CLUSTER_ROLES
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
