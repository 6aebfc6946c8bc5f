import pytest

from hyperkube.machinery.errors import BadRequest, RequestEntityTooLarge
from hyperkube.machinery.patch.json_patch import apply_json_patch
from hyperkube.machinery.patch.refusal import PatchRejected

DOCUMENT = {"a": {"b": [1, 2, 3]}, "c/d": "x", "n": None}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "add", "path": "/a/b/-", "value": 4}], {"a": {"b": [1, 2, 3, 4]}}),
        ([{"op": "add", "path": "/a/b/1", "value": 9}], {"a": {"b": [1, 9, 2, 3]}}),
        ([{"op": "remove", "path": "/a/b/-1"}], {"a": {"b": [1, 2]}}),
        ([{"op": "replace", "path": "/a/new", "value": 1}], {"a": {"b": [1, 2, 3], "new": 1}}),
        ([{"op": "move", "from": "/c~1d", "path": "/e"}], {"e": "x", "c/d": ...}),
        (
            [{"op": "copy", "from": "/a/b", "path": "/f"}, {"op": "add", "path": "/f/0", "value": 0}],
            {"f": [0, 1, 2, 3]},
        ),
        ([{"op": "test", "path": "/missing"}], {}),
        ([{"op": "test", "path": "/n", "value": None}], {}),
    ],
)
def test_operations_change_the_document(operations, expected):
    patched = apply_json_patch(DOCUMENT, operations)

    wanted = {**DOCUMENT, **expected}
    assert patched == {key: value for key, value in wanted.items() if value is not ...}
    assert DOCUMENT["a"] == {"b": [1, 2, 3]}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/x/y", "value": 1},
        {"op": "add", "path": "/a/b/9", "value": 1},
        {"op": "remove", "path": "/zz"},
        {"op": "remove", "path": "/a/b/x"},
        {"op": "test", "path": "/a/b/0", "value": True},
        {"op": "test", "path": "/a/b/0", "value": 1.0},
        {"op": "explode", "path": "/a"},
        {"path": "/a"},
        {"op": "add", "value": 1},
        {"op": "move", "from": "/zz", "path": "/a"},
        {"op": "replace", "path": "", "value": 1},
    ],
)
def test_what_does_not_fit_is_rejected_without_telling_why(operation):
    with pytest.raises(PatchRejected) as caught:
        apply_json_patch(DOCUMENT, [operation])

    assert caught.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server rejected our request due to an error in our request",
        "reason": "Invalid",
        "details": {},
        "code": 422,
    }
    assert caught.value.why


def test_a_patch_must_be_a_list_of_objects():
    with pytest.raises(BadRequest, match=r"cannot unmarshal object into Go value of type \[\]handlers.jsonPatchOp"):
        apply_json_patch({}, {"op": "add"})
    with pytest.raises(BadRequest, match="cannot unmarshal string into"):
        apply_json_patch({}, ["add"])


def test_too_many_operations_are_refused():
    with pytest.raises(RequestEntityTooLarge, match="in a JSON patch is 10000, got 10001"):
        apply_json_patch({}, [{"op": "test", "path": ""}] * 10_001)


def test_copies_may_not_add_up():
    operations = [{"op": "copy", "from": "/a", "path": f"/{place}"} for place in range(40)]

    with pytest.raises(PatchRejected):
        apply_json_patch({"a": "x" * 100_000}, operations)
