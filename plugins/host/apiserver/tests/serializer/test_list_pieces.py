"""Large lists: the same bytes in pieces."""

import re
import threading
from dataclasses import replace

import orjson
import pytest
from hyperkube_host.apiserver.serializer import list_pieces, list_texts
from hyperkube_lib.serving.exchange import HttpRequest, Response, StreamResponse
from hyperkube_lib.serving.finite_streams import gathered
from hyperkube_lib.watch_cache.packing import Packer

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.recent import forget_all
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

MAPS = "/api/v1/namespaces/default/configmaps"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
LAST_OF_DEFINITION = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com"
"""What the server writes when it serves a definition, after which no more writes raise the revision of lists."""
COUNT = 12
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
"""A kind of objects that repeat their type in each item of a list."""


@pytest.fixture(scope="module")
def server(server):
    asked(server, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    for path in (WIDGETS, LAST_OF_DEFINITION):
        while asked(server, "GET", path).status == 404:
            threading.Event().wait(0.02)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget"}
    for number in range(COUNT):
        made = {"metadata": {"name": f"c{number}"}, "data": {"text": "a line of a text " * 100}}
        assert asked(server, "POST", MAPS, made).status == 201
        assert asked(server, "POST", WIDGETS, {**widget, **made}).status == 201
    return server


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(list_pieces, "LARGE", 5000)
    monkeypatch.setattr(list_pieces, "PIECE_BYTES", 3000)


def asked(server, method, path, body=None, accept="application/json", media="application/json"):
    headers = {"content-type": media, "accept": accept}
    path, _, query = path.partition("?")
    return server.handler.handle(
        HttpRequest(
            method=method,
            path=path,
            query_string=query,
            headers=headers,
            body=b"" if body is None else orjson.dumps(body),
            user=LOOPBACK,
        )
    )


def plain(headers):
    return [field for field in headers if field[0] != "Audit-Id"]


META = "g=meta.k8s.io;v=v1;as"
MESSAGE = "application/vnd.kubernetes.protobuf"
YAML = "application/yaml"
AGE = re.compile(rb"\b\d+s\b")


@pytest.mark.parametrize(
    ("path", "accept", "slow"),
    [
        (MAPS, "application/json", False),
        (WIDGETS, "application/json", False),
        (f"{MAPS}?limit=7", "application/json", False),
        (MAPS, MESSAGE, True),
        (MAPS, f"application/json;{META}=Table", True),
        (f"{MAPS}?includeObject=Object", f"application/json;{META}=Table", True),
        (WIDGETS, f"application/json;{META}=Table", True),
        (MAPS, f"application/json;{META}=PartialObjectMetadataList", True),
        (WIDGETS, f"{MESSAGE};{META}=PartialObjectMetadataList", True),
        (f"{MAPS}?pretty=true", "application/json", True),
        (f"{WIDGETS}?pretty=1&limit=7", "application/json", True),
        (f"{MAPS}?pretty=true", f"application/json;{META}=Table", True),
        (f"{MAPS}?pretty=true", f"application/json;{META}=PartialObjectMetadataList", True),
        (MAPS, YAML, True),
        (f"{WIDGETS}?limit=7", YAML, True),
        (f"{MAPS}?includeObject=Object", f"{YAML};{META}=Table", True),
        (MAPS, f"{YAML};{META}=PartialObjectMetadataList", True),
    ],
    ids=[
        "built in", "custom", "a page", "protobuf", "table", "table with objects", "table of custom objects", "metadata",
        "metadata in protobuf", "indented", "an indented page", "an indented table", "indented metadata", "YAML", "a page in YAML",
        "table in YAML", "metadata in YAML",
    ],
)  # fmt: skip
@pytest.mark.parametrize("seconds", [0.0, 3600.0], ids=["item by item", "as many as fit"])
def test_the_pieces_are_the_same_bytes(server, monkeypatch, path, accept, slow, seconds):
    whole = asked(server, "GET", path, accept=accept)
    for name, size in (("LARGE", 1000), ("LARGE_ENCODED", 500), ("PIECE_BYTES", 3000)):
        monkeypatch.setattr(list_pieces, name, size)
    monkeypatch.setattr(list_texts, "FEW", 1)
    for form in ("INDENTED", "YAML_TEXT"):
        monkeypatch.setattr(list_texts, form, replace(getattr(list_texts, form), step=1000))
    for module in (list_pieces, list_texts):
        monkeypatch.setattr(module, "SLICE_SECONDS", seconds)
    answer = asked(server, "GET", path, accept=accept)

    assert isinstance(whole, Response)
    assert isinstance(answer, StreamResponse)
    assert (answer.finite, answer.slow, answer.status) == (True, slow, 200)
    assert plain(answer.headers) == plain(whole.headers)
    pieces = []
    while (chunks := answer.source.drain()) is not None:
        pieces += chunks
    assert AGE.sub(b"", b"".join(pieces)) == AGE.sub(b"", whole.body)
    assert max(map(len, pieces)) < 3000 + 2500
    assert len(pieces) > len(whole.body) // 5500


def test_a_list_that_ends_where_it_would_be_large_is_whole(server, monkeypatch):
    whole = asked(server, "GET", MAPS).body
    objects = server.registry.get(CONFIG_MAPS).stored().cache.list(namespace="default").objects
    sizes = [len(obj.body) for obj in objects]
    monkeypatch.setattr(list_pieces, "LARGE", sum(sizes) + 1)

    assert asked(server, "GET", MAPS).body == whole
    monkeypatch.setattr(list_pieces, "LARGE", sum(sizes))
    assert gathered(asked(server, "GET", MAPS)).body == whole


@pytest.mark.parametrize(
    "accept", ["application/vnd.kubernetes.protobuf", f"application/json;{META}=Table"], ids=["protobuf", "table"]
)
def test_a_list_of_what_is_kept_is_whole_up_to_the_size_of_one_in_json(server, monkeypatch, accept):
    whole = asked(server, "GET", MAPS, accept=accept)
    monkeypatch.setattr(list_pieces, "LARGE_ENCODED", 1000)
    monkeypatch.setattr(list_pieces, "KEPT_SECONDS", 3600.0)
    kept = asked(server, "GET", MAPS, accept=accept)
    monkeypatch.setattr(list_pieces, "KEPT_SECONDS", 0.0)
    forget_all()
    made = asked(server, "GET", MAPS, accept=accept)

    assert isinstance(kept, Response)
    assert isinstance(made, StreamResponse)
    assert AGE.sub(b"", gathered(made).body) == AGE.sub(b"", kept.body) == AGE.sub(b"", whole.body)


@pytest.mark.parametrize("include", ["", "None", "Metadata"])
def test_rows_that_are_kept_are_taken_together_however_long_it_takes(server, monkeypatch, include):
    table = f"{MAPS}?includeObject={include}"
    whole = asked(server, "GET", table, accept=f"application/json;{META}=Table")
    monkeypatch.setattr(list_pieces, "LARGE_ENCODED", 100)
    monkeypatch.setattr(list_pieces, "KEPT_SECONDS", 0.0)
    forget_all()
    first = asked(server, "GET", table, accept=f"application/json;{META}=Table")
    pieces = gathered(first)
    for _ in range(20):  # once, unless a second has passed meanwhile, and the ages are others
        again = asked(server, "GET", table, accept=f"application/json;{META}=Table")
        if isinstance(again, Response):
            break
        gathered(again)

    assert isinstance(first, StreamResponse)
    assert AGE.sub(b"", again.body) == AGE.sub(b"", pieces.body) == AGE.sub(b"", whole.body)


@pytest.mark.usefixtures("small_pieces")
def test_the_pieces_are_of_one_revision(server):
    before = asked(server, "GET", MAPS)
    patch = {"data": {"text": "changed"}}
    assert asked(server, "PATCH", f"{MAPS}/c9", patch, media="application/merge-patch+json").status == 200

    first, second = (orjson.loads(gathered(answer).body) for answer in (before, asked(server, "GET", MAPS)))

    assert "changed" not in [item["data"]["text"] for item in first["items"]]
    assert "changed" in [item["data"]["text"] for item in second["items"]]
    assert int(first["metadata"]["resourceVersion"]) < int(second["metadata"]["resourceVersion"])


@pytest.mark.usefixtures("small_pieces")
def test_what_is_packed_is_unpacked_when_its_turn_has_come(server, monkeypatch):
    monkeypatch.setattr(list_pieces, "MANY", COUNT - 1)
    objects = server.registry.get(CONFIG_MAPS).stored().cache.list(namespace="default").objects
    packer = Packer()
    for obj in objects:
        obj.pack(packer)
    packed = sum(obj.held for obj in objects)

    answer = asked(server, "GET", MAPS)

    assert len(orjson.loads(gathered(answer).body)["items"]) == COUNT
    assert sum(obj.held for obj in objects) == packed


@pytest.mark.usefixtures("small_pieces")
def test_a_client_in_the_process_gets_it_whole(server):
    answer = server.client(LOOPBACK).request("GET", MAPS)

    assert len(orjson.loads(answer.body)["items"]) == COUNT
