import pytest

from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.patch.merge import apply_merge_patch


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": {"b": "c"}}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": [1]}, {"a": [{"x": None, "y": 1}]}, {"a": [{"y": 1}]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ],
)
def test_a_patch_is_merged(document, patch, expected):
    before = repr(document)

    assert apply_merge_patch(document, patch) == expected
    assert repr(document) == before


@pytest.mark.parametrize(("patch", "kind"), [([], "array"), ("x", "string"), (1, "number"), (True, "bool")])
def test_a_patch_must_be_an_object(patch, kind):
    with pytest.raises(
        BadRequest, match=f"error decoding patch: json: cannot unmarshal {kind} into Go value of type map"
    ):
        apply_merge_patch({}, patch)
