"""What Go prints."""

import pytest
from hyperkube_lib.go_strings import label_selector_string

NOTHING = "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}"
BOTH = (
    "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{"
    "LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}"
)
EXPRESSION = {"key": "k", "operator": "In", "values": ["x", "y"]}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, "nil"),
        ({}, NOTHING),
        ({"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [EXPRESSION]}, BOTH),
    ],
    ids=["none", "empty", "both"],
)
def test_a_label_selector(selector, expected):
    assert label_selector_string(selector) == expected
