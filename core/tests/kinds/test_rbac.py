import pytest

from hyperkube.kinds.rbac import rule_allows, rule_allows_path, subject_is
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
