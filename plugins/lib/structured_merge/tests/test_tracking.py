"""What an update writes by the paths that it touches is what sets of all paths give."""

import ctypes
import json
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hyperkube_lib.structured_merge import field_sets, managed_fields, plain_entries, tracking
from hyperkube_lib.structured_merge.items import NoElement, element_of
from hyperkube_lib.structured_merge.managed_fields import FieldScope, Owned
from hyperkube_lib.structured_merge.tracking import track_update
from hypothesis import given
from hypothesis import strategies as some

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import KubeObject, KubeSchema, compile_schema
from hyperkube.machinery.schema.fields import List, String
from hyperkube.machinery.times import format_time

from .conftest import Thing
from .test_short_cuts import THINGS

START = datetime(2030, 1, 1, tzinfo=UTC)
VERSION = "example.com/v1"
PLACES = {
    "": field_sets.from_paths([("spec", "args")]),
    "status": field_sets.from_paths([("metadata", "labels")]),
    "ports": {},
}
WRITES = some.lists(
    some.tuples(some.sampled_from(["one", "two", ""]), some.sampled_from(list(PLACES)), some.integers(0, 2), THINGS),
    min_size=1,
    max_size=6,
)


class Row(KubeSchema):
    name = String(1)


class Sheet(KubeObject):
    rows = List("Row", 1, omitempty=True, list_type="map", list_map_keys=("name",))


def scope_at(place):
    ignored = {VERSION: PLACES[place]}
    info = compile_schema(Thing).type
    return FieldScope(info=info, api_version=VERSION, kind="Thing", subresource=place, ignored=ignored)


def by_all_paths(scope, live, new, manager, now):
    """Return the ``managedFields`` of an update, by taking paths one by one out of sets of tuples."""
    change = managed_fields.differences(scope, managed_fields.without_managed(live), new, VERSION)
    modified, added, removed = (set(field_sets.paths(part)) for part in (change.modified, change.added, change.removed))
    owners = {}
    stored = managed_fields.decode(live["metadata"].get("managedFields"))
    for owner, owned in stored.items():
        left = set(field_sets.paths(owned.fields)) - modified - added - removed
        if left:
            owners[owner] = (left, owned.time)
    gained = set(field_sets.paths(managed_fields.strip(field_sets.union(change.modified, change.added))))
    if gained:
        own = scope.owner(manager, managed_fields.UPDATE)
        owners[own] = (gained | owners.get(own, (set(),))[0], format_time(now))
    managed = {}
    for owner, (paths, time) in owners.items():
        fields = {}
        for path in paths:
            field_sets.insert(fields, path)
        managed[owner] = Owned(fields, VERSION, time)
    return managed_fields.encode(managed)


@given(THINGS, WRITES)
def test_updates_give_what_sets_of_all_paths_give(first, writes):
    live = copy_object(first)
    track_update(scope_at(""), None, live, "one", format_time(START))

    for manager, place, seconds, written in writes:
        now = START + timedelta(seconds=seconds)
        scope, new = scope_at(place), copy_object(written)
        tracked = bool(live["metadata"].get("managedFields"))
        expected = by_all_paths(scope, live, new, manager, now) if tracked else []

        track_update(scope, live, new, manager, format_time(now))

        assert json.dumps(new["metadata"].get("managedFields", [])) == json.dumps(expected)
        live = new


@given(THINGS, THINGS)
def test_a_fieldsv1_tells_on_the_wire_what_its_set_tells(one, other):
    nothing = {"metadata": {}, "spec": {}}
    left, right = (managed_fields.differences(scope_at(""), nothing, thing, VERSION).added for thing in (one, other))
    wire = field_sets.encode(left)

    mine, wanted = set(field_sets.paths(left)), set(field_sets.paths(right))
    assert field_sets.holds(wire, right) == (wanted <= mine)
    assert field_sets.touches(wire, right) == bool(wanted & mine)
    rest = field_sets.difference(right, left)
    assert field_sets.holds(wire, field_sets.difference(right, rest))
    assert not field_sets.touches(wire, rest)


