import orjson
import pytest
from hyperkube_lib.watch_cache.cached_object import read_object, with_resource_version

from hyperkube.machinery.errors import StorageReadError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b'{"kind":"P","metadata":{"name":"a"}}', b'{"kind":"P","metadata":{"resourceVersion":"7","name":"a"}}'),
        (b'{"metadata":{}}', b'{"metadata":{"resourceVersion":"7"}}'),
        (b'{"metadata":{"resourceVersion":"3","name":"a"}}', b'{"metadata":{"resourceVersion":"7","name":"a"}}'),
        (b'{"metadata":{"resourceVersion":"3"}}', b'{"metadata":{"resourceVersion":"7"}}'),
    ],
    ids=["spliced", "into nothing", "replaced", "replaced alone"],
)
def test_the_revision_is_spliced_into_the_bytes(value, expected):
    assert with_resource_version(value, 7) == expected


@pytest.mark.parametrize(
    "obj",
    [
        {"a": {"metadata": {"name": "inner"}}, "metadata": {"name": "outer"}},
        {"a": '"metadata":{', "metadata": {"name": "outer"}},
        {"a": 'x,"metadata":{', "metadata": {"name": "outer", "labels": {"{": '"resourceVersion":"1"'}}},
        {"a": ["{"], "metadata": {"name": "outer"}},
        {"metadata": {"name": "outer", "resourceVersion": "3"}},
        {"metadata": {"name": "outer", "annotations": {"resourceVersion": "3"}}},
        {"kind": "K", "spec": {}, "metadata": None},
        {"kind": "K"},
    ],
    ids=str,
)
def test_the_version_lands_in_the_objects_own_metadata(obj):
    out = orjson.loads(with_resource_version(orjson.dumps(obj), 9))

    assert out == {**obj, "metadata": {**(obj.get("metadata") or {}), "resourceVersion": "9"}}


def test_setting_it_again_replaces_it():
    value = orjson.dumps({"a": {"metadata": {}}, "metadata": {"name": "outer", "resourceVersion": "3"}})

    assert orjson.loads(with_resource_version(with_resource_version(value, 5), 6))["metadata"]["resourceVersion"] == "6"


@pytest.mark.parametrize(
    "value", [b"", b"nonsense", b"[]", b"{}", b'{"metadata":{}}', b'{"metadata":{"name":"a","labels":[]}}x']
)
def test_what_is_not_an_object_is_a_storage_error(value):
    with pytest.raises(StorageReadError):
        read_object()("/k", value, 1)
