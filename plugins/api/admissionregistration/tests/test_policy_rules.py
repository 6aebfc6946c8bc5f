"""The rules of webhooks, policies and bindings: each wrong value, and what Kubernetes says of it."""

import pytest
from hyperkube_api.admissionregistration.admission_policies.validation import (
    validate_policy_status,
    validate_validating_policy,
)
from hyperkube_api.admissionregistration.admission_policy_bindings import validate_validating_binding
from hyperkube_api.admissionregistration.matching import validate_conditions, validate_match, validate_rule
from hyperkube_api.admissionregistration.webhook_configurations.validation import validate_webhooks

from hyperkube.machinery.field import ROOT

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
REFERENCE = {"name": "a", "parameterNotFoundAction": "Deny"}
WEBHOOK = {
    "name": "w.example.com",
    "clientConfig": {"url": "https://h"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def texts(errors):
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        (["pods", "pods/log", "*/scale"], []),
        (["*", "pods/log"], []),
        ([""], ["resources[0]: Required value"]),
        (
            ["pods/*", "pods/log"],
            ["resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify pods/log"],
        ),
        (
            ["*/log", "pods/log"],
            ["resources[1]: Invalid value: \"pods/log\": if '*/log' is present, must not specify pods/log"],
        ),
        (
            ["*/*", "pods"],
            ['resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources'],
        ),
        (
            ["*", "pods"],
            [
                (
                    'resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources '
                    "without subresources"
                )
            ],
        ),
        (["pods", "*"], []),
    ],
)
def test_resources_of_a_rule_do_not_overlap(resources, expected):
    assert texts(validate_rule(ROOT, {**RULE, "resources": resources})) == expected


def test_names_of_objects_are_path_segments_and_unique():
    match = {**MATCH, "resourceRules": [{**RULE, "resourceNames": ["a/b", "c", "c"], "operations": []}]}

    assert texts(validate_match(ROOT, match)) == [
        "resourceRules[0].resourceNames[0]: Invalid value: \"a/b\": may not contain '/'",
        'resourceRules[0].resourceNames[2]: Duplicate value: "c"',
        "resourceRules[0].operations: Required value",
    ]


def test_too_many_conditions_are_checked_all_the_same():
    conditions = [{"name": f"n{index}", "expression": "true"} for index in range(64)] + [{"name": "last"}]

    assert texts(validate_conditions(ROOT.child("c"), conditions)) == [
        "c: Too many: 65: must have at most 64 items",
        "c[64].expression: Required value",
    ]


def test_conditions_are_shown_without_blanks():
    (error,) = validate_conditions(ROOT, [{"name": "a", "expression": " 'x' "}])

    assert error.value == "'x'"


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
                'spec.validations[0].message: Invalid value: "a\\rb": message must not contain line breaks',
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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"parameterNotFoundAction": ""}, ["spec.paramRef.parameterNotFoundAction: Required value"]),
        (
            {"parameterNotFoundAction": "x"},
            [
                'spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow"',
            ],
        ),
        (
            {"name": "a/b", "selector": {"matchLabels": {"a": "-"}}},
            [
                "spec.paramRef.name: Invalid value: \"a/b\": may not contain '/'",
                "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
                (
                    'spec.paramRef.selector.matchLabels: Invalid value: "-": a valid label must be an empty string or '
                    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                    "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                ),
                "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
            ],
        ),
    ],
)
def test_parameters_of_bindings(change, expected):
    spec = {"policyName": "p", "paramRef": {**REFERENCE, **change}, "validationActions": ["Deny"]}

    assert texts(validate_validating_binding({"spec": spec})) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sideEffects": None}, ["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
        (
            {"admissionReviewVersions": ["1"]},
            [
                f'webhooks[0].admissionReviewVersions[0]: Invalid value: "1": {LABEL}',
                'webhooks[0].admissionReviewVersions: Invalid value: ["1"]: must include at least one of v1, v1beta1',
            ],
        ),
        (
            {"clientConfig": {"service": {"name": "a"}}},
            ["webhooks[0].clientConfig.service.name: Required value"],
        ),
        (
            {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "//"}}},
            ['webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
        ),
        (
            {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "/a//B/"}}},
            [
                'webhooks[0].clientConfig.service.path: Invalid value: "/a//B/": segment[1] may not be empty',
                f'webhooks[0].clientConfig.service.path: Invalid value: "/a//B/": segment[2]: {DOMAIN}',
            ],
        ),
    ],
)
def test_webhooks(change, expected):
    assert texts(validate_webhooks({"webhooks": [{**WEBHOOK, **change}]})) == expected


def test_the_type_checker_says_something_of_some_field():
    status = {"typeChecking": {"expressionWarnings": [{"fieldRef": " "}]}, "conditions": [{"type": "A"}] * 2}
    errors = texts(validate_policy_status({"status": status}))

    assert errors[:2] == [
        "status.typeChecking.expressionWarnings[0].warning: Required value",
        "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
    ]
    assert 'status.conditions[1].type: Duplicate value: "A"' in errors
