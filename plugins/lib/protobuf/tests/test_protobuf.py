"""Objects survive the way to protobuf and back, and the bytes are those of Go."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from hyperkube_lib.protobuf import (
    NOT_PROTOBUF,
    Protobuf,
    ProtobufError,
    close_envelope,
    open_envelope,
    watch_frame,
)
from hyperkube_lib.protobuf.wire import delimited, varint

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import KubeSchema, compile_schema

sys.path.insert(0, str(Path(__file__).parent))
from samples import sample

sys.path.pop(0)

pytest.importorskip("hyperkube_api.core.v1")


def _modules():
    import hyperkube_api

    files = {path for root in hyperkube_api.__path__ for path in Path(root).glob("*/v*.py")}
    return sorted(f"hyperkube_api.{path.parent.name}.{path.stem}" for path in files)


def _schemas(module_name):
    module = importlib.import_module(module_name)
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, KubeSchema) and value.__module__ == module_name
    ]


def test_every_installed_group_is_tested():
    assert "hyperkube_api.apps.v1" in _modules()


@pytest.mark.parametrize("module_name", _modules())
def test_objects_of_every_type_come_back_from_protobuf_as_they_went(module_name):
    codec = Protobuf()
    for schema in _schemas(module_name):
        if schema.shape or not any(field.number for field in schema.declared().values()):
            continue
        compiled = compile_schema(schema)
        for seed in range(3):
            expected = compiled.canonical(sample(schema, seed))

            message = codec.write_message(expected, compiled)

            assert _without_empty(codec.read_message(message, compiled)) == _without_empty(expected), schema


def _without_empty(value):
    """Drop what Go's protobuf cannot tell from unset: empty lists, maps and bytes."""
    if isinstance(value, dict):
        cleaned = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in cleaned.items() if item is not None and item != [] and item != {}}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


def test_the_bytes_are_those_that_go_writes():
    service = {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": "a"},
        "spec": {"finalizers": ["k"]},
        "status": {},
    }

    body = Protobuf().encode(service, compile_schema("hyperkube_api.core.v1:Namespace"))

    meta = (
        b"\x0a\x01a" + b"\x12\x00" + b"\x1a\x00" + b"\x22\x00" + b"\x2a\x00" + b"\x32\x00" + b"\x38\x00" + b"\x42\x00"
    )
    message = b"\x0a" + bytes([len(meta)]) + meta + b"\x12\x03\x0a\x01k" + b"\x1a\x02\x0a\x00"
    envelope = b"k8s\x00" + b"\x0a\x0f\x0a\x02v1\x12\x09Namespace" + b"\x12" + bytes([len(message)]) + message
    assert body == envelope + b"\x1a\x00\x22\x00"


@pytest.mark.parametrize("size", [0, 1, 127, 128, 0x4000])
@pytest.mark.parametrize("seed", range(10))
def test_a_message_is_cut_at_the_texts_that_each_object_has_of_its_own(seed, size):
    schema, codec = compile_schema("hyperkube_api.meta.v1:ObjectMeta"), Protobuf()
    meta = {**schema.canonical(sample(schema.schema, seed)), "name": "n" * size, "uid": "ü"}
    texts = [meta.get(name, "").encode() for name in schema.schema.own]

    first, *pieces = codec.cut_message(meta, schema)

    behind = (varint(len(text)) + text + piece for text, piece in zip(texts, pieces, strict=True))
    assert b"".join((first, *behind)) == codec.write_message(meta, schema)


@pytest.mark.parametrize("size", [0, 127, 128, 0x3FFF, 0x4000])
def test_strings_of_any_length_come_back(size):
    schema, subject = compile_schema("hyperkube_api.core.v1:ConfigMap"), {"data": {"b": "x" * size, "a": "y" * size}}

    message = Protobuf().write_message(subject, schema)

    assert Protobuf().read_message(message, schema)["data"] == subject["data"]
    assert message.index(b"\x01a") < message.index(b"\x01b")


def test_a_zero_value_is_there_only_where_it_is_pointed_to():
    runtime_class, restart_policy, sub_path = delimited(29, b""), delimited(3, b""), delimited(2, b"")
    message = delimited(2, restart_policy + runtime_class) + delimited(1, sub_path)

    pod = Protobuf().read_message(message, compile_schema("hyperkube_api.core.v1:Pod"))

    assert pod["spec"] == {"containers": None, "runtimeClassName": ""}
    assert "generateName" not in pod["metadata"]


