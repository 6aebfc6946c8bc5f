"""How the API server serves admission policy bindings."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.admissionregistration.admission_policy_bindings import (
    mutating_admission_policy_binding_cells,
    validate_validating_binding,
    validating_admission_policy_binding_cells,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
IN_WORDS = (
    "&LabelSelector{MatchLabels:map[string]string{a: b,c: d,},MatchExpressions:[]LabelSelectorRequirement{"
    "LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}"
)
RULES = {
    "matchLabels": {"c": "d", "a": "b"},
    "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}],
}
REFERENCE = {"name": "a", "parameterNotFoundAction": "Deny"}


@pytest.mark.parametrize("cells", [validating_admission_policy_binding_cells, mutating_admission_policy_binding_cells])
@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        (None, "<unset>"),
        ({"name": "p"}, "*/p"),
        ({"name": "p", "namespace": "n"}, "n/p"),
        ({"namespace": "n"}, "<unset>"),
        ({"namespace": "n", "selector": RULES}, IN_WORDS),
        (
            {"selector": {}},
            "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}",
        ),
    ],
    ids=["none", "anywhere", "named", "nothing", "selected", "all"],
)
def test_a_binding_row_shows_where_the_parameters_are(cells, reference, shown):
    obj = {"metadata": META, "spec": {"policyName": "p", "paramRef": reference}}

    assert cells(obj, NOW) == ["a", "p", shown, "5m"]


def texts(errors):
    return [str(error) for error in errors]


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
