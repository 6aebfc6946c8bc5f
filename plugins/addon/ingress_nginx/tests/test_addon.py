"""nginx itself, driven by the addon: one cluster, one nginx, everything asked of it."""

import base64
import contextlib
import http.client
import http.server
import shutil
import socket
import ssl
import threading

import pytest
from hyperkube_addon.ingress_nginx import IngressNginx
from hyperkube_addon.ingress_nginx.addon import INGRESS_CLASS, INGRESSES
from hyperkube_addon.ingress_nginx.configuration import quoted
from hyperkube_lib.serving.certificates import issue, make_ca

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import ENDPOINT_SLICES, INGRESS_CLASSES, SECRETS, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract
from hyperkube.testing.waiting import eventually

HOST = "127.0.0.1"
needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")


def built(client, **settings):
    clock = SystemClock()
    informers = InformerFactory(client, clock)
    context = PluginContext(name="ingress-nginx", client=client, clock=clock, informers=informers, settings=settings)
    return IngressNginx(context), informers


class TestContract(AddonContract):
    serves = True

    def build(self):
        return built(FakeClient())[0]


def test_without_nginx_one_line_says_so(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)

    with pytest.raises(UsageError, match="needs the program 'nginx'"):
        built(FakeClient())[0].start()


@pytest.mark.parametrize(("text", "word"), [("/a b", '"/a b"'), ('/"; }', '"/\\"; }"'), ("/\\", '"/\\\\"')])
def test_a_path_is_one_word(text, word):
    assert quoted(text) == word


class Backend:
    """A server that tells its name and what it was asked; `held` requests wait for `release`."""

    def __init__(self, name):
        self.held, self.release = threading.Event(), threading.Event()
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path.startswith("/slow"):
                    backend.held.set()
                    backend.release.wait(60)
                body = f"{name} {self.path} {self.headers.get('X-Forwarded-Proto')} {self.headers.get('Host')}".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


def objects(client, name, port):
    """Put a Service of one endpoint into the cluster."""
    meta = {"name": name, "namespace": "default"}
    client.seed(SERVICES, {"metadata": meta, "spec": {"ports": [{"port": 80}]}})
    labels = {"kubernetes.io/service-name": name}
    rows = {"addressType": "IPv4", "ports": [{"port": port}], "endpoints": [{"addresses": [HOST]}]}
    client.seed(ENDPOINT_SLICES, {"metadata": {**meta, "labels": labels}, **rows})


def path(text, kind, service):
    return {"path": text, "pathType": kind, "backend": {"service": {"name": service, "port": {"number": 80}}}}


def free_ports():
    with socket.socket() as first, socket.socket() as second:
        first.bind((HOST, 0))
        second.bind((HOST, 0))
        return first.getsockname()[1], second.getsockname()[1]


class World:
    """A cluster of two backends, and nginx in front of it."""

    def __init__(self):
        self.client = FakeClient()
        self.client.seed(INGRESS_CLASSES, INGRESS_CLASS)
        self.backends = {name: Backend(name) for name in ("one", "two")}
        for name, backend in self.backends.items():
            objects(self.client, name, backend.port)
        objects(self.client, "nobody", 1)
        self.authority = make_ca("ca")
        pair = issue(self.authority, "safe.org", dns=["safe.org"], server=True)
        data = {"tls.crt": pair.certificate, "tls.key": pair.key}
        encoded = {name: base64.b64encode(value).decode() for name, value in data.items()}
        meta = {"name": "cert", "namespace": "default"}
        self.client.seed(SECRETS, {"metadata": meta, "type": "kubernetes.io/tls", "data": encoded})
        self.http, self.https = free_ports()
        self.addon, self.informers = built(self.client, address=HOST, http_port=self.http, https_port=self.https)
        self.informers.start()
        self.thread = threading.Thread(target=self.addon.addon_start, daemon=True)
        self.thread.start()

    def close(self):
        for backend in self.backends.values():
            backend.close()
        self.addon.close()
        self.thread.join(30)
        self.informers.stop()

    def ingress(self, name, **spec):
        meta = {"name": name, "namespace": "default"}
        self.client.create(INGRESSES, {"metadata": meta, "spec": {"ingressClassName": "nginx", **spec}}, "default")

    def get(self, host, url, *, tls=None, server_name=None):
        """Return status and text of an answer; 0 while nobody listens."""
        with contextlib.closing(http.client.HTTPConnection(HOST, self.https if tls else self.http, timeout=60)) as made:
            try:
                made.connect()
                if tls:
                    made.sock = tls.wrap_socket(made.sock, server_hostname=server_name or host)
                made.request("GET", url, headers={"Host": host})
                answer = made.getresponse()
                return answer.status, (answer.getheader("Location") or answer.read().decode())
            except ConnectionError:
                return 0, ""


