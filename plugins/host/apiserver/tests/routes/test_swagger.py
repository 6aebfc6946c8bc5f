"""The pages about the API of the 1.x line: there with the flags that ask for them, 404 without."""

from __future__ import annotations

import orjson
import pytest
from hyperkube_host.apiserver.routes.swagger import DASHBOARD
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

OPEN = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
PATHS = ("/swagger.json", "/swaggerapi", "/swaggerapi/api/v1", "/swagger-ui/", "/ui")


def serving(**options):
    server = ApiServer(options={**OPEN, **options}, store=MemoryStore())
    server.start()
    return server


@pytest.fixture(scope="module")
def client():
    server = serving(**{"enable-swagger-ui": True})
    yield server.client(LOOPBACK)
    server.close()


def get(client, path):
    answer = client.request("GET", path)
    return answer.status, answer.body


def test_the_document_is_the_kubernetes_api_in_swagger_2(client):
    status, body = get(client, "/swagger.json")

    document = orjson.loads(body)
    assert (status, document["swagger"], document["info"]["title"]) == (200, "2.0", "Kubernetes")
    assert document == orjson.loads(get(client, "/openapi/v2")[1])


def test_swagger_1_lists_the_groups_and_their_operations(client):
    listing = orjson.loads(get(client, "/swaggerapi/")[1])
    declared = orjson.loads(get(client, "/swaggerapi/api/v1")[1])

    assert {"path": "/api/v1", "description": "API at /api/v1"} in listing["apis"]
    assert (declared["swaggerVersion"], declared["apiVersion"], declared["resourcePath"]) == ("1.2", "v1", "/api/v1")
    pods = next(api for api in declared["apis"] if api["path"] == "/api/v1/namespaces/{namespace}/pods")
    assert {"GET", "POST", "DELETE"} == {operation["method"] for operation in pods["operations"]}
    assert any(one["paramType"] == "path" for one in pods["operations"][0]["parameters"])
    assert get(client, "/swaggerapi/api/v7")[0] == 404


def test_people_get_a_page_and_the_way_to_the_dashboard(client):
    assert client.request("GET", "/swagger-ui").headers["Location"] == "/swagger-ui/"
    status, page = get(client, "/swagger-ui/")
    assert status == 200
    assert b"/swagger.json" in page
    answer = client.request("GET", "/ui")
    assert (answer.status, answer.headers["Location"]) == (307, DASHBOARD)


def test_the_index_shows_them(client):
    assert {"/swagger.json", "/swaggerapi/", "/swagger-ui/", "/ui"} <= {*orjson.loads(get(client, "/")[1])["paths"]}


@pytest.mark.parametrize(
    ("options", "there"),
    [({}, set()), ({"compat": "1.5"}, {"/swagger.json", "/swaggerapi", "/swaggerapi/api/v1", "/ui"})],
    ids=["today", "as-in-1.5"],
)
def test_without_the_flag_there_are_those_of_the_release(options, there):
    server = serving(**options)
    try:
        found = {path for path in PATHS if get(server.client(LOOPBACK), path)[0] != 404}
    finally:
        server.close()

    assert found == there
