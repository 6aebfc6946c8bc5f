"""The HTTPS port of a component obeys the flags about TLS."""

from __future__ import annotations

import socket
import ssl

import pytest
from hyperkube_lib.serving.exchange import Response
from hyperkube_lib.serving.secure_port import serve_secure
from hyperkube_lib.serving.secure_port_flags import FLAGS as DELEGATED
from hyperkube_testing.peers.ports import free_port

from hyperkube.command.common_flags import SECURE_SERVING, delegated_auth
from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import ADDRESS, INT, Flag, FlagValues

OWN = (
    Flag("bind-address", ADDRESS, "127.0.0.1", "an address", section="Own"),
    Flag("secure-port", INT, 0, "a port", section="Own"),
)
FLAGS = (*OWN, *SECURE_SERVING, *delegated_auth(tolerant=True), *DELEGATED)


class Hello:
    """Greets."""

    def handle(self, _request):
        return Response(body=b"hello")

    def hot(self, _request):
        return None

    def is_long_running(self, _request):
        return False


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def serve(port):
    """Return a function that serves with some flags."""
    with Lifecycle() as life:

        def start(**given):
            flags = {name.replace("_", "-"): value for name, value in given.items()}
            serve_secure(life, FlagValues.of(FLAGS, {"secure-port": port, **flags}), "component", Hello())

        yield start


def connect(port, *, highest=None, ciphers=""):
    """Return the version and the cipher that a client gets."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if highest is not None:
        context.maximum_version = highest
    if ciphers:
        context.set_ciphers(ciphers)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain, context.wrap_socket(plain) as secure:
        return secure.version(), secure.cipher()[0]


def test_the_least_version_is_kept_to(serve, port):
    serve(tls_min_version="VersionTLS13")

    assert connect(port)[0] == "TLSv1.3"
    with pytest.raises(ssl.SSLError):
        connect(port, highest=ssl.TLSVersion.TLSv1_2)


def test_only_the_named_ciphers_are_offered(serve, port):
    serve(tls_cipher_suites="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")

    assert "AES256-GCM-SHA384" in connect(port, highest=ssl.TLSVersion.TLSv1_2)[1]
    with pytest.raises((ssl.SSLError, OSError)):
        connect(
            port, highest=ssl.TLSVersion.TLSv1_2, ciphers="ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"
        )


def test_the_port_is_shared_only_where_that_is_wanted(serve):
    serve(permit_port_sharing=True)
    serve(permit_port_sharing=True)

    with pytest.raises(UsageError):
        serve()
