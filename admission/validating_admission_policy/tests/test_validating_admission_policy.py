import orjson
import pytest
from hyperkube_admission.validating_admission_policy import (
    BINDINGS,
    FAILURE_ANNOTATION,
    POLICIES,
    ValidatingAdmissionPolicy,
)

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES, SECRETS
from hyperkube.machinery.errors import ApiError
from hyperkube.testing.admission_rig import AdmissionRig

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}


def config_map(name="c", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ns"}, "data": data}


def policy(*expressions, name="p", **more):
    validations = [one if isinstance(one, dict) else {"expression": one} for one in expressions]
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": validations, **more}
    return {"metadata": {"name": name}, "spec": spec}


@pytest.fixture
def rig():
    rig = AdmissionRig(ValidatingAdmissionPolicy)
    rig.seed(NAMESPACES, {"metadata": {"name": "ns", "labels": {"team": "a"}}})
    return rig


def install(rig, made, *actions, **binding):
    rig.seed(POLICIES, made)
    name = made["metadata"]["name"]
    spec = {"policyName": name, "validationActions": list(actions) or ["Deny"], **binding}
    rig.seed(BINDINGS, {"metadata": {"name": f"{name}-b"}, "spec": spec})


def refusal(rig, obj=None, **more):
    with pytest.raises(ApiError) as caught:
        rig.create(CONFIG_MAPS, obj or config_map(), **more)
    return caught.value.status()


def test_a_breach_is_denied_with_the_expression(rig):
    install(rig, policy("object.metadata.name != 'c'"))

    status = refusal(rig)

    text = "ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: failed expression: object.metadata.name != 'c'"
    assert status["message"] == f'configmaps "c" is forbidden: {text}'
    assert (status["reason"], status["code"]) == ("Invalid", 422)
    assert status["details"] == {"name": "c", "kind": "configmaps", "causes": [{"message": text}]}


@pytest.mark.parametrize(
    ("validation", "text"),
    [
        ({"message": "said"}, "said"),
        ({"messageExpression": "'made ' + object.metadata.name"}, "made c"),
        ({"messageExpression": "object.nothing", "message": "said"}, "said"),
        ({"messageExpression": "'  '"}, "failed expression: false"),
        ({"messageExpression": "'a\\nb'", "message": "said"}, "said"),
    ],
    ids=["message", "expression", "failing", "empty", "lines"],
)
def test_the_message_is_chosen(rig, validation, text):
    install(rig, policy({"expression": "false", **validation}))

    assert refusal(rig)["message"].endswith(f"denied request: {text}")


@pytest.mark.parametrize(
    ("reason", "code"), [("Forbidden", 403), ("Unauthorized", 401), ("RequestEntityTooLarge", 413)]
)
def test_the_reason_gives_the_code(rig, reason, code):
    install(rig, policy({"expression": "false", "reason": reason}))

    status = refusal(rig)

    assert (status["reason"], status["code"]) == (reason, code)


def test_a_failure_closes_or_opens_with_the_policy(rig):
    install(rig, policy("object.nothing == 1", name="a", failurePolicy="Ignore"))
    rig.create(CONFIG_MAPS, config_map())
    install(rig, policy("object.nothing == 1", name="b"))

    text = "expression 'object.nothing == 1' resulted in error: no such key: nothing"
    assert refusal(rig)["message"].endswith(f"'b' with binding 'b-b' denied request: {text}")


def test_variables_are_made_when_needed_and_their_failures_named(rig):
    variables = [{"name": "n", "expression": "int(object.data.n)"}, {"name": "twice", "expression": "variables.n * 2"}]
    install(rig, policy("object.metadata.name == 'free' || variables.twice < 10", variables=variables))

    rig.create(CONFIG_MAPS, config_map("free", n="x"))
    rig.create(CONFIG_MAPS, config_map(n="4"))
    text = (
        'composited variable "twice" fails to evaluate: composited variable "n" fails to evaluate: '
        "type conversion error from 'string' to 'int'"
    )
    assert refusal(rig, config_map(n="x"))["message"].endswith(f"resulted in error: {text}")


def test_parameters_are_found_by_name_and_must_be_there(rig):
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    rig.plugin._policies._parameters._discover = lambda *_: __import__(
        "hyperkube_lib.dynamic_admission.policies", fromlist=["Resource"]
    ).Resource(CONFIG_MAPS, namespaced=True)
    reference = {"name": "params", "parameterNotFoundAction": "Deny"}
    install(rig, policy("int(object.data.n) <= int(params.data.max)", paramKind=kind), paramRef=reference)
    missing = refusal(rig, config_map(n="1"))["message"]
    rig.seed(CONFIG_MAPS, config_map("params", max="3"))

    rig.create(CONFIG_MAPS, config_map(n="2"))
    refusal(rig, config_map(n="9"))

    assert missing.endswith(
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    )


def test_conditions_keep_a_policy_out(rig):
    conditions = [{"name": "not-free", "expression": "!object.metadata.name.startsWith('free')"}]
    install(rig, policy("false", matchConditions=conditions))

    rig.create(CONFIG_MAPS, config_map("free-1"))
    refusal(rig)


@pytest.mark.parametrize(
    "match",
    [
        {"resourceRules": [{**RULE, "operations": ["DELETE"]}]},
        {"resourceRules": [{**RULE, "resourceNames": ["other"]}]},
        {"resourceRules": [RULE], "excludeResourceRules": [RULE]},
        {"resourceRules": [RULE], "namespaceSelector": {"matchLabels": {"team": "b"}}},
        {"resourceRules": [RULE], "objectSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}},
    ],
    ids=["operation", "name", "excluded", "namespace", "object"],
)
def test_what_is_not_matched_passes(rig, match):
    install(rig, policy("false", matchConstraints=match))

    rig.create(CONFIG_MAPS, config_map())


def test_a_binding_narrows_further(rig):
    install(rig, policy("false"), matchResources={"namespaceSelector": {"matchLabels": {"team": "b"}}})

    rig.create(CONFIG_MAPS, config_map())
    rig.create(SECRETS, {"metadata": {"name": "s", "namespace": "ns"}})


def test_warnings_and_notes_let_pass(rig):
    install(rig, policy({"expression": "false", "message": "careful"}), "Warn", "Audit")
    request = rig.request("CREATE", CONFIG_MAPS, config_map())

    rig.admit(request)

    assert request.warnings == ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': careful"]
    (note,) = orjson.loads(request.annotations[FAILURE_ANNOTATION])
    assert (note["message"], note["expressionIndex"], note["validationActions"]) == ("careful", 0, ["Warn", "Audit"])


def test_audit_annotations_are_published(rig):
    annotations = [
        {"key": "k", "valueExpression": "'v: ' + object.metadata.name"},
        {"key": "none", "valueExpression": "null"},
    ]
    install(rig, policy("true", auditAnnotations=annotations))
    request = rig.request("CREATE", CONFIG_MAPS, config_map())

    rig.admit(request)

    assert request.annotations == {"p/k": "v: c"}


def test_the_request_and_its_namespace_are_seen(rig):
    install(
        rig,
        policy(
            "request.operation == 'CREATE'",
            "request.userInfo.username == 'alice'",
            "!has(request.subResource)",
            "request.resource.resource == 'configmaps'",
            "namespaceObject.metadata.labels.team == 'a'",
            "oldObject == null",
            "request.dryRun == false",
        ),
    )

    rig.create(CONFIG_MAPS, config_map())


def test_policies_cannot_lock_themselves_in(rig):
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    install(rig, policy("false", matchConstraints={"resourceRules": [rule]}))

    rig.create(POLICIES, {"metadata": {"name": "x"}, "spec": {}})
