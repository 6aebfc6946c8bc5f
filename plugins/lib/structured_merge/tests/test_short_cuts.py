"""The short cuts of field tracking give what the long way gives."""

import pytest
from hyperkube_lib.structured_merge import field_sets, managed_fields, typed
from hyperkube_lib.structured_merge.items import element_of
from hyperkube_lib.structured_merge.managed_fields import FieldScope
from hyperkube_lib.structured_merge.tracking import track_update
from hyperkube_lib.structured_merge.typed import compare, everything_in, is_atomic
from hypothesis import given
from hypothesis import strategies as some

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

from .conftest import Thing

TYPE = compile_schema(Thing).type
WORDS = some.sampled_from(["a", "b", "c", "d"])
LABELS = some.dictionaries(WORDS, WORDS, max_size=3)
PORTS = some.lists(some.fixed_dictionaries({"port": some.integers(1, 3)}, optional={"name": WORDS}), max_size=4)
CONDITIONS = some.lists(
    some.fixed_dictionaries({"type": WORDS}, optional={"status": WORDS, "reason": WORDS}), max_size=4
)
SPECS = some.fixed_dictionaries(
    {},
    optional={
        "replicas": some.integers(0, 3),
        "ports": PORTS,
        "finalizers": some.lists(WORDS, max_size=3, unique=True),
        "conditions": CONDITIONS,
        "args": some.lists(WORDS, max_size=2),
        "selector": some.fixed_dictionaries({"labels": LABELS}),
    },
)
THINGS = some.builds(
    lambda labels, spec: {"metadata": {"name": "t", "labels": labels}, "spec": spec},
    LABELS,
    SPECS,
)


def path_by_path(value, info, path, root):
    """Add every field of a value to a set, one path at a time."""
    field_sets.insert(root, path)
    if is_atomic(info, value):
        return
    if isinstance(value, dict):
        for name, member in value.items():
            path_by_path(member, info.field(name), (*path, f"f:{name}"), root)
        return
    elements = [element_of(item, info) for item in value]
    for element, item in zip(elements, value, strict=True):
        if elements.count(element) > 1:
            field_sets.insert(root, (*path, element))
        else:
            path_by_path(item, info.items, (*path, element), root)


@given(THINGS)
def test_everything_in_an_object_is_all_its_paths(thing):
    root = {}
    path_by_path(thing, TYPE, ("f:thing",), root)

    assert everything_in(thing, TYPE) == root["f:thing"]


@given(THINGS, THINGS)
def test_a_difference_that_removes_nothing_is_the_set_itself(one, other):
    left, right = everything_in(one, TYPE), everything_in(other, TYPE)

    rest = field_sets.difference(left, right)

    kept = set(field_sets.paths(left)) - set(field_sets.paths(right))
    assert set(field_sets.paths(rest)) == kept
    assert field_sets.difference(rest, right) is rest


@given(THINGS, THINGS)
def test_what_was_read_and_did_not_change_is_written_as_it_would_be_anew(first, second):
    scope = FieldScope(info=TYPE, api_version="example.com/v1", kind="Thing", zero=dict)
    live = copy_object(first)
    track_update(scope, None, live, "one", "2030-01-01T00:00:00Z")
    new = copy_object(second)
    track_update(scope, live, new, "two", "2031-01-01T00:00:00Z")

    entries = new["metadata"].get("managedFields", [])

    assert repr(entries) == repr(managed_fields.encode(managed_fields.decode(entries)))


@given(THINGS, THINGS)
def test_what_is_ignored_need_not_be_compared(first, second):
    ignored = field_sets.from_paths([("spec",), ("metadata", "labels")])
    scope = FieldScope(info=TYPE, api_version="example.com/v1", kind="Thing", ignored={"example.com/v1": ignored})

    found = managed_fields.differences(scope, first, second, "example.com/v1")

    assert found == compare(first, second, TYPE).without(ignored)


@given(THINGS, THINGS)
def test_items_by_their_key_are_compared_as_those_by_their_elements(first, second):
    found = compare(first, second, TYPE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed, "_by_key", lambda *_: None)

        assert found == compare(first, second, TYPE)


def test_fields_of_items_that_are_alike_are_written_once():
    sets = [field_sets.from_paths([("status", "ip", name)]) for name in ("x", "y")]
    for own in sets:
        for key in ("b", "a"):
            field_sets.insert(own, ("f:status", "f:list", f'k:{{"type":"{key}"}}', "f:type"))

    first, second = (field_sets.encode(own)["f:status"] for own in sets)

    items = {f'k:{{"type":"{key}"}}': {"f:type": {}} for key in ("a", "b")}
    assert first["f:list"] is second["f:list"]
    assert list(first["f:list"].items()) == list(items.items())
    assert first["f:ip"] == {"f:x": {}}
    assert second["f:ip"] == {"f:y": {}}


def test_values_of_different_kinds_are_compared_where_types_are_free():
    before = {"a": 1, "c": [1], "d": "x", "e": {"f": 1}}
    after = {"a": "1", "c": {"k": 1}, "d": None, "e": 5, "g": []}

    found = compare(before, after, None)

    assert found.added == {"f:c": {"f:k": {".": {}}}, "f:g": {".": {}}}
    assert found.removed == {"f:e": {"f:f": {".": {}}}}
    assert set(found.modified) == {"f:a", "f:c", "f:d", "f:e"}


FREE = {"nothing": None, "zero": 0, "scalar": 5, "no list": [], "list": [1], "no object": {}, "object": {"k": 1}}


@pytest.mark.parametrize("before", FREE)
@pytest.mark.parametrize("after", FREE)
def test_a_value_that_turns_into_another_is_seen_where_types_are_free(before, after):
    found = compare({"a": FREE[before]}, {"a": FREE[after]}, None)

    objects = {before, after} == {"object", "no object"}
    assert found.modified == ({} if before == after or objects else {"f:a": {".": {}}})
    assert found.added == ({"f:a": {"f:k": {".": {}}}} if after == "object" != before else {})
    assert found.removed == ({"f:a": {"f:k": {".": {}}}} if before == "object" != after else {})
