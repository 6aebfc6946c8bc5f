"""Attacks, each with a control: the same request, or its harmless twin, by a user who may.

A refusal alone proves little, since a server that is broken refuses too. Everything goes over TLS through a real
listener; the statuses are those that Kubernetes answers with.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attacked_world import (
    ACCOUNTS,
    CSRS,
    MAPS,
    PODS,
    RBAC,
    Call,
    World,
    acting,
    approval,
    basic,
    binding,
    pod,
    remote,
    role,
    rule,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("attacks"))
    yield world
    world.close()


SECRET = "/api/v1/namespaces/a/secrets/s"
OK = Call("reader", "GET", f"{MAPS}/m")
BOUND = Call("{good}", "GET", f"{MAPS}/m")
ALL = rule("*", "*", group="*")
VIEW = rule("configmaps", "get")
MERGE = {"Content-Type": "application/merge-patch+json"}


def read(who, **headers):
    return Call(who, "GET", f"{MAPS}/m", headers=headers)


FORGED = [
    "deleted_account", "deleted_pod", "expired", "no_expiry", "not_yet", "other_audience", "other_issuer", "other_key",
    "rsa_key", "no_algorithm", "no_algorithm_in_capitals", "hmac_with_the_public_key", "other_subject",
    "no_private_claims", "flipped", "stripped", "swapped",
]  # fmt: skip

CREDENTIALS = {
    **{f"token: {name}": (read(f"{{{name}}}"), 401, BOUND) for name in FORGED},
    "token: static, wrong": (read("token-reader-"), 401, OK),
    "token: static, prefix of one": (read("token-reade"), 401, OK),
    "token: nonsense": (read("a.b.c"), 401, OK),
    "token: bootstrap, expired": (
        Call("fedcba.0123456789abcdef", "GET", "/version"), 401, Call("abcdef.0123456789abcdef", "GET", "/version")),
    "token: bootstrap, wrong secret": (
        Call("abcdef.0123456789abcdee", "GET", "/version"), 401, Call("abcdef.0123456789abcdef", "GET", "/version")),
    "password: wrong": (read(basic("reader", "open")), 401, read(basic("reader", "sesame"))),
    "password: empty": (read(basic("reader", "")), 401, read(basic("reader", "sesame"))),
    "password: of nobody": (read(basic("admin", "sesame")), 401, read(basic("reader", "sesame"))),
    "certificate: of strangers": (read("cert:stranger"), 401, read("cert:reader")),
    "certificate: for servers only": (read("cert:server-only"), 401, read("cert:reader")),
    "nothing at all": (read(""), 403, OK),
}  # fmt: skip

HEADERS = {
    "identity headers without a certificate": (read("", **remote(User="reader")), 403,
                                               read("cert:proxy", **remote(User="reader"))),
    "identity headers with somebody's own certificate": (
        Call("cert:reader", "GET", SECRET, headers=remote(User="x", Group="system:masters")), 403,
        Call("cert:proxy", "GET", SECRET, headers=remote(User="x", Group="system:masters"))),
    "identity headers of a proxy that is not allowed": (read("cert:other-proxy", **remote(User="reader")), 401,
                                                        read("cert:proxy", **remote(User="reader"))),
    "identity headers with a token": (
        Call("nobody", "GET", f"{MAPS}/m", headers=remote(User="admin", Group="system:masters")), 403, OK),
    "impersonating a user": (read("nobody", **acting(User="reader")), 403, read("impersonator", **acting(User="reader"))),
    "impersonating another user": (read("impersonator", **acting(User="rolemaker")), 403,
                                   read("impersonator", **acting(User="reader"))),
    "impersonating the administrators' group": (
        read("impersonator", **acting(User="reader", Group="system:masters")), 403,
        read("impersonator", **acting(User="reader", Group="readers"))),
    "impersonating a uid": (read("impersonator", **acting(User="reader", Uid="0")), 403,
                            read("impersonator", **acting(User="reader", Uid="uid-reader"))),
    "impersonating an extra value": (
        read("impersonator", **acting(User="reader", **{"Extra-scopes": "write"})), 403,
        read("impersonator", **acting(User="reader", **{"Extra-scopes": "view"}))),
    "impersonating an extra key": (
        read("impersonator", **acting(User="reader", **{"Extra-powers": "view"})), 403,
        read("impersonator", **acting(User="reader", **{"Extra-scopes": "view"}))),
    "impersonating a service account": (
        read("impersonator", **acting(User="system:serviceaccount:kube-system:default")), 403,
        read("impersonator", **acting(User="system:serviceaccount:a:robot"))),
    "impersonating a group without a user": (read("impersonator", **acting(Group="system:masters")), 400,
                                             read("impersonator", **acting(User="reader"))),
    "impersonating a group without a user, remembered": (read("reader", **acting(Group="system:masters")), 400, OK),
    "impersonating through the proxy's headers": (
        Call("cert:proxy", "GET", f"{MAPS}/m", headers={**remote(User="nobody"), **acting(User="reader")}), 403,
        Call("cert:proxy", "GET", f"{MAPS}/m", headers={**remote(User="impersonator"), **acting(User="reader")})),
}  # fmt: skip

PATHS = {
    "two slashes": (Call("reader", "GET", "/api/v1//namespaces/a/secrets/s"), {301, 403, 404}, OK),
    "two slashes in front": (Call("reader", "GET", "//api/v1/namespaces/a/secrets/s"), {301, 403, 404}, OK),
    "encoded slash": (Call("reader", "GET", f"{MAPS}/..%2fsecrets%2fs"), {301, 403, 404}, OK),
    "dots": (Call("reader", "GET", f"{MAPS}/../secrets/s"), {301, 403, 404}, OK),
    "encoded dots": (Call("reader", "GET", f"{MAPS}/%2e%2e/secrets/s"), {301, 403, 404}, OK),
    "dots from an open path": (Call("", "GET", "/healthz/../api/v1/namespaces/a/secrets/s"), {301, 403, 404},
                               Call("", "GET", "/healthz")),
    "an open path with an ending": (Call("", "GET", "/healthz/etcd"), 403, Call("", "GET", "/healthz")),
    "capital letters": (Call("reader", "GET", "/api/v1/namespaces/a/Secrets/s"), {403, 404}, OK),
    "null byte": (Call("reader", "GET", f"{MAPS}/m%00"), {400, 403, 404}, OK),
    "the old watch path": (Call("reader", "GET", "/api/v1/watch/namespaces/a/secrets?timeoutSeconds=1"), 403,
                           Call("admin", "GET", "/api/v1/watch/namespaces/a/secrets?timeoutSeconds=1")),
    "another verb by query": (Call("reader", "GET", f"{MAPS}?watch=true&timeoutSeconds=1"), 403,
                              Call("reader", "GET", MAPS)),
    "another method by header": (
        Call("reader", "GET", f"{MAPS}/m", headers={"X-HTTP-Method-Override": "DELETE"}), 200, OK),
}  # fmt: skip

ESCALATION = {
    "role with more than one has": (
        Call("rolemaker", "POST", f"{RBAC}/clusterroles", role("e1", ALL)), 403,
        Call("rolemaker", "POST", f"{RBAC}/clusterroles", role("e1-ok", VIEW))),
    "namespaced role with more than one has": (
        Call("rolemaker", "POST", f"{RBAC}/namespaces/a/roles", role("e2", rule("secrets", "get"))), 403,
        Call("rolemaker", "POST", f"{RBAC}/namespaces/a/roles", role("e2-ok", VIEW))),
    "role with a path one has not": (
        Call("rolemaker", "POST", f"{RBAC}/clusterroles",
             role("e3", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})), 403,
        Call("rolemaker", "POST", f"{RBAC}/clusterroles",
             role("e3-ok", {"nonResourceURLs": ["/version"], "verbs": ["get"]}))),
    "role made stronger": (
        Call("rolemaker", "PATCH", f"{RBAC}/clusterroles/reader", {"rules": [ALL]}, MERGE), 403,
        Call("rolemaker", "PATCH", f"{RBAC}/clusterroles/reader", {"metadata": {"labels": {"x": "y"}}}, MERGE)),
    "role made to aggregate": (
        Call("rolemaker", "POST", f"{RBAC}/clusterroles",
             role("e4", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]})), 403,
        Call("admin", "POST", f"{RBAC}/clusterroles",
             role("e4-ok", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]}))),
    "binding of the administrators' role": (
        Call("rolemaker", "POST", f"{RBAC}/clusterrolebindings",
             binding("ClusterRoleBinding", "e5", "cluster-admin", "rolemaker")), 403,
        Call("admin", "POST", f"{RBAC}/clusterrolebindings",
             binding("ClusterRoleBinding", "e5-ok", "view", "somebody"))),
    "binding in a namespace of a role one has not": (
        Call("rolemaker", "POST", f"{RBAC}/namespaces/a/rolebindings",
             binding("RoleBinding", "e6", "podmaker", "rolemaker")), 403,
        Call("binder", "POST", f"{RBAC}/namespaces/a/rolebindings", binding("RoleBinding", "e6-ok", "view", "x"))),
    "binding of another role than the one allowed": (
        Call("binder", "POST", f"{RBAC}/namespaces/a/rolebindings", binding("RoleBinding", "e7", "podmaker", "x")), 403,
        Call("binder", "POST", f"{RBAC}/namespaces/a/rolebindings", binding("RoleBinding", "e7-ok", "view", "x"))),
    "binding of a role that is not there": (
        Call("rolemaker", "POST", f"{RBAC}/namespaces/a/rolebindings", binding("RoleBinding", "e8", "none", "x")),
        {403, 404},
        Call("admin", "POST", f"{RBAC}/namespaces/a/rolebindings", binding("RoleBinding", "e8-ok", "none", "x"))),
    "dry run of a stronger role": (
        Call("rolemaker", "POST", f"{RBAC}/clusterroles?dryRun=All", role("e9", ALL)), 403,
        Call("rolemaker", "POST", f"{RBAC}/clusterroles?dryRun=All", role("e9", VIEW))),
    "approval for a signer that is not one's own": (
        Call("approver", "PUT", f"{CSRS}/to-theirs/approval", approval("to-theirs", "example.com/theirs")), 403,
        Call("approver", "PATCH", f"{CSRS}/to-mine/approval",
             {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "r", "message": "m"}]}},
             MERGE)),
    "certificate for a signer that is not one's own": (
        Call("approver", "PATCH", f"{CSRS}/to-theirs/status", {"status": {"conditions": [
            {"type": "Failed", "status": "True", "reason": "r", "message": "m"}]}}, MERGE), 403,
        Call("approver", "PATCH", f"{CSRS}/to-mine/status", {"metadata": {}}, MERGE)),
    "ephemeral container by a maker of pods": (
        Call("podmaker", "PATCH", f"{PODS}/on-n1/ephemeralcontainers",
             {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
             {"Content-Type": "application/strategic-merge-patch+json"}), 403,
        Call("admin", "PATCH", f"{PODS}/on-n1/ephemeralcontainers",
             {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
             {"Content-Type": "application/strategic-merge-patch+json"})),
    "exec by a reader of pods": (Call("podmaker", "POST", f"{PODS}/on-n1/exec?command=id"), 403,
                                 Call("podmaker", "GET", f"{PODS}/on-n1")),
    "status by a maker of pods": (
        Call("podmaker", "PATCH", f"{PODS}/on-n1/status", {"status": {"phase": "Failed"}}, MERGE), 403,
        Call("podmaker", "PATCH", f"{PODS}/on-n1", {"metadata": {"labels": {"x": "y"}}}, MERGE)),
    "token of a service account": (
        Call("podmaker", "POST", f"{ACCOUNTS}/robot/token", {"spec": {}}), 403,
        Call("admin", "POST", f"{ACCOUNTS}/robot/token", {"spec": {}})),
    "token review by anybody": (
        Call("reader", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "x"}}), 403,
        Call("admin", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "x"}})),
    "access review of others": (
        Call("reader", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
             {"spec": {"user": "admin", "nonResourceAttributes": {"path": "/", "verb": "get"}}}), 403,
        Call("reader", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
             {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}})),
    "pod that runs as an account that is not there": (
        Call("podmaker", "POST", PODS, pod("e10", serviceAccountName="none")), 403,
        Call("podmaker", "POST", PODS, pod("e10-ok"))),
    "body beyond the limit": (
        Call("podmaker", "POST", PODS, b'{"metadata": {"name": "' + b"x" * (4 * 1024 * 1024) + b'"}}'), 413,
        Call("podmaker", "POST", PODS, pod("e11-ok"))),
    "body of another namespace": (
        Call("podmaker", "POST", PODS, {**pod("e12"), "metadata": {"name": "e12", "namespace": "kube-system"}}), 400,
        Call("podmaker", "POST", PODS, pod("e12-ok"))),
}  # fmt: skip

NODES = {
    "secret of no pod of its own": (Call("cert:n1", "GET", "/api/v1/namespaces/a/secrets/unused"), 403,
                                    Call("cert:n1", "GET", SECRET)),
    "secret of another node's pod": (Call("cert:n2", "GET", SECRET), 403, Call("cert:n1", "GET", SECRET)),
    "all secrets": (Call("cert:n1", "GET", "/api/v1/namespaces/a/secrets"), 403, Call("cert:n1", "GET", SECRET)),
    "status of another node": (
        Call("cert:n1", "PATCH", "/api/v1/nodes/n2/status", {"status": {"phase": "x"}}, MERGE), 403,
        Call("cert:n1", "PATCH", "/api/v1/nodes/n1/status", {"status": {"phase": "Running"}}, MERGE)),
    "label of another node": (
        Call("cert:n1", "PATCH", "/api/v1/nodes/n2", {"metadata": {"labels": {"x": "y"}}}, MERGE), 403,
        Call("cert:n1", "PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"x": "y"}}}, MERGE)),
    "label that says where it may run": (
        Call("cert:n1", "PATCH", "/api/v1/nodes/n1",
             {"metadata": {"labels": {"node-restriction.kubernetes.io/x": "y"}}}, MERGE), 403,
        Call("cert:n1", "PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"x": "z"}}}, MERGE)),
    "taint taken off": (Call("cert:n1", "PATCH", "/api/v1/nodes/n1", {"spec": {"taints": [
        {"key": "x", "effect": "NoSchedule"}]}}, MERGE), 403,
        Call("cert:n1", "PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"x": "w"}}}, MERGE)),
    "status of another node's pod": (
        Call("cert:n2", "PATCH", f"{PODS}/on-n1/status", {"status": {"phase": "Failed"}}, MERGE), 403,
        Call("cert:n1", "PATCH", f"{PODS}/on-n1/status", {"status": {"message": "x"}}, MERGE)),
    "ordinary pod made by a node": (Call("cert:n1", "POST", PODS, pod("e13", node="n1")), 403,
                                    Call("podmaker", "POST", PODS, pod("e13-ok", node="n1"))),
    "token for an account of no pod of its own": (
        Call("cert:n1", "POST", f"{ACCOUNTS}/default/token", {"spec": {}}), 403,
        Call("admin", "POST", f"{ACCOUNTS}/robot/token", {"spec": {}})),
    "name of a node without its group": (Call("cert:no-group", "GET", SECRET), 403, Call("cert:n1", "GET", SECRET)),
}  # fmt: skip

ATTACKS = {
    f"{chapter}: {name}": case
    for chapter, cases in (
        ("credentials", CREDENTIALS), ("headers", HEADERS), ("paths", PATHS), ("escalation", ESCALATION),
        ("nodes", NODES),
    )
    for name, case in cases.items()
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_the_attack_is_refused_and_its_twin_is_not(world, name):
    attack, expected, control = ATTACKS[name]

    refused, allowed = world.ask(attack), world.ask(control)

    assert allowed.status in {200, 201}, allowed.body
    assert refused.status in (expected if isinstance(expected, set) else {expected}), refused.body
    assert b"dG9w" not in refused.body


def test_an_overridden_method_deletes_nothing(world):
    assert world.ask(OK).status == 200


def test_the_tokens_of_what_was_deleted_were_good_before(world):
    assert world.doomed_worked == [200]


def test_there_are_at_least_sixty():
    assert len(ATTACKS) >= 60
