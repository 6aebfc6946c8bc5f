"""A server on an address of IPv6 asks who one is as any other, and is reached at that address alone."""

import socket
import ssl
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import ADMIN, HEAD, World, request
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.tls import TlsFiles

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SECRETS = "/api/v1/namespaces/a/secrets"


def _has_loopback():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not _has_loopback(), reason="the machine has no IPv6")


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ipv6")
    world = World(folder)
    own = {"cert_file": "serving.crt", "key_file": "serving.key", "client_ca_file": "ca.crt"}
    files = TlsFiles(**{name: str(folder / file) for name, file in own.items()})
    edge = Edge(world.server.handler, host="::1", tls=files)
    edge.start()
    yield edge
    edge.close()
    world.close()


def ask(edge, data):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("::1", edge.port), timeout=20) as raw, context.wrap_socket(raw) as connection:
        connection.sendall(data)
        return int(connection.recv(65536)[9:12])


@pytest.mark.parametrize(
    "lines", [(), (b"X-Remote-User: admin", b"X-Remote-Group: system:masters"), (b"X-Forwarded-For: ::1",)],
    ids=["nothing", "a proxy's headers", "another address"],
)  # fmt: skip
def test_a_client_without_credentials_is_no_one(edge, lines):
    assert ask(edge, request("GET", SECRETS, *lines)) == 403


def test_credentials_count(edge):
    assert ask(edge, request("GET", SECRETS, credentials=ADMIN)) == 200


@pytest.mark.parametrize("host", [b"[::1]", b"[::1%25lo]:443", b"[", b"::1", b"[fe80::1%eth0]"])
def test_no_form_of_a_host_is_a_crash(edge, host):
    assert ask(edge, b"GET /readyz HTTP/1.1\r\n" + HEAD.replace(b"Host: x", b"Host: " + host) + b"\r\n") in {200, 400}


def test_the_other_family_does_not_lead_there(edge):
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", edge.port), timeout=5)
