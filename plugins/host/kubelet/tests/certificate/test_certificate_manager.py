"""Certificates of a node are renewed in time, and taken up; a serving certificate is asked for at the first start."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from hyperkube_host.kubelet.certificate.certificate_manager import CertificateManager, rotation_deadline
from hyperkube_host.kubelet.certificate.csr import CertificateStore, client_template
from hyperkube_host.kubelet.certificate.rotation import first_serving_pair, reached_at, uses
from hyperkube_lib.serving.certificates import ensure_self_signed, issue, make_ca

from hyperkube.client import kubeconfig
from hyperkube.client.connection_pool import ConnectionPool, TlsOptions
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.errors import Forbidden

NODE = "n1"


class Signer:
    """An API server that signs what is requested, with the authority of a cluster."""

    def __init__(self):
        self.client = FakeClient()
        self.clock = self.client.clock
        self.ca = make_ca("ca", clock=self.clock)
        self.refuses = False

    def create(self, resource, obj):
        if self.refuses:
            raise Forbidden("not you")
        return self.client.create(resource, obj)

    def get(self, resource, name):
        pair = issue(self.ca, f"system:node:{NODE}", organizations=["system:nodes"], client=True, clock=self.clock)
        found = self.client.get(resource, name)
        return {**found, "status": {"certificate": base64.b64encode(pair.certificate).decode()}}


@pytest.fixture
def signer():
    return Signer()


@pytest.fixture
def manager(signer, tmp_path):
    store = CertificateStore(tmp_path, "kubelet-client")
    return CertificateManager(signer, lambda: client_template(NODE), store, signer.clock, share=lambda: 0.5)


def test_the_first_certificate_is_due_at_once_and_the_next_after_eight_tenths_of_its_life(manager, signer, tmp_path):
    due = manager.seconds_left()

    assert manager.rotate()

    certificate = CertificateStore(tmp_path, "kubelet-client").certificate()
    life = (certificate.not_valid_after_utc - certificate.not_valid_before_utc).total_seconds()
    assert due == 0
    assert manager.seconds_left() == pytest.approx(0.8 * life, rel=0.01)


@pytest.mark.parametrize(("share", "part"), [(0.0, 0.7), (1.0, 0.9)])
def test_nodes_renew_within_a_fifth_of_the_life(signer, share, part):
    pem = issue(signer.ca, "n", client=True, clock=signer.clock).certificate
    certificate = x509.load_pem_x509_certificate(pem)
    life = certificate.not_valid_after_utc - certificate.not_valid_before_utc

    assert abs(rotation_deadline(certificate, share) - certificate.not_valid_before_utc - life * part) < timedelta(
        seconds=1
    )


def test_each_renewal_has_a_key_and_a_file_of_its_own(manager, signer, tmp_path):
    manager.rotate()
    first = (tmp_path / "kubelet-client-current.pem").read_bytes()
    signer.clock.advance(60)

    manager.rotate()

    second = (tmp_path / "kubelet-client-current.pem").read_bytes()
    assert first.partition(b"PRIVATE")[2] != second.partition(b"PRIVATE")[2]
    assert len(list(tmp_path.glob("kubelet-client-2*.pem"))) == 2
    names = [request["metadata"]["name"] for request in signer.client.objects(CERTIFICATE_SIGNING_REQUESTS)]
    assert all(name.startswith("csr-") for name in names)


def test_a_refusal_leaves_the_certificate_that_is_there(manager, signer, tmp_path, monkeypatch):
    manager.rotate()
    before = (tmp_path / "kubelet-client-current.pem").read_bytes()
    signer.refuses = True
    monkeypatch.setattr(manager, "_pause", lambda: True)

    assert not manager.rotate()
    assert (tmp_path / "kubelet-client-current.pem").read_bytes() == before


def test_a_self_signed_certificate_serves_until_one_is_issued(signer, tmp_path):
    ensure_self_signed(tmp_path / "kubelet.crt", tmp_path / "kubelet.key", "kubelet", dns=["n1"], ips=["127.0.0.1"])

    current = first_serving_pair(tmp_path, str(tmp_path / "kubelet.crt"), str(tmp_path / "kubelet.key"))

    store = CertificateStore(tmp_path, "kubelet-server")
    manager = CertificateManager(signer, lambda: client_template(NODE), store, signer.clock)
    assert current == str(store.current)
    assert manager.seconds_left() == 0
    assert manager.rotate()
    assert manager.seconds_left() > 0
    assert first_serving_pair(tmp_path, "gone", "gone") == current


def test_a_kubelet_serves_under_the_addresses_of_its_node():
    addresses = [
        {"type": "Hostname", "address": "n1"},
        {"type": "InternalDNS", "address": "n1.internal"},
        {"type": "InternalIP", "address": "10.0.0.1"},
        {"type": "InternalIP", "address": "fd00::1"},
    ]

    wanted = reached_at(NODE, addresses)

    assert (wanted.dns, wanted.ips) == (("n1", "n1.internal"), ("10.0.0.1", "fd00::1"))
    assert (wanted.signer, wanted.usages) == ("kubernetes.io/kubelet-serving", ("digital signature", "server auth"))


def test_only_the_certificate_that_the_kubeconfig_names_is_worth_renewing(tmp_path):
    pair = tmp_path / "kubelet-client-current.pem"
    config = kubeconfig.put(kubeconfig.empty(), "clusters", "c", {"server": "https://10.0.0.1:6443"})
    config = kubeconfig.put(config, "users", "u", {"client-certificate": str(pair), "client-key": str(pair)})
    config = kubeconfig.put(config, "contexts", "x", {"cluster": "c", "user": "u"})
    kubeconfig.write(tmp_path / "config", {**config, "current-context": "x"})

    assert uses(str(tmp_path / "config"), pair)
    assert not uses(str(tmp_path / "config"), tmp_path / "other.pem")
    assert not uses("", pair)


class Names(BaseHTTPRequestHandler):
    """Answers with the serial number of the client's certificate; keeps connections open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        serial = x509.load_der_x509_certificate(self.connection.getpeercert(binary_form=True)).serial_number
        body = json.dumps({"serial": str(serial)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        """Keep still."""


@pytest.fixture
def server(signer, tmp_path):
    ca = make_ca("ca")
    serving = issue(ca, "server", ips=["127.0.0.1"])
    serving.write(tmp_path / "server.crt", tmp_path / "server.key")
    ca.write(tmp_path / "ca.crt", tmp_path / "ca.key")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.crt"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    with ThreadingHTTPServer(("127.0.0.1", 0), Names) as found:
        found.daemon_threads = True
        found.socket = context.wrap_socket(found.socket, server_side=True)
        thread = threading.Thread(target=found.serve_forever, args=(0.05,))
        thread.start()
        yield ca, found.server_address[1]
        found.shutdown()
        thread.join()


def test_a_client_takes_up_the_new_certificate_with_its_next_request(server, tmp_path):
    ca, port = server

    def renew():
        pair = issue(ca, "system:node:n1", client=True)
        pair.write(tmp_path / "client.crt", tmp_path / "client.key")
        return str(x509.load_pem_x509_certificate(pair.certificate).serial_number)

    first = renew()
    tls = TlsOptions(
        ca_file=str(tmp_path / "ca.crt"), cert_file=str(tmp_path / "client.crt"), key_file=str(tmp_path / "client.key")
    )
    pool = ConnectionPool(f"https://127.0.0.1:{port}", tls, timeout=30)

    def ask():
        connection = pool.take()
        connection.request("GET", "/")
        answer = json.loads(connection.getresponse().read())
        pool.give_back(connection)
        return answer["serial"]

    before = ask()
    second = renew()
    after = ask()
    pool.close()

    assert (before, after) == (first, second)
