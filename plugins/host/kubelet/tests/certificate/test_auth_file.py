"""The credentials file of a kubelet of the 1.0 line."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hyperkube_host.kubelet.certificate.auth_file import client_by_auth_file
from hyperkube_host.kubelet.flags import FLAGS

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues


@pytest.fixture
def server():
    """An API server that notes who asks."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("Authorization"))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.seen = seen
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening
        listening.shutdown()


def values(tmp_path, content, **given):
    (tmp_path / "auth").write_text(content)
    return FlagValues.of(FLAGS, {"auth-path": str(tmp_path / "auth"), **given})


@pytest.mark.parametrize(
    ("content", "sent"),
    [({"BearerToken": "secret"}, "Bearer secret"), ({"User": "a", "Password": "b"}, "Basic YTpi"), ({}, None)],
)
def test_its_credentials_are_shown_to_the_first_server(tmp_path, server, content, sent):
    servers = [f"127.0.0.1:{server.server_port}", "127.0.0.1:1"]
    client = client_by_auth_file(values(tmp_path, json.dumps(content), **{"api-servers": servers}), "kubelet")

    assert client.request("GET", "/healthz").status == 200
    assert server.seen == [sent]


@pytest.mark.parametrize(
    ("content", "given", "says"),
    [
        ("{}", {"kubeconfig": "k", "api-servers": "a"}, "cannot specify both --kubeconfig and --auth-path"),
        ("{}", {}, "--auth-path needs --api-servers"),
        ("[]", {"api-servers": "a"}, "holds no JSON object"),
        ("x", {"api-servers": "a"}, "--auth-path: cannot read"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, content, given, says):
    with pytest.raises(UsageError, match=says):
        client_by_auth_file(values(tmp_path, content, **given), "kubelet")
