import pytest

from hyperkube.kinds.rbac import compacted, rule_allows, rule_allows_path, rules_cover, show_rule, subject_is
from hyperkube.machinery.users import UserInfo, service_account


def rule(verbs, resources, groups=("",), names=()):
    made = {"verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources)}
    return {**made, "resourceNames": list(names)} if names else made


@pytest.mark.parametrize(
    ("subject", "request_", "allowed"),
    [
        (rule(["get"], ["pods"]), ("get", "", "pods"), True),
        (rule(["get"], ["pods"]), ("list", "", "pods"), False),
        (rule(["*"], ["*"], ["*"]), ("delete", "apps", "deployments", "scale"), True),
        (rule(["get"], ["pods"]), ("get", "", "pods", "log"), False),
        (rule(["get"], ["pods/log"]), ("get", "", "pods", "log"), True),
        (rule(["get"], ["*/log"]), ("get", "", "pods", "log"), True),
        (rule(["get"], ["secrets"], names=["a"]), ("get", "", "secrets", "", "a"), True),
        (rule(["get"], ["secrets"], names=["a"]), ("get", "", "secrets", "", ""), False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, ("get", "", "pods"), False),
    ],
)
def test_a_rule_allows_what_it_names(subject, request_, allowed):
    assert rule_allows(subject, *request_) is allowed


@pytest.mark.parametrize(
    ("url", "path", "allowed"), [("*", "/x", True), ("/x/*", "/x/y", True), ("/x/*", "/x", False), ("/x", "/x", True)]
)
def test_a_rule_allows_paths(url, path, allowed):
    assert rule_allows_path({"verbs": ["get"], "nonResourceURLs": [url]}, "get", path) is allowed


def test_subjects_are_users_groups_and_service_accounts():
    account = service_account("ns", "sa")

    assert subject_is({"kind": "User", "name": "bob"}, UserInfo("bob"))
    assert subject_is({"kind": "Group", "name": "dev"}, UserInfo("bob", groups=("dev",)))
    assert subject_is({"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}, account)
    assert subject_is({"kind": "ServiceAccount", "name": "sa"}, account, "ns")
    assert not subject_is({"kind": "ServiceAccount", "name": "sa"}, account)


@pytest.mark.parametrize(
    ("owned", "wanted", "covered"),
    [
        ([rule(["*"], ["*"], ["*"])], [rule(["get"], ["pods"])], True),
        ([rule(["get"], ["pods"])], [rule(["get", "list"], ["pods"])], False),
        ([rule(["get"], ["pods"]), rule(["list"], ["pods"])], [rule(["get", "list"], ["pods"])], True),
        ([rule(["get"], ["secrets"], names=["a"])], [rule(["get"], ["secrets"])], False),
        ([rule(["get"], ["secrets"])], [rule(["get"], ["secrets"], names=["a"])], True),
        ([rule(["get"], ["*/scale"])], [rule(["get"], ["deployments/scale"])], True),
        ([rule(["get"], ["pods"])], [rule(["*"], ["pods"])], False),
        ([{"verbs": ["get"], "nonResourceURLs": ["/x/*"]}], [{"verbs": ["get"], "nonResourceURLs": ["/x/y"]}], True),
        ([], [], True),
    ],
)
def test_rules_cover_what_they_allow_altogether(owned, wanted, covered):
    assert rules_cover(owned, wanted)[0] is covered


def test_missing_rules_are_shown_merged():
    _, missing = rules_cover([], [rule(["get", "list"], ["secrets"])])

    assert [show_rule(item) for item in compacted(missing)] == [
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
    ]
