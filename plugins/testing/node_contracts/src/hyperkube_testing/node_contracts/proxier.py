"""What every proxier promises: subclass `ProxierContract` in a plugin's tests and say how to build it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hyperkube.hookspecs.proxier import Endpoint, Proxier, ProxyState, ServicePort, ServicePortName

NAME = ServicePortName("default", "contract", "http")


@contextmanager
def answering(text: bytes) -> Iterator[Endpoint]:
    """Serve `text` to every TCP connection on a free loopback port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(text)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Endpoint("127.0.0.1", listener.getsockname()[1], True)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(2.0)


def read(ip: str, port: int) -> bytes:
    """Return what a connection yields until it ends."""
    with socket.create_connection((ip, port), timeout=5) as connection:
        chunks = []
        while data := connection.recv(1000):
            chunks.append(data)
        return b"".join(chunks)


class ProxierContract:
    """The promises of `hyperkube.hookspecs.proxier`, as tests.

    Attributes:
        cluster_ip: a service address that the proxier under test can serve.
        port: a port that nothing uses on it.
    """

    cluster_ip = "127.97.0.1"
    port = 8971

    def build(self) -> Proxier:
        """Return a fresh proxier; the test closes it."""
        raise NotImplementedError

    def service(self, *endpoints: Endpoint, port: int | None = None, **more: ServicePort) -> ProxyState:
        """Return a desired state of one service port, and of `more` by name."""
        wanted = ServicePort(
            name=NAME, protocol="TCP", cluster_ip=self.cluster_ip, port=port or self.port, endpoints=endpoints
        )
        return ProxyState("IPv4", {NAME: wanted, **{each.name: each for each in more.values()}})

    def reachable(self, port: int | None = None) -> bool:
        """Tell whether a connection to the service is accepted."""
        try:
            socket.create_connection((self.cluster_ip, port or self.port), timeout=2).close()
        except OSError:
            return False
        return True

    def test_it_serves_nothing_before_the_first_sync(self) -> None:
        """A proxier that was only built listens nowhere."""
        proxier = self.build()

        try:
            assert not self.reachable()
        finally:
            proxier.close()

    def test_a_connection_reaches_a_backend(self) -> None:
        """What the backend sends arrives."""
        proxier = self.build()
        try:
            with answering(b"one") as backend:
                refused = proxier.sync(self.service(backend))

                assert list(refused) == []
                assert read(self.cluster_ip, self.port) == b"one"
        finally:
            proxier.close()

    def test_every_backend_gets_connections(self) -> None:
        """Connections are spread over all backends."""
        proxier = self.build()
        try:
            with answering(b"one") as first, answering(b"two") as second:
                proxier.sync(self.service(first, second))

                answers = {read(self.cluster_ip, self.port) for _ in range(60)}

                assert answers == {b"one", b"two"}
        finally:
            proxier.close()

    def test_a_sync_replaces_the_whole_state(self) -> None:
        """What is not in the new state is not served any more."""
        proxier = self.build()
        try:
            with answering(b"one") as backend:
                proxier.sync(self.service(backend))
                proxier.sync(self.service(backend, port=self.port + 1))

                assert not self.reachable()
                assert read(self.cluster_ip, self.port + 1) == b"one"
        finally:
            proxier.close()

    def test_connections_survive_a_sync_that_does_not_concern_them(self) -> None:
        """An open connection goes on while another port comes."""
        proxier = self.build()
        listener = socket.create_server(("127.0.0.1", 0))
        try:
            backend = Endpoint("127.0.0.1", listener.getsockname()[1], True)
            proxier.sync(self.service(backend))
            with socket.create_connection((self.cluster_ip, self.port), timeout=5) as client:
                server, _ = listener.accept()
                other = ServicePortName("default", "other", "")
                more = ServicePort(
                    name=other, protocol="TCP", cluster_ip=self.cluster_ip, port=self.port + 2, endpoints=(backend,)
                )
                proxier.sync(self.service(backend, other=more))
                with server:
                    server.sendall(b"still here")

                    assert client.recv(100) == b"still here"
        finally:
            listener.close()
            proxier.close()

    def test_a_service_without_backends_refuses(self) -> None:
        """Clients learn at once that there is no endpoint."""
        proxier = self.build()
        try:
            proxier.sync(self.service())

            assert not self.reachable()
        finally:
            proxier.close()

    def test_close_releases_the_ports_and_may_be_repeated(self) -> None:
        """After `close` the port can be bound by another process."""
        proxier = self.build()
        with answering(b"one") as backend:
            proxier.sync(self.service(backend))

        proxier.close()
        proxier.close()

        assert not self.reachable()
