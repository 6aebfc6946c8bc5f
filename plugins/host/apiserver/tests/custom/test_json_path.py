"""The part of JSONPath that columns and ``/scale`` use."""

import pytest
from hyperkube_host.apiserver.custom.json_path import find, first, put

OBJ = {
    "spec": {"a.b": 1, "list": [{"name": "x", "v": 1, "on": True}, {"name": "y", "v": 2, "on": False}, {"w": "z"}]},
    "n": 3,
    "empty": [],
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".n", [3]),
        ("n", [3]),
        ("{.n}", [3]),
        (".spec.list[1].v", [2]),
        (".spec.list[-1].w", ["z"]),
        (".spec.list[-1:].w", ["z"]),
        (".spec.list[:2].v", [1, 2]),
        (".spec.list[0:3:2].v", [1]),
        (".spec.list[::2].w", ["z"]),
        (".spec.list[0,1].v", [1, 2]),
        (".spec.list[*].v", [1, 2]),
        (".spec.list.*.v", [1, 2]),
        (".spec.list[0].*", ["x", True, 1]),
        ("..v", [1, 2]),
        (".spec.list[0]['name','v']", ["x", 1]),
        ('.spec.list[?(@.name=="y")].v', [2]),
        (".spec.list[?(@.name == 'y')].v", [2]),
        ('.spec.list[?(@.name!="y")].v', [1]),
        ('.spec.list[?(@.name==")]")].v', []),
        (".spec.list[?(@.v<2)].name", ["x"]),
        (".spec.list[?(@.v>=1)].name", ["x", "y"]),
        (".spec.list[?(@.on==true)].name", ["x"]),
        (".spec.list[?(@.w)].w", ["z"]),
        (".spec.list[?(@.v==@.v)].name", ["x", "y"]),
        (r".spec.a\.b", [1]),
        (r".spec['a\.b']", [1]),
        (".missing.deep", []),
        (".empty[*]", []),
    ],
)
def test_a_path_finds_its_values(path, expected):
    assert find(OBJ, path) == expected


@pytest.mark.parametrize(
    "path",
    [
        ".spec.list[9]",
        ".empty[0]",
        ".empty[-1:]",
        ".spec.list[2:1]",
        ".n[0]",
        ".n[?(@.x)]",
        '.spec.list[?(@.v=="1")]',
        ".spec.list[?(@.on<true)]",
        ".spec.list[?(@.v=1)]",
        ".spec.list[?(@.v==1.2.3)]",
        '.spec.list["x"]',
        ".spec.list[-:]",
        ".spec.list[0",
        ".spec.list[?(@.v==1]",
        ".n}x",
    ],
)
def test_a_path_that_does_not_fit_finds_nothing(path):
    assert find(OBJ, path) == []


def test_a_value_is_put_where_nothing_was():
    obj = {}

    put(obj, ".spec.replicas", 3)

    assert first(obj, ".spec.replicas") == 3
