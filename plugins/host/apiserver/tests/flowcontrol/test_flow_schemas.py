"""Which schema a request belongs to, and which queues its flow is dealt."""

import pytest
from hyperkube_host.apiserver.flowcontrol.flow_schemas import flow_schema_of, in_order
from hyperkube_host.apiserver.flowcontrol.priority_levels import share_out
from hyperkube_host.apiserver.flowcontrol.shuffle_sharding import deal, flow_hash
from hyperkube_host.apiserver.request.request_info import parse

from hyperkube.machinery.users import UserInfo, service_account

ALICE = UserInfo("alice", "", ("devs",))
EVERY_RESOURCE = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}


def schema(*rules, name="s", precedence=1000, by="ByUser"):
    spec = {
        "priorityLevelConfiguration": {"name": "l"},
        "matchingPrecedence": precedence,
        "distinguisherMethod": {"type": by},
        "rules": list(rules),
    }
    return flow_schema_of({"metadata": {"name": name, "uid": name}, "spec": spec})


def rule(subject, **resource):
    return {"subjects": [subject], "resourceRules": [{**EVERY_RESOURCE, **resource}]}


def user(name):
    return {"kind": "User", "user": {"name": name}}


def group(name):
    return {"kind": "Group", "group": {"name": name}}


def account(namespace, name):
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}


@pytest.mark.parametrize(
    ("subject", "who", "matches"),
    [
        (user("alice"), ALICE, True),
        (user("bob"), ALICE, False),
        (user("*"), ALICE, True),
        (group("devs"), ALICE, True),
        (group("ops"), ALICE, False),
        (group("*"), UserInfo("nobody"), True),
        (account("ns", "a"), service_account("ns", "a"), True),
        (account("ns", "b"), service_account("ns", "a"), False),
        (account("ns", "*"), service_account("ns", "a"), True),
        (account("n", "*"), service_account("ns", "a"), False),
    ],
)
def test_a_rule_is_for_its_subjects(subject, who, matches):
    info = parse("GET", "/api/v1/namespaces/x/pods/p", {})

    assert schema(rule(subject)).matches(info, who) is matches


@pytest.mark.parametrize(
    ("wanted", "method", "path", "matches"),
    [
        ({"verbs": ["get"]}, "GET", "/api/v1/namespaces/x/pods/p", True),
        ({"verbs": ["list"]}, "GET", "/api/v1/namespaces/x/pods/p", False),
        ({"resources": ["pods"]}, "PUT", "/api/v1/namespaces/x/pods/p/status", False),
        ({"resources": ["pods/status"]}, "PUT", "/api/v1/namespaces/x/pods/p/status", True),
        ({"apiGroups": ["apps"]}, "GET", "/apis/apps/v1/namespaces/x/deployments", True),
        ({"apiGroups": [""]}, "GET", "/apis/apps/v1/namespaces/x/deployments", False),
        ({"namespaces": ["y"]}, "GET", "/api/v1/namespaces/x/pods", False),
        ({"clusterScope": False}, "GET", "/api/v1/nodes", False),
        ({"namespaces": []}, "GET", "/api/v1/nodes", True),
        ({}, "GET", "/healthz", False),
    ],
)
def test_a_resource_rule_names_verbs_groups_resources_and_scope(wanted, method, path, matches):
    assert schema(rule(user("*"), **wanted)).matches(parse(method, path, {}), ALICE) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [("*", "/x", True), ("/healthz", "/healthz", True), ("/healthz", "/healthz/etcd", True),
     ("/healthz", "/healthzz", False), ("/openapi/*", "/openapi/v2", True), ("/openapi/*", "/version", False)],
)  # fmt: skip
def test_a_path_rule_covers_what_is_below(pattern, path, matches):
    paths = {"subjects": [user("*")], "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": [pattern]}]}

    assert schema(paths).matches(parse("GET", path, {}), ALICE) is matches


def test_the_lower_precedence_is_asked_first_then_the_name():
    given = [schema(name="c", precedence=2), schema(name="b", precedence=1), schema(name="a", precedence=2)]

    assert [one.name for one in in_order(given)] == ["b", "a", "c"]


@pytest.mark.parametrize(("by", "told_by"), [("ByUser", "alice"), ("ByNamespace", "x"), ("", "")])
def test_flows_are_told_apart_as_the_schema_says(by, told_by):
    info = parse("GET", "/api/v1/namespaces/x/pods", {})

    assert schema(by=by).distinguisher(info, ALICE) == told_by


def test_a_hand_has_different_queues_of_the_deck():
    hands = [deal(flow_hash("s", f"user-{number}"), 64, 6) for number in range(300)]

    assert all(len(set(hand)) == 6 and 0 <= min(hand) <= max(hand) < 64 for hand in hands)
    assert len(set(hands)) > 290
    assert {card for hand in hands for card in hand} == set(range(64))


def test_a_hand_is_dealt_as_kubernetes_deals_it():
    # by hand: 1234 = 9*137+1, 137 = 8*17+1, 17 = 7*2+3; each card skips those dealt before it
    assert deal(1234, 9, 3) == (1, 2, 5)


def limited(name, shares, **more):
    section = {"nominalConcurrencyShares": shares, "limitResponse": {"type": "Reject"}, **more}
    return {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": section}}


def test_seats_are_shared_out_and_rounded_up():
    shared = share_out([limited("a", 30, lendablePercent=50), limited("b", 10, borrowingLimitPercent=50)], 10)

    assert [(one.nominal, one.lendable, one.most) for one in shared.values()] == [(8, 4, 10), (3, 0, 5)]
