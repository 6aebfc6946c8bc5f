"""The rows of webhooks and policies in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.admissionregistration import tables

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


@pytest.mark.parametrize("cells", [tables.validating_webhook_configuration, tables.mutating_webhook_configuration])
@pytest.mark.parametrize("count", [0, 2])
def test_a_row_counts_webhooks(cells, count):
    assert cells({"metadata": META, "webhooks": [{}] * count}, NOW) == ["a", count, "5m"]


@pytest.mark.parametrize(
    ("cells", "member"),
    [(tables.validating_admission_policy, "validations"), (tables.mutating_admission_policy, "mutations")],
    ids=["validating", "mutating"],
)
@pytest.mark.parametrize(
    ("kind", "shown"),
    [(None, "<unset>"), ({"apiVersion": "example.com/v1", "kind": "K"}, "example.com/v1/K")],
    ids=["alone", "with-parameters"],
)
def test_a_policy_row_counts_its_rules(cells, member, kind, shown):
    assert cells({"metadata": META, "spec": {member: [{}], "paramKind": kind}}, NOW) == ["a", 1, shown, "5m"]


@pytest.mark.parametrize(
    "cells", [tables.validating_admission_policy_binding, tables.mutating_admission_policy_binding]
)
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
