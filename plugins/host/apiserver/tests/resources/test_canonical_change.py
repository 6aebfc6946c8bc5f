"""What stayed as it was in a changed object is not put in order again; nobody can tell from the result."""

from copy import deepcopy

import orjson
import pytest
from hyperkube_host.apiserver.resources.custom_codec import CustomCodec
from hyperkube_host.apiserver.resources.known_metadata import KnownMetadata, KnownStatus
from hyperkube_host.apiserver.resources.served import ServedResource

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource

pytest.importorskip("hyperkube_api.core.v1", reason="puts a type of the core API group in order")

SERVED = ServedResource(
    ResourceSpec(
        resource=GroupVersionResource("", "v1", "pods"),
        kind=GroupVersionKind("", "v1", "Pod"),
        singular="pod",
        namespaced=True,
        verbs=("update",),
        schema="hyperkube_api.core.v1:Pod",
    ),
    None,
)
OLD = SERVED.canonical(
    {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p", "labels": {"a": "b"}, "annotations": {"x": "y"}},
        "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "E", "value": "1"}]}], "nodeName": "n"},
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }
)


def reversed_members(value):
    if isinstance(value, dict):
        return {name: reversed_members(value[name]) for name in reversed(value)}
    return [reversed_members(item) for item in value] if isinstance(value, list) else value


def changes():
    yield "nothing", lambda obj: obj
    yield "another order", reversed_members
    yield "a status", lambda obj: {**obj, "status": {"podIP": "10.0.0.2", "phase": "Failed", "message": ""}}
    yield "an empty status", lambda obj: {**obj, "status": {}}
    yield "no status", lambda obj: {name: value for name, value in obj.items() if name != "status"}
    yield "a label", lambda obj: {**obj, "metadata": {"labels": {"z": "1", "a": "2"}, **obj["metadata"]}}
    yield "a member that nobody knows", lambda obj: {**obj, "other": 1}
    yield "a node", lambda obj: {**obj, "spec": {"nodeName": "m", **obj["spec"]}}


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in changes()])
def test_it_is_as_if_all_had_been_put_in_order(change):
    expected = orjson.dumps(SERVED.canonical(change(deepcopy(OLD))))
    before = orjson.dumps(OLD)

    assert orjson.dumps(SERVED.canonical_change(change(deepcopy(OLD)), OLD)) == expected
    assert orjson.dumps(OLD) == before


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in changes()])
@pytest.mark.parametrize("when", ["before", "after"], ids=lambda when: f"known {when}")
def test_metadata_that_is_known_is_put_in_order_all_the_same(change, when):
    expected = orjson.dumps(SERVED.canonical(change(deepcopy(OLD))))
    new = change(deepcopy(OLD))
    known = KnownMetadata((OLD if when == "before" else new)["metadata"])

    assert orjson.dumps(SERVED.canonical_change(new, OLD, known)) == expected


WIDGETS = ServedResource(
    ResourceSpec(
        resource=GroupVersionResource("example.com", "v1", "widgets"),
        kind=GroupVersionKind("example.com", "v1", "Widget"),
        singular="widget",
        namespaced=True,
        verbs=("update",),
        schema=CustomCodec(
            GroupVersionKind("example.com", "v1", "Widget"),
            {"type": "object", "properties": {"spec": {"properties": {"size": {}}}}},
        ),
    ),
    None,
    custom=True,
)


def test_metadata_of_a_custom_object_that_is_known_is_put_in_order_and_all_else_pruned():
    meta = {"uid": "u", "labels": {"a": "2", "b": "1"}, "creationTimestamp": "2026-01-01T00:00:00Z", "name": "w"}
    obj = {"spec": {"size": 1, "more": 2}, "metadata": meta, "kind": "Widget", "apiVersion": "example.com/v1"}
    expected = orjson.dumps(WIDGETS.canonical(deepcopy(obj)))

    assert orjson.dumps(WIDGETS.canonical(deepcopy(obj), KnownMetadata(meta))) == expected
    assert b'"name":"w","uid":"u"' in expected
    assert b"more" not in expected


def test_a_list_in_the_metadata_of_a_custom_object_is_known_no_more_when_it_has_become_empty():
    meta = {"name": "w", "finalizers": ["example.com/f"]}
    known = KnownMetadata(meta)

    changed = WIDGETS.canonical({"metadata": {**meta, "finalizers": []}}, known)

    assert changed["metadata"] == {"name": "w"}


@pytest.mark.parametrize("put_in", [{}, 1 << 64, None], ids=["empty", "too large for JSON", "null"])
def test_metadata_that_a_plugin_has_changed_is_not_known_any_more(put_in):
    obj = deepcopy(OLD)
    known = KnownMetadata(obj["metadata"])

    obj["metadata"]["annotations"] = put_in

    assert not known.holds(obj["metadata"])


STATUS = {"phase": "Failed", "conditions": [{"type": "Ready", "status": "False"}], "message": "m"}


def added(status):
    return {**status, "qosClass": "Burstable"}


@pytest.mark.parametrize(
    ("later", "is_known"),
    [
        pytest.param(lambda status: status, True, id="as it was decoded"),
        pytest.param(added, True, id="with a text"),
        pytest.param(lambda status: {**status, "phase": "Running"}, False, id="with another text"),
        pytest.param(lambda status: {**status, "message": ""}, False, id="with an empty text"),
        pytest.param(lambda status: {**status, "nominatedNodeName": ""}, False, id="with an empty text more"),
        pytest.param(lambda status: {**status, "podIPs": [{"ip": "10.0.0.2"}]}, False, id="with a list more"),
        pytest.param(lambda status: {"phase": "Failed"}, False, id="without a member"),
    ],
)
def test_a_status_that_is_known_is_put_in_order_all_the_same(later, is_known):
    decoded = SERVED.codec.decode({"status": deepcopy(STATUS)})[0]["status"]
    status = KnownStatus(decoded)
    new = {**deepcopy(OLD), "status": later(decoded)}
    expected = orjson.dumps(SERVED.canonical(deepcopy(new)))

    assert status.holds(new["status"]) is is_known
    assert orjson.dumps(SERVED.canonical_change(new, OLD, KnownMetadata(new["metadata"]), status)) == expected


def test_no_status_is_none_that_could_be_known():
    assert not KnownStatus(None).holds({"phase": ""})
    assert not KnownStatus({"phase": 2**70}).holds({"phase": 2**70})
