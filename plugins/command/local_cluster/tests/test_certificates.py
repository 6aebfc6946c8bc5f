"""The credentials of a local cluster."""

import ssl
import stat
import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from cryptography import x509
from hyperkube_command.local_cluster.arguments import ClusterOptions
from hyperkube_command.local_cluster.certificates import write_credentials, write_credentials_apart
from hyperkube_lib.client_certificates.noted import NotedCertificates, notes_of
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.client import kubeconfig
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.users import UserInfo


@pytest.fixture
def cluster(tmp_path):
    layout = Layout(tmp_path / "data")
    layout.create()
    return ClusterOptions(layout=layout, node_name="here", service_range="127.99.128.0/17")


def test_keys_and_kubeconfigs_are_their_owners_only(cluster):
    write_credentials(cluster)

    private = [
        *cluster.layout.pki.glob("*.key"),
        *cluster.layout.pki.glob("*.kubeconfig"),
        cluster.layout.admin_kubeconfig,
    ]
    assert len(private) > 10
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_the_administrator_is_a_master_and_trusts_the_server(cluster):
    write_credentials(cluster)

    access = kubeconfig.resolve(kubeconfig.read(cluster.layout.admin_kubeconfig))
    admin = x509.load_pem_x509_certificate((cluster.layout.pki / "admin.crt").read_bytes())
    assert admin.subject.rfc4514_string() == "CN=system:admin,O=system:masters"
    assert access.cluster["server"] == "https://127.0.0.1:6443"


def test_the_serving_certificate_answers_to_the_services_names(cluster):
    write_credentials(cluster)

    pem = (cluster.layout.pki / "serving-kube-apiserver.crt").read_bytes()
    names = x509.load_pem_x509_certificate(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"} <= set(
        names.get_values_for_type(x509.DNSName)
    )
    assert {"127.0.0.1", "127.99.128.1"} <= {str(ip) for ip in names.get_values_for_type(x509.IPAddress)}


def test_the_servers_find_clients_noted_beside_their_authority(cluster):
    write_credentials(cluster)

    pki = cluster.layout.pki
    admin = ssl.PEM_cert_to_DER_cert((pki / "admin.crt").read_text())
    noted = NotedCertificates(str(pki / "client-ca.crt")).user(admin, SystemClock().now())
    assert noted == UserInfo("system:admin", "", ("system:masters", "system:authenticated"))
    assert stat.S_IMODE(notes_of(pki / "client-ca.crt").stat().st_mode) == 0o600


def test_a_start_makes_them_without_the_library_that_it_takes(cluster):
    program = f"""
import sys
from pathlib import Path
from hyperkube_command.local_cluster.arguments import ClusterOptions
from hyperkube_command.local_cluster.certificates import write_credentials_apart
from hyperkube_lib.local_cluster.layout import Layout
write_credentials_apart(ClusterOptions(layout=Layout(Path({str(cluster.layout.root)!r})), node_name="here"))
print("cryptography" in sys.modules)
"""

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.split() == ["False"]
    assert cluster.layout.admin_kubeconfig.exists()
    assert (cluster.layout.pki / "issued.json").exists()


def test_what_fails_apart_is_raised(cluster, monkeypatch):
    (cluster.layout.pki / "server-ca.crt").write_text("no certificate")
    (cluster.layout.pki / "server-ca.key").write_text("no key")
    monkeypatch.setattr(threading, "active_count", lambda: 1)

    with pytest.raises(ValueError, match="PEM"):
        write_credentials_apart(cluster)


def test_nothing_is_made_anew_without_a_reason(cluster):
    write_credentials(cluster)
    before = {path: path.stat().st_mtime_ns for path in cluster.layout.pki.iterdir()}

    write_credentials(cluster)

    assert {path: path.stat().st_mtime_ns for path in cluster.layout.pki.iterdir()} == before


def test_old_certificates_are_renewed_and_authorities_kept(cluster):
    write_credentials(cluster)
    ca = (cluster.layout.pki / "server-ca.crt").read_bytes()
    admin = (cluster.layout.pki / "admin.crt").read_bytes()
    later = FakeClock(FakeClock().now() + timedelta(days=3000))

    write_credentials(cluster, later)

    assert (cluster.layout.pki / "server-ca.crt").read_bytes() == ca
    assert (cluster.layout.pki / "admin.crt").read_bytes() != admin


def test_a_pair_loads_into_a_tls_context(cluster):
    write_credentials(cluster)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cluster.layout.pki / "serving-kubelet.crt", cluster.layout.pki / "serving-kubelet.key")
    assert context.cert_store_stats()["x509"] == 0
