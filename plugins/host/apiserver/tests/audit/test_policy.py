import pytest
from hyperkube_host.apiserver.audit.policy import Level, Policy, Stage

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo

ALICE = UserInfo("alice", "", ("dev",))
POD = Attributes(ALICE, "get", "", "v1", "pods", "", "ns", "p")
LOG = Attributes(ALICE, "get", "", "v1", "pods", "log", "ns", "p")
DEPLOYMENT = Attributes(ALICE, "create", "apps", "v1", "deployments", "", "ns")
NODE = Attributes(ALICE, "list", "", "v1", "nodes")
PATH = Attributes(ALICE, "get", path="/healthz/ping")


def core(*resources, names=()):
    return {"resources": [{"group": "", "resources": list(resources), "resourceNames": list(names)}]}


@pytest.mark.parametrize(
    ("rule", "asked", "matches"),
    [
        ({}, POD, True),
        ({}, PATH, True),
        ({"users": ["alice"]}, POD, True),
        ({"users": ["bob"]}, POD, False),
        ({"userGroups": ["dev", "ops"]}, POD, True),
        ({"userGroups": ["ops"]}, POD, False),
        ({"verbs": ["get"]}, POD, True),
        ({"verbs": ["list"]}, POD, False),
        ({"namespaces": ["ns"]}, POD, True),
        ({"namespaces": [""]}, NODE, True),
        ({"namespaces": [""]}, POD, False),
        ({"namespaces": ["ns"]}, PATH, False),
        (core("pods"), POD, True),
        (core("pods"), LOG, False),
        (core("pods/log"), LOG, True),
        (core("pods/*"), LOG, True),
        (core("*/log"), LOG, True),
        (core("*"), LOG, True),
        (core("pods", names=["p"]), POD, True),
        (core("pods", names=["q"]), POD, False),
        (core("*"), DEPLOYMENT, False),
        ({"resources": [{"group": "apps"}]}, DEPLOYMENT, True),
        ({"nonResourceURLs": ["/healthz*"]}, PATH, True),
        ({"nonResourceURLs": ["/healthz"]}, PATH, False),
        ({"nonResourceURLs": ["*"]}, POD, False),
    ],
    ids=repr,
)
def test_a_rule_matches_what_it_says(rule, asked, matches):
    policy = Policy({"rules": [{"level": "Metadata", **rule}]})

    assert policy.wanted(asked).level == (Level.Metadata if matches else Level.None_)


def test_the_first_rule_that_matches_counts():
    policy = Policy({"rules": [{"level": "None", "verbs": ["get"]}, {"level": "RequestResponse"}]})

    assert policy.wanted(POD).level is Level.None_
    assert policy.wanted(DEPLOYMENT).level is Level.RequestResponse


def test_omitted_stages_add_up_and_managed_fields_may_be_said_otherwise():
    rule = {"level": "Request", "omitStages": ["Panic"], "omitManagedFields": False}
    policy = Policy({"omitStages": ["RequestReceived"], "omitManagedFields": True, "rules": [rule]})

    wanted = policy.wanted(POD)

    assert wanted.omitted_stages == {Stage.REQUEST_RECEIVED, Stage.PANIC}
    assert not wanted.omits_managed_fields


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"rules": [{"level": "All"}]}, "'All' is unknown"),
        ({"rules": [{"level": "None", "omitStages": ["Start"]}]}, "'Start' is unknown"),
        ({"rules": [{"level": "None", "verb": ["get"]}]}, "unknown field 'verb'"),
        ({"rules": [{"level": "None", "verbs": "get"}]}, "must be a list"),
        ({"rules": [{"level": "None", "nonResourceURLs": ["healthz"]}]}, "must begin with '/'"),
        ({"rules": [{"level": "None", "nonResourceURLs": ["/*/x"]}]}, "may only end with"),
        ({"rules": [{"level": "None", "nonResourceURLs": ["/x"], "namespaces": ["a"]}]}, "cannot apply to both"),
        ({"rules": [{"level": "None", **core(names=["a"])}]}, "requires at least one resource"),
    ],
    ids=repr,
)
def test_a_wrong_policy_is_refused(table, message):
    with pytest.raises(UsageError, match=message):
        Policy(table)


def test_a_file_without_rules_is_refused(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\n")

    with pytest.raises(UsageError, match="illegal policy with 0 rules"):
        Policy.from_file(str(path))
