"""The validatingadmissionpolicy-status controller: warnings about types, once per generation.

Source: kubernetes ``pkg/controller/validatingadmissionpolicystatus/controller_test.go``.
"""

import orjson
import pytest
from hyperkube_controller.validatingadmissionpolicy_status import ValidatingAdmissionPolicyStatus
from hyperkube_controller.validatingadmissionpolicy_status.controller import POLICIES
from hyperkube_controller.validatingadmissionpolicy_status.schemas import Kind, PublishedSchemas
from hyperkube_controller.validatingadmissionpolicy_status.warnings import matched_kinds

from hyperkube.client.client import RawResponse
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

RESOURCES = [{"name": "widgets", "kind": "Widget"}, {"name": "widgets/status", "kind": "Widget"}]
WIDGET = {
    "type": "object",
    "x-kubernetes-group-version-kind": [{"group": "e.com", "version": "v1", "kind": "Widget"}],
    "properties": {
        "metadata": {"allOf": [{"$ref": "#/components/schemas/Meta"}]},
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer"},
                "port": {"allOf": [{"$ref": "#/components/schemas/Port"}]},
                "self": {"$ref": "#/components/schemas/Loop"},
            },
        },
    },
}
DEFINITIONS = {
    "Widget": WIDGET,
    "Meta": {"type": "object", "properties": {"name": {"type": "string"}}},
    "Port": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    "Loop": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "again": {"$ref": "#/components/schemas/Loop"}},
    },
}


def answer(value):
    return lambda _body: RawResponse(200, {}, orjson.dumps(value))


def world():
    rig = ControllerRig(ValidatingAdmissionPolicyStatus)
    rig.client.answer("GET", "/apis/e.com/v1", answer({"resources": RESOURCES}))
    rig.client.answer("GET", "/openapi/v3/apis/e.com/v1", answer({"components": {"schemas": DEFINITIONS}}))
    return rig


def policy(*validations, rule=None, **spec):
    rules = [{"apiGroups": ["e.com"], "apiVersions": ["v1"], "resources": ["widgets"], **(rule or {})}]
    spec = {"matchConstraints": {"resourceRules": rules}, "validations": list(validations), **spec}
    return {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p", "generation": 1}, "spec": spec}


def checked(rig):
    rig.settle()
    (found,) = rig.client.objects(POLICIES)
    return found["status"]


class TestContract(ControllerContract):
    plugin = ValidatingAdmissionPolicyStatus

    def populate(self, rig):
        rig.client.seed(POLICIES, policy({"expression": "true"}))


def test_a_field_that_the_type_lacks_is_warned_of():
    rig = world()
    rig.client.seed(POLICIES, policy({"expression": "object.spec.replica < 5"}))

    (warning,) = checked(rig)["typeChecking"]["expressionWarnings"]

    assert warning == {
        "fieldRef": "spec.validations[0].expression",
        "warning": "e.com/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'replica'\n"
        " | object.spec.replica < 5\n | ...........^\n",
    }


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas < 5 && object.metadata.name != ''",
        "object.spec.port == 80 || object.spec.port == 'http'",
        "object.spec.self.n == oldObject.spec.replicas",
        "authorizer.group('').resource('pods').check('get').allowed() && request.name == ''",
    ],
)
def test_what_fits_is_not_warned_of(expression):
    rig = world()
    rig.client.seed(POLICIES, policy({"expression": expression}))

    status = checked(rig)

    assert status == {"observedGeneration": 1, "typeChecking": {}}


def test_messages_and_what_variables_hold_are_checked():
    rig = world()
    variables = [{"name": "count", "expression": "object.spec.replicas"}]
    rule = {"expression": "variables.count.startsWith('a')", "messageExpression": "string(object.none)"}
    rig.client.seed(POLICIES, policy(rule, variables=variables))

    found = checked(rig)["typeChecking"]["expressionWarnings"]

    assert [one["fieldRef"] for one in found] == [
        "spec.validations[0].expression",
        "spec.validations[0].messageExpression",
    ]
    assert "found no matching overload for 'startsWith' applied to 'int.(string)'" in found[0]["warning"]


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        ({}, [Kind("e.com", "v1", "Widget")]),
        ({"apiGroups": ["*"]}, []),
        ({"apiVersions": ["*"]}, []),
        ({"resources": ["*", "widgets/status", "gadgets"]}, []),
    ],
)
def test_only_types_that_are_named_and_served_are_checked(rule, kinds):
    assert matched_kinds(policy(rule=rule), PublishedSchemas(world().client)) == kinds


def test_a_policy_is_checked_once_for_each_generation():
    rig = world()
    old = {"observedGeneration": 1, "typeChecking": {}}
    rig.client.seed(POLICIES, {**policy({"expression": "object.nope"}), "status": old})

    assert checked(rig) == old


CONFUSED = "found no matching overload for '_>_' applied to '(int, string)'"


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        (["object.spec.replicas > 1"], {}),
        (["object.spec.replicas < 100", "object.spec.replicas > '1'"], {1: [CONFUSED]}),
        (
            ["object.spec.nonExistingFirst > 1", "object.spec.replicas > '1'"],
            {0: ["undefined field 'nonExistingFirst'"], 1: [CONFUSED]},
        ),
        (
            ["object.spec.replicas < 100", "object.spec.replicas > '1' && object.spec.nonExisting == 1"],
            {1: ["undefined field 'nonExisting'", CONFUSED]},
        ),
    ],
    ids=["right", "type-confusion", "two-expressions", "two-warnings-of-one"],
)
def test_expressions(expressions, expected):
    rig = world()
    rig.client.seed(POLICIES, policy(*({"expression": each} for each in expressions)))

    found = checked(rig)["typeChecking"].get("expressionWarnings", [])

    assert [each["fieldRef"] for each in found] == [f"spec.validations[{index}].expression" for index in expected]
    for each, texts in zip(found, expected.values(), strict=True):
        assert all(text in each["warning"] for text in texts)


def test_no_syncs_at_all_are_refused():
    with pytest.raises(UsageError, match=r"^concurrent-validating-.*-status-syncs must be greater than 0, got 0$"):
        ControllerRig(
            ValidatingAdmissionPolicyStatus, settings={"concurrent_validating_admission_policy_status_syncs": 0}
        )
