"""ComponentStatus tells the truth: of parts of the process, of servers elsewhere, of the store, of what is not there."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from hyperkube_host.apiserver.controlplane.component_status import ComponentHealth
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_testing.peers.ports import refusing_port

from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import StoreError

RESOURCE = GroupVersionResource("", "v1", "componentstatuses")
ANSWERING = SimpleNamespace(passes=lambda: True)


@contextmanager
def component(status, text):
    """Serve the health of a component; give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/healthz"
        server.shutdown()


@pytest.fixture
def closed():
    """An address at which nothing is."""
    with refusing_port() as port:
        yield f"http://127.0.0.1:{port}/healthz"


@pytest.mark.parametrize(
    ("status", "text", "said"), [(200, b"ok", (True, "ok")), (500, b"leader lost", (False, "leader lost"))]
)
def test_another_server_is_asked(status, text, said):
    with component(status, text) as url:
        assert ComponentHealth({"scheduler": url}, ANSWERING).status("scheduler") == said


def test_one_that_is_not_there_is_not_healthy(closed):
    place = closed.removeprefix("http://").partition("/")[0]

    assert ComponentHealth({"scheduler": closed}, ANSWERING).status("scheduler") == (
        False,
        f'Get "{closed}": dial tcp {place}: connect: connection refused',
    )


def test_a_part_of_this_process_says_it_itself(closed):
    works = [True]
    health = ComponentHealth({"scheduler": closed}, ANSWERING)
    health.offer("scheduler", lambda: works[0])

    assert health.status("scheduler") == (True, "ok")
    works[0] = False
    assert health.status("scheduler") == (False, "not ready")


def test_the_store_is_asked_each_time():
    def refuse():
        raise StoreError("no leader")

    assert ComponentHealth({}, ANSWERING).status("etcd-0") == (True, "ok")
    assert ComponentHealth({}, SimpleNamespace(passes=refuse)).status("etcd-0") == (False, "no leader")


def test_the_api_shows_it(closed):
    pytest.importorskip("hyperkube_api.core", reason="needs the core API group")
    with component(200, b"ok") as url:
        given = {"scheduler": url, "controller-manager": closed}
        options = {
            "admission-control": ["AlwaysAdmit"],
            "authorization-mode": ["AlwaysAllow"],
            "component-statuses": given,
        }
        server = ApiServer(options=options, store=MemoryStore())
        server.start()
        try:
            found = {
                item["metadata"]["name"]: item["conditions"][0]["status"]
                for item in server.client(LOOPBACK).list(RESOURCE).items
            }
        finally:
            server.close()

    assert found == {"controller-manager": "False", "scheduler": "True", "etcd-0": "True"}
