"""Answers of lists that share what the cache has."""

import orjson
import pytest
from hyperkube_host.apiserver.serializer import list_pieces
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.watch_cache.packing import Packer

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

PATH = "/api/v1/namespaces/default/configmaps"
COUNT = 4


@pytest.fixture(scope="module")
def server(server):
    for number in range(COUNT):
        made = {"metadata": {"name": f"c{number}"}, "data": {"text": "a line of a text " * 100}}
        assert asked(server, "POST", orjson.dumps(made))["metadata"]["name"] == f"c{number}"
    return server


def asked(server, method, body=b""):
    headers = {"content-type": "application/json"}
    return orjson.loads(
        server.handler.handle(
            HttpRequest(method=method, path=PATH, query_string="", headers=headers, body=body, user=LOOPBACK)
        ).body
    )


@pytest.mark.parametrize("many", [COUNT - 1, COUNT])
def test_a_list_of_many_leaves_what_is_packed_as_it_is(server, monkeypatch, many):
    monkeypatch.setattr(list_pieces, "MANY", many)
    before = asked(server, "GET")
    objects = server.registry.get(CONFIG_MAPS).stored().cache.list().objects
    packer = Packer()
    for obj in objects:
        obj.pack(packer)
    packed = sum(obj.held for obj in objects)

    assert asked(server, "GET") == before

    assert (sum(obj.held for obj in objects) == packed) == (many < COUNT)
