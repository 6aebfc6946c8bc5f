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


def canonical(**metadata):
    obj = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "a", **metadata}}
    return {**obj, "involvedObject": {"kind": "Pod", "resourceVersion": "3"}, "reason": "Pulled"}


def reasons(obj):
    return {"reason": obj["reason"]}


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({}, id="cluster-scoped"),
        pytest.param({"namespace": "ns"}, id="namespaced"),
        pytest.param({"generateName": "x", "namespace": "ns", "uid": "1"}, id="generated"),
        pytest.param({"uid": "1", "namespace": "ns"}, id="in-another-order"),
        pytest.param({"namespace": "ns", "labels": {"a": "b"}, "ownerReferences": [{"uid": "1"}]}, id="with-labels"),
        pytest.param({"namespace": "ns", "annotations": {"resourceVersion": "3"}}, id="named-like-it"),
        pytest.param({"namespace": "ns", "annotations": {"a": '}}"resourceVersion":{{'}}, id="in-a-text"),
        pytest.param({"namespace": "ns", "resourceVersion": "3"}, id="stored-with-one"),
        pytest.param({"namespace": "ns", "managedFields": [{"fieldsV1": {"f:a": {}}}]}, id="with-owners-of-fields"),
        pytest.param({"namespace": 'n"s'}, id="escaped"),
    ],
)
def test_what_is_read_late_is_the_same(metadata):
    value = orjson.dumps(canonical(**metadata))
    late, at_once = read_object(reasons, late=True)("/k/ns/a", value, 9), read_object(reasons)("/k/ns/a", value, 9)

    assert orjson.loads(late.body) == orjson.loads(at_once.body)
    parts = ("key", "revision", "name", "namespace", "labels", "owners", "fields", "encodings")
    assert [getattr(late, part) for part in parts] == [getattr(at_once, part) for part in parts]
    gone = late.at(12)
    assert (gone.labels, gone.fields, orjson.loads(gone.body)["metadata"]["resourceVersion"]) == (
        at_once.labels,
        at_once.fields,
        "12",
    )


def test_what_is_read_late_is_not_parsed():
    obj = read_object(reasons, late=True)("/k/ns/a", orjson.dumps(canonical(namespace="ns", uid="1")), 9)

    assert (type(obj).__name__, obj.body.count(b'"resourceVersion"')) == ("StoredObject", 2)
    with pytest.raises(AttributeError, match="'StoredObject' object has no attribute 'other'"):
        _ = obj.other


def test_labels_that_are_no_labels_are_a_storage_error_when_they_are_asked_for():
    value = orjson.dumps(canonical(namespace="ns", uid="1", ownerReferences=[{}]))
    obj = read_object(reasons, late=True)("/k/ns/a", value, 9)

    for each in (obj, obj.at(12)):
        with pytest.raises(StorageReadError, match="unable to decode the value of key '/k/ns/a'"):
            _ = each.owners
