"""What did not change is not held against a value."""

import pytest
from hyperkube_lib.structural_schema.former import Former
from hyperkube_lib.structural_schema.lists import repeated
from hyperkube_lib.structural_schema.validation import validate

from hyperkube.machinery.field import Path

SHORT = {"type": "string", "maxLength": 1}
ITEM = {"type": "object", "properties": {"k": {"type": "string"}, "v": SHORT}}


def of(schema):
    return {"type": "object", "properties": {"a": schema, "b": {"type": "string"}}}


def lists(kind=None, items=SHORT):
    found = {"type": "array", "items": items}
    if kind:
        found["x-kubernetes-list-type"] = kind
    return {**found, "x-kubernetes-list-map-keys": ["k"]} if kind == "map" else found


def errors(schema, old, new):
    return [error.path for error in validate(new, schema, Path(""), "", Former(new, old, schema))]


@pytest.mark.parametrize(
    ("schema", "old", "new", "expected"),
    [
        pytest.param(SHORT, "xx", "xx", [], id="unchanged"),
        pytest.param(SHORT, "xx", "yy", ["a"], id="changed"),
        pytest.param(lists(), ["xx", "y"], ["xx", "z"], [], id="by-place"),
        pytest.param(lists(), ["xx", "y"], ["z", "xx"], ["a[1]"], id="moved"),
        pytest.param(lists("atomic"), ["xx", "y"], ["xx", "z"], ["a[0]"], id="atomic"),
        pytest.param(lists("atomic"), ["xx"], ["xx"], [], id="atomic-unchanged"),
        pytest.param(lists("set"), ["xx", "y"], ["xx"], ["a[0]"], id="set"),
        pytest.param(
            lists("map", ITEM),
            [{"k": "a", "v": "xx"}, {"k": "b"}],
            [{"k": "b"}, {"k": "a", "v": "xx"}],
            [],
            id="by-key",
        ),
        pytest.param(lists("map", ITEM), [{"k": "a", "v": "xx"}], [{"k": "c", "v": "xx"}], ["a[0].v"], id="other-key"),
        pytest.param(
            {"type": "object", "additionalProperties": SHORT}, {"x": "xx"}, {"x": "xx", "y": "yy"}, ["a.y"], id="map"
        ),
        pytest.param({**ITEM, "required": ["v"]}, {"k": "a"}, {"k": "a"}, [], id="missing-before"),
        pytest.param({**ITEM, "required": ["v"]}, {"k": "a"}, {"k": "b"}, ["a.v"], id="still-missing-in-what-changed"),
        pytest.param({"anyOf": [{"maxLength": 1}]}, "xx", "xx", [], id="junctor-unchanged"),
        pytest.param(SHORT, True, 1, ["a"], id="true-is-not-one"),
    ],
)
def test_what_did_not_change_may_stay(schema, old, new, expected):
    assert errors(of(schema), {"a": old, "b": "1"}, {"a": new, "b": "2"})[: len(expected)] == expected
    assert bool(errors(of(schema), {"a": old, "b": "1"}, {"a": new, "b": "2"})) == bool(expected)


def test_the_type_of_an_object_is_always_checked():
    schema = {"type": "object", "properties": {"kind": SHORT, "a": SHORT}}

    assert errors(schema, {"kind": "xx", "a": "x"}, {"kind": "xx", "a": "y"}) == ["kind"]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (lists("set"), ["a", "b", "a", "a"], ['[2]: Duplicate value: "a"']),
        (lists("set"), [1, True, "1"], []),
        (lists("set"), [{"x": 1, "y": 2}, {"y": 2, "x": 1}], ['[1]: Duplicate value: {"y":2,"x":1}']),
        (lists("atomic"), ["a", "a"], []),
        (lists("map", ITEM), [{"k": "a"}, {"k": "a", "v": "b"}], ['[1]: Duplicate value: {"k":"a"}']),
        (lists("map", ITEM), [{}, {"v": "b"}], ["[1]: Duplicate value: {}"]),
        (
            lists("map", ITEM),
            [{"k": "a"}, "b"],
            ['[1]: Invalid value: "b": must be an object for an array of list-type map'],
        ),
        (lists(None, lists("set")), [["a"], ["b", "b"]], ['[1][1]: Duplicate value: "b"']),
        (of(lists("set")), {"a": ["x", "x"]}, ['a[1]: Duplicate value: "x"']),
        ({"additionalProperties": lists("set")}, {"a": ["x", "x"]}, ['[a][1]: Duplicate value: "x"']),
    ],
)
def test_nothing_occurs_twice_in_sets_and_maps(schema, value, expected):
    assert [str(error) for error in repeated(value, schema, Path(""))] == expected
