"""A mistyped name is told what it was meant for."""

import pytest

from hyperkube.machinery.suggestions import closest, known_names

NAMES = ["LimitRanger", "NodeRestriction", "RequireTeamLabel"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("LimitRangr", "LimitRanger"),
        ("limitranger", "LimitRanger"),
        ("RequireTeamLabl", "RequireTeamLabel"),
        ("Quota", ""),
        ("", ""),
    ],
    ids=repr,
)
def test_the_closest_name_counts_whatever_its_case(name, meant):
    assert closest(name, NAMES) == meant


def test_the_known_names_stand_behind_the_question():
    said = known_names("LimitRangr", reversed(NAMES))

    assert said == "did you mean 'LimitRanger'?; installed: LimitRanger, NodeRestriction, RequireTeamLabel"


def test_without_a_likeness_there_is_no_question():
    assert known_names("Quota", NAMES[:1], "known") == "known: LimitRanger"
    assert known_names("Quota", []) == "installed: none"
