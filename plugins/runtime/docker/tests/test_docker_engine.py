"""The Engine API over HTTP: a small daemon on a socket, which goes away and comes back."""

import json
import socketserver
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, quote

import pytest
from hyperkube_runtime.docker.docker_engine import DockerEngine, api_version
from hyperkube_runtime.docker.engine import NOT_FOUND, TIMED_OUT, UNREACHABLE, EngineFailed


class Handler(BaseHTTPRequestHandler):
    """Answers from a table of the server; `HANG` waits until the server closes, `SILENT` after the head."""

    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "socket"

    def log_message(self, *args):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, body, dict(self.headers)))
        status, told = self.server.table.get(self.path.partition("?")[0], (404, {"message": "page not found"}))
        if told == "HANG":
            self.server.closing.wait(10)
            return
        if told == "SILENT":
            self.send_response(status)
            self.end_headers()
            self.server.closing.wait(10)
            return
        if status == 101:
            self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n" + told)
            self.close_connection = True
            return
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if content:
            self.wfile.write(content)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - http.server's names


class Daemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A daemon with a table: path → status and answer."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path):
        path.unlink(missing_ok=True)
        super().__init__(str(path), Handler)
        self.asked, self.closing = [], threading.Event()
        self.table = {"/version": (200, {"Version": "20.10", "ApiVersion": "1.41", "MinAPIVersion": "1.12"})}
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        self.thread.start()

    def handle_error(self, request, client_address):
        """Say nothing: clients go away as soon as they know enough."""

    def end(self):
        self.closing.set()
        self.shutdown()
        self.server_close()
        self.thread.join()


@pytest.fixture
def daemon(tmp_path):
    daemon = Daemon(tmp_path / "docker.sock")
    yield daemon
    daemon.end()


@pytest.fixture
def engine(daemon, tmp_path):
    engine = DockerEngine(f"unix://{tmp_path}/docker.sock", 5, 0.2)
    engine.version()
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("told", "spoken"),
    [
        ({"ApiVersion": "1.41", "MinAPIVersion": "1.12"}, "1.41"),
        ({"ApiVersion": "1.39"}, "1.39"),
        ({"ApiVersion": "1.52", "MinAPIVersion": "1.44"}, "1.44"),
        ({}, "1.41"),
    ],
    ids=["ours", "older", "newer", "silent"],
)
def test_the_version_of_the_api_is_agreed_on(told, spoken):
    assert api_version(told) == spoken


def test_containers_are_asked_for_by_label_and_name(daemon, engine):
    daemon.table["/v1.41/containers/json"] = (200, [{"Id": "c"}])

    assert engine.containers({"a": "b"}, name="_u_") == [{"Id": "c"}]
    assert "filters=%7B%22label%22%3A" in daemon.asked[-1][1]


def test_a_body_is_sent_and_an_answer_read(daemon, engine):
    daemon.table["/v1.41/containers/create"] = (201, {"Id": "c"})

    assert engine.create("k8s_x", {"Image": "i"}) == "c"
    method, path, body, _ = daemon.asked[-1]
    assert (method, path, json.loads(body)) == ("POST", "/v1.41/containers/create?name=k8s_x", {"Image": "i"})


def test_starting_what_runs_is_fine(daemon, engine):
    daemon.table["/v1.41/containers/c/start"] = (304, b"")

    assert engine.start("c") is None


def test_a_refusal_has_dockers_words(daemon, engine):
    daemon.table["/v1.41/containers/c/json"] = (404, {"message": "No such container: c"})

    with pytest.raises(EngineFailed, match=r"^Error response from daemon: No such container: c$") as caught:
        engine.inspect("c")

    assert caught.value.status == NOT_FOUND


def test_what_comes_with_the_head_is_a_part_of_the_stream(daemon, engine):
    daemon.table["/v1.41/exec/e/start"] = (101, b"first words")

    stream = engine.start_exec("e", tty=True)
    rest = stream.connection.makefile("rb").read()
    stream.connection.close()

    assert stream.head + rest == b"first words"


def test_a_stream_that_is_refused_says_why(daemon, engine):
    daemon.table["/v1.41/exec/e/start"] = (409, {"message": "it is paused"})

    with pytest.raises(EngineFailed, match="it is paused"):
        engine.start_exec("e", tty=False)


