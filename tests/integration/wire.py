"""A server that is asked in plain HTTP, for what clients rely on beneath their libraries."""

from __future__ import annotations

import contextlib
import http.client
import json

from client_objects import GROUP, custom, definition
from server_processes import ApiServer, configmap, eventually, running

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
META = "g=meta.k8s.io"
MAPS = "/api/v1/namespaces/default/configmaps"
WIDGETS = f"/apis/{GROUP}/v1/namespaces/default/widgets"


class Wire:
    """One server, asked in plain HTTP."""

    def __init__(self, server):
        self.server = server

    def ask(self, method, path, body=None, seconds=30, **headers):
        """Return status, headers (by lower-case name) and bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=seconds)
        data = json.dumps(body).encode() if isinstance(body, dict | list) else body
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, dict | list):
            sent.setdefault("Content-Type", JSON)
        try:
            connection.request(method, path, body=data, headers=sent)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path, accept=JSON, **headers):
        return self.ask("GET", path, Accept=accept, **headers)

    def warnings(self, method, path, body, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if not isinstance(body, str) else body,
                               {"Content-Type": JSON, **headers})  # fmt: skip
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers.get_all("Warning") or []
        finally:
            connection.close()


@contextlib.contextmanager
def wired(folder):
    """Run a server with a few objects in it."""
    server = ApiServer(
        folder, "--storage-backend=memory", "--service-cluster-ip-range=10.0.0.0/16",
        "--disable-admission-plugins=ServiceAccount", "--authorization-mode=RBAC",
    )  # fmt: skip
    with running(server):
        assert server.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("Widget"))[0] == 201
        eventually(lambda: server.request("GET", WIDGETS)[0] == 200)
        assert server.post(WIDGETS, custom("Widget", "one", colour="blue"))[0] == 201
        assert server.post(MAPS, configmap("one", a="b"))[0] == 201
        assert server.post(MAPS, configmap("big", text="x" * 200_000))[0] == 201
        yield Wire(server)
