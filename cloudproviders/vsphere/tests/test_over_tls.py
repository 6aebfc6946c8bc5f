"""A vCenter over a real connection: its certificate, its cookie, and what a manager's process says of them."""

import hashlib
import ssl
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hyperkube_cloud.vsphere import VSphere
from hyperkube_lib.cloud_provider.rest import Request

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.plugin import PluginContext

certificates = pytest.importorskip("hyperkube_lib.serving.certificates")


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the double."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host = self.headers["Host"]
        found = self.server.double(
            Request(method=self.command, url=f"https://{host}{self.path}", headers=dict(self.headers), body=body)
        )
        self.send_response(found.status)
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        self.wfile.write(found.body)

    do_GET = do_DELETE = do_POST  # noqa: N815 - http.server's names

    def log_message(self, *_arguments):
        """Say nothing."""


@contextmanager
def serving(double, certificate, key):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.double = double
        server.handle_error = lambda *_: None  # a client that refuses the certificate hangs up
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def vcenter(double, tmp_path):
    """Return a vCenter's port, and its certificate."""
    certificate, key = str(tmp_path / "server.crt"), str(tmp_path / "server.key")
    certificates.self_signed("vcenter", dns=["localhost"], ips=["127.0.0.1"]).write(certificate, key)
    with serving(double, certificate, key) as port:
        yield port, certificate


@pytest.fixture
def exists(double, vcenter, tmp_path):
    """Return a function that asks for a machine with a configuration of trust."""
    machine = double.machine(double.hosts[0][0])
    plugins = []

    def ask(**trust):
        vmware = sys.modules["vsphere_vmware"]
        lines = "\n".join(f"{key} = {value}" for key, value in {"port": vcenter[0], **trust}.items())
        file = tmp_path / "vsphere.conf"
        file.write_text(vmware.CONFIG.replace("vcenter", "127.0.0.1").replace("[Global]", f"[Global]\n{lines}"))
        plugin = VSphere(PluginContext(name="vsphere", settings={"cloud_config": str(file)}))
        plugins.append(plugin)
        cloud = vmware.provider(plugin)
        return cloud.instances.exists(machine) and cloud.instances.metadata(machine).zone

    yield ask
    for each in plugins:
        each.close()
    assert double.sessions == set()


def thumbprint(certificate, algorithm="sha1"):
    first = Path(certificate).read_text(encoding="ascii").partition(ssl.PEM_FOOTER)[0] + ssl.PEM_FOOTER
    told = hashlib.new(algorithm, ssl.PEM_cert_to_DER_cert(first)).hexdigest().upper()
    return ":".join(told[start : start + 2] for start in range(0, len(told), 2))


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_thumbprint_stands_for_an_authority(exists, vcenter, algorithm):
    assert exists(thumbprint=thumbprint(vcenter[1], algorithm)) == "zone-0"


def test_another_thumbprint_is_refused_before_anything_is_sent(exists, vcenter, double):
    other = thumbprint(vcenter[1]).replace("A", "B").replace("1", "2")

    with pytest.raises(CloudUnavailable, match=r"POST 127\.0\.0\.1:[0-9]+/sdk: SSLError"):
        exists(thumbprint=other)
    assert double.sent == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")  # told once, for it was asked for
def test_an_authority_is_named_or_the_systems_are_asked(exists, vcenter, double):
    with pytest.raises(CloudUnavailable, match="SSLError"):
        exists()
    assert double.sent == []
    assert exists(**{"ca-file": vcenter[1]}) == "zone-0"
    assert exists(**{"insecure-flag": "true"}) == "zone-0"
