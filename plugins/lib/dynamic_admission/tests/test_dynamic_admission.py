import pytest
from hyperkube_lib.cel.admission import environment
from hyperkube_lib.dynamic_admission.context import authorizer_values
from hyperkube_lib.dynamic_admission.evaluation import Conditions, Evaluation, OutOfBudget, compiled
from hyperkube_lib.dynamic_admission.matching import MatchFailed, is_exempt, policy_matches, rule_matches
from hyperkube_lib.dynamic_admission.request_values import request_value

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.authz import NO_OPINION
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.users import UserInfo

RULE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}


def request(**more):
    values = {
        "operation": "CREATE",
        "resource": GroupVersionResource("apps", "v1", "deployments"),
        "kind": GroupVersionKind("apps", "v1", "Deployment"),
        "namespace": "ns",
        "name": "d",
        "user": UserInfo("alice", groups=("g",)),
        "object": {"metadata": {"name": "d", "labels": {"a": "b"}}},
        "may": lambda *_args, **_more: True,
    }
    return AdmissionRequest(**{**values, **more})


def namespace_of(name):
    return {"metadata": {"name": name, "labels": {"team": "a"}}}


@pytest.mark.parametrize(
    ("rule", "more", "matches"),
    [
        ({}, {}, True),
        ({"operations": ["*"]}, {"operation": "DELETE"}, True),
        ({"apiGroups": ["*"], "apiVersions": ["*"]}, {}, True),
        ({"apiVersions": ["v1beta1"]}, {}, False),
        ({"resources": ["*"]}, {}, True),
        ({"resources": ["*"]}, {"subresource": "scale"}, False),
        ({"resources": ["*/*"]}, {"subresource": "scale"}, True),
        ({"resources": ["*/scale"]}, {"subresource": "scale"}, True),
        ({"resources": ["deployments/*"]}, {"subresource": "scale"}, True),
        ({"resources": ["deployments/scale"]}, {}, False),
        ({"scope": "Namespaced"}, {}, True),
        ({"scope": "Cluster"}, {}, False),
        ({"scope": "Cluster"}, {"namespace": ""}, True),
    ],
)
def test_a_rule_matches(rule, more, matches):
    assert rule_matches({**RULE, **rule}, request(**more)) is matches


def test_a_namespace_counts_as_outside_of_namespaces():
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["namespaces"]}
    asked = request(
        resource=GroupVersionResource("", "v1", "namespaces"),
        kind=GroupVersionKind("", "v1", "Namespace"),
        namespace="d",
    )

    assert rule_matches({**rule, "scope": "Cluster"}, asked)
    assert policy_matches({"namespaceSelector": {"matchLabels": {"a": "b"}}}, asked, namespace_of)


def test_either_object_may_be_selected():
    asked = request(operation="UPDATE", object={"metadata": {}}, old_object={"metadata": {"labels": {"a": "b"}}})

    assert policy_matches({"objectSelector": {"matchLabels": {"a": "b"}}}, asked, namespace_of)


def test_a_selector_that_cannot_be_read_says_so():
    broken = {"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Nonsense"}]}}

    with pytest.raises(MatchFailed):
        policy_matches(broken, request(), namespace_of)


@pytest.mark.parametrize(
    ("group", "resource", "exempt"),
    [
        ("admissionregistration.k8s.io", "validatingadmissionpolicies", True),
        ("authorization.k8s.io", "subjectaccessreviews", True),
        ("apps", "deployments", False),
    ],
)
def test_some_resources_are_exempt(group, resource, exempt):
    assert is_exempt(request(resource=GroupVersionResource(group, "v1", resource))) is exempt


def test_the_request_leaves_out_what_is_empty():
    shown = request_value(request(name=""))

    assert "name" not in shown
    assert "subResource" not in shown
    assert shown["userInfo"] == {"username": "alice", "groups": ["g"]}
    assert shown["dryRun"] is False


def test_expressions_may_ask_about_a_narrowed_list():
    asked = []

    class Authorizer:
        def authorize(self, attributes):
            asked.append(attributes)
            return NO_OPINION

    source = "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c in').check('list').allowed()"
    program = environment(params=False, authorizer=True, patches=False).compile(source)

    answer = program.evaluate(authorizer_values(request(), Authorizer()))

    (question,) = asked
    assert answer is False
    assert (question.verb, [str(one) for one in question.field_selector]) == ("list", ["a=b"])
    assert question.label_selector == ()


def test_match_conditions_have_a_budget_of_their_own():
    scope = environment(params=False, authorizer=False, patches=False)
    costly = {"expression": "lists.range(900000).size() > 0"}
    evaluation = Evaluation({}, {})

    assert Conditions(scope, [costly] * 2).hold(evaluation)
    with pytest.raises(OutOfBudget):
        Conditions(scope, [costly] * 3).hold(evaluation)
    assert evaluation.value(compiled(scope, costly["expression"], ())) is True