@pytest.mark.parametrize("module_name", _modules())
def test_what_is_read_is_canonical(module_name):
    codec = Protobuf()
    for schema in _schemas(module_name):
        if schema.shape or not any(field.number for field in schema.declared().values()):
            continue
        compiled = compile_schema(schema)

        read = codec.read_message(codec.write_message(compiled.canonical(sample(schema, 1)), compiled), compiled)

        assert json.dumps(compiled.canonical(copy_object(read))) == json.dumps(read), schema


def test_members_that_come_in_another_order_are_put_in_the_declared_one():
    message = delimited(3, b"") + delimited(1, delimited(11, delimited(1, b"b")) + delimited(11, delimited(1, b"a")))

    pod = Protobuf().read_message(message, compile_schema("hyperkube_api.core.v1:Pod"))

    assert list(pod) == ["metadata", "spec", "status"]
    assert list(pod["metadata"]["labels"].items()) == [("a", ""), ("b", "")]


def test_a_map_whose_entries_come_backwards_is_sorted_once():
    entries = [delimited(2, delimited(1, b"%07d" % number)) for number in range(10_000, 0, -1)]

    config_map = Protobuf().read_message(b"".join(entries), compile_schema("hyperkube_api.core.v1:ConfigMap"))

    assert list(config_map["data"]) == [f"{number:07}" for number in range(1, 10_001)]


def test_the_last_of_two_values_counts():
    message = delimited(1, b"first") + delimited(1, b"")

    assert Protobuf().read_message(message, compile_schema("hyperkube_api.core.v1:ObjectReference")) == {}


@pytest.mark.parametrize("second", [{}, {"name": "b"}, {"labels": {"c": "d"}}], ids=["nothing", "a name", "a label"])
def test_the_last_of_two_messages_counts_where_go_writes_what_is_not_set(second):
    codec, schema = Protobuf(), compile_schema("hyperkube_api.meta.v1:ObjectMeta")
    first = codec.write_message(
        {"name": "a", "namespace": "n", "uid": "u", "generation": 3, "labels": {"a": "b"}}, schema
    )

    met = codec.read_message(first + codec.write_message(second, schema), schema)

    assert met == {**second, "labels": {"a": "b", **second.get("labels", {})}}


def test_what_is_not_set_is_not_looked_for_beyond_the_message():
    codec, schema = Protobuf(), compile_schema("hyperkube_api.core.v1:Pod")
    unset = codec.write_message({"name": "a"}, compile_schema("hyperkube_api.meta.v1:ObjectMeta"))
    short = delimited(1, unset[:3])

    met = codec.read_message(short + unset[3:], schema)  # what would be the rest of its metadata are fields of the pod

    assert met == codec.read_message(short + delimited(2, b"") + delimited(3, b""), schema)


def test_what_a_template_makes_is_each_readers_own():
    codec, schema = Protobuf(), compile_schema("hyperkube_api.core.v1:Pod")
    message = delimited(2, delimited(10, b"node"))

    codec.read_message(message, schema)["spec"]["nodeName"] = "other"
    codec.read_message(message, schema)["spec"]["nodeName"] = "another"

    assert codec.read_message(message, schema)["spec"]["nodeName"] == "node"


@pytest.mark.parametrize(
    "second",
    [
        {"name": "b", "labels": {"a": "b"}},
        {"labels": {"a": "b"}},
        {"name": "b", "namespace": "n", "labels": {"a": "b"}},
        {"name": "b", "uid": "u", "labels": {"a": "b"}, "resourceVersion": "7"},
    ],
    ids=["another name", "no name", "a namespace", "stored"],
)
def test_metadata_of_one_template_are_each_objects_own(second):
    codec, schema = Protobuf(1), compile_schema("hyperkube_api.meta.v1:ObjectMeta")
    first = {"name": "a", "labels": {"a": "b"}}
    codec.read_message(codec.write_message(first, schema), schema)

    messages = [codec.write_message(meta, schema) for meta in (first, second, first)]
    read = [codec.read_message(message, schema) for message in messages]

    assert read == [first, second, first]
    assert messages[1] == Protobuf().write_message(second, schema)
    assert read[0]["labels"] is not read[2]["labels"]