def test_only_the_time_changes_where_a_manager_writes_again_what_it_has(monkeypatch):
    live = {"metadata": {"name": "t", "labels": {"a": "b"}}, "spec": {"replicas": 1}}
    track_update(scope_at(""), None, live, "one", format_time(START))
    (stored,) = live["metadata"]["managedFields"]
    new = {"metadata": {"name": "t", "labels": {"a": "c"}}, "spec": {"replicas": 2}}
    monkeypatch.setattr(tracking, "updated", None)

    track_update(scope_at(""), live, new, "one", format_time(START + timedelta(seconds=9)))

    (entry,) = new["metadata"]["managedFields"]
    assert entry == {**stored, "time": "2030-01-01T00:00:09Z"}
    assert entry["fieldsV1"] is stored["fieldsV1"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"operation": "Replace"}, id="an operation that is none"),
        pytest.param({"apiVersion": ""}, id="no version"),
        pytest.param({"fieldsType": "FieldsV2"}, id="fields of another type"),
        pytest.param({"fieldsV1": {"f:spec": {"f:replicas": {}}, "x:what": {}}}, id="an element of an unknown kind"),
        pytest.param({"fieldsV1": {"f:spec": {"f:replicas": {}}, "f:other": 5}}, id="a node that is no object"),
        pytest.param({"fieldsV1": {"f:spec": {"f:replicas": {}}, "f:other": [{}]}}, id="a list of objects"),
        pytest.param({"fieldsV1": ["f:spec"]}, id="fields that are no object"),
    ],
)
def test_a_stored_list_that_cannot_be_read_counts_as_none(damage):
    live = {"metadata": {"name": "t"}, "spec": {"replicas": 1}}
    track_update(scope_at(""), None, live, "one", format_time(START))
    live["metadata"]["managedFields"][0] |= damage
    new = {"metadata": {"name": "t"}, "spec": {"replicas": 2}}

    track_update(scope_at(""), live, new, "one", format_time(START))

    assert "managedFields" not in new["metadata"]


def test_fields_that_stand_for_the_object_itself_or_for_nothing_are_not_kept():
    live = {"metadata": {"name": "t"}, "spec": {"replicas": 1}}
    track_update(scope_at(""), None, live, "one", format_time(START))
    (entry,) = live["metadata"]["managedFields"]
    live["metadata"]["managedFields"] = [{**entry, "manager": "two", "fieldsV1": {}}, entry]
    new = {"metadata": {"name": "t"}, "spec": {"replicas": 2}}

    track_update(scope_at(""), live, new, "one", format_time(START))

    assert new["metadata"]["managedFields"] == [entry]


@pytest.mark.parametrize("key", ["a", "", 'q"\\n', "x" * 300, 1, True])
def test_an_item_with_one_key_has_the_element_of_that_key(key):
    info = compile_schema(Sheet).type.field("rows")

    assert element_of({"name": key, "other": 1}, info) == field_sets.key_element({"name": key})


@pytest.mark.parametrize("row", [None, 5, ["name"]])
def test_what_is_no_object_has_no_key(row):
    with pytest.raises(NoElement, match="associative list with keys"):
        element_of(row, compile_schema(Sheet).type.field("rows"))


@pytest.mark.parametrize("place", ["_sound", "_read"])
def test_what_was_read_of_fields_is_known_by_texts_that_take_their_size(place):
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_usable_size"):
        pytest.skip("the C library does not tell how much memory it sets aside")
    libc.malloc_usable_size.restype, libc.malloc_usable_size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    wire = {f"f:{'x' * 1000}{place}": {}}
    entry = {"apiVersion": "v1", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": wire, "time": "t"}
    plain_entries.plain_fields({**entry, "manager": "m"}, "v1")
    managed_fields._fields(orjson.dumps(wire))
    known = plain_entries._sound if place == "_sound" else managed_fields._read

    (key,) = (key for key in known._entries if key == orjson.dumps(wire))

    assert libc.malloc_usable_size(id(key)) < 1200


def with_other_values(value):
    """Return an object with another text or number in each place where there is one; lists stay as they are."""
    if isinstance(value, dict):
        return {name: with_other_values(inner) for name, inner in value.items()}
    if isinstance(value, str):
        return value and f"{value}-other"
    return value + 1 if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value


@given(THINGS)
def test_what_a_new_object_owns_is_the_same_for_all_of_its_shape(thing):
    scope = scope_at("")
    other, new, plain = (copy_object(obj) for obj in (with_other_values(thing), thing, thing))
    track_update(scope, None, other, "one", format_time(START))

    track_update(scope, None, new, "two", format_time(START))

    owned = managed_fields.updated(scope, scope.zero(), plain, {}, "two", format_time(START))
    assert new["metadata"].get("managedFields", []) == (managed_fields.encode(owned) if owned else [])


@pytest.mark.parametrize(
    ("labels", "owned"),
    [
        pytest.param({"a": "1"}, {"f:labels": {".": {}, "f:a": {}}}, id="a-text"),
        pytest.param({"a": "2"}, {"f:labels": {".": {}, "f:a": {}}}, id="another-text"),
        pytest.param({"a": "1", "b": "1"}, {"f:labels": {".": {}, "f:a": {}, "f:b": {}}}, id="another-member"),
        pytest.param({}, {"f:labels": {}}, id="an-empty-map"),
    ],
)
def test_members_are_owned_whatever_came_before(labels, owned):
    scope = scope_at("")
    before = {"metadata": {"name": "t", "labels": {"a": "0"}}, "spec": {"replicas": 1}}
    new = {"metadata": {"name": "t", "labels": labels}, "spec": {"replicas": 1}}
    track_update(scope, None, before, "one", format_time(START))

    track_update(scope, None, new, "one", format_time(START))

    assert new["metadata"]["managedFields"][0]["fieldsV1"].get("f:metadata") == owned
