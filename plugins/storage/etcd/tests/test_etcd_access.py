import json
import urllib.request
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hyperkube_storage.etcd import Access, EtcdStore

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import Put, StoreUnavailable

pytestmark = [pytest.mark.etcd, pytest.mark.slow]


def make_certificates(folder):
    """Write ca.crt and a pair {server,client}.{crt,key} that it signed."""
    issuer_key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ca")])
    for name in ("ca", "server", "client"):
        key = issuer_key if name == "ca" else ec.generate_private_key(ec.SECP256R1())
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(datetime.now(UTC) - timedelta(minutes=5))
            .not_valid_after(datetime.now(UTC) + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
        )
        if name != "ca":
            names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
            usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
            builder = builder.add_extension(names, critical=False).add_extension(usage, critical=False)
        certificate = builder.sign(issuer_key, hashes.SHA256())
        (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / f"{name}.key").write_bytes(private)


def test_certificates_of_both_sides_are_checked(start_etcd, tmp_path):
    make_certificates(tmp_path)
    file = lambda name: str(tmp_path / name)  # noqa: E731 - shorter than a function here
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
