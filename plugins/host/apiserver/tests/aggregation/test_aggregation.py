"""A second server behind an APIService: found, asked, passed on to, and told from one that is away."""

import base64
import http.client

import orjson
import pytest
from hyperkube_host.apiserver.aggregation.remotes import Remote, Remotes, remote_of
from hyperkube_host.apiserver.aggregation.route import identity_headers
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.certificates import issue, make_ca
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.tls import TlsFiles

from hyperkube.kinds.resources import API_SERVICES, CUSTOM_RESOURCE_DEFINITIONS, SERVICES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK, UserInfo
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiregistration", reason="needs the API groups")

THINGS = GroupVersionResource("ext.example.com", "v1", "things")
FORGED = {"X-Remote-User": "root", "X-Remote-Uid": "0", "X-Remote-Extra-Scopes": "all"}
ROWS = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": "ext.example.com/v1",
    "resources": [
        {"name": "things", "singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": ["get", "list"]},
        {"name": "things/status", "singularName": "", "namespaced": True, "kind": "Thing", "verbs": ["get"]},
    ],
}


class Extension:
    """Answers discovery, and all else with what it was told of the caller."""

    def handle(self, request):
        body = ROWS
        if request.path != "/apis/ext.example.com/v1":
            seen = {name: text for name, text in request.headers.items() if name.startswith("x-remote")}
            body = {"kind": "ThingList", "apiVersion": "ext.example.com/v1", "metadata": {}, "items": [{"seen": seen}]}
        return Response(headers=[("Content-Type", "application/json")], body=orjson.dumps(body))

    def hot(self, _request):
        return None

    def is_long_running(self, _request):
        return False


@pytest.fixture(scope="module")
def authority():
    return make_ca("extensions")


@pytest.fixture(scope="module")
def extension(authority, tmp_path_factory):
    folder = tmp_path_factory.mktemp("extension")
    issue(authority, "s", dns=["s.default.svc"], server=True).write(str(folder / "c.pem"), str(folder / "k.pem"))
    tls = TlsFiles(cert_file=str(folder / "c.pem"), key_file=str(folder / "k.pem"))
    edge = Edge(Extension(), host="127.0.0.1", port=0, tls=tls)
    edge.start()
    yield edge.port
    edge.close(0)


@pytest.fixture(scope="module")
def server(extension):
    assert extension  # ends after the server, which may be asking it
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    yield server
    server.close()


def registered(version, service, ca):
    spec = {
        "group": "ext.example.com",
        "version": version,
        "groupPriorityMinimum": 100,
        "versionPriority": 10,
        "service": service,
        "caBundle": base64.b64encode(ca.certificate).decode(),
    }
    meta = {"name": f"{version}.ext.example.com"}
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": meta, "spec": spec}


def condition(client, name):
    found = (client.get(API_SERVICES, name).get("status") or {}).get("conditions") or []
    return {one["status"]: one["reason"] for one in found}


@pytest.fixture(scope="module")
def client(server, extension, authority):
    client = server.client(LOOPBACK)
    spec = {"type": "ExternalName", "externalName": "localhost"}
    client.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}, "default")
    service = {"namespace": "default", "name": "s", "port": extension}
    client.create(API_SERVICES, registered("v1", service, authority))
    assert eventually(lambda: condition(client, "v1.ext.example.com") == {"True": "Passed"})
    return client


def get(server, path, **headers):
    request = HttpRequest(method="GET", path=path, headers=headers, user=LOOPBACK)
    return server.handler.handle(request)


def test_an_available_group_version_is_listed_with_ours(server, client):
    groups = orjson.loads(get(server, "/apis").body)["groups"]
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    aggregated = orjson.loads(get(server, "/apis", accept=accept).body)["items"]

    assert [group["name"] for group in groups].count("ext.example.com") == 1
    version = next(item for item in aggregated if item["metadata"]["name"] == "ext.example.com")["versions"][0]
    assert version["freshness"] == "Current"
    assert version["resources"][0]["resource"] == "things"
    assert version["resources"][0]["subresources"][0]["subresource"] == "status"


def test_a_client_in_this_process_gets_the_other_servers_list(client):
    listed = client.list(THINGS, "default")

    assert listed.items[0]["kind"] == "Thing"
    assert listed.items[0]["seen"]["x-remote-user"] == LOOPBACK.name


def test_a_client_in_this_process_gets_the_other_servers_answer_to_any_request(client):
    answer = client.request("GET", "/apis/ext.example.com/v1/namespaces/default/things", query={"labelSelector": "a=b"})

    assert answer.status == 200
    assert orjson.loads(answer.body)["items"][0]["seen"]["x-remote-user"] == LOOPBACK.name


def test_requests_over_the_wire_are_passed_on_with_who_asks(server, client):
    edge = Edge(server.handler, host="127.0.0.1", port=0)
    edge.start()
    connection = http.client.HTTPConnection("127.0.0.1", edge.port, timeout=10)

    connection.request("GET", "/apis/ext.example.com/v1/namespaces/default/things", headers=FORGED)
    answer = orjson.loads(connection.getresponse().read())
    connection.close()
    edge.close(0)

    seen = answer["items"][0]["seen"]
    assert seen == {"x-remote-user": "system:anonymous", "x-remote-group": "system:unauthenticated"}


def test_a_service_that_is_not_there_makes_its_group_version_unavailable(server, client, authority):
    client.create(API_SERVICES, registered("v2", {"namespace": "nowhere", "name": "x", "port": 443}, authority))

    assert eventually(lambda: condition(client, "v2.ext.example.com") == {"False": "ServiceNotFound"})
    answer = get(server, "/apis/ext.example.com/v2/things")
    assert (answer.status, answer.body) == (503, b"service unavailable\n")
    client.delete(API_SERVICES, "v2.ext.example.com")
    assert eventually(lambda: get(server, "/apis/ext.example.com/v2/things").status == 404)


def test_custom_group_versions_are_registered_and_go_again(server, client):
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    spec = {"group": "foo.example.com", "scope": "Cluster", "names": names, "versions": [version]}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    client.create(CUSTOM_RESOURCE_DEFINITIONS, {**crd, "metadata": {"name": "foos.foo.example.com"}})

    assert eventually(lambda: is_there(client))
    client.delete(CUSTOM_RESOURCE_DEFINITIONS, "foos.foo.example.com")
    assert eventually(lambda: not is_there(client))


def is_there(client):
    try:
        client.get(API_SERVICES, "v1.foo.example.com")
    except NotFound:
        return False
    return True


def test_a_registration_without_a_service_stands_for_this_server():
    assert remote_of({"metadata": {"name": "v1.apps"}, "spec": {"group": "apps", "version": "v1"}}) is None


def test_remotes_tell_when_they_change():
    remote = Remote(
        name="v1.g", group="g", version="v1", group_priority=1, version_priority=1, namespace="n", service="s", port=443
    )
    remotes = Remotes()

    remotes.put(remote)
    remotes.put(remote)

    assert (remotes.generation, remotes.find("g", "v1")) == (1, remote)
    remotes.drop("v1.g")
    assert not remotes


def test_the_caller_is_told_in_front_proxy_headers():
    user = UserInfo("alice", "7", ("a", "b"), {"scopes/x": ("1", "2")})

    assert identity_headers(user) == [
        ("X-Remote-User", "alice"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "a"),
        ("X-Remote-Group", "b"),
        ("X-Remote-Extra-scopes%2Fx", "1"),
        ("X-Remote-Extra-scopes%2Fx", "2"),
    ]