def test_a_template_that_has_a_word_on_the_name_is_none():
    codec, schema = Protobuf(1), compile_schema("hyperkube_api.meta.v1:ObjectMeta")
    rest = delimited(3, b"n") + delimited(1, b"a")
    for _ in range(3):
        codec.read_message(delimited(1, b"a") + rest, schema)

    assert codec.read_message(delimited(1, b"b") + rest, schema) == {"name": "a", "namespace": "n"}


def test_integers_are_cut_to_32_bits_as_go_cuts_them():
    container_port = b"\x18" + b"\xff\xff\xff\xff\x7f"

    port = Protobuf().read_message(container_port, compile_schema("hyperkube_api.core.v1:ContainerPort"))

    assert port == {"containerPort": -1}


def test_unknown_fields_on_the_wire_are_skipped():
    codec, schema = Protobuf(), compile_schema("hyperkube_api.core.v1:LocalObjectReference")
    strange = b"\xf8\x07\x05" + b"\xf2\x07\x01z" + b"\xf9\x07" + b"\x00" * 8 + b"\x0a\x01a"

    assert codec.read_message(strange, schema) == {"name": "a"}


def test_lists_are_joined_from_the_messages_of_their_items():
    codec = Protobuf()
    pod, pods = compile_schema("hyperkube_api.core.v1:Pod"), compile_schema("hyperkube_api.core.v1:PodList")
    objects = [pod.decode({"metadata": {"name": name}})[0] for name in "ab"]
    head = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}}

    items = [delimited(2, codec.write_message(obj, pod)) for obj in objects]
    joined = codec.encode_list(head, items, compile_schema("hyperkube_api.meta.v1:ListMeta"))

    assert joined == codec.encode({**head, "items": objects}, pods)
    assert codec.decode(joined, lambda _version, _kind: pods)["items"] == objects


@pytest.mark.parametrize(
    ("body", "why"),
    [(b"", "empty data"), (b"k8s\x00", "empty body"), (b"{}", NOT_PROTOBUF), (b"k8s", NOT_PROTOBUF)],
    ids=["empty", "magic", "json", "short"],
)
def test_what_is_no_envelope_is_refused(body, why):
    with pytest.raises(ProtobufError) as refusal:
        open_envelope(body)

    assert str(refusal.value) == why


@pytest.mark.parametrize(
    ("creation", "why"),
    [
        (b"\x0a\x01a", "proto: wrong wireType = 2 for field Seconds"),
        (b"\x08\x01\x12\x00", "proto: wrong wireType = 2 for field Nanos"),
    ],
    ids=["seconds", "nanos"],
)
def test_a_number_that_comes_as_bytes_is_refused_in_gos_words(creation, why):
    with pytest.raises(ProtobufError) as refusal:
        Protobuf().read_message(delimited(8, creation), compile_schema("hyperkube_api.meta.v1:ObjectMeta"))

    assert str(refusal.value) == why


def test_an_envelope_whose_type_is_a_number_is_refused():
    with pytest.raises(ProtobufError, match="proto: wrong wireType = 0 for field TypeMeta"):
        open_envelope(b"k8s\x00\x08\x01")


@pytest.mark.parametrize(
    "message",
    [b"\x0a", b"\x0a\x05a", b"\x0f", b"\x0a\x02\x38\x80\x01"],
    ids=["no length", "cut", "wire type 7", "number beyond its message"],
)
def test_a_broken_message_is_refused(message):
    with pytest.raises(ProtobufError):
        Protobuf().read_message(message, compile_schema("hyperkube_api.core.v1:Pod"))


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_a_head_that_came_before_excuses_nothing_behind_it(cut):
    body = close_envelope("v1", "Pod", b"\x0a\x00")
    assert open_envelope(body) == open_envelope(body) == ("v1", "Pod", b"\x0a\x00")

    with pytest.raises(ProtobufError):
        open_envelope(body[:-cut])


def test_a_watch_event_carries_the_whole_enveloped_object():
    body = close_envelope("v1", "Pod", b"")

    frame = watch_frame("ADDED", body)

    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame.endswith(body)
