"""A new object gets the defaults of its schema once, and once more where a plugin may have changed it."""

import orjson
import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.resources.custom_codec import CustomCodec
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.users import LOOPBACK
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiextensions", reason="needs the group of definitions")

TOYS = "/apis/example.com/v1/namespaces/default/toys"
COLOR = {"type": "string", "default": "red"}
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "default": {}, "properties": {"color": COLOR}}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "toys.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "toys", "kind": "Toy"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}],
    },
}
JSON, APPLY = "application/json", "application/apply-patch+yaml"


def ask(server, method, path, body=None, media=JSON, query=""):
    headers = {"content-type": media}
    content = b"" if body is None else orjson.dumps(body)
    return server.handler.handle(
        HttpRequest(method=method, path=path, query_string=query, headers=headers, body=content, user=LOOPBACK)
    )


def toy(name):
    return {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": {"name": name}}


@pytest.fixture(scope="module")
def server(server):
    server.client(LOOPBACK).create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    eventually(lambda: ask(server, "GET", TOYS).status == 200)
    return server


@pytest.fixture
def defaulted(monkeypatch):
    """Return the names of the objects that were given defaults on their way to the store, as often as they were."""
    names, default, shaped = [], CustomCodec.default, CustomCodec.shaped

    def noting(codec, obj):
        names.append(obj["metadata"]["name"])
        default(codec, obj)

    def read(codec, obj):
        before = len(names)
        found = shaped(codec, obj)
        del names[before:]
        return found

    monkeypatch.setattr(CustomCodec, "default", noting)
    monkeypatch.setattr(CustomCodec, "shaped", read)
    return names


@pytest.mark.parametrize(
    ("method", "name", "media", "query"),
    [("POST", "created", JSON, ""), ("PATCH", "applied", APPLY, "fieldManager=m")],
    ids=["created", "applied"],
)
def test_an_object_that_no_plugin_changes_gets_them_once(server, defaulted, method, name, media, query):
    path = TOYS if method == "POST" else f"{TOYS}/{name}"

    answer = ask(server, method, path, toy(name), media, query)

    assert answer.status == 201
    assert orjson.loads(answer.body)["spec"] == {"color": "red"}
    assert defaulted == [name]


def test_what_a_plugin_takes_away_is_filled_in_again(server, defaulted, monkeypatch):
    class Empties:
        def admission_mutate(self, request):
            request.object["spec"] = {}

    monkeypatch.setattr(AdmissionChain, "mutate", AdmissionChain([Empties().admission_mutate]).mutate)

    answer = ask(server, "POST", TOYS, toy("emptied"))

    assert orjson.loads(answer.body)["spec"] == {"color": "red"}
    assert defaulted == ["emptied", "emptied"]
