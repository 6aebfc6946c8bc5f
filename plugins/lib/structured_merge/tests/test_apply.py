from datetime import UTC, datetime

import orjson
import pytest
from hyperkube_lib.structured_merge import field_sets, tracking
from hyperkube_lib.structured_merge.apply import ApplyConflict, apply_configuration
from hyperkube_lib.structured_merge.managed_fields import FieldScope, keep_times_of
from hyperkube_lib.structured_merge.tracking import track_new, track_update

from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.patch.refusal import PatchFailed
from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = datetime(2031, 1, 1, tzinfo=UTC)


@pytest.fixture
def scope(thing):
    return FieldScope(info=thing.type, api_version="example.com/v1", kind="Thing", zero=lambda: thing.decode(None)[0])


@pytest.fixture
def apply(thing, scope):
    def run(live, spec, manager="m", *, force=False, now=NOW, **metadata):
        config = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", **metadata}, "spec": spec}
        applied = apply_configuration(scope, live, config, manager=manager, force=force, now=now)
        managed = applied["metadata"].pop("managedFields", [])
        decoded = thing.decode(applied)[0]
        decoded["metadata"]["managedFields"] = managed
        return decoded

    return run


def owned(obj):
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}


def test_an_applier_owns_what_it_set(apply):
    obj = apply(None, {"replicas": 1, "ports": [{"port": 80}], "args": ["a"], "selector": {"labels": {"a": "b"}}})

    assert owned(obj)["m"] == {
        "f:spec": {
            "f:args": {},
            "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}},
            "f:replicas": {},
            "f:selector": {},
        }
    }
    assert obj["metadata"]["managedFields"][0]["time"] == "2030-01-01T00:00:00Z"


def test_what_is_left_out_is_removed(apply):
    obj = apply(None, {"replicas": 1, "finalizers": ["a", "b"]})

    obj = apply(obj, {"finalizers": ["b"]})

    assert obj["spec"] == {"finalizers": ["b"]}


def test_what_another_applier_also_wants_stays(apply):
    obj = apply(apply(None, {"replicas": 1}, "one"), {"replicas": 1}, "two")

    obj = apply(obj, {}, "one")

    assert obj["spec"] == {"replicas": 1}
    assert "one" not in owned(obj) or owned(obj)["one"] == {"f:spec": {}}


def test_an_applier_adds_to_a_keyed_list_in_order(apply):
    obj = apply(None, {"ports": [{"port": 1}, {"port": 2}]}, "one")

    obj = apply(obj, {"ports": [{"port": 3}, {"port": 2}]}, "two")

    assert [port["port"] for port in obj["spec"]["ports"]] == [1, 3, 2]


def test_another_value_is_a_conflict_and_force_takes_the_field(apply):
    obj = apply(None, {"replicas": 1, "ports": [{"port": 80, "name": "a"}]}, "one")

    with pytest.raises(ApplyConflict) as caught:
        apply(obj, {"replicas": 2, "ports": [{"port": 80, "name": "b"}]}, "two")
    assert caught.value.message == (
        'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.replicas\n'
        '- .spec.ports[port=80,protocol="TCP"].name'
    )
    assert caught.value.causes[0] == {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "one"',
        "field": ".spec.replicas",
    }

    forced = apply(obj, {"replicas": 2}, "two", force=True)
    assert forced["spec"]["replicas"] == 2
    assert "f:replicas" not in owned(forced)["one"]["f:spec"]


def test_nothing_changed_keeps_the_time(apply):
    obj = apply(None, {"replicas": 1})

    assert apply(obj, {"replicas": 1}, now=LATER) == obj


def test_updates_take_fields_over_and_conflict_with_their_version(apply, scope):
    obj = apply(None, {"replicas": 1}, "one")
    new = {**obj, "spec": {"replicas": 5}}

    track_update(scope, obj, new, "ctl", format_time(LATER))

    assert owned(new) == {"ctl": {"f:spec": {"f:replicas": {}}}}
    with pytest.raises(ApplyConflict, match=r'conflict with "ctl" using example.com/v1: .spec.replicas'):
        apply(new, {"replicas": 1}, "one")


def test_an_object_that_was_never_tracked_belongs_to_before_first_apply(apply):
    untracked = {"metadata": {"name": "t", "uid": "u"}, "spec": {"replicas": 1}}

    with pytest.raises(ApplyConflict, match=r'conflict with "before-first-apply" using example.com/v1'):
        apply(untracked, {"replicas": 2})


def test_an_untracked_object_stays_untracked_by_updates(scope):
    new = {"metadata": {"name": "t"}, "spec": {"replicas": 2}}

    track_update(scope, {"metadata": {"name": "t", "uid": "u"}, "spec": {}}, new, "ctl", format_time(NOW))

    assert "managedFields" not in new["metadata"]


