"""Why a request is forbidden: the nearest binding first, then what would help."""

import pytest
from hyperkube_lib.rbac_explanation import Policy, Question, explain, missing, user_named

READ = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}


def role(name, *rules, namespace=""):
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"metadata": meta, "rules": list(rules)}


def binding(name, role_name, user, *, kind="ClusterRole", namespace=""):
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role_name},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}],
    }


def question(verb="get", resource="configmaps", **more):
    return Question(user=user_named("alice", ()), verb=verb, resource=resource, **{"namespace": "ns", **more})


@pytest.mark.parametrize(
    ("asked", "lacks"),
    [
        (question(), []),
        (question("delete"), ["verb 'delete'"]),
        (question(resource="pods"), ["resource 'pods'"]),
        (question("create", group="apps", resource="pods"), ["verb 'create'", "API group 'apps'", "resource 'pods'"]),
        (question(resource="configmaps", subresource="x"), ["resource 'configmaps/x'"]),
        (question(path="/metrics"), ["path '/metrics'"]),
    ],
    ids=str,
)
def test_what_a_rule_lacks_is_named(asked, lacks):
    assert missing(READ, asked) == lacks


def test_single_names_are_named():
    assert missing({**READ, "resourceNames": ["a"]}, question(name="b")) == ["name 'b'"]
    assert missing({**READ, "resourceNames": ["a"]}, question()) == ["any name (it is for single names)"]


def test_the_nearest_binding_comes_first():
    policy = Policy(
        cluster_roles=[role("reader", READ), role("far", {"verbs": ["x"], "apiGroups": ["y"], "resources": ["z"]})],
        cluster_bindings=[binding("b1", "far", "alice"), binding("b2", "reader", "alice"), binding("b3", "far", "bob")],
    )

    lines = explain(policy, question("delete"))

    assert lines[0].startswith("ClusterRoleBinding b2 (User alice has ClusterRole reader): lacks verb 'delete'")
    assert lines[1].startswith("ClusterRoleBinding b1")
    assert lines[2] == "no role allows it: one has to be made"


def test_a_binding_of_another_namespace_says_so():
    policy = Policy(cluster_roles=[role("reader", READ)], bindings=[binding("b", "reader", "alice", namespace="other")])

    assert explain(policy, question()) == [
        "RoleBinding other/b (User alice has ClusterRole reader): would allow it, but only in namespace 'other'",
        "roles that would allow it, if bound: ClusterRole reader",
    ]


def test_a_binding_of_a_role_that_is_not_there_says_so():
    policy = Policy(bindings=[binding("b", "gone", "alice", kind="Role", namespace="ns")])

    assert explain(policy, question())[0].endswith("there is no such role")


def test_who_has_no_binding_is_told():
    assert explain(Policy(), question())[0] == "no binding names 'alice' or one of the groups system:authenticated"


def test_service_accounts_have_their_groups():
    assert "system:serviceaccounts:ns" in user_named("system:serviceaccount:ns:sa", ()).groups
