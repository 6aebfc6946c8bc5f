"""An answer with a new object of a template is the encoding of that object, however it differs from the one before."""

from itertools import count

import orjson
import pytest
from hyperkube_host.apiserver.serializer.template_messages import TemplateMessage, message_in
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.protobuf import MEDIA_TYPE, Protobuf, close_envelope, enveloped
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

PODS = "/api/v1/namespaces/default/pods"
KIND = GroupVersionKind("", "v1", "Pod")
POD = compile_schema("hyperkube_api.core.v1:Pod")
META = compile_schema("hyperkube_api.meta.v1:ObjectMeta")
ENTRY = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
LEARNED = 6
"""Pods after which what is known of a template is known, and one more is met."""

codec = Protobuf()
_numbers = count(1)


class Counting:
    """Cuts messages of metadata, and counts them."""

    def __init__(self):
        self.cut = 0

    def __call__(self, meta):
        self.cut += 1
        return codec.cut_message(meta, META)


def writer(spec, cut):
    message = codec.write_message({"metadata": {}, "spec": spec}, POD)
    empty = codec.write_message({}, META)
    return TemplateMessage(KIND, message[2 + len(empty) :], cut)


def metadata(name, revision=1, second=0, **other):
    time = f"2026-01-01T00:00:{second:02}Z"
    managed = [{**ENTRY, "time": time, "fieldsV1": {"f:spec": {"f:containers": {}}}}]
    own = {"name": name, "uid": f"u-{name[:9]}", "resourceVersion": str(revision)}
    return {**own, "namespace": "default", "creationTimestamp": time, "managedFields": managed, **other}


SPEC = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always"}


def encoded(meta):
    return codec.encode({"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": SPEC}, POD)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"name": "b" * 127},
        {"name": "b" * 128},
        {"name": "b" * 253},
        {"name": "ü"},
        {"revision": 10**15},
        {"second": 1},
        {"labels": {"a": "b"}},
        {"labels": {}},
        {"annotations": {"x": "y" * 20_000}},
        {"generateName": "a-"},
        {"finalizers": ["a/b"]},
        {"managedFields": []},
        {"generation": 1},
        {"namespace": "other"},
    ],
    ids=lambda changed: " ".join(changed) or "nothing",
)
def test_the_next_body_is_the_encoding_of_the_next_object(changed):
    bodies, first = writer(SPEC, Counting()), metadata("a", labels={"a": "c"})
    bodies.body(first)
    other = metadata(**{"name": "n", "labels": {"a": "c"}, **changed})

    for meta in (other, first, other):
        assert bodies.body(meta) == encoded(meta)


def test_objects_of_a_second_are_encoded_once():
    cut = Counting()
    bodies = writer(SPEC, cut)

    for number in range(40):
        meta = metadata("n" * (number + 1), revision=10**number, second=number // 20)
        assert bodies.body(meta) == encoded(meta)

    assert cut.cut == 2


def test_the_message_in_a_body_is_an_item_of_a_list():
    body = writer(SPEC, Counting()).body(metadata("a"))

    assert enveloped("v1", "Pod", message_in(body, KIND)) == body


@pytest.fixture(scope="module")
def server():
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    eventually(server.ready, why="the first pods would meet informers that are not filled yet")
    yield server
    server.close()


def send(server, method, path, body=b"", accept=MEDIA_TYPE, query="", agent="a"):
    headers = {"content-type": MEDIA_TYPE, "accept": accept, "user-agent": agent}
    request = HttpRequest(method=method, path=path, query_string=query, headers=headers, body=body, user=LOOPBACK)
    return server.handler.handle(request)


def message(meta, **spec):
    pod = {"metadata": meta, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    return close_envelope("v1", "Pod", codec.write_message(POD.decode(pod)[0], POD))


def stored(server, name):
    return orjson.loads(send(server, "GET", f"{PODS}/{name}", accept="application/json").body)


OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1", "controller": True}


@pytest.mark.parametrize(
    ("meta", "spec"),
    [
        pytest.param({}, {}, id="no labels"),
        pytest.param({"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}, {}, id="empty maps"),
        pytest.param({"labels": {"b": "1", "a": ""}, "annotations": {"x": "y" * 3000}}, {}, id="labels"),
        pytest.param({"finalizers": ["a/b", "c/d"], "ownerReferences": [OWNER]}, {}, id="finalizers and owners"),
        pytest.param({"deletionGracePeriodSeconds": 5, "generation": 7, "selfLink": "/x"}, {}, id="what is not kept"),
        pytest.param({"namespace": "default"}, {}, id="with the namespace"),
        pytest.param({"name": "", "generateName": "g-"}, {}, id="a name to be made"),
        pytest.param({"generateName": "g-"}, {}, id="a name although one could be made"),
        pytest.param({}, {"hostNetwork": True, "terminationGracePeriodSeconds": -5}, id="changed by the strategy"),
        pytest.param(
            {}, {"restartPolicy": "Never", "nodeSelector": {"a": "b"}, "tolerations": []}, id="other defaults"
        ),
    ],
)
def test_each_answer_is_the_encoding_of_what_is_stored(server, meta, spec):
    for number in range(LEARNED):
        body = message({"name": f"p{next(_numbers)}", **meta}, **spec)
        answer = send(server, "POST", PODS, body, agent=f"agent-{number % 4 // 3}")
        name = codec.decode(answer.body, lambda *_: POD)["metadata"]["name"]

        assert (answer.status, dict(answer.headers)["Content-Type"]) == (201, MEDIA_TYPE)
        assert answer.body == codec.encode(stored(server, name), POD)


def test_a_dry_run_of_a_known_template_is_answered_by_itself(server):
    for _ in range(LEARNED):
        send(server, "POST", PODS, message({"name": f"p{next(_numbers)}", "labels": {"dry": "run"}}))
    name = f"p{next(_numbers)}"

    body = send(server, "POST", PODS, message({"name": name, "labels": {"dry": "run"}}), query="dryRun=All").body
    made = codec.decode(body, lambda *_: POD)

    assert (made["metadata"]["name"], made["metadata"]["labels"]) == (name, {"dry": "run"})
    assert "resourceVersion" not in made["metadata"]
    assert body == codec.encode(made, POD)
    assert stored(server, name)["reason"] == "NotFound"


def test_those_who_watch_are_sent_the_message_of_the_answer(server):
    watch = send(server, "GET", PODS, query="watch=1&resourceVersion=0")
    watch.source.subscribe(lambda: None)
    try:
        for _ in range(LEARNED):
            answer = send(server, "POST", PODS, message({"name": f"p{next(_numbers)}", "labels": {"seen": "all"}}))

        sent = []
        eventually(lambda: sent.extend(watch.source.drain()) or answer.body in b"".join(sent), why="it is told")
    finally:
        watch.source.close()


def test_what_is_known_of_a_template_is_not_encoded(server, monkeypatch):
    bodies = [message({"name": f"p{next(_numbers)}", "labels": {"encoded": "once"}}) for _ in range(LEARNED)]
    answers = [send(server, "POST", PODS, body) for body in bodies[:-1]]
    written = []
    monkeypatch.setattr(Protobuf, "write_message", lambda *given: written.append(given))

    answers.append(send(server, "POST", PODS, bodies[-1]))

    assert ([answer.status for answer in answers], written) == ([201] * LEARNED, [])
