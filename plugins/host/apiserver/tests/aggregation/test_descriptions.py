"""The OpenAPI of a server behind an APIService: shown with ours, fetched anew when it changes, gone with it."""

import base64
from contextlib import contextmanager

import orjson
import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.certificates import issue, make_ca
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.tls import TlsFiles

from hyperkube.kinds.resources import API_SERVICES, SERVICES
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiregistration", reason="needs the API groups")

VERSION = "/apis/ext.example.com/v1"
PATH = VERSION.strip("/")
WHOLE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
FEW = {"api/all": "false", "api/v1": "true", "networking.k8s.io/v1": "true", "apiregistration.k8s.io/v1": "true"}
"""What is served besides: to describe everything takes a second, and says no more of another server's description."""
BINARY = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


class Extension:
    """Serves discovery and the two kinds of documents, which a test may change; counts what it sends."""

    def __init__(self):
        self.text, self.sent, self.is_old, self.lists_all = "a thing", {"v2": 0, "v3": 0}, False, False

    def handle(self, request):
        etag = f'"{abs(hash(self.text))}"'
        thing = {"description": self.text, "type": "object"}
        if request.path == "/apis" and self.lists_all:
            thing = {"resource": "wholes", "responseKind": {"kind": "Whole"}, "scope": "Cluster", "verbs": ["list"]}
            group = {"metadata": {"name": "ext.example.com"}, "versions": [{"version": "v1", "resources": [thing]}]}
            return Response(headers=[("Content-Type", WHOLE)], body=orjson.dumps({"items": [group]}))
        if request.path == VERSION and self.lists_all:
            return answered({})
        if request.path == VERSION:
            row = {"name": "things", "singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": ["get"]}
            return answered({"kind": "APIResourceList", "groupVersion": "ext.example.com/v1", "resources": [row]})
        if request.path.startswith("/openapi/v3") and self.is_old:
            return Response(status=404)
        if request.path == "/openapi/v3":
            where = {"serverRelativeURL": f"/openapi/v3/{PATH}?hash={etag.strip(chr(34))}"}
            return answered({"paths": {PATH: where, "api/v1": {"serverRelativeURL": "/stolen"}}})
        if request.path == f"/openapi/v3/{PATH}":
            self.sent["v3"] += 1
            return answered({"openapi": "3.0.0", "info": {}, "paths": {}, "components": {"schemas": {"Thing": thing}}})
        if request.path == "/openapi/v2":
            if request.headers.get("if-none-match") == etag:
                return Response(status=304)
            self.sent["v2"] += 1
            operation = {"get": {"responses": {"200": {"schema": {"$ref": "#/definitions/ext.Thing"}}}}}
            paths = {f"{VERSION}/things": operation, "/api/v1/pods": {}}
            return answered({"swagger": "2.0", "paths": paths, "definitions": {"ext.Thing": thing}}, ("Etag", etag))
        return Response(status=404)

    def hot(self, _request):
        return None

    def is_long_running(self, _request):
        return False


def answered(body, *headers):
    return Response(headers=[("Content-Type", "application/json"), *headers], body=orjson.dumps(body))


@contextmanager
def extending(tmp_path):
    """Run such a server, over TLS, for the length of a block."""
    made, authority = Extension(), make_ca("extensions")
    certificate, key = str(tmp_path / "c.pem"), str(tmp_path / "k.pem")
    issue(authority, "s", dns=["s.default.svc"], server=True).write(certificate, key)
    edge = Edge(made, port=0, tls=TlsFiles(cert_file=certificate, key_file=key))
    edge.start()
    made.port, made.authority = edge.port, base64.b64encode(authority.certificate).decode()
    yield made
    edge.close(0)


@contextmanager
def aggregating(extension):
    """Run an API server that it is registered with, until both documents show it."""
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"], "runtime-config": FEW},
        store=MemoryStore(),
    )
    server.start()
    client = server.client(LOOPBACK)
    spec = {"type": "ExternalName", "externalName": "localhost"}
    client.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}, "default")
    client.create(API_SERVICES, {
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.ext.example.com"},
        "spec": {"group": "ext.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
                 "service": {"namespace": "default", "name": "s", "port": extension.port},
                 "caBundle": extension.authority},
    })  # fmt: skip
    assert eventually(lambda: extension.sent == {"v2": 1, "v3": 1} and index(server).get(PATH))
    assert eventually(lambda: shows(server, f'"{VERSION}/things"'))
    yield server
    server.close()


@pytest.fixture
def extension(tmp_path):
    with extending(tmp_path) as made:
        yield made


