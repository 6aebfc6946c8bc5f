import json
import urllib.request

import pytest
from hyperkube_storage.etcd import Access, EtcdStore

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import Put, StoreUnavailable

pytestmark = [pytest.mark.etcd, pytest.mark.slow]


def test_certificates_of_both_sides_are_checked(start_etcd, certificates):
    file = lambda name: str(certificates / name)  # noqa: E731 - shorter than a function here
    server = start_etcd(
        f"--cert-file={file('server.crt')}",
        f"--key-file={file('server.key')}",
        f"--trusted-ca-file={file('ca.crt')}",
        "--client-cert-auth",
        scheme="https",
        ca_file=file("ca.crt"),
        cert_file=file("client.crt"),
        key_file=file("client.key"),
    )

    with_certificate = EtcdStore(server.access, history_seconds=0)
    without = EtcdStore(Access([server.url], ca_file=file("ca.crt")), history_seconds=0)

    assert with_certificate.txn([], [Put("/a", b"v")]).succeeded
    with pytest.raises(StoreUnavailable):
        without.revision()
    with_certificate.close()
    without.close()


def test_a_login_outlives_its_token(start_etcd):
    server = start_etcd("--auth-token=simple", "--auth-token-ttl=1")
    for path, body in [
        ("user/add", {"name": "root", "password": "pw"}),
        ("role/add", {"name": "root"}),
        ("user/grant", {"user": "root", "role": "root"}),
        ("enable", {}),
    ]:
        request = urllib.request.Request(f"{server.url}/v3/auth/{path}", data=json.dumps(body).encode())
        urllib.request.urlopen(request, timeout=60).close()
    store = EtcdStore(Access([server.url], user="root", password="pw"), history_seconds=0)
    watch = store.watch("/a", "/b", revision=store.revision())
    batches = iter(watch)
    store.txn([], [Put("/a", b"1")])
    assert [event.current.value for event in next(batches).events] == [b"1"]

    SystemClock().sleep(2.5)

    assert store.txn([], [Put("/a", b"2")]).succeeded
    assert [event.current.value for event in next(batches).events] == [b"2"]
    for wrong in (Access([server.url]), Access([server.url], user="root", password="bad")):
        other = EtcdStore(wrong, history_seconds=0)
        with pytest.raises(StoreUnavailable, match=r"user name is empty|authentication failed"):
            other.revision()
        other.close()
    store.close()