def test_a_daemon_that_hangs_is_given_up(daemon, tmp_path):
    engine = DockerEngine(f"unix://{tmp_path}/docker.sock", 0.05, 1)
    daemon.table["/info"] = daemon.table["/exec/e/start"] = (200, "HANG")

    for call in (engine.info, lambda: engine.start_exec("e", tty=False)):
        with pytest.raises(EngineFailed, match="context deadline exceeded") as caught:
            call()
        assert caught.value.status == TIMED_OUT
    engine.close()


def test_a_daemon_that_is_back_is_found_again(daemon, engine, tmp_path):
    daemon.end()
    with pytest.raises(EngineFailed, match=r"Is the docker daemon running\?") as caught:
        engine.info()

    again = Daemon(tmp_path / "docker.sock")
    again.table["/v1.41/info"] = (200, {"ID": "x"})
    try:
        assert engine.info() == {"ID": "x"}
    finally:
        again.end()
    assert caught.value.status == UNREACHABLE


def test_a_pull_reads_progress_to_its_end(daemon, engine):
    daemon.table["/v1.41/images/create"] = (200, b'{"status": "Pulling"}\r\n{"status": "Done"}\r\n')

    engine.pull("busybox", {"username": "me"})

    _, path, _, headers = daemon.asked[-1]
    assert path == "/v1.41/images/create?fromImage=busybox&tag=latest"
    assert headers["X-Registry-Auth"] == "eyJ1c2VybmFtZSI6ICJtZSJ9"


def test_a_tag_is_not_added_to_a_reference_that_has_one(daemon, engine):
    daemon.table["/v1.41/images/create"] = (200, b"")

    for reference in ("host:5000/a:1", "a@sha256:1"):
        engine.pull(reference, {})
        assert "tag=" not in daemon.asked[-1][1]


def test_a_pull_that_fails_midway_says_why(daemon, engine):
    daemon.table["/v1.41/images/create"] = (200, b'{"status": "Pulling"}\n{"error": "manifest unknown"}\n')

    with pytest.raises(EngineFailed, match="manifest unknown"):
        engine.pull("x:1", {})


def test_a_pull_without_progress_is_given_up(daemon, engine):
    daemon.table["/v1.41/images/create"] = (200, "HANG")

    with pytest.raises(EngineFailed, match=r"no progress of the pull for 0.2s \(--image-pull-progress-deadline\)"):
        engine.pull("x:1", {})


def test_events_are_those_of_pods_lives_and_end_with_the_daemon(daemon, engine):
    daemon.table["/v1.41/events"] = (200, b'{"Action": "start"}\n{"Action": "die"}\n')

    with closing(engine.events()) as stream:
        told = list(stream)

    assert told == [{"Action": "start"}, {"Action": "die"}]
    asked = parse_qs(daemon.asked[-1][1].partition("?")[2])
    assert json.loads(asked["filters"][0]) == {
        "type": ["container"],
        "event": ["create", "start", "die", "destroy"],
        "label": ["io.kubernetes.docker.type"],
    }


def test_a_stream_of_events_is_closed_from_another_thread(daemon, engine):
    daemon.table["/v1.41/events"] = (200, "SILENT")
    stream = engine.events()

    threading.Timer(0.05, stream.close).start()

    assert list(stream) == []


def test_events_of_a_daemon_that_refuses_or_is_away_fail(daemon, engine):
    with pytest.raises(EngineFailed, match="page not found"):
        engine.events()
    daemon.end()
    with pytest.raises(EngineFailed, match="Cannot connect to the Docker daemon"):
        engine.events()


@pytest.mark.parametrize("name", ["../images/prune", "c/../../volumes/prune?x=", "c\r\nHost: x", "c d"])
def test_an_id_is_one_part_of_a_path(daemon, engine, name):
    engine_calls = (engine.start, engine.inspect, engine.remove, engine.stats, lambda one: engine.stop(one, 1))
    for call in engine_calls:
        with pytest.raises(EngineFailed, match="page not found"):
            call(name)

    paths = [path.partition("?")[0] for _, path, *_ in daemon.asked[-len(engine_calls) :]]
    assert all(path.startswith(f"/v1.41/containers/{quote(name, safe='')}") for path in paths)
