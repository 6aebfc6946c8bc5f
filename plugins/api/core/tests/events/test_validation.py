"""What is refused of events, in the core group's names."""

import pytest
from hyperkube_api.core.events.validation import validate_core_event, validate_new_event, validate_new_event_update

NEW = {
    "metadata": {"name": "e", "namespace": "n"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "example.com/c",
    "reportingInstance": "i",
    "action": "A",
    "reason": "R",
    "type": "Normal",
    "regarding": {"kind": "Pod", "namespace": "n", "name": "p"},
}

REST = '"UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""'


def texts(errors):
    return [str(error) for error in errors]


def test_a_whole_event_is_fine():
    assert validate_new_event(NEW) == []
    assert validate_new_event_update(NEW, NEW) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"regarding": {}}, ['involvedObject.namespace: Invalid value: "": does not match event.namespace']),
        ({"regarding": {"namespace": "elsewhere"}}, []),
        ({"note": "x" * 1025}, ['message: Invalid value: "": can have at most 1024 characters']),
        ({"type": "Odd"}, ['type: Invalid value: "": has invalid value: Odd']),
        ({"series": {"count": 1}},
         ['series.count: Invalid value: "": should be at least 2', "series.lastObservedTime: Required value"]),
        ({"deprecatedCount": 1}, ['count: Invalid value: "": needs to be unset']),
    ],
)  # fmt: skip
def test_a_new_event_is_checked_by_the_names_of_the_core_group(change, expected):
    assert texts(validate_new_event({**NEW, **change})) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"reason": "S"}, ['reason: Invalid value: "S": field is immutable'] * 2),
        ({"note": "x"}, ['message: Invalid value: "x": field is immutable']),
        ({"deprecatedCount": 2}, ["count: Invalid value: 2: field is immutable"]),
        ({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}, []),
        ({"related": {"kind": "Node", "name": "n"}},
         [f'related: Invalid value: {{"Kind":"Node","Namespace":"","Name":"n",{REST}}}: field is immutable']),
    ],
)  # fmt: skip
def test_an_update_extends_the_series_alone(change, expected):
    assert texts(validate_new_event_update({**NEW, **change}, NEW)) == expected


def test_a_core_event_without_a_time_is_in_the_namespace_of_what_it_is_about():
    event = {"metadata": {"name": "e", "namespace": "n"}, "involvedObject": {"namespace": "m"}}

    assert texts(validate_core_event(event)) == [
        'involvedObject.namespace: Invalid value: "m": does not match event.namespace'
    ]
