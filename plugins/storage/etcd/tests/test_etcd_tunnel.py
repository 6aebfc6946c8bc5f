"""etcd through a proxy: what dials is given to gRPC as a Unix socket."""

import socket
import threading
from pathlib import Path

import pytest
from hyperkube_storage.etcd import Access, Etcd, EtcdStore
from hyperkube_storage.etcd.tunnel import Tunnel

from hyperkube.plugin import PluginContext
from hyperkube.storage.store import Put, StoreUnavailable
from hyperkube.testing.waiting import eventually

pytestmark = [pytest.mark.etcd, pytest.mark.slow]


class Dialler:
    """Dials directly, and remembers; refuses while there is a `failure`."""

    def __init__(self):
        self.asked = []
        self.failure = None

    def __call__(self, host, port, *, seconds=30.0):
        self.asked.append((host, port, seconds))
        if self.failure is not None:
            raise self.failure
        return socket.create_connection((host, port), seconds)


def tunnels():
    return [thread for thread in threading.enumerate() if thread.name == "etcd-tunnel"]


def member(etcd):
    host, _, port = etcd.url.rpartition("/")[2].partition(":")
    return host, int(port), 20.0


def test_calls_and_watches_go_where_it_dials_and_nothing_stays(etcd):
    dial = Dialler()
    store = EtcdStore(Access([etcd.url], dial=dial), history_seconds=0)
    revision = store.revision()
    watch = store.watch("/tunnel/", "/tunnel0", revision=revision)
    store.txn([], [Put("/tunnel/a", b"1")])

    assert store.get("/tunnel/a").value == b"1"
    assert next(iter(watch)).events
    assert dial.asked == [member(etcd)]
    watch.close()
    store.close()
    assert eventually(lambda: not tunnels())


def test_certificates_are_those_of_the_member(start_etcd, certificates):
    file = lambda name: str(certificates / name)  # noqa: E731 - shorter than a function here
    files = {"ca_file": file("ca.crt"), "cert_file": file("client.crt"), "key_file": file("client.key")}
    server = start_etcd(
        f"--cert-file={file('server.crt')}", f"--key-file={file('server.key')}", "--client-cert-auth",
        f"--trusted-ca-file={file('ca.crt')}", scheme="https", **files,
    )  # fmt: skip
    through = EtcdStore(Access([server.url], dial=Dialler(), **files), history_seconds=0)
    elsewhere = Access([server.url.replace("127.0.0.1", "localhost")], dial=Dialler(), **files)
    other = EtcdStore(elsewhere, history_seconds=0)

    assert through.revision() == 1
    with pytest.raises(StoreUnavailable):  # the certificate is for the address alone
        other.revision()
    through.close()
    other.close()


def test_a_proxy_that_refuses_is_told_once_and_tried_again(etcd, caplog):
    dial = Dialler()
    dial.failure = OSError("proxy error from p while dialing e, code 503: 503 Service Unavailable")
    store = EtcdStore(Access([etcd.url], dial=dial), history_seconds=0)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.revision()
    dial.failure = None

    def answers():
        try:
            return store.revision()
        except StoreUnavailable:
            return 0

    assert eventually(answers)
    assert caplog.text.count("code 503: 503 Service Unavailable") == 1
    store.close()


def test_only_this_user_may_connect_and_the_socket_goes():
    tunnel = Tunnel(Dialler(), "127.0.0.1", 1)
    folder = Path(tunnel.path).parent

    assert folder.stat().st_mode & 0o777 == 0o700
    tunnel.close()
    tunnel.close()
    assert not folder.exists()
    assert eventually(lambda: not tunnels())


def test_the_plugin_takes_what_the_server_has_for_etcd(etcd):
    dial = Dialler()
    context = PluginContext(name="etcd", settings={"etcd_servers": [etcd.url]}, egress={"etcd": dial, "cluster": None})
    store = Etcd(context).storage_open()

    assert store.revision()
    assert dial.asked == [member(etcd)]
    store.close()