@pytest.fixture
def server(extension):
    with aggregating(extension) as server:
        yield server


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """A server that several tests look at, and none changes."""
    with extending(tmp_path_factory.mktemp("unchanged")) as made, aggregating(made) as server:
        yield server


def shows(server, text):
    """Tell whether the document of version 2 has a text in it: to read four megabytes at each look takes long."""
    return text.encode() in get(server, "/openapi/v2").body


def get(server, path, query="", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return server.handler.handle(HttpRequest(method="GET", path=path, query_string=query, headers=named, user=LOOPBACK))


def index(server):
    return orjson.loads(get(server, "/openapi/v3").body)["paths"]


def v2(server):
    return orjson.loads(get(server, "/openapi/v2").body)


def etag(answer):
    return dict(answer.headers)["Etag"]


def look_again(server, priority):
    """Change the registration, so that the server behind it is asked at once."""
    client = server.client(LOOPBACK)
    registration = client.get(API_SERVICES, "v1.ext.example.com")
    registration["spec"]["versionPriority"] = priority
    client.update(API_SERVICES, registration)


def test_the_index_leads_to_the_other_servers_document(unchanged):
    where, _, query = index(unchanged)[PATH]["serverRelativeURL"].partition("?")

    answer = get(unchanged, where, query)

    assert orjson.loads(answer.body)["components"]["schemas"]["Thing"]["description"] == "a thing"
    assert etag(answer).strip('"') == query.removeprefix("hash=")
    assert ("Cache-Control", "public, immutable") in answer.headers
    assert get(unchanged, where, if_none_match=etag(answer)).status == 304


def test_our_own_documents_cannot_be_replaced(unchanged):
    assert index(unchanged)["api/v1"]["serverRelativeURL"].startswith("/openapi/v3/api/v1?hash=")
    assert "get" in v2(unchanged)["paths"]["/api/v1/pods"]


def test_version_2_is_one_document(unchanged):
    document = v2(unchanged)

    assert document["definitions"]["ext.Thing"]["description"] == "a thing"
    assert "io.k8s.api.core.v1.Pod" in document["definitions"]
    binary = get(unchanged, "/openapi/v2", accept=BINARY)
    assert b"ext.Thing" in binary.body
    assert etag(binary) == etag(get(unchanged, "/openapi/v2"))


def test_what_has_not_changed_is_not_sent_again(server, extension):
    before = etag(get(server, "/openapi/v2"))

    look_again(server, 11)
    look_again(server, 12)

    extension.text = "another thing"
    look_again(server, 13)
    assert eventually(lambda: shows(server, '"another thing"'))
    assert v2(server)["definitions"]["ext.Thing"]["description"] == "another thing"
    assert extension.sent == {"v2": 2, "v3": 2}
    assert etag(get(server, "/openapi/v2")) != before


def test_it_goes_with_its_registration(server):
    server.client(LOOPBACK).delete(API_SERVICES, "v1.ext.example.com")

    assert eventually(lambda: PATH not in index(server))
    assert get(server, f"/openapi/v3/{PATH}").status == 404
    assert f"{VERSION}/things" not in v2(server)["paths"]


def test_a_server_without_version_3_is_described_by_its_version_2(server, extension):
    extension.is_old = True
    look_again(server, 11)

    assert eventually(lambda: described(server).get("paths"))
    document = described(server)
    answer = document["paths"][f"{VERSION}/things"]["get"]["responses"]["200"]
    assert document["components"]["schemas"]["ext.Thing"]["description"] == "a thing"
    assert answer == {"description": "", "content": {}}

    extension.text = "another thing"
    look_again(server, 12)
    assert eventually(lambda: described(server)["components"]["schemas"]["ext.Thing"]["description"] == "another thing")


def described(server):
    where, _, query = index(server).get(PATH, {}).get("serverRelativeURL", "").partition("?")
    return orjson.loads(get(server, where, query).body) if where else {}


def test_a_server_may_list_its_resources_all_at_once_only(server, extension):
    extension.lists_all = True
    look_again(server, 11)

    assert eventually(lambda: "wholes" in listed(server))
    assert listed(server)["wholes"]["responseKind"] == {"group": "ext.example.com", "version": "v1", "kind": "Whole"}


def listed(server):
    items = orjson.loads(get(server, "/apis", accept=WHOLE).body)["items"]
    group = next(one for one in items if one["metadata"]["name"] == "ext.example.com")
    return {resource["resource"]: resource for version in group["versions"] for resource in version["resources"]}
