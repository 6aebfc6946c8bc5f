"""The rows of webhooks and policies in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.admissionregistration.admission_policies.table import (
    mutating_admission_policy_cells,
    validating_admission_policy_cells,
)
from hyperkube_api.admissionregistration.admission_policy_bindings import (
    mutating_admission_policy_binding_cells,
    validating_admission_policy_binding_cells,
)
from hyperkube_api.admissionregistration.webhook_configurations.table import (
    mutating_webhook_configuration_cells,
    validating_webhook_configuration_cells,
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


@pytest.mark.parametrize("cells", [validating_webhook_configuration_cells, mutating_webhook_configuration_cells])
@pytest.mark.parametrize("count", [0, 2])
def test_a_row_counts_webhooks(cells, count):
    assert cells({"metadata": META, "webhooks": [{}] * count}, NOW) == ["a", count, "5m"]


@pytest.mark.parametrize(
    ("cells", "member"),
    [(validating_admission_policy_cells, "validations"), (mutating_admission_policy_cells, "mutations")],
    ids=["validating", "mutating"],
)
@pytest.mark.parametrize(
    ("kind", "shown"),
    [(None, "<unset>"), ({"apiVersion": "example.com/v1", "kind": "K"}, "example.com/v1/K")],
    ids=["alone", "with-parameters"],
)
def test_a_policy_row_counts_its_rules(cells, member, kind, shown):
    assert cells({"metadata": META, "spec": {member: [{}], "paramKind": kind}}, NOW) == ["a", 1, shown, "5m"]


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
