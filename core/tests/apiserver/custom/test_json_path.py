"""The part of JSONPath that columns and ``/scale`` use."""

import pytest

from hyperkube.apiserver.custom.json_path import find, first, put

OBJ = {"spec": {"a.b": 1, "list": [{"name": "x", "v": 1}, {"name": "y", "v": 2}]}, "n": 3}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".n", [3]),
        (".spec.list[1].v", [2]),
        (".spec.list[*].v", [1, 2]),
        ('.spec.list[?(@.name=="y")].v', [2]),
        (r".spec.a\.b", [1]),
        (".spec['a.b']", [1]),
        (".missing.deep", []),
        ("..", []),
    ],
)
def test_a_path_finds_its_values(path, expected):
    assert find(OBJ, path) == expected


def test_a_value_is_put_where_nothing_was():
    obj = {}

    put(obj, ".spec.replicas", 3)

    assert first(obj, ".spec.replicas") == 3
