"""Which rules a user may give away: those that its own cover, however many combinations they stand for."""

import time

import pytest
from hyperkube_api.rbac.rule_coverage import MOST_MISSING, compacted, uncovered

from hyperkube.kinds.rbac import show_rule


def rule(verbs, resources, groups=("",), names=()):
    made = {"verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources)}
    return {**made, "resourceNames": list(names)} if names else made


@pytest.mark.parametrize(
    ("owned", "wanted", "covered"),
    [
        ([rule(["*"], ["*"], ["*"])], [rule(["get"], ["pods"])], True),
        ([rule(["get"], ["pods"])], [rule(["get", "list"], ["pods"])], False),
        ([rule(["get"], ["pods"]), rule(["list"], ["pods"])], [rule(["get", "list"], ["pods"])], True),
        ([rule(["get"], ["secrets"], names=["a"])], [rule(["get"], ["secrets"])], False),
        ([rule(["get"], ["secrets"])], [rule(["get"], ["secrets"], names=["a"])], True),
        ([rule(["get"], ["*/scale"])], [rule(["get"], ["deployments/scale"])], True),
        ([rule(["get"], ["pods"])], [rule(["*"], ["pods"])], False),
        ([{"verbs": ["get"], "nonResourceURLs": ["/x/*"]}], [{"verbs": ["get"], "nonResourceURLs": ["/x/y"]}], True),
        ([], [], True),
    ],
)
def test_rules_cover_what_they_allow_altogether(owned, wanted, covered):
    assert (uncovered(owned, wanted) == []) is covered


def test_missing_rules_are_shown_merged():
    missing = uncovered([], [rule(["get", "list"], ["secrets"])])

    assert [show_rule(item) for item in compacted(missing)] == [
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
    ]


CUBE = rule(*([f"{letter}{number}" for number in range(100)] for letter in "vrg"))


@pytest.mark.parametrize(
    "owned",
    [
        [],
        [CUBE],
        [rule(["*"], ["*"], [f"g{number}"]) for number in range(99)],
        [rule([f"v{number}", f"v{number + 1}"], [f"r{number}"], [f"g{number}"]) for number in range(100)],
    ],
    ids=["nothing", "the same", "all groups but one", "rules that each have a little"],
)
def test_a_rule_of_a_million_combinations_is_compared_at_once(owned):
    began = time.perf_counter()

    missing = uncovered(owned, [CUBE])

    assert len(missing) == (0 if owned == [CUBE] else MOST_MISSING)
    assert time.perf_counter() - began < 1


def test_what_is_missing_is_exactly_what_no_rule_has():
    letters = ["a", "b", "c", "x/s", "*"]
    owned = [
        rule(["a"], ["a", "*/s"], ["a", "b"]),
        rule(["b"], ["*"], ["b"]),
        rule(["*"], ["c"], ["*"], ["n"]),
        rule(["a", "b"], ["b"], ["c"], ["n", ""]),
    ]
    wanted = rule(letters, letters, letters, ["", "n", "m"])

    missing = {
        (atom["apiGroups"][0], atom["resources"][0], atom["verbs"][0], atom["resourceNames"][0])
        for atom in uncovered(owned, [wanted])
    }

    assert missing == {
        (group, resource, verb, name)
        for group in letters
        for resource in letters
        for verb in letters
        for name in ("", "n", "m")
        if not any(_has(one, group, resource, verb, name) for one in owned)
    }


def _has(owner, group, resource, verb, name):
    part = f"*/{resource.partition('/')[2]}" if "/" in resource else resource
    return (
        bool({verb, "*"} & set(owner["verbs"]))
        and bool({group, "*"} & set(owner["apiGroups"]))
        and bool({resource, part, "*"} & set(owner["resources"]))
        and name in owner.get("resourceNames", [name])
    )
