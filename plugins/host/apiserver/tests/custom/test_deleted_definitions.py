"""What a definition has served goes with it: of what was read, written and described nothing stays in memory."""

import gc

import orjson
import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiextensions", reason="needs the group of definitions")

GROUP = "passing.example.com"
THINGS = GroupVersionResource(GROUP, "v1", "things")
BASE = f"/apis/{GROUP}/v1/namespaces/default/things"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
SPEC = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}


def definition(versions):
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}}
    parts = {"schema": schema, "subresources": {"status": {}}}
    return {
        "metadata": {"name": f"things.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": name, "served": True, "storage": name == "v1", **parts} for name in versions],
        },
    }


@pytest.fixture
def server(tmp_path):
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("root,root,1,system:masters\n")
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["RBAC"], "token-auth-file": str(tokens)}
    server = ApiServer(options=options, store=MemoryStore())
    server.start()
    server.informers.wait_synced(5)
    eventually(server.ready)
    yield server
    server.close()


def request(method, path, body=None, **headers):
    given = {"authorization": "Bearer root", "content-type": "application/json", **headers}
    return HttpRequest(method=method, path=path, headers=given, body=b"" if body is None else orjson.dumps(body))


def left():
    gc.collect()
    return [one for one in gc.get_objects() if type(one) is ResourceSpec and one.resource.group == GROUP]


@pytest.mark.parametrize("versions", [["v1"], ["v1", "v2"]], ids=["one version", "two"])
def test_nothing_of_its_resources_stays(server, versions):
    client = server.client(LOOPBACK)
    client.create(CUSTOM_RESOURCE_DEFINITIONS, definition(versions))
    eventually(lambda: server.registry.find(THINGS))
    thing = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}}
    assert server.handler.handle(request("POST", BASE, thing)).status == 201
    for _ in range(3):  # what comes again is remembered
        for path in (BASE, *(f"/apis/{GROUP}/{name}/namespaces/default/things/a" for name in versions)):
            for accept in ("application/json", TABLE):
                assert server.handler.handle(request("GET", path, accept=accept)).status == 200
                server.handler.hot(request("GET", path, accept=accept))
    is_hot = server.handler.hot(request("GET", f"{BASE}/a")) is not None
    assert is_hot is (len(versions) == 1)  # what may have to be converted is not answered on the loop
    assert server.handler.handle(request("GET", f"/openapi/v3/apis/{GROUP}/v1")).status == 200
    assert left()

    client.delete(CUSTOM_RESOURCE_DEFINITIONS, f"things.{GROUP}")

    eventually(lambda: server.registry.find(THINGS) is None, seconds=30)
    eventually(lambda: not left(), seconds=5, why="what is served no more is kept nowhere")
