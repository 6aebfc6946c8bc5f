"""What changed, as a patch: applying it to the one gives the other."""

import pytest
from hyperkube_host.apiserver.explain.json_difference import json_difference
from hypothesis import given
from hypothesis import strategies as st

from hyperkube.machinery.patch.json_patch import apply_json_patch

NAMES = st.text(st.sampled_from("ab/~0"), min_size=1, max_size=2)
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["x", ""])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=3))
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


@given(OBJECTS, OBJECTS)
def test_the_patch_makes_the_one_into_the_other(before, after):
    assert apply_json_patch(before, json_difference(before, after)) == after
    assert json_difference(before, before) == []


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({"a": [1, 2, 3]}, {"a": [1, 3]}, [{"op": "remove", "path": "/a/1"}]),
        ({"a": [1, 3]}, {"a": [1, 2, 3]}, [{"op": "add", "path": "/a/1", "value": 2}]),
        ({"a/b": 1}, {"a/b": 2, "c~": 0}, [
            {"op": "replace", "path": "/a~1b", "value": 2}, {"op": "add", "path": "/c~0", "value": 0},
        ]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, [{"op": "remove", "path": "/a/c"}]),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
    ],
    ids=repr,
)  # fmt: skip
def test_it_says_no_more_than_needed(before, after, patch):
    assert json_difference(before, after) == patch
