"""Lists and maps that are written though they are empty."""

import pytest
from hyperkube_host.apiserver.rest.emptied import as_written, places_of, restored

from hyperkube.machinery.field import ROOT, invalid

DOCUMENT = {"spec": {"rules": [{"values": [], "name": "a"}], "labels": {}}}
OBJECT = {"spec": {"rules": [{"name": "a"}]}}


def test_empty_parts_are_found_wherever_they_are():
    assert set(places_of(DOCUMENT)) == {("spec", "rules", 0, "values"), ("spec", "labels")}


def test_what_was_left_out_is_put_back_into_a_copy():
    assert restored(OBJECT, DOCUMENT) == DOCUMENT
    assert OBJECT == {"spec": {"rules": [{"name": "a"}]}}


@pytest.mark.parametrize("obj", [{}, {"spec": {"rules": []}}, {"spec": {"rules": "x"}}, {"spec": None}])
def test_what_the_object_has_not_got_stays_away(obj):
    assert restored(obj, {"spec": {"rules": [{"values": []}]}}) == obj


def test_a_refusal_shows_what_was_written():
    def check(obj):
        return [invalid(ROOT.child("spec"), obj["spec"], "is wrong")]

    (error,) = as_written(check(OBJECT), OBJECT, lambda: DOCUMENT, check)

    assert error.value == DOCUMENT["spec"]


def test_a_check_that_finds_more_in_what_is_empty_is_not_believed():
    first = [invalid(ROOT.child("spec"), 1, "is wrong")]

    assert as_written(first, OBJECT, lambda: DOCUMENT, lambda _obj: [*first, *first]) is first
