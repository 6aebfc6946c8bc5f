"""What a structural schema drops from a value, and what it fills in."""

import pytest
from hyperkube_lib.structural_schema.embedded import has_embedded
from hyperkube_lib.structural_schema.lists import has_sets
from hyperkube_lib.structural_schema.structure import drop_nulls, fill, has_defaults, prune
from hyperkube_lib.structural_schema.validation import has_rules

KEEPS = "x-kubernetes-preserve-unknown-fields"
TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "size": {"type": "integer", "default": 3},
        "none": {"type": "string", "nullable": True},
        "labels": {"type": "object", "additionalProperties": TEXT},
        "parts": {"type": "array", "items": {"type": "object", "properties": {"size": {"default": 1}, "name": TEXT}}},
        "any": {"type": "object", "additionalProperties": True},
        "open": {"type": "object", "properties": {"name": TEXT}, KEEPS: True},
    },
}


def plain_metadata(value):
    return value, []


def test_members_that_are_not_declared_go_and_are_told_where_they_were():
    value = {
        "kind": "Widget",
        "metadata": {"x": 1},
        "name": "a",
        "more": {"b": 1},
        "labels": {"any": "text"},
        "parts": [{"name": "a"}, {"name": "b", "more": 1}],
        "any": {"a": {"b": 1}, "c": 2},
        "open": {"more": {"a": 1}, "name": "a"},
    }

    unknown = prune(value, SCHEMA, plain_metadata, root=True)

    assert value == {
        "kind": "Widget",
        "metadata": {"x": 1},
        "name": "a",
        "labels": {"any": "text"},
        "parts": [{"name": "a"}, {"name": "b"}],
        "any": {"a": {}, "c": 2},
        "open": {"more": {"a": 1}, "name": "a"},
    }
    assert unknown == ['unknown field "more"', 'unknown field "parts[1].more"', 'unknown field "any.a.b"']


def test_a_null_goes_where_it_is_not_allowed_and_no_default_stands_for_it():
    value = {
        "name": None,
        "size": None,
        "none": None,
        "labels": {"a": None, "b": "c"},
        "parts": [None, {"name": None, "size": None}],
        "unknown": {"a": None},
    }

    drop_nulls(value, SCHEMA)

    assert value == {
        "size": None,
        "none": None,
        "labels": {"b": "c"},
        "parts": [None, {"size": None}],
        "unknown": {"a": None},
    }


def test_defaults_stand_for_what_is_absent_or_a_null_that_is_not_allowed():
    value = {"size": None, "none": None, "parts": [{"name": "a"}, {"size": 7}, {"size": None}]}

    fill(value, SCHEMA)

    assert value == {"size": 3, "none": None, "parts": [{"name": "a", "size": 1}, {"size": 7}, {"size": 1}]}


def test_an_item_and_a_value_that_are_null_get_the_defaults_of_theirs():
    part = {"type": "object", "default": {"name": "x"}, "properties": {"size": {"default": 1}}}
    value = {"map": {"a": None}, "list": [None]}

    fill(value, {"properties": {"map": {"additionalProperties": part}, "list": {"items": part}}})

    assert value == {"map": {"a": {"name": "x", "size": 1}}, "list": [{"name": "x", "size": 1}]}


def test_a_default_is_each_objects_own():
    schema = {"properties": {"a": {"default": {"b": []}}}}
    one, other = {}, {}

    fill(one, schema)
    fill(other, schema)
    one["a"]["b"].append(1)

    assert other == {"a": {"b": []}}


@pytest.mark.parametrize("where", ["properties", "items", "additionalProperties"])
@pytest.mark.parametrize(
    ("has", "said", "unsaid"),
    [
        pytest.param(has_defaults, {"default": False}, {"default": None}, id="defaults"),
        pytest.param(
            has_sets, {"x-kubernetes-list-type": "map"}, {"x-kubernetes-list-type": "atomic"}, id="sets and maps"
        ),
        pytest.param(
            has_embedded,
            {"x-kubernetes-embedded-resource": True},
            {"x-kubernetes-embedded-resource": False},
            id="objects",
        ),
        pytest.param(has_rules, {"x-kubernetes-validations": [{}]}, {"x-kubernetes-validations": []}, id="rules"),
    ],
)
def test_a_schema_has_something_when_it_is_said_anywhere_within(has, where, said, unsaid):
    def around(inner):
        return {"items": {where: {"a": inner} if where == "properties" else inner}, "additionalProperties": True}

    assert has(around(said))
    assert not has(around(unsaid))
