"""Logs: the way to the kubelet of the pod's node, and what the client gets of its answer."""

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, RelayUpgrade

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the API groups")


@pytest.fixture(scope="module")
def server():
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    client = server.client(LOOPBACK)
    client.create(NODES, {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    addresses = {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}}
    client.patch(NODES, "n", addresses, subresource="status")
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
    client.create(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}, "default")
    yield server
    server.close()


def test_a_log_is_plain_text_or_messages(server):
    request = HttpRequest(
        method="GET",
        path="/api/v1/namespaces/default/pods/p/log",
        query_string="follow=true",
        headers={"upgrade": "websocket", "connection": "Upgrade"},
        user=LOOPBACK,
    )

    way = server.handler.handle(request)

    assert isinstance(way, RelayUpgrade)
    assert (way.host, way.path) == ("10.0.0.9", "/containerLogs/default/p/c?follow=true")
    assert way.websocket_protocols == ("binary.k8s.io", "base64.binary.k8s.io")
    passed = way.answered([("Content-Type", "application/octet-stream"), ("X-A", "1")])
    assert (passed.headers, passed.body) == ([("Content-Type", "text/plain"), ("X-A", "1")], None)
