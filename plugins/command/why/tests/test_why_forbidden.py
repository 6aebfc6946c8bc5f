"""`hyperkube why` a request is forbidden: what the cluster's roles and bindings say."""

import pytest
from hyperkube_command.why.why_forbidden import answer
from hyperkube_testing.cluster.cluster import ControlPlane

READ = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}


def test_a_live_cluster_answers():
    pytest.importorskip("hyperkube_authz.rbac", reason="needs the API server's plugins")
    words = {"user": "alice", "groups": (), "verb": "create", "resource": "deployments", "name": None,
             "namespace": "default", "all_namespaces": False}  # fmt: skip
    with ControlPlane(controller_manager=None, scheduler=None) as cluster:
        refused = answer(cluster.client, words)
        allowed = answer(cluster.client, {**words, "groups": ("system:masters",)})

    assert refused[0] == "alice may not create deployments.apps in namespace 'default'"
    assert any("system:basic-user" in line and "lacks" in line for line in refused)
    assert refused[-1].startswith("  roles that would allow it, if bound: ")
    assert allowed == ["alice may create deployments.apps in namespace 'default'"]
