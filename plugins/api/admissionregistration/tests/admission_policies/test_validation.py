"""The validation of admission policies."""

import pytest
from hyperkube_api.admissionregistration.admission_policies.validation import (
    validate_policy_status,
    validate_validating_policy,
)

LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
DOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
RULE = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods"]}
MATCH = {"matchPolicy": "Exact", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [RULE]}
POLICY = {"failurePolicy": "Fail", "matchConstraints": MATCH, "validations": [{"expression": "true"}]}


def texts(errors):
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"paramKind": {}}, ["spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"]),
        (
            {"paramKind": {"apiVersion": "a/b/c", "kind": "K"}},
            ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
        ),
        (
            {"paramKind": {"apiVersion": "A/1", "kind": "K"}},
            [
                f'spec.paramKind.apiVersion: Invalid value: "A": {DOMAIN}',
                f'spec.paramKind.apiVersion: Invalid value: "1": {LABEL}',
            ],
        ),
        (
            {"paramKind": {"apiVersion": "a/", "kind": "K_"}},
            [
                'spec.paramKind.apiVersion: Invalid value: "a/": version must be specified',
                f'spec.paramKind.kind: Invalid value: "K_": may have mixed case, but should otherwise match: {LABEL}',
            ],
        ),
        (
            {"variables": [{"name": " ", "expression": "1"}]},
            ["spec.variables[0].name: Required value: name is not specified"],
        ),
        (
            {"variables": [{"name": "in", "expression": "1"}]},
            ['spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier'],
        ),
        ({"validations": [{"expression": "true\n", "message": ""}]}, []),
        ({"validations": [{"expression": "true &&\ntrue"}]}, []),
        (
            {"validations": [{"expression": "true", "message": "a\rb", "messageExpression": " "}]},
            [
                'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
                'spec.validations[0].message: Invalid value: "a\\rb": must not contain line breaks',
            ],
        ),
        (
            {"validations": [{"expression": "true", "reason": "Unauthorized"}]},
            [
                (
                    'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: '
                    '"Forbidden", "Invalid", "RequestEntityTooLarge"'
                )
            ],
        ),
        (
            {"auditAnnotations": [{"key": "k", "valueExpression": "'a'"}, {"key": "k", "valueExpression": " "}]},
            [
                "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
                'spec.auditAnnotations[1].key: Duplicate value: "k"',
            ],
        ),
        (
            {"auditAnnotations": [{"key": "k", "valueExpression": f"'{'a' * 5119}'"}]},
            ["spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"],
        ),
    ],
)
def test_policies(change, expected):
    assert texts(validate_validating_policy({"metadata": {"name": "p"}, "spec": {**POLICY, **change}})) == expected


def test_keys_of_annotations_need_the_name_of_the_policy():
    spec = {**POLICY, "auditAnnotations": [{"key": "k", "valueExpression": "'a'"}]}

    assert texts(validate_validating_policy({"metadata": {}, "spec": spec})) == [
        'spec.auditAnnotations[0].key: Invalid value: "k": requires metadata.name be non-empty'
    ]


def test_annotations_are_few():
    spec = {**POLICY, "auditAnnotations": [{"key": f"k{index}", "valueExpression": "'a'"} for index in range(21)]}
    (error,) = validate_validating_policy({"metadata": {"name": "p"}, "spec": spec})

    assert error.detail == "must not have more than 20 auditAnnotations"
    assert error.value[0] == {"Key": "k0", "ValueExpression": "'a'"}


def test_a_warning_of_the_type_checker_names_a_field():
    status = {"typeChecking": {"expressionWarnings": [{"fieldRef": " "}]}, "conditions": [{"type": "A"}] * 2}
    errors = texts(validate_policy_status({"status": status}))

    assert errors[:2] == [
        "status.typeChecking.expressionWarnings[0].warning: Required value",
        "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
    ]
    assert 'status.conditions[1].type: Duplicate value: "A"' in errors
