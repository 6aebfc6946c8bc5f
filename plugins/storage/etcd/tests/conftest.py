"""A real etcd per session on free ports; tests that need it skip where the program is missing."""

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hyperkube_storage.etcd import Access, EtcdStore
from hyperkube_testing.peers.ports import free_port

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import StoreUnavailable


class EtcdServer:
    """An etcd that can be stopped and started again on the same data."""

    def __init__(self, folder, *flags, scheme="http", **access):
        self.folder = folder
        self.url = f"{scheme}://127.0.0.1:{free_port()}"
        self.access = Access([self.url], **access)
        self._peer = f"http://127.0.0.1:{free_port()}"
        self._flags = flags
        self._process = None
        self.start()

    def start(self):
        command = [
            "etcd", f"--data-dir={self.folder}", "--name=one", "--logger=zap",
            f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={self._peer}", f"--initial-advertise-peer-urls={self._peer}",
            f"--initial-cluster=one={self._peer}", "--heartbeat-interval=20", "--election-timeout=200", *self._flags,
        ]  # fmt: skip
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        clock = SystemClock()
        store = EtcdStore(self.access, history_seconds=0)
        deadline = clock.monotonic() + 20
        while True:
            try:
                store.revision()
                break
            except StoreUnavailable:
                if clock.monotonic() > deadline:
                    raise
                clock.sleep(0.1)
        store.close()

    def stop(self):
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="session")
def etcd(tmp_path_factory):
    if shutil.which("etcd") is None:
        pytest.skip("the program etcd is not installed (Debian package etcd-server)")
    server = EtcdServer(tmp_path_factory.mktemp("etcd") / "data")
    yield server
    server.stop()


@pytest.fixture
def start_etcd(tmp_path):
    """Return what starts an etcd with flags and an access of its own."""
    if shutil.which("etcd") is None:
        pytest.skip("the program etcd is not installed (Debian package etcd-server)")
    servers = []

    def start(*flags, **access):
        servers.append(EtcdServer(tmp_path / "data", *flags, **access))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def certificates(tmp_path):
    """Return a folder with ca.crt and a pair {server,client}.{crt,key} that it signed."""
    folder = tmp_path
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
    return folder