def test_a_create_owns_all_that_is_set(scope):
    new = {"metadata": {"name": "t", "labels": {"a": "b"}}, "spec": {"ports": [{"port": 80, "protocol": "TCP"}]}}

    track_update(scope, None, new, "", format_time(NOW))

    assert owned(new) == {
        "unknown": {
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {
                "f:ports": {".": {}, 'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:protocol": {}}}
            },
        }
    }


def test_objects_of_one_template_share_what_is_owned_but_neither_owner_nor_time(scope):
    first = {"metadata": {"name": "a", "uid": "1"}, "spec": {"replicas": 1}}
    second = {"metadata": {"name": "b", "uid": "2"}, "spec": {"replicas": 1}}
    other = {"metadata": {"name": "c", "uid": "3", "labels": {"x": "y"}}, "spec": {"replicas": 1}}

    track_update(scope, None, first, "one", format_time(NOW))
    track_update(scope, None, second, "two", format_time(LATER))
    track_update(scope, None, other, "one", format_time(NOW))

    assert owned(first) == {"one": {"f:spec": {"f:replicas": {}}}}
    assert owned(second) == {"two": owned(first)["one"]}
    assert owned(other) == {"one": {"f:metadata": {"f:labels": {".": {}, "f:x": {}}}, **owned(first)["one"]}}
    times = [obj["metadata"]["managedFields"][0]["time"] for obj in (first, second)]
    assert times[0] < times[1]


def test_of_new_objects_that_are_made_from_one_json_the_same_is_owned(scope, monkeypatch):
    made_from = b'{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":1}}'

    def made(track):
        found = []
        for number, (manager, time) in enumerate([("one", NOW), ("two", NOW), ("one", LATER), ("", LATER)]):
            new = orjson.loads(made_from)
            new["metadata"]["name"] = f"n{number}"
            track(new, manager, format_time(time))
            found.append(orjson.dumps(new))
        return found

    expected = made(lambda new, manager, now: track_update(scope, None, new, manager, now))
    learnt = made(lambda new, manager, now: track_new(scope, new, manager, now, made_from))
    monkeypatch.setattr(tracking, "track_update", None)
    known = made(lambda new, manager, now: track_new(scope, new, manager, now, made_from))

    assert learnt == known == expected


def test_ignored_fields_are_owned_by_nobody(thing, apply):
    scope = FieldScope(
        info=thing.type,
        api_version="example.com/v1",
        kind="Thing",
        ignored={"example.com/v1": field_sets.from_paths([("spec", "ports")])},
    )
    new = {"metadata": {"name": "t"}, "spec": {"replicas": 1, "ports": [{"port": 1}]}}

    track_update(scope, None, new, "m", format_time(NOW))

    assert owned(new)["m"] == {"f:spec": {".": {}, "f:replicas": {}}}


def test_the_oldest_updaters_are_merged_past_ten(scope):
    obj = {"metadata": {"name": "t", "uid": "u", "labels": {}}, "spec": {}}
    track_update(scope, None, obj, "m0", format_time(NOW))
    for number in range(1, 13):
        live = obj
        labels = {**live["metadata"]["labels"], f"l{number}": "x"}
        obj = {**live, "metadata": {**live["metadata"], "labels": labels}}
        track_update(scope, live, obj, f"m{number}", format_time(NOW.replace(minute=number)))

    assert len(obj["metadata"]["managedFields"]) == 10
    assert "ancient-changes" in owned(obj)


def test_kubectl_takes_over_from_client_side_apply(apply, scope):
    text = '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"replicas":1}}'
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": text}
    live = {"metadata": {"name": "t", "uid": "u", "annotations": annotations}, "spec": {"replicas": 1}}
    track_update(scope, None, live, "kubectl-client-side-apply", format_time(NOW))

    obj = apply(live, {"replicas": 2}, "kubectl")

    assert obj["spec"] == {"replicas": 2}
    assert '"replicas":2' in next(iter(obj["metadata"]["annotations"].values()))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"bogus": 1}, ".spec.bogus: field not declared in schema"),
        ({"finalizers": ["a", "a"]}, '.spec.finalizers: duplicate entries for key [="a"]'),
        ({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"ports": {}}, ".spec.ports: expected list, got &{map[]}"),
        (
            {"bogus": 1, "args": 2},
            "errors:\n  .spec.bogus: field not declared in schema\n  .spec.args: expected list, got &{2}",
        ),
    ],
)
def test_a_configuration_must_fit_the_type(apply, spec, message):
    with pytest.raises(PatchFailed) as caught:
        apply(None, spec)

    assert caught.value.message == f"failed to create typed patch object (/t; example.com/v1, Kind=Thing): {message}"


def test_a_configuration_may_not_carry_managed_fields(apply):
    with pytest.raises(BadRequest, match=r"metadata.managedFields must be nil"):
        apply(None, {}, managedFields=[{}])


def test_another_version_is_refused(scope):
    with pytest.raises(BadRequest, match=r"Specified patch version: v1, expected: example.com/v1"):
        apply_configuration(scope, None, {"apiVersion": "v1"}, manager="m", force=False, now=NOW)


def test_a_write_that_changes_only_times_is_put_back(apply):
    live = apply(None, {"replicas": 1})
    new = {
        **live,
        "metadata": {**live["metadata"], "managedFields": [{**live["metadata"]["managedFields"][0], "time": "x"}]},
    }

    keep_times_of(live, new)

    assert new == live


def test_objects_without_a_schema_are_owned_member_by_member():
    scope = FieldScope(info=None, api_version="x.com/v1", kind="X")
    config = {"apiVersion": "x.com/v1", "kind": "X", "metadata": {"name": "x"}, "spec": {"a": {"b": 1}, "l": [1, 2]}}

    obj = apply_configuration(scope, None, config, manager="m", force=False, now=NOW)

    assert owned(obj)["m"] == {"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}, "f:l": {}}}
