"""What requests leave for the collector of garbage: nothing, or it comes to megabytes until the old objects' turn."""

import gc
from contextlib import suppress

import pytest
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.users import LOOPBACK, UserInfo
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

REQUESTS = {
    "created": lambda client, number: client.create(CONFIG_MAPS, {"metadata": {"name": f"m{number}"}}, "default"),
    "there already": lambda client, _: client.create(CONFIG_MAPS, {"metadata": {"name": "there"}}, "default"),
    "invalid": lambda client, _: client.create(CONFIG_MAPS, {"metadata": {"name": "NO"}}, "default"),
    "read": lambda client, _: client.get(CONFIG_MAPS, "there", "default"),
    "missing": lambda client, _: client.get(CONFIG_MAPS, "missing", "default"),
    "listed": lambda client, _: client.list(CONFIG_MAPS, "default"),
    "patched": lambda client, number: client.patch(CONFIG_MAPS, "there", {"data": {"n": str(number)}}, "default"),
}


@pytest.fixture(scope="module")
def server():
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["RBAC"]}
    server = ApiServer(options=options, store=MemoryStore())
    server.start()
    assert eventually(server.ready)
    server.client(LOOPBACK).create(CONFIG_MAPS, {"metadata": {"name": "there"}}, "default")
    yield server
    server.close()


@pytest.fixture
def garbage():
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.parametrize("user", [LOOPBACK, UserInfo("eve")], ids=["allowed", "forbidden"])
@pytest.mark.parametrize("what", REQUESTS)
def test_requests_leave_nothing_to_the_collector(server, what, user, garbage):
    client = server.client(user)

    for number in range(10):
        with suppress(ApiError):
            REQUESTS[what](client, number)
    gc.collect()

    assert [each for each in garbage if isinstance(each, (ApiRequest, ApiError))] == []
