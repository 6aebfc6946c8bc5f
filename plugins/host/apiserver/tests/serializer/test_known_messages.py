"""Messages of one template are told by what comes behind the name; what they decode to is what the long way says."""

from itertools import count

import orjson
import pytest
from hyperkube_host.apiserver.serializer.known_messages import cut
from hyperkube_lib.protobuf import ENVELOPE_TAIL, MEDIA_TYPE, Protobuf, close_envelope
from hyperkube_lib.protobuf.wire import delimited
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.users import LOOPBACK
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

PODS = "/api/v1/namespaces/default/pods"
POD = compile_schema("hyperkube_api.core.v1:Pod")
LEARNED = 6
"""Messages after which those of a template are known, and one more is met."""

codec = Protobuf()
_numbers = count(1)


def message(name, **meta):
    obj = {"metadata": {"name": name, **meta}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return codec.write_message(POD.decode(obj)[0], POD)


def pod(raw):
    return cut(close_envelope("v1", "Pod", raw), "v1", "Pod")


@pytest.mark.parametrize("name", ["a", "a-rather-long-name", "ä", ""], ids=["short", "long", "two bytes", "none"])
def test_it_is_cut_behind_the_name(name):
    found = pod(message(name, labels={"app": "x" * 200}))

    other = pod(message("other", labels={"app": "x" * 200}))
    assert (found.name, found.template) == (name, other.template)
    assert codec.read_message(found.unnamed, POD)["metadata"] == {"labels": {"app": "x" * 200}}


def test_what_comes_behind_the_name_tells_templates_apart():
    bodies = (
        message("a"),
        message("a", labels={"x": "y"}),
        message("a") + b"\x1a\0",
        b"\n\x05\n\x01a\x12\0",
        b"\n\x03\n\x01a\x12\0",
    )

    assert len({pod(raw).template for raw in bodies}) == len(bodies)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"\n\x05\n\x01a",
        b"\n\0",
        b"\n\x01\n",
        b"\n\x03\x12\x01a",
        b"\n\x03\n\x02a",
        b"\n\x82\x01\n\x80\x01" + b"a" * 128,
        b"\x12\0",
        b"\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ],
    ids=[
        "nothing", "no length", "cut off", "no metadata", "no name's length", "another field", "beyond the metadata",
        "a long name", "no metadata at all", "an endless length",
    ],
)  # fmt: skip
def test_what_does_not_begin_so_is_not_cut(raw):
    assert pod(raw) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        close_envelope("v1", "Pod", b"")[:-6],
        close_envelope("v1", "Pod", b"\n\x03\n\x01a")[:-8],
        close_envelope("v1", "Service", b"\n\x03\n\x01a"),
        b"k8s\0",
        close_envelope("v1", "Pod", b"\n\x03\n\x01a")[:-4] + delimited(2, b"\n\x03\n\x01b") + ENVELOPE_TAIL,
    ],
    ids=["nothing", "no message", "cut off", "another kind", "no type", "two messages"],
)
def test_a_body_that_is_none_of_the_kind_is_not_cut(body):
    assert cut(body, "v1", "Pod") is None


@pytest.fixture(scope="module")
def server(server):
    eventually(server.ready, why="the first pods would meet informers that are not filled yet")
    return server


def send(server, method, path, body=b"", accept="application/json"):
    headers = {"content-type": MEDIA_TYPE, "accept": accept}
    answer = server.handler.handle(HttpRequest(method=method, path=path, headers=headers, body=body, user=LOOPBACK))
    return answer.status, answer.body


def post(server, raw, kind="Pod"):
    status, body = send(server, "POST", PODS, close_envelope("v1", kind, raw))
    return status, orjson.loads(body)


def fresh():
    return f"p{next(_numbers)}"


def test_pods_of_a_template_are_alike_but_for_their_names(server):
    names = [fresh() for _ in range(LEARNED)]

    made = [post(server, message(name, labels={"app": "alike"}))[1] for name in names]

    assert [obj["metadata"]["name"] for obj in made] == names
    assert [obj["metadata"]["labels"] for obj in made] == [{"app": "alike"}] * LEARNED
    assert [obj["spec"] for obj in made] == [made[0]["spec"]] * LEARNED
    assert made[0]["spec"]["restartPolicy"] == "Always"


def test_the_answer_as_a_message_is_what_is_stored(server):
    for name in [fresh() for _ in range(LEARNED)]:
        raw = message(name, labels={"app": "answered"})
        status, body = send(server, "POST", PODS, close_envelope("v1", "Pod", raw), accept=MEDIA_TYPE)
        stored = orjson.loads(send(server, "GET", f"{PODS}/{name}")[1])

        assert status == 201
        assert body == codec.encode(stored, POD)


def test_names_are_generated_for_those_of_a_template_without(server):
    made = [post(server, message("", generateName="g-"))[1] for _ in range(LEARNED)]

    assert len({obj["metadata"]["name"] for obj in made}) == LEARNED
    assert all(obj["metadata"]["name"].startswith("g-") for obj in made)


def test_a_known_message_is_not_read(server, monkeypatch):
    for _ in range(LEARNED):
        post(server, message(fresh(), labels={"app": "unread"}))
    read = []
    monkeypatch.setattr(Protobuf, "read_message", lambda *given: read.append(given))

    status, _ = post(server, message(fresh(), labels={"app": "unread"}))

    assert (status, read) == (201, [])


def test_a_second_name_counts(server):
    """Of a field that comes twice the last one counts, so the first is no name of the object."""

    def twice(first, last):
        _, left, size, rest = pod(message(first, labels={"app": "twice"})).template
        meta = delimited(1, first.encode()) + rest[:size] + delimited(1, last.encode())
        return delimited(1, meta) + rest[size:left]

    last = fresh()
    statuses = [post(server, twice(fresh(), last))[0] for _ in range(LEARNED)]

    assert statuses == [201] + [409] * (LEARNED - 1)


def test_a_message_of_another_kind_is_refused_though_its_bytes_are_known(server):
    for _ in range(LEARNED):
        post(server, message(fresh(), labels={"app": "kind"}))

    assert post(server, message(fresh(), labels={"app": "kind"}), kind="Service")[0] == 400
