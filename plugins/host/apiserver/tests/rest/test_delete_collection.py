"""A collection is deleted by as many workers as the flag says."""

from __future__ import annotations

import threading

import pytest
from hyperkube_host.apiserver.rest import delete_collection as module
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

OPEN = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
OBJECTS = 8


@pytest.fixture
def deleting(monkeypatch):
    """Return a function that deletes a collection with so many workers, and what it saw: deletions at a time, and left."""

    def run(workers, refuse=""):
        server = ApiServer(options={**OPEN, "delete-collection-workers": workers}, store=MemoryStore())
        server.start()
        lock, seen = threading.Lock(), {"now": 0, "most": 0}
        together = threading.Barrier(workers)
        really = module.delete_one

        def delete_one(services, request, target, call, options):
            with lock:
                seen["now"] += 1
                seen["most"] = max(seen["most"], seen["now"])
            try:
                together.wait(10)
                if target.name == refuse:
                    raise Forbidden("no")
                return really(services, request, target, call, options)
            finally:
                with lock:
                    seen["now"] -= 1

        monkeypatch.setattr(module, "delete_one", delete_one)
        client = server.client(LOOPBACK)
        try:
            for number in range(OBJECTS):
                name = {"name": f"c{number}", "namespace": "default"}
                client.create(CONFIG_MAPS, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": name}, "default")
            client.delete_collection(CONFIG_MAPS, "default")
        finally:
            left = len(client.list(CONFIG_MAPS, "default").items)
            server.close()
        return seen["most"], left

    return run


@pytest.mark.parametrize("workers", [1, 4])
def test_so_many_are_deleted_at_a_time(deleting, workers):
    assert deleting(workers) == (workers, 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_refusal_is_the_answer(deleting, workers):
    with pytest.raises(Forbidden):
        deleting(workers, refuse="c0")
