"""What became of the owners of one object becomes of the next one's."""

import pytest
from hyperkube_lib.structured_merge import managed_fields, recurring_changes, tracking
from hyperkube_lib.structured_merge.managed_fields import FieldScope
from hyperkube_lib.structured_merge.tracking import track_update
from hypothesis import given
from hypothesis import strategies as some

from hyperkube.machinery.objects import copy_object

from .test_short_cuts import THINGS, TYPE

MANAGERS = some.sampled_from(["one", "two", "three", ""])
STEPS = some.lists(some.tuples(THINGS, MANAGERS, some.sampled_from(["", "status"])), min_size=1, max_size=5)


def scope_at(subresource):
    return FieldScope(info=TYPE, api_version="example.com/v1", kind="Thing", subresource=subresource, zero=dict)


def entries_after(steps, *, minute=0):
    """Return the entries of an object after each step, a step a minute from a minute on."""
    live, found = None, []
    for thing, manager, subresource in steps:
        new = copy_object(thing)
        track_update(scope_at(subresource), live, new, manager, f"2030-01-01T00:{minute:02}:00Z")
        found.append(new["metadata"].get("managedFields"))
        live, minute = new, minute + 1
    return found


@given(STEPS, some.integers(0, 50))
def test_a_known_outcome_is_what_the_sets_would_give(steps, minute):
    entries_after(steps)

    known = entries_after(steps, minute=minute)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracking, "known_entries", lambda *_: None)
        patch.setattr(tracking, "renewed_entries", lambda *_: None)
        assert repr(known) == repr(entries_after(steps, minute=minute))


def test_sets_are_not_worked_out_again_for_an_object_of_the_same_shape(monkeypatch):
    def steps(name):
        created = {"metadata": {"name": name}, "spec": {"replicas": 1}}
        conditions = [{"type": "Ready", "status": "False"}]
        begun = {"metadata": {"name": name}, "spec": {"replicas": 1, "conditions": conditions}}
        ready = {
            "metadata": {"name": name},
            "spec": {"replicas": 1, "conditions": [{"type": "Ready", "status": "True", "reason": name}]},
        }
        return [(created, "one", ""), (begun, "two", "status"), (ready, "two", "status")]

    first = entries_after(steps("a"))
    monkeypatch.setattr(tracking, "updated", None)

    assert entries_after(steps("b")) == first


@pytest.mark.parametrize(("count", "is_known"), [(9, True), (10, False)])
def test_where_the_oldest_managers_may_be_merged_nothing_is_known(count, is_known):
    entry = {
        "operation": "Update",
        "apiVersion": "example.com/v1",
        "time": "2030-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:args": {}}},
    }
    stored = [{"manager": f"m{number}", **entry} for number in range(count)]
    scope, new = scope_at(""), {"spec": {"replicas": 1}}
    change = managed_fields.differences(scope, {"spec": {}}, new, "example.com/v1")

    met = recurring_changes.met_by(scope, stored, change, "new")

    assert (met is not None) == is_known
