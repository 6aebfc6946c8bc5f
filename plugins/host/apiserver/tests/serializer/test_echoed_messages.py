"""The answer to a ConfigMap's creation in protobuf is the encoding of what is stored, though its data are not encoded."""

import base64
import random
from itertools import count

import orjson
import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.admission.shared_members import part
from hyperkube_host.apiserver.serializer.echoed_messages import echoed_kind
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.protobuf import MEDIA_TYPE, Protobuf, close_envelope
from hyperkube_lib.protobuf.wire import delimited
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

MAPS = "/api/v1/namespaces/default/configmaps"
JSON = "application/json"
KIND = GroupVersionKind("", "v1", "ConfigMap")
SCHEMA = compile_schema("hyperkube_api.core.v1:ConfigMap")
LEARNED = 4
"""ConfigMaps after which what is known of the metadata of a template is known, and one more is met."""

codec = Protobuf()
_numbers = count(1)


def b64(data):
    return base64.b64encode(data).decode()


def message(obj):
    return codec.write_message(SCHEMA.decode(orjson.loads(orjson.dumps(obj)))[0], SCHEMA)


def body_of(raw):
    return close_envelope("v1", "ConfigMap", raw)


@pytest.fixture
def kind():
    return echoed_kind(KIND, SCHEMA, Protobuf())


