"""The checker of histories finds what it is there to find."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fault_history import Change, Operation, problems

CHANGES = [
    Change("ADDED", "a", 10, "v1", "u1"),
    Change("MODIFIED", "a", 12, "v2", "u1"),
    Change("ADDED", "b", 13, "w1", "u2"),
    Change("DELETED", "a", 15, "v2", "u1"),
    Change("ADDED", "a", 17, "v3", "u3"),
]
CREATE = Operation("create", "a", "v1", 0, 0, 1, "done", 10)
UPDATE = Operation("update", "a", "v2", 2, 10, 3, "done", 12)
OTHER = Operation("create", "b", "w1", 4, 0, 5, "done", 13)
READ = Operation("get", "a", "v2", 5, 0, 5.5, "done", 12)
DELETE = Operation("delete", "a", "", 6, 0, 7, "done", uid="u1")
LOST = Operation("create", "a", "v3", 8)
LIST = Operation("list", "a", "", 9, 0, 10, "done", 17, found={"a": "v3", "b": "w1"})
LATE = Operation("get", "a", "v3", 11, 0, 12, "done", 17)
STORY = [CREATE, UPDATE, OTHER, READ, DELETE, LOST, LIST, LATE]


def told(old, **changed):
    return [replace(one, **changed) if one is old else one for one in STORY]


def test_a_true_story_has_no_problems():
    assert problems(STORY, CHANGES) == []


def test_what_was_not_answered_may_not_have_happened():
    changes = [change for change in CHANGES if change.value != "v3"]
    story = [replace(one, version=15, found={"b": "w1"}) if one is LIST else one for one in STORY if one is not LATE]

    assert problems(story, changes) == []


@pytest.mark.parametrize(
    ("story", "changes", "problem"),
    [
        (STORY, CHANGES[1:], "an answered write is lost"),
        (STORY, [*CHANGES, Change("ADDED", "c", 18, "v3", "u4")], "it was done twice"),
        (STORY, [*CHANGES, CHANGES[-1]], "a watch went back"),
        (STORY, [*CHANGES[:3], *CHANGES[4:]], "a watch lost a change"),
        (STORY, [*CHANGES, Change("ADDED", "c", 18, "half: {}", "u4")], "nobody wrote"),
        (told(UPDATE, answer="conflict", version=0), CHANGES, "it was refused and done"),
        (told(UPDATE, expected=9), CHANGES, "it replaced 10, not 9"),
        (told(UPDATE, version=13), CHANGES, "the watch has it at 12"),
        (told(CREATE, began=3.5, ended=3.6), CHANGES, "it is older than what was answered before it began"),
        (told(READ, value="v1", version=10), CHANGES, "it was not the state at any moment of the read"),
        (told(READ, value="v1"), CHANGES, "value and version do not go together"),
        (told(READ, answer="absent", version=0), CHANGES, "it was there all the time"),
        (told(LATE, answer="absent", version=0), CHANGES, "it was there all the time"),
        (told(LIST, version=13, found={"a": "v2", "b": "w1"}), CHANGES[:3], "0 deletions were seen"),
        (told(LIST, version=12, found={"a": "v2"}), CHANGES, "the list is older than what was answered before"),
        (told(LIST, found={"a": "v3"}), CHANGES, "the list was not the state at its version"),
        ([*STORY, replace(DELETE)], CHANGES, "a deletion was answered twice"),
        ([*STORY, Operation("update", "b", "x", 20, 13, 21, "conflict")], CHANGES, "there was no conflict"),
        ([*STORY, Operation("create", "c", "x", 20, 0, 21, "conflict")], CHANGES, "it was never there"),
    ],
)
def test_a_false_one_is_found_out(story, changes, problem):
    found = problems(story, changes)

    assert any(problem in one for one in found), found
