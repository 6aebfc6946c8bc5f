"""The ports of servers that are not the API server: to who has no credentials health is all there is, in whatever words."""

from __future__ import annotations

import socket
import ssl
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import quickly
from hyperkube_host.cloud_controller_manager.command import COMMAND as CLOUD
from hyperkube_host.cloud_controller_manager.manager import MANAGER as CLOUD_MANAGER
from hyperkube_host.controller_manager.command import COMMAND as OWN
from hyperkube_host.controller_manager.manager import MANAGER as OWN_MANAGER
from hyperkube_lib.controller_manager.command import handler, start
from hyperkube_lib.controller_manager.options import ManagerOptions
from hyperkube_lib.serving.secure_port import serve_secure
from hyperkube_testing.peers.ports import free_port

from hyperkube.client.fake import FakeClient
from hyperkube.client.request_counts import RequestCounts
from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.clock import SystemClock

MEBIBYTE = 1 << 20
MANAGERS = {
    "cloud-controller-manager": (CLOUD, CLOUD_MANAGER, ["--cloud-provider=fake", "--controllers=cloud-node"]),
    "kube-controller-manager": (OWN, OWN_MANAGER, ["--controllers=podgc"]),
}
OPEN = ("/healthz", "/livez", "/readyz")
CLOSED = (
    *(
        "/",
        "/metrics",
        "/metrics/slis",
        "/configz",
        "/flagz",
        "/statusz",
        "/version",
        "/debug/pprof/",
        "/debug/flags/v",
    ),
    *("/debug/pprof/profile?seconds=1", "/debug/pprof/goroutine?debug=2", "/healthz/ping", "/nothing"),
)


@pytest.fixture(scope="module", params=MANAGERS)
def port(request):
    command, manager, arguments = MANAGERS[request.param]
    port, client = free_port(), FakeClient(SystemClock())
    values = command.parse([*arguments, f"--secure-port={port}", "--bind-address=127.0.0.1"])
    options = ManagerOptions.of(manager, values)
    with Lifecycle() as life:
        running = start(life, options, lambda _user: client)
        serve_secure(life, values, manager.name, handler(running, options, RequestCounts()))
        yield port


def answers(port, data, *, silence=60):
    """Send bytes; return the status of each answer, until the server closes or is silent."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=silence) as raw, context.wrap_socket(raw) as line:
        try:
            line.sendall(data)
            while piece := line.recv(65536):
                received += piece
        except (ConnectionError, TimeoutError):
            pass  # it need not read all that it refuses, and keeps a connection that may go on
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]


def ask(port, target, *lines, method="GET", body=b""):
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".encode()
    more = b"".join(line + b"\r\n" for line in lines)
    length = b"Content-Length: %d\r\n" % len(body) if body else b""
    return answers(port, head + more + length + b"\r\n" + body)


def test_health_is_open_and_nothing_else(port):
    assert [ask(port, path) for path in OPEN[:2]] == [[200], [200]]
    assert {path for path in CLOSED if ask(port, path) != [403]} == set()
    assert ask(port, "/debug/flags/v", method="PUT", body=b"9") == [403]


IDENTITIES = {
    "front proxy": (b"X-Remote-User: admin", b"X-Remote-Group: system:masters"),
    "impersonation": (b"Impersonate-User: admin", b"Impersonate-Group: system:masters"),
    "token": (b"Authorization: Bearer x",),
    "long token": (b"Authorization: Bearer " + b"x" * 60_000,),
    "token of nothing": (b"Authorization: Bearer ",),
    "password": (b"Authorization: Basic YWRtaW46YWRtaW4=",),
    "protocol": (b"Upgrade: websocket", b"Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.eA"),
}


@pytest.mark.parametrize("lines", IDENTITIES.values(), ids=IDENTITIES)
def test_headers_that_say_who_acts_prove_nothing(port, lines):
    assert ask(port, "/metrics", *lines)[0] in {401, 403}


TARGETS = (
    *(
        "//metrics",
        "/healthz/../metrics",
        "/healthz/%2e%2e/metrics",
        "/healthz/..%2fmetrics",
        "/healthz%2f..%2fmetrics",
    ),
    *("/metrics/", "/./metrics", "/%6detrics", "/metrics;/healthz", "/healthz/x/../../metrics", "http://x/metrics"),
    *("/METRICS", "/healthz\\..\\metrics", "/healthz#/../metrics", "/metrics?/healthz", "/metrics%00", "/healthz/\xff"),
)


@pytest.mark.parametrize("target", TARGETS)
def test_no_other_form_of_a_path_is_open(port, target):
    for method in ("GET", "OPTIONS", "get"):
        assert set(ask(port, target, method=method)) <= {400, 401, 403, 404, 405}


COSTLY = {
    "a long header": b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 2 * MEBIBYTE + b"\r\n\r\n",
    "many headers": b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 300_000 + b"\r\n",
    "a long line": b"GET /" + b"x" * 2 * MEBIBYTE + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "trailers": b"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 300_000,
    "a version": b"GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "h2c again and again": b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" * 3000,
    "a body": b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n" + b"x" * MEBIBYTE,
}


@pytest.mark.parametrize("data", COSTLY.values(), ids=COSTLY)
def test_few_bytes_before_any_credential_cost_little(port, data):
    statuses = quickly(lambda: answers(port, data, silence=2))

    assert set(statuses) <= {200, 400, 403, 405, 413, 414, 431, 505}
    assert ask(port, "/healthz") == [200]
