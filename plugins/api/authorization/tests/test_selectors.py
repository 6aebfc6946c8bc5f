"""Selectors in access reviews: validated and parsed; what cannot be parsed is left out and reported."""

import pytest
from hyperkube_api.authorization.selectors import narrowed, selector_problems

from hyperkube.machinery.field import ROOT

PATH = ROOT.child("spec", "resourceAttributes")


def row(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


def rows(*found):
    return {"requirements": list(found)}


@pytest.mark.parametrize("member", ["fieldSelector", "labelSelector"])
@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (
            {"rawSelector": "a=b", **rows(row("a", "In", "b"))},
            'rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
        ),
        (
            {},
            (
                "requirements: Required value: when spec.resourceAttributes.{member} is specified, "
                "requirements or rawSelector is required"
            ),
        ),
        (
            rows(row("a", "In")),
            "requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (
            rows(row("a", "Exists", "b")),
            "requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
    ],
)
def test_a_selector_must_say_one_thing(member, selector, text):
    (found,) = selector_problems(PATH, {member: selector})

    assert str(found) == f"spec.resourceAttributes.{member}.{text.format(member=member)}"


def test_keys_are_checked():
    (field,) = selector_problems(PATH, {"fieldSelector": rows(row("", "In", "b"))})
    labels = selector_problems(PATH, {"labelSelector": rows(row("-", "In", "!"))})

    assert str(field) == "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified"
    assert [str(one.path).rpartition(".")[2] for one in labels] == ["key", "values[0]"]


def test_an_operator_of_a_later_version_is_let_through():
    assert not selector_problems(PATH, {"labelSelector": rows(row("a", "Later", "b"))})


@pytest.mark.parametrize(
    ("attributes", "fields", "labels", "error"),
    [
        ({}, [], [], ""),
        ({"fieldSelector": {"rawSelector": "a=b,c!=d"}}, ["a=b", "c!=d"], [], ""),
        ({"labelSelector": {"rawSelector": "a in (b),!c"}}, [], ["!c", "a in (b)"], ""),
        ({"fieldSelector": {"rawSelector": "a"}}, [], [], "fieldSelector ignored"),
        ({"labelSelector": {"rawSelector": "a in"}}, [], [], "labelSelector ignored"),
        ({"fieldSelector": rows(row("a", "In", "b"), row("c", "NotIn", "d"))}, ["a=b", "c!=d"], [], ""),
        (
            {"fieldSelector": rows(row("a", "In", "b"), row("c", "Exists"))},
            ["a=b"],
            [],
            "fieldSelector partially ignored",
        ),
        ({"labelSelector": rows(row("a", "Exists"), row("b", "Later"))}, [], ["a"], "labelSelector partially ignored"),
    ],
)
def test_what_can_be_read_counts(attributes, fields, labels, error):
    found = narrowed(attributes)

    assert [str(one) for one in found.fields] == fields
    assert sorted(str(one) for one in found.labels) == labels
    assert found.error == (f"spec.resourceAttributes.{error} due to parse error" if error else "")
