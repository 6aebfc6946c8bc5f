"""Connections through a proxy on TCP, TLS and a Unix socket, to a server that says who asked."""

import logging
import socket
import ssl
import threading

import pytest
from hyperkube_host.apiserver.egress_selector import open_selector
from hyperkube_host.apiserver.egress_selector.configuration import Proxy
from hyperkube_host.apiserver.egress_selector.dialer import ProxyDialer
from hyperkube_lib.serving.certificates import issue, make_ca, write_public

from hyperkube.machinery.errors import UsageError

LOG = logging.getLogger("test")


class EchoProxy:
    """A proxy that answers CONNECT itself, then sends back what it gets; `asked` are the first lines."""

    def __init__(self, listener, context=None, answer=b"HTTP/1.1 200 OK\r\n\r\n"):
        self.asked, self.closed = [], threading.Event()
        self._listener, self._context, self._answer = listener, context, answer
        listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        try:
            wire, _ = self._listener.accept()
            if self._context is not None:
                wire = self._context.wrap_socket(wire, server_side=True)
            with wire:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += wire.recv(1)
                self.asked.append(head.split(b"\r\n")[0].decode())
                wire.sendall(self._answer)
                while data := wire.recv(65536):
                    wire.sendall(data)
        except OSError:
            LOG.debug("the client is gone")
        finally:
            self.closed.set()


@pytest.fixture
def certificate(tmp_path):
    authority = make_ca("proxies")
    pair = issue(authority, "proxy", ips=["127.0.0.1"], server=True, client=True)
    pair.write(tmp_path / "tls.crt", tmp_path / "tls.key")
    write_public(tmp_path / "ca.crt", authority.certificate)
    return str(tmp_path / "ca.crt"), str(tmp_path / "tls.crt"), str(tmp_path / "tls.key")


@pytest.fixture(params=["tcp", "tls", "unix"])
def reached(request, tmp_path, certificate):
    """Return a proxy and how it is reached, of each sort."""
    if request.param == "unix":
        path = str(tmp_path / "proxy.sock")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        found = Proxy(socket=path)
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        scheme = "https" if request.param == "tls" else "http"
        files = dict(zip(("ca_bundle", "client_cert", "client_key"), certificate, strict=True))
        found = Proxy(url=f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", **(files if scheme == "https" else {}))
    context = None
    if request.param == "tls":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate[0])
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(*certificate[1:])
    with listener:
        yield listener, context, found


@pytest.mark.parametrize(("host", "asked"), [("10.0.0.1", "10.0.0.1:10250"), ("fd00::1", "[fd00::1]:10250")])
def test_a_proxy_is_asked_to_connect_and_then_passes_all_on(reached, host, asked):
    listener, context, found = reached
    proxy = EchoProxy(listener, context)
    sent = b"x" * 300_000

    with ProxyDialer(found)(host, 10250) as wire:
        wire.settimeout(10)
        writer = threading.Thread(target=wire.sendall, args=(sent,))
        writer.start()
        received = b""
        while len(received) < len(sent):
            received += wire.recv(65536)
        writer.join()

    assert proxy.asked == [f"CONNECT {asked} HTTP/1.1"]
    assert received == sent
    assert proxy.closed.wait(10)


def test_a_refusal_says_who_refused(reached):
    listener, context, found = reached
    EchoProxy(listener, context, b"HTTP/1.1 503 Service Unavailable\r\n\r\n")

    with pytest.raises(OSError, match=r"proxy error from .* while dialing 10.0.0.1:443, code 503: 503 Service Unavail"):
        ProxyDialer(found)("10.0.0.1", 443)


def test_a_proxy_that_is_not_there_is_told_of():
    with pytest.raises(OSError, match='dialing proxy "/no/such/socket" failed'):
        ProxyDialer(Proxy(socket="/no/such/socket"))("10.0.0.1", 443)


def configuration(tmp_path, name="cluster", protocol="HTTPConnect"):
    file = tmp_path / "egress.yaml"
    transport = "" if protocol == "Direct" else "\n    transport: {uds: {udsName: /run/proxy.sock}}"
    file.write_text(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n"
        f"- name: {name}\n  connection:\n    proxyProtocol: {protocol}{transport}\n"
    )
    return str(file)


@pytest.mark.parametrize(
    ("name", "protocol", "dials"),
    [
        ("cluster", "HTTPConnect", ["cluster"]),
        ("controlplane", "HTTPConnect", ["controlplane"]),
        ("etcd", "HTTPConnect", ["etcd"]),
        ("cluster", "Direct", []),
        ("etcd", "Direct", []),
    ],
)
def test_what_is_direct_is_not_dialled(tmp_path, name, protocol, dials):
    assert [*open_selector(configuration(tmp_path, name, protocol))] == dials


def test_without_a_file_nothing_is_dialled():
    assert open_selector("") == {}


@pytest.mark.parametrize(
    ("name", "protocol", "text"),
    [
        ("cluster", "GRPC", "cluster: proxyProtocol GRPC is not built; HTTPConnect is"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(tmp_path, name, protocol, text):
    with pytest.raises(UsageError, match=text):
        open_selector(configuration(tmp_path, name, protocol))
