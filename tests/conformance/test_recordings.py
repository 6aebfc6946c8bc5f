"""What counts as wording, and what as a difference."""

import pytest
import recordings


def diff(path, expected, got):
    return {"path": path, "expected": expected, "got": got}


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        pytest.param(diff("/body/columns/0/description", "a", "b"), True, id="another text"),
        pytest.param(diff("/body/x/description", "a", "<absent>"), True, id="no text"),
        pytest.param(diff("/body/x", {"a": 1, "description": "p"}, {"a": 1}), True, id="inside a value"),
        pytest.param(diff("/body/x", {"a": 1, "description": "p"}, {"a": 2}), False, id="another value too"),
        pytest.param(diff("/body/x", {"description": {"type": "string"}}, {}), False, id="a property of that name"),
        pytest.param(diff("/body/x", {"description": "p"}, "<absent>"), False, id="nothing there"),
        pytest.param(diff("/status", 200, 404), False, id="another status"),
    ],
)
def test_only_descriptions_are_wording(difference, expected):
    assert recordings.is_wording(difference) is expected


def test_an_area_counts_its_steps_by_how_they_differ():
    failures = [{"diffs": [diff("/a/description", "a", "b")]}, {"diffs": [diff("/a", 1, 2)]}]
    report = {"scenarios": [{"scenario": "s", "area": "crud", "passed": 5, "total": 7, "failures": failures}]}

    assert recordings.areas(report) == [recordings.Area("crud", equal=5, worded=1, total=7)]
    assert [step for _, step in recordings.real_failures(report)] == failures[1:]
    assert (
        list(recordings.table(report))[-1] == "all                  5 equal    1 worded otherwise    1 different of 7"
    )
