import pytest
from hyperkube_lib.cel.admission import compile_variables, environment
from hyperkube_lib.dynamic_admission.context import authorizer_values
from hyperkube_lib.dynamic_admission.evaluation import Conditions, Evaluation, Failed, OutOfBudget, compiled
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


def chain(first, following, length):
    """Return the evaluation of variables that each speak of the one before, and the scope they are in."""
    base = environment(params=False, authorizer=False, patches=False)
    later = [(f"v{number}", following.replace("LAST", f"variables.v{number - 1}")) for number in range(1, length)]
    scope, programs = compile_variables(base, [("v0", first), *later])
    return Evaluation({}, programs), scope


def test_variables_may_speak_of_one_another_as_deep_as_they_like():
    evaluation, scope = chain("1", "LAST + 1", 500)

    assert evaluation.value(compiled(scope, "variables.v499 == 500", ())) is True


def test_a_failure_at_the_end_of_a_chain_may_be_outweighed():
    evaluation, scope = chain("dyn([1])[5] == 1", "LAST", 200)

    assert evaluation.value(compiled(scope, "variables.v199 || true", ())) is True
    with pytest.raises(Failed, match="index out of bounds: 5"):
        evaluation.value(compiled(scope, "variables.v199", ()))


def test_a_variable_that_fails_is_evaluated_once():
    evaluation, scope = chain("dyn([1])[5] == 1", "LAST || LAST", 30)  # 2**30 times, each asked again

    with pytest.raises(Failed, match="index out of bounds: 5"):
        evaluation.value(compiled(scope, "variables.v29", ()))


def test_what_is_begun_in_vain_is_spent():
    evaluation, scope = chain("1", "lists.range(100000).size() > 0 ? LAST + 1 : 0", 62)  # 6 of 10 million, and 4 twice

    with pytest.raises(OutOfBudget):
        evaluation.value(compiled(scope, "variables.v61 == 62", ()))
