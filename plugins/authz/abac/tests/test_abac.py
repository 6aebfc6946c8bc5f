import json

import pytest
from hyperkube_authz.abac import ABAC, parse

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract

ALICE = UserInfo("alice", "", ("dev", AUTHENTICATED_GROUP))
BOB = UserInfo("bob", "", (AUTHENTICATED_GROUP,))
NOBODY = UserInfo("system:anonymous", "", ("system:unauthenticated",))


def beta(**spec):
    return json.dumps({"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": spec})


def pods(user, verb="get", namespace="ns", **more):
    return Attributes(user, verb, resource="pods", namespace=namespace, **more)


@pytest.fixture
def build(tmp_path):
    def made(*lines):
        path = tmp_path / "policy.jsonl"
        path.write_text("\n".join(lines))
        return ABAC(PluginContext(name="ABAC", settings={"authorization_policy_file": str(path)}))

    return made


class TestPromises(AuthzContract):
    @pytest.fixture(autouse=True)
    def _build(self, build):
        self.built = build(beta(user="alice", namespace="*", resource="*", apiGroup="*", nonResourcePath="/api*"))

    def build(self):
        return self.built

    def questions(self):
        return [pods(ALICE), pods(BOB), Attributes(ALICE, "get", path="/apis"), Attributes(BOB, "get", path="/apis")]


@pytest.mark.parametrize(
    ("line", "asked", "allowed"),
    [
        (beta(user="alice", namespace="ns", resource="pods"), pods(ALICE), True),
        (beta(user="alice", namespace="ns", resource="pods"), pods(BOB), False),
        (beta(user="alice", namespace="ns", resource="pods"), pods(ALICE, namespace="other"), False),
        (beta(user="alice", namespace="ns", resource="pods"), pods(ALICE, group="metrics.k8s.io"), False),
        (beta(user="alice", namespace="ns", resource="pods", readonly=True), pods(ALICE, "watch"), True),
        (beta(user="alice", namespace="ns", resource="pods", readonly=True), pods(ALICE, "delete"), False),
        (beta(user="alice", group="ops", namespace="*", resource="*"), pods(ALICE), False),
        (beta(group="dev", namespace="*", resource="*"), pods(ALICE), True),
        (beta(user="*", namespace="*", resource="*"), pods(BOB), True),
        (beta(user="*", namespace="*", resource="*"), pods(NOBODY), False),
        (beta(group="*", namespace="*", resource="*"), pods(NOBODY), False),
        (beta(namespace="*", resource="*"), pods(ALICE), False),
        (beta(user="alice"), pods(ALICE), False),
        (beta(user="alice", nonResourcePath="/version"), Attributes(ALICE, "get", path="/version"), True),
        (beta(user="alice", nonResourcePath="/version"), Attributes(ALICE, "get", path="/versions"), False),
        (beta(user="alice", nonResourcePath="/a/*"), Attributes(ALICE, "get", path="/a/b/c"), True),
        (beta(user="alice", namespace="*", resource="*"), Attributes(ALICE, "get", path="/version"), False),
        ("{}", pods(BOB, "delete"), True),
        ("{}", pods(NOBODY), False),
        ("{}", Attributes(BOB, "get", path="/version"), True),
        ('{"user": "alice"}', pods(ALICE, group="apps"), True),
        ('{"user": "alice"}', pods(BOB), False),
        ('{"user": "alice", "namespace": "ns"}', Attributes(ALICE, "get", path="/version"), False),
        ('{"readonly": true, "resource": "pods"}', pods(BOB, "create"), False),
    ],
    ids=repr,
)
def test_a_line_allows_what_it_says(build, line, asked, allowed):
    assert build(line).authz_authorize(asked).allowed is allowed


def test_comments_and_empty_lines_are_skipped_and_any_line_may_allow(build):
    built = build("# a comment", "", beta(user="bob", namespace="*", resource="*"), beta(user="alice"))

    assert built.authz_authorize(pods(BOB)).allowed
    assert built.authz_authorize(pods(ALICE)).reason == "No policy matched."


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"usr": "alice"}', '{"user": 1}', '{"apiVersion": "v1", "kind": "Policy"}'], ids=repr
)
def test_a_wrong_line_is_refused_at_start_with_its_number(build, line):
    with pytest.raises(UsageError, match="line 2: "):
        build("{}", line)


def test_a_file_is_required():
    with pytest.raises(UsageError, match="policy file not passed"):
        ABAC(PluginContext(name="ABAC"))
    with pytest.raises(UsageError, match="cannot read policy file"):
        ABAC(PluginContext(name="ABAC", settings={"authorization_policy_file": "/none"}))


def test_rules_show_the_lines_of_the_user(build):
    built = build(
        beta(user="alice", namespace="ns", resource="pods", readonly=True),
        beta(user="alice", namespace="*", nonResourcePath="/x"),
        beta(user="alice", nonResourcePath="/of-no-namespace"),
    )

    rules = built.authz_rules(ALICE, "ns")

    assert rules.resource_rules == [{"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]}]
    assert rules.non_resource_rules == [{"verbs": ["*"], "nonResourceURLs": ["/x"]}]
    assert built.authz_rules(ALICE, "other").resource_rules == []


def test_the_first_form_is_for_all_groups():
    assert parse("{}").api_group == "*"