SHAPES = {
    "nothing but a name": ({}, {}),
    "no labels": ({}, {"data": {"a": "1"}}),
    "empty maps": ({"labels": {}, "annotations": {}}, {"data": {}, "binaryData": {}}),
    "labels": ({"labels": {"b": "1", "a": ""}}, {"data": {"b": "2", "a": "1", "a.b": "3"}}),
    "an empty text": ({}, {"data": {"a": "", "b": "1"}, "binaryData": {"c": ""}}),
    "a long text": ({"annotations": {"x": "y" * 3000}}, {"data": {"a": "x" * 127, "b": "x" * 128, "c": "x" * 9000}}),
    "more than is read": ({}, {"data": {"a": "x" * 20_000}}),
    "texts of other alphabets": ({"annotations": {"x": "ü"}}, {"data": {"a": "äöü€", "b": "\U0001f600", "c": "\0\n"}}),
    "a long key": ({}, {"data": {"k" * 127: "1", "k" * 128: "2"}}),
    "bytes": ({}, {"binaryData": {"a": b64(b"\0\xff"), "b": b64(b"x" * 300)}}),
    "texts and bytes": ({}, {"data": {"a": "1"}, "binaryData": {"b": b64(b"\x80")}}),
    "immutable": ({}, {"immutable": True, "data": {"a": "1"}}),
    "not immutable": ({}, {"immutable": False, "data": {"a": "1"}, "binaryData": {"b": b64(b"2")}}),
    "immutable alone": ({}, {"immutable": True}),
    "finalizers": ({"finalizers": ["a/b", "c/d"]}, {"data": {"a": "1"}}),
    "a name to be made": ({"name": "", "generateName": "g-"}, {"data": {"a": "1"}}),
    "a name although one could be made": ({"generateName": "g-"}, {"data": {"a": "1"}}),
    "the namespace": ({"namespace": "default"}, {"data": {"a": "1"}}),
    "what is not kept": ({"generation": 7, "selfLink": "/x", "uid": "u"}, {"data": {"a": "1"}}),
    "owners of its own": (
        {"managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}]},
        {"data": {"a": "1"}},
    ),
}
shapes = pytest.mark.parametrize(("meta", "members"), SHAPES.values(), ids=SHAPES.keys())
LEFT = {"a long key", "more than is read", "owners of its own"}
"""Shapes that others read."""

echoed_shapes = pytest.mark.parametrize("shape", [name for name in SHAPES if name not in LEFT])


@pytest.fixture(scope="module")
def server():
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    eventually(server.ready, why="the first objects would meet informers that are not filled yet")
    yield server
    server.close()


def send(server, method, path, body=b"", media=MEDIA_TYPE, accept=MEDIA_TYPE, query="", agent="a"):
    headers = {"content-type": media, "accept": accept, "user-agent": agent}
    request = HttpRequest(method=method, path=path, query_string=query, headers=headers, body=body, user=LOOPBACK)
    return server.handler.handle(request)


def stored(server, name):
    return orjson.loads(send(server, "GET", f"{MAPS}/{name}", accept=JSON).body)


def made(body):
    return codec.decode(body, lambda *_: SCHEMA)


@shapes
def test_each_answer_is_the_encoding_of_what_is_stored(server, meta, members):
    for number in range(LEARNED):
        obj = {"metadata": {"name": f"c{next(_numbers)}", **meta}, **members}
        answer = send(server, "POST", MAPS, body_of(message(obj)), agent=f"agent-{number % 4 // 3}")
        name = made(answer.body)["metadata"]["name"]

        assert (answer.status, dict(answer.headers)["Content-Type"]) == (201, MEDIA_TYPE)
        assert answer.body == codec.encode(stored(server, name), SCHEMA)


@shapes
def test_what_is_stored_is_what_comes_of_the_same_in_json(server, meta, members):
    def create(body, media):
        name = made(send(server, "POST", MAPS, body, media).body)["metadata"]["name"]
        obj = stored(server, name)
        own = {"name": "", "uid": "", "resourceVersion": "", "creationTimestamp": "", "managedFields": ""}
        entries = [{**entry, "time": ""} for entry in obj["metadata"].get("managedFields", [])]
        return orjson.dumps([{**obj, "metadata": {**obj["metadata"], **own}}, entries])

    def new():
        return {"metadata": {"name": f"c{next(_numbers)}", **meta}, **members}

    found = [create(body_of(message(new())), MEDIA_TYPE) for _ in range(LEARNED)]

    assert found == [create(orjson.dumps(new()), JSON)] * LEARNED


def test_a_dry_run_is_answered_by_itself(server):
    for number in range(LEARNED):
        name = f"dry-{number}"
        obj = {"metadata": {"name": name, "labels": {"dry": "run"}}, "data": {"a": "1"}}
        body = send(server, "POST", MAPS, body_of(message(obj)), query="dryRun=All").body

        assert made(body)["metadata"]["name"] == name
        assert "resourceVersion" not in made(body)["metadata"]
        assert body == codec.encode(made(body), SCHEMA)
        assert stored(server, name)["reason"] == "NotFound"


def test_those_who_watch_are_sent_the_message_of_the_answer(server):
    watch = send(server, "GET", MAPS, query="watch=1&resourceVersion=0")
    watch.source.subscribe(lambda: None)
    try:
        for number in range(LEARNED):
            obj = {"metadata": {"name": f"seen-{number}"}, "data": {"a": "1"}}
            answer = send(server, "POST", MAPS, body_of(message(obj)))

        sent = []
        eventually(lambda: sent.extend(watch.source.drain()) or answer.body in b"".join(sent), why="it is told")
    finally:
        watch.source.close()


def test_data_as_go_writes_them_are_neither_decoded_by_the_schema_nor_encoded(server, monkeypatch):
    def create(number):
        obj = {"metadata": {"name": f"cheap-{number}"}, "data": {"a": str(number)}}
        return send(server, "POST", MAPS, body_of(message(obj)))

    for number in range(LEARNED):
        create(number)
    body = body_of(message({"metadata": {"name": "cheap"}, "data": {"a": "other"}}))
    called = []
    for name in ("read_message", "write_message", "encode"):
        monkeypatch.setattr(Protobuf, name, lambda *given: called.append(given))

    answer = send(server, "POST", MAPS, body)

    assert (answer.status, called) == (201, [])


META = message({"metadata": {"name": "one"}})
ENTRY = delimited(2, delimited(1, b"b") + delimited(2, b"x"))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(ENTRY + delimited(2, delimited(1, b"a") + delimited(2, b"x")), id="keys out of order"),
        pytest.param(ENTRY + ENTRY, id="a key twice"),
        pytest.param(delimited(3, delimited(1, b"b") + delimited(2, b"x")) + ENTRY, id="fields out of order"),
        pytest.param(b"\x20\x01" + ENTRY, id="the boolean first"),
        pytest.param(b"\x20\x01\x20\x00", id="the boolean twice"),
        pytest.param(b"\x20\x02", id="a boolean that is neither"),
        pytest.param(b"\x20\x81\x00", id="a boolean in two bytes"),
        pytest.param(delimited(2, delimited(1, b"b")), id="no value"),
        pytest.param(delimited(2, delimited(2, b"x")), id="no key"),
        pytest.param(delimited(2, delimited(2, b"x") + delimited(1, b"b")), id="the value first"),
        pytest.param(delimited(2, delimited(1, b"b") + delimited(2, b"x") + delimited(3, b"")), id="more in an entry"),
        pytest.param(b"\x12\x86\x00" + ENTRY[2:], id="a length in too many bytes"),
        pytest.param(delimited(2, b"\x0a\x01b\x12\x81\x00x"), id="a value's length in too many bytes"),
        pytest.param(delimited(2, delimited(1, b"b") + delimited(2, b"\xff")), id="a value that is no UTF-8"),
        pytest.param(delimited(2, delimited(1, b"\xff") + delimited(2, b"x")), id="a key that is no UTF-8"),
        pytest.param(delimited(2, delimited(1, b"k" * 127 + b"\x12") + delimited(2, b"x" * 17)), id="a long key"),
        pytest.param(delimited(2, delimited(1, b"") + delimited(2, b"x")), id="an empty key"),
        pytest.param(ENTRY + delimited(9, b"x"), id="a field that is not known"),
        pytest.param(delimited(1, b"") + ENTRY, id="metadata twice"),
        pytest.param(ENTRY[:-1], id="cut off"),
    ],
)
def test_what_go_does_not_write_so_is_left_to_others(kind, data):
    assert kind.read(body_of(META + ENTRY)) is not None

    assert kind.read(body_of(META + data)) is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(close_envelope("v1", "Secret", META), id="another kind"),
        pytest.param(body_of(META) + b"x", id="more behind it"),
        pytest.param(body_of(META)[:-1], id="cut off"),
        pytest.param(body_of(META).replace(b"\x22\x00", b"\x22\x01x"), id="an encoding"),
        pytest.param(body_of(b""), id="no metadata"),
        pytest.param(body_of(ENTRY), id="data alone"),
    ],
)
def test_bodies_that_are_not_whole_are_left_to_others(kind, body):
    assert kind.read(body) is None


