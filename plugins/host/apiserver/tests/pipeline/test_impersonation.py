"""Acting as somebody else: which ways there are, and what they ask."""

import pytest
from hyperkube_host.apiserver.authorization.union import Authorization
from hyperkube_host.apiserver.pipeline.impersonation import Acting, Impersonation, node_of, service_account_of
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision
from hyperkube.machinery.errors import BadRequest, Forbidden
from hyperkube.machinery.users import LOOPBACK, UserInfo, service_account

ALICE = UserInfo("alice")
AUTHENTICATED = "system:authenticated"
AS_BOB = {"impersonate-user": "bob"}
AGENT = UserInfo(
    "system:serviceaccount:ns:agent", extra={"authentication.kubernetes.io/node-name": ("n1",), "other": ("x",)}
)


class Policy:
    """Allows what is listed as ``verb resource[/subresource] name``, with ``*`` for any name; notes what it was asked."""

    def __init__(self, *allowed):
        self.allowed = set(allowed)
        self.asked = []

    def authorize(self, attributes):
        place = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
        wanted = f"{attributes.verb} {place} {attributes.name}"
        self.asked.append(wanted)
        allowed = wanted in self.allowed or f"{attributes.verb} {place} *" in self.allowed
        return Decision("allow") if allowed else NO_OPINION


def act(policy, headers, requester=ALICE, *, constrained=True, verb="list"):
    return Impersonation(Authorization([policy.authorize]), constrained=constrained).act_as(
        sent(headers), requester, lambda: Attributes(requester, verb, "", "v1", "pods", "", "ns")
    )


def sent(headers):
    repeated = {name: lines for name, lines in headers.items() if isinstance(lines, tuple)}
    joined = {name: ", ".join(repeated.get(name, (lines,))) for name, lines in headers.items()}
    return HttpRequest(method="GET", path="/", headers=joined, repeated=repeated)


def test_who_names_nobody_acts_as_himself():
    assert act(Policy(), {"accept": "*/*"}) == Acting(ALICE)


def test_the_old_right_allows_everything():
    policy = Policy("impersonate users bob", "impersonate groups *")

    acting = act(policy, {**AS_BOB, "impersonate-group": ("dev", "ops")})

    assert acting == Acting(UserInfo("bob", "", ("dev", "ops", AUTHENTICATED)))


def test_a_constrained_right_is_one_to_do_this_as_that_user():
    policy = Policy("impersonate-on:user-info:list pods ", "impersonate:user-info users bob")

    assert act(policy, AS_BOB) == Acting(UserInfo("bob", "", (AUTHENTICATED,)), "impersonate:user-info")
    with pytest.raises(Forbidden, match="cannot impersonate-on:user-info:delete resource"):
        act(policy, AS_BOB, verb="delete")


def test_what_is_refused_first_is_told():
    with pytest.raises(Forbidden) as caught:
        act(Policy(), AS_BOB)

    assert caught.value.message == (
        'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in the '
        'namespace "ns"'
    )


def test_the_way_that_worked_last_is_tried_first_and_refuses_first():
    policy = Policy("impersonate users bob")
    impersonation = Impersonation(Authorization([policy.authorize]))
    asked = Attributes(ALICE, "list", "", "v1", "pods", "", "ns")
    impersonation.act_as(sent(AS_BOB), ALICE, lambda: asked)

    with pytest.raises(Forbidden, match='users "eve" is forbidden: User "alice" cannot impersonate resource "users"'):
        impersonation.act_as(sent({"impersonate-user": "eve"}), ALICE, lambda: asked)


def test_without_the_gate_only_the_old_right_counts():
    policy = Policy("impersonate-on:user-info:list pods ", "impersonate:user-info users bob")

    with pytest.raises(Forbidden, match='cannot impersonate resource "users"'):
        act(policy, AS_BOB, constrained=False)


