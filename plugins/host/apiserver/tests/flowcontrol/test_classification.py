"""A request's schema, looked up by who asks and by what is asked."""

import pytest
from hyperkube_host.apiserver.flowcontrol import classification, flow_schemas
from hyperkube_host.apiserver.flowcontrol.classification import Classification
from hyperkube_host.apiserver.flowcontrol.flow_schemas import flow_schema_of
from hyperkube_host.apiserver.request.request_info import parse

from hyperkube.machinery.users import UserInfo, node

EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}


def schema(name, group, **wanted):
    subject = {"kind": "Group", "group": {"name": group}}
    paths = [{"verbs": ["*"], "nonResourceURLs": wanted.pop("paths", [])}]
    rule = {"subjects": [subject], "resourceRules": [{**EVERYTHING, **wanted}], "nonResourceRules": paths}
    return flow_schema_of({"metadata": {"name": name, "uid": name}, "spec": {"rules": [rule]}})


LEASES = schema("leases", "system:nodes", resources=["leases"])
NODES = schema("nodes", "system:nodes")
DEVS = schema("devs", "devs", namespaces=["dev"], clusterScope=False, paths=["/healthz"])
REST = schema("rest", "nobody")
ALICE = UserInfo("alice", "", ("devs",))


@pytest.mark.parametrize(
    ("user", "method", "path", "name"),
    [
        (node("a"), "PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a", "leases"),
        (node("b"), "GET", "/api/v1/namespaces/dev/pods/p", "nodes"),
        (ALICE, "GET", "/api/v1/namespaces/dev/pods/p", "devs"),
        (ALICE, "GET", "/api/v1/namespaces/other/pods/p", "rest"),
        (ALICE, "GET", "/api/v1/nodes", "rest"),
        (ALICE, "GET", "/healthz", "devs"),
        (ALICE, "GET", "/version", "rest"),
        (UserInfo("eve"), "GET", "/api/v1/namespaces/dev/pods/p", "rest"),
    ],
)
def test_the_first_schema_with_a_rule_that_matches_is_found_each_time(user, method, path, name):
    found, info = Classification([LEASES, NODES, DEVS], REST), parse(method, path, {})

    assert [found.schema_of(info, user).name for _ in range(3)] == [name] * 3


def test_users_whom_the_same_rules_name_are_compared_with_what_is_asked_once(monkeypatch):
    looks = []
    monkeypatch.setattr(
        flow_schemas, "_resource_matches", lambda rule, info: looks.append(rule) or "leases" in rule["resources"]
    )
    found = Classification([LEASES, NODES, DEVS], REST)

    for number in range(50):
        info = parse("PUT", f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n{number}", {})
        found.schema_of(info, node(f"n{number}"))

    assert len(looks) == 1


def test_what_clients_write_is_forgotten_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(classification, "USERS_MAX", 10)
    monkeypatch.setattr(classification, "ASKED_MAX", 10)
    found = Classification([LEASES, NODES, DEVS], REST)

    names = {
        found.schema_of(parse("GET", f"/made/up/{number}", {}), UserInfo(f"user-{number}")).name
        for number in range(100)
    } | {found.schema_of(parse("GET", f"/made/up/{number}", {}), ALICE).name for number in range(100)}

    assert names == {"rest"}
    assert len(found._by_user) <= 10
    assert all(len(each.schemas) <= 10 for each in found._by_rules.values())