@pytest.fixture(scope="module")
def world():
    made = World()
    yield made
    made.close()
    assert not made.thread.is_alive()


@needs_nginx
@pytest.mark.timeout(300)
def test_hosts_paths_tls_and_reloads(world):
    eventually(lambda: world.get("x.org", "/") == (404, "default backend - 404"))

    world.ingress(
        "web",
        tls=[{"hosts": ["safe.org"], "secretName": "cert"}],
        rules=[
            {"host": "x.org", "http": {"paths": [path("/", "Prefix", "one"), path("/two", "Prefix", "two")]}},
            {"host": "x.org", "http": {"paths": [path("/two/exact", "Exact", "one"), path("/n", "Exact", "nobody")]}},
            {"host": "*.wild.org", "http": {"paths": [path('/"; return 200; "', "Prefix", "two")]}},
            {"host": "*.wild.org", "http": {"paths": [path("/", "Prefix", "two")]}},
            {"host": "safe.org", "http": {"paths": [path("/", "Prefix", "one")]}},
        ],
    )
    eventually(lambda: world.get("x.org", "/")[1] == "one / http x.org")
    # Until the last worker of the old configuration has ended, it may take a new connection.
    eventually(lambda: all(world.get("x.org", "/two")[1].startswith("two /two ") for _ in range(5)))

    assert world.get("x.org", "/two/?q=1")[1].startswith("two /two/?q=1 ")
    assert world.get("x.org", "/twofold")[1].startswith("one ")
    assert world.get("x.org", "/two/exact")[1].startswith("one ")
    assert world.get("x.org", "/two/exact/not")[1].startswith("two ")
    assert world.get("x.org", "/n")[0] == 502
    assert world.get("a.wild.org", "/a%20b")[1].startswith("two /a%20b ")
    assert world.get("a.b.wild.org", "/")[0] == 404
    assert world.get("elsewhere.org", "/") == (404, "default backend - 404")
    assert world.get("safe.org", "/p?q=1") == (308, f"https://safe.org:{world.https}/p?q=1")
    trusting = ssl.create_default_context(cadata=world.authority.certificate.decode())
    assert world.get("safe.org", "/", tls=trusting) == (200, "one / https safe.org")
    told = eventually(lambda: (world.client.get(INGRESSES, "web", "default").get("status") or {}).get("loadBalancer"))
    assert told == {"ingress": [{"ip": HOST}]}

    slow = []
    waiting = threading.Thread(target=lambda: slow.append(world.get("x.org", "/slow")), daemon=True)
    waiting.start()
    assert world.backends["one"].held.wait(60)
    world.ingress(
        "broken", tls=[{"hosts": ["b.org"], "secretName": "none"}], defaultBackend=path("", "", "two")["backend"]
    )
    eventually(lambda: world.get("elsewhere.org", "/")[1].startswith("two "))
    world.backends["one"].release.set()
    waiting.join(60)
    assert slow == [(200, "one /slow http x.org")], "a request under way outlives a new configuration"

    world.client.delete(INGRESSES, "web", "default")
    eventually(lambda: world.get("x.org", "/")[1].startswith("two "))

    # One host that nginx refuses, its path is too long, costs itself alone.
    world.ingress(
        "odd",
        rules=[
            {"host": "long.org", "http": {"paths": [path("/" + "a" * 5000, "Prefix", "one")]}},
            {"host": "late.org", "http": {"paths": [path("/", "Prefix", "one")]}},
        ],
    )
    eventually(lambda: world.get("late.org", "/")[1].startswith("one "))