@echoed_shapes
def test_an_altered_body_is_read_and_echoed_as_the_loop_reads_and_writes_it_or_left(kind, shape):
    meta, members = SHAPES[shape]
    raw = message({"metadata": {"name": "one", **meta}, **members})
    r = random.Random(shape)
    for _ in range(LEARNED):
        assert kind.read(body_of(raw)) is not None
    for _ in range(500):
        altered = bytearray(raw)
        altered[r.randrange(len(raw))] = r.choice((0, 1, 2, 10, 18, 26, 32, 0x7F, 0x80, r.randrange(256)))
        found = kind.read(body_of(bytes(altered)))
        if found is not None:
            obj, echo = found
            expected = {"kind": "ConfigMap", "apiVersion": "v1", **codec.read_message(bytes(altered), SCHEMA)}
            assert orjson.dumps(obj) == orjson.dumps(expected)
            whole = {**obj, "metadata": {"name": "", "uid": "", "resourceVersion": "", **obj["metadata"]}}
            assert echo.write(whole["metadata"]) == codec.encode(whole, SCHEMA)


@pytest.mark.parametrize("shape", sorted(LEFT))
def test_what_may_be_too_long_or_too_deep_is_left_to_others(kind, shape):
    meta, members = SHAPES[shape]

    assert kind.read(body_of(message({"metadata": {"name": "one", **meta}, **members}))) is None


def test_what_admission_has_changed_is_encoded(server, monkeypatch):
    def stamp(_chain, request):
        part(request)
        request.object["data"]["stamp"] = "there"

    for number in range(LEARNED):
        if number == LEARNED - 1:
            monkeypatch.setattr(AdmissionChain, "mutate", stamp)
        obj = {"metadata": {"name": f"stamped-{number}"}, "data": {"a": "1"}}
        answer = send(server, "POST", MAPS, body_of(message(obj)))

    assert made(answer.body)["data"] == {"a": "1", "stamp": "there"}
    assert answer.body == codec.encode(stored(server, f"stamped-{LEARNED - 1}"), SCHEMA)


def test_names_of_members_tell_objects_apart_and_their_texts_do_not(kind):
    def members(meta, **obj):
        for _ in range(3):
            found = kind.read(body_of(message({"metadata": {"name": f"c{next(_numbers)}", **meta}, **obj})))
        return found[1].members

    labelled = {"labels": {"a": "b"}}
    different = [
        members({}, data={"a": "1"}),
        members({}, data={"b": "1"}),
        members({}, data={"a": "1", "b": "1"}),
        members({}, data={'a","b': "1"}),
        members({}, binaryData={"a": "MQ=="}),
        members({}, data={"a": "1"}, immutable=True),
        members({}, data={"a": "1"}, immutable=False),
        members(labelled, data={"a": "1"}),
        members(labelled),
    ]

    assert len({*different}) == len(different)
    assert members({}, data={"a": "other"}) == different[0]
    assert members({}, data={"a": ""}) == b""


def test_a_name_that_comes_again_in_the_rest_counts(kind):
    for name in (b"b", b"b", b"b", b"a"):
        obj, _ = kind.read(body_of(delimited(1, delimited(1, name) + delimited(1, b"b")) + ENTRY))

        assert obj["metadata"] == {"name": "b"}


def test_an_object_without_a_name_is_none_of_the_template(kind):
    for _ in range(LEARNED):
        kind.read(body_of(META + ENTRY))
    nameless = body_of(message({"metadata": {}}) + ENTRY)

    obj, echo = kind.read(nameless)

    assert (obj["metadata"], echo.members) == ({}, b"")


def test_a_name_that_ends_behind_its_metadata_is_none_of_the_template(kind):
    for name in (b"a", b"b", b"c"):
        kind.read(body_of(delimited(1, delimited(1, name)) + ENTRY))

    assert kind.read(body_of(delimited(1, b"\x0a\x04ab") + ENTRY)) is None


@pytest.mark.parametrize("name", ["Secret", "Event", "Pod", "Namespace"])
def test_kinds_with_other_members_are_not_echoed(name):
    schema = compile_schema(f"hyperkube_api.core.v1:{name}")

    assert echoed_kind(GroupVersionKind("", "v1", name), schema, codec) is None