def test_a_service_account_has_its_groups_in_either_way():
    headers = {"impersonate-user": "system:serviceaccount:ns:sa"}
    groups = ("system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED)

    old = act(Policy("impersonate serviceaccounts sa"), headers)
    new = act(
        Policy("impersonate-on:serviceaccount:list pods ", "impersonate:serviceaccount serviceaccounts sa"), headers
    )

    assert (old.user.groups, old.constraint) == (groups, "")
    assert (new.user.groups, new.constraint) == (groups, "impersonate:serviceaccount")


def test_a_node_has_its_group_in_the_new_way():
    policy = Policy("impersonate-on:arbitrary-node:list pods ", "impersonate:arbitrary-node nodes n1")

    acting = act(policy, {"impersonate-user": "system:node:n1"})

    assert acting.user.groups == ("system:nodes", AUTHENTICATED)


def test_an_agent_may_act_as_the_node_it_runs_on():
    policy = Policy("impersonate-on:associated-node:list pods ", "impersonate:associated-node nodes *")

    acting = act(policy, {"impersonate-user": "system:node:n1"}, AGENT)

    assert acting.constraint == "impersonate:associated-node"
    with pytest.raises(Forbidden):
        act(policy, {"impersonate-user": "system:node:n2"}, AGENT)


def test_the_privileged_group_is_for_the_old_way_alone():
    headers = {**AS_BOB, "impersonate-group": "system:masters"}
    new = ("impersonate-on:user-info:list pods ", "impersonate:user-info users *", "impersonate:user-info groups *")

    with pytest.raises(Forbidden, match="impersonating the system:masters group is not allowed"):
        act(Policy(*new), headers)
    assert act(Policy("impersonate users bob", "impersonate groups system:masters"), headers).constraint == ""


def test_many_groups_are_asked_for_at_once():
    policy = Policy(
        "impersonate-on:user-info:list pods ", "impersonate:user-info users bob", "impersonate:user-info groups *"
    )

    act(policy, {**AS_BOB, "impersonate-group": ("a", "b", "c", "d")})

    assert [asked for asked in policy.asked if "groups" in asked] == ["impersonate:user-info groups *"]


def test_extra_values_are_asked_for_one_by_one():
    policy = Policy(
        "impersonate-on:user-info:list pods ",
        "impersonate:user-info users bob",
        "impersonate:user-info uids 7",
        "impersonate:user-info userextras/acme.io/scope view",
    )

    acting = act(policy, {**AS_BOB, "impersonate-uid": "7", "impersonate-extra-acme.io%2fscope": "view"})

    assert (acting.user.uid, acting.user.extra) == ("7", {"acme.io/scope": ("view",)})


def test_an_extra_key_without_a_domain_is_for_the_old_way_alone():
    policy = Policy("impersonate-on:user-info:list pods ", "impersonate:user-info users bob")

    with pytest.raises(
        Forbidden, match=r'an invalid key in extra is not allowed: extra\.key: Invalid value: "scope": must'
    ):
        act(policy, {**AS_BOB, "impersonate-extra-scope": "view"})


def test_the_anonymous_user_is_not_authenticated():
    acting = act(Policy("impersonate users *"), {"impersonate-user": "system:anonymous"})

    assert acting.user.groups == ("system:unauthenticated",)


def test_the_server_itself_is_allowed():
    assert act(Policy(), AS_BOB, LOOPBACK).user.name == "bob"


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        (
            {"impersonate-group": ("dev", "ops")},
            'UID:"", Groups:[]string{"dev", "ops"}, Extra:map[string][]string(nil)',
        ),
        ({"impersonate-uid": "7"}, 'UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)'),
        (
            {"impersonate-extra-scopes": "view"},
            'UID:"", Groups:[]string(nil), Extra:map[string][]string{"scopes":[]string{"view"}}',
        ),
    ],
)
def test_parts_without_a_user_are_a_bad_request(headers, shown):
    with pytest.raises(BadRequest) as caught:
        act(Policy(), headers, LOOPBACK)

    assert caught.value.message == f'requested &user.DefaultInfo{{Name:"", {shown}}} without impersonating a user name'


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ({"impersonate-group": "dev"}, "[{Group  dev    }]"),
        ({"impersonate-uid": "7"}, "[{UID  7  authentication.k8s.io/v1  }]"),
        ({"impersonate-extra-scopes": "view"}, "[{UserExtra  view  authentication.k8s.io/v1  scopes}]"),
    ],
)
def test_parts_without_a_user_are_told_otherwise_without_the_gate(headers, shown):
    with pytest.raises(BadRequest) as caught:
        act(Policy(), headers, LOOPBACK, constrained=False)

    assert caught.value.message == f"requested {shown} without impersonating a user"


@pytest.mark.parametrize(
    "name", ["system:serviceaccount:ns", "system:serviceaccount:a:b:c", "system:serviceaccount:N:x"]
)
def test_a_name_that_only_begins_like_a_service_account_is_a_user(name):
    assert service_account_of(name) is None


def test_names_of_accounts_and_nodes_are_read():
    assert service_account_of(service_account("ns", "sa").name) == ("ns", "sa")
    assert (node_of("system:node:n1"), node_of("system:node:N!"), node_of("n1")) == ("n1", None, None)
