"""The rules and match conditions of webhooks and policies."""

import pytest
from hyperkube_api.admissionregistration.matching import validate_conditions, validate_match, validate_rule

from hyperkube.machinery.field import ROOT

RULE = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods"]}
MATCH = {"matchPolicy": "Exact", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [RULE]}


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
