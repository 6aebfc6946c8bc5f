"""A place of static pods that answers what it likes stops neither the kubelet's timers nor the other manifests."""

import http.server
import threading
import time
from functools import partial

import pytest
from hyperkube_host.kubelet.config import manifest_source
from hyperkube_host.kubelet.config.manifest_source import ManifestSource, read_folder, read_url

from hyperkube.machinery.clock import SystemClock

POD = b"kind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c, image: host}]}\n"
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (there, there, b",".join([b"*%c" % before] * 10)) for before, there in zip(b"abcdefgh", b"bcdefghi", strict=True)
)  # fmt: skip


class Sink:
    def __init__(self):
        self.names = []

    def put(self, pod):
        self.names.append(pod["metadata"]["name"])

    def remove(self, pod):
        self.names.remove(pod["metadata"]["name"])


@pytest.mark.parametrize(
    "manifest",
    [
        b"a: [", b"a: b: c", b"\t", b"\xff\xfe", b"%YAML 9.9\n---\n", b"&a [*a]", b"*unknown", b"[" * 100_000, BOMB,
        b"kind: Pod\nspec: {}\n", b"kind: Pod\nmetadata: []\nspec: []\n", b"kind: PodList\nitems: 3\n", b"!!python/object:os.system {}",
        b" " * ((10 << 20) + 1),
    ],
    ids=lambda text: text[:12].decode("latin-1").strip() or "long",
)  # fmt: skip
def test_a_manifest_that_is_none_costs_itself_alone(tmp_path, manifest):
    sink = Sink()
    (tmp_path / "1.yaml").write_bytes(manifest)
    (tmp_path / "2.yaml").write_bytes(POD % b"good")
    source = ManifestSource("file", lambda: read_folder(tmp_path), 20, "n1", SystemClock(), sink)

    source.read_once()

    assert sink.names == ["good-n1"]


def test_several_documents_are_several_pods(tmp_path):
    sink = Sink()
    (tmp_path / "1.yaml").write_bytes(POD % b"a" + b"---\n" + POD % b"b")

    ManifestSource("file", lambda: read_folder(tmp_path), 20, "n1", SystemClock(), sink).read_once()

    assert sink.names == ["a-n1", "b-n1"]


class Server:
    """Sends pieces with a pause after each, for as long as it is asked."""

    def __init__(self, piece, pause):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                try:
                    while not self.server.ended.wait(pause):
                        self.wfile.write(piece)
                except OSError:
                    self.server.hung_up.set()

            def log_message(self, *_):
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.ended, self.server.hung_up = threading.Event(), threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def close(self):
        self.server.ended.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def serve():
    servers = []

    def start(piece, pause):
        servers.append(Server(piece, pause))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_url_that_drips_is_given_up_and_holds_up_no_timer(serve, monkeypatch):
    monkeypatch.setattr(manifest_source, "HTTP_SECONDS", 0.5)
    server, clock, ticks = serve(b"#", 0.05), SystemClock(), []
    source = ManifestSource("http", partial(read_url, server.url, "", clock), 0.05, "n1", clock, Sink())
    began = time.monotonic()
    source.start()
    assert time.monotonic() - began < 0.3

    def tick():
        ticks.append(1)
        clock.call_later(0.02, tick)

    clock.call_later(0.02, tick)

    assert server.server.hung_up.wait(60)
    source.close()
    assert len(ticks) > 10


def test_a_url_without_an_end_is_read_up_to_a_bound(serve):
    server = serve(b"#" * (1 << 20), 0)

    with pytest.raises(OSError, match=f"the answer is longer than {manifest_source.MOST_BYTES} bytes"):
        read_url(server.url, "", SystemClock())

    assert server.server.hung_up.wait(60)
