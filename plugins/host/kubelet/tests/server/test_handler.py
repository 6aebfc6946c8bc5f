"""The kubelet's HTTPS API, asked without a network."""

import importlib.util
import queue
import socket
import sys
import threading
from pathlib import Path

import orjson
import pytest
from hyperkube_host.kubelet.server.auth import subresources
from hyperkube_host.kubelet.server.stream_urls import relay_to_url
from hyperkube_lib.serving.exchange import (
    ExecUpgrade,
    HttpRequest,
    PortForwardUpgrade,
    RelayUpgrade,
    Response,
    StreamResponse,
)
from hyperkube_testing.peers.ports import refusing_port

from hyperkube.machinery.errors import InternalError
from hyperkube.machinery.users import UserInfo

pytest.importorskip("hyperkube_runtime.process", reason="runs pods")

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).parents[1] / "rig.py")
rig_module = sys.modules.setdefault("kubelet_rig", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(rig_module)
running, shell, until = rig_module.running, rig_module.shell, rig_module.until


class FakeChannels:
    """What a client would send and get."""

    protocol = "v5.channel.k8s.io"

    def __init__(self, **sent):
        self.incoming = {number: queue.Queue() for number in range(5)}
        self.outgoing = dict.fromkeys(range(5), b"")
        self.closed = threading.Event()
        for number, data in sent.items():
            self.incoming[int(number[1:])].put(data)

    def read(self, channel):
        return self.incoming[channel].get()

    def write(self, channel, data):
        self.outgoing[channel] += data

    def close(self):
        self.closed.set()
        for waiting in self.incoming.values():
            waiting.put(b"")


@pytest.fixture
def rig(tmp_path):
    with running(tmp_path, "process") as rig:
        yield rig


def ask(rig, path, method="GET", **fields):
    path, _, query = path.partition("?")
    return rig.kubelet.handler.handle(HttpRequest(method=method, path=path, query_string=query, **fields))


def body(answer):
    if isinstance(answer, Response):
        return answer.status, answer.body.decode()
    assert isinstance(answer, StreamResponse)
    told = threading.Event()
    answer.source.subscribe(told.set)
    text = b""
    while (chunks := answer.source.drain()) is not None:
        text += b"".join(chunks)
        if not chunks:
            told.wait(1)
            told.clear()
    answer.source.close()
    return answer.status, text.decode()


def start(rig, script, **fields):
    rig.create(containers=[shell(script, **fields)])
    until(lambda: rig.status().get("containerStatuses") and "waiting" not in rig.container()["state"])


def test_health_and_pods(rig):
    start(rig, "sleep 1000")

    assert body(ask(rig, "/healthz")) == (200, "ok")
    listed = orjson.loads(ask(rig, "/pods").body)
    assert [(pod["metadata"]["name"], pod["status"]["phase"]) for pod in listed["items"]] == [("p", "Running")]
    assert len(orjson.loads(ask(rig, "/runningpods/").body)["items"]) == 1


def test_logs_with_options(rig):
    rig.create(containers=[shell("echo one; echo two; echo three")], restartPolicy="Never")
    rig.wait_phase("Succeeded")

    assert body(ask(rig, "/containerLogs/default/p/c")) == (200, "one\ntwo\nthree\n")
    assert body(ask(rig, "/containerLogs/default/p/c?tailLines=1")) == (200, "three\n")
    assert body(ask(rig, "/containerLogs/default/p/c?follow=true&limitBytes=5")) == (200, "one\nt")


def test_a_followed_log_ends_with_its_container(rig):
    start(rig, "echo one; sleep 0.4; echo two")

    assert body(ask(rig, "/containerLogs/default/p/c?follow=true")) == (200, "one\ntwo\n")


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/containerLogs/default/nosuch/c", 404, 'pod "nosuch" does not exist'),
        ("/containerLogs/default/p/nosuch", 404, 'container "nosuch" not found in pod "p"'),
        ("/containerLogs/default/p/c?previous=true", 400, 'previous terminated container "c" in pod "p" not found'),
        ("/containerLogs/default/p/c?tailLines=x", 400, "Unable to decode query"),
        ("/nosuch", 404, "404 page not found"),
        ("/logs/../../etc/passwd", 404, "404 page not found"),
    ],
)
def test_refusals(rig, path, status, text):
    start(rig, "sleep 1000")

    code, answer = body(ask(rig, path))

    assert code == status
    assert text in answer


def test_the_log_of_a_container_that_waits_says_why(rig):
    rig.create(containers=[{"name": "c", "image": "nginx"}])
    rig.wait_reason("ErrImagePull")

    code, text = body(ask(rig, "/containerLogs/default/p/c"))

    assert (code, text) == (400, 'container "c" in pod "p" is waiting to start: trying and failing to pull image')


def test_exec_copies_streams_and_tells_the_exit_code(rig):
    start(rig, "sleep 1000")
    answer = ask(
        rig, "/exec/default/p/c?command=sh&command=-c&command=cat;echo+bad>%262;exit+3&input=1&output=1&error=1"
    )
    assert isinstance(answer, ExecUpgrade)
    channels = FakeChannels(_0=b"typed\n")
    channels.incoming[0].put(b"")

    answer.serve(channels)

    assert (channels.outgoing[1], channels.outgoing[2]) == (b"typed\n", b"bad\n")
    status = orjson.loads(channels.outgoing[3])
    assert (status["reason"], status["details"]["causes"][0]["message"]) == ("NonZeroExitCode", "3")
    assert channels.closed.is_set()


def test_exec_on_a_terminal_knows_its_size(rig):
    start(rig, "sleep 1000")
    answer = ask(rig, "/exec/default/p/c?command=sh&command=-c&command=sleep+0.2;stty+size&input=1&output=1&tty=1")
    channels = FakeChannels(_4=b'{"Width":120,"Height":40}')

    answer.serve(channels)

    assert channels.outgoing[1].strip() == b"40 120"
    assert orjson.loads(channels.outgoing[3])["status"] == "Success"


def test_exec_of_a_missing_program_is_told(rig):
    start(rig, "sleep 1000")
    channels = FakeChannels()

    ask(rig, "/exec/default/p/c?command=nosuchthing&output=1").serve(channels)

    assert "executable file not found in $PATH" in orjson.loads(channels.outgoing[3])["message"]


def test_exec_in_a_container_that_has_ended_is_refused_as_the_kubelet_does(rig):
    rig.create(containers=[shell("exit 0")], restartPolicy="Never")
    rig.wait_phase("Succeeded")

    code, text = body(ask(rig, "/exec/default/p/c?command=ls&output=1"))

    assert (code, text) == (404, 'container not found ("c")')


def test_attach_hears_what_a_container_says(rig):
    start(rig, "read line; echo got $line", stdin=True)
    channels = FakeChannels(_0=b"this\n")

    ask(rig, "/attach/default/p/c?input=1&output=1&error=1").serve(channels)

    assert channels.outgoing[1] == b"got this\n"


class FakeStreams:
    """One forwarded connection, as a client would open it."""

    def __init__(self, port, sent):
        self.port = port
        self.sent = [sent, b""]
        self.got = b""
        self.problem = ""
        self.opened = False
        self.closed = threading.Event()

    def accept(self):
        if self.opened:
            self.closed.wait(60)
            return None
        self.opened = True
        return self

    def read(self):
        return self.sent.pop(0)

    def write(self, data):
        self.got += data

    def fail(self, message):
        self.problem = message

    def close(self):
        self.closed.set()


SERVER = """exec python3 -c '
import os, socket
server = socket.create_server((os.environ["POD_IP"], 0))
print(server.getsockname()[1], flush=True)
connected, _ = server.accept()
print(connected.recv(10).decode(), flush=True)
connected.sendall(b"pong")
connected.close()
'"""


def log_words(rig, path):
    return body(ask(rig, path))[1].split()


def test_a_port_is_forwarded(rig):
    start(rig, SERVER)
    path = "/containerLogs/default/p/c"
    (port,) = until(lambda: log_words(rig, path))
    streams = FakeStreams(int(port), b"ping")
    answer = ask(rig, "/portForward/default/p")
    assert isinstance(answer, PortForwardUpgrade)

    answer.serve(streams)
    until(lambda: streams.got and len(log_words(rig, path)) > 1)

    assert streams.got == b"pong"
    assert until(lambda: body(ask(rig, path)) == (200, f"{port}\nping\n"))


def test_a_port_of_another_program_is_not_forwarded(rig):
    start(rig, "sleep 1000")
    with socket.create_server((rig.status()["podIP"], 0)) as server:
        streams = FakeStreams(server.getsockname()[1], b"")

        ask(rig, "/portForward/default/p").serve(streams)

    assert "no process of the pod listens on it" in streams.problem


def test_a_closed_port_is_told(rig):
    start(rig, "sleep 1000")
    with refusing_port() as closed:
        streams = FakeStreams(closed, b"")

        ask(rig, "/portForward/default/p").serve(streams)

    assert "Connection refused" in streams.problem


def test_a_command_can_be_run_with_its_output(rig):
    start(rig, "sleep 1000")

    assert body(ask(rig, "/run/default/p/c?cmd=echo+hello", "POST")) == (200, "hello\n")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/run/default/p/c?cmd=echo+hello"),
        ("HEAD", "/run/default/p/c?cmd=echo+hello"),
        ("GET", "//run/default/p/c?cmd=echo+hello"),
        ("PUT", "/exec/default/p/c?command=echo&output=1"),
        ("POST", "/pods"),
        ("DELETE", "/logs/"),
        ("POST", "/containerLogs/default/p/c"),
    ],
)
def test_a_route_answers_to_its_own_methods_alone(rig, method, path):
    assert body(ask(rig, path, method)) == (405, "405: Method Not Allowed")


def test_statistics_show_pods_and_node(rig):
    def memory(pod):
        return pod["containers"][0]["memory"]["workingSetBytes"]

    def pods():
        return orjson.loads(ask(rig, "/stats/summary").body)["pods"]

    start(rig, "sleep 1000")

    (pod,) = until(lambda: [pod for pod in pods() if memory(pod)])  # a process that has just begun has none
    assert orjson.loads(ask(rig, "/stats/summary").body)["node"]["nodeName"] == "n1"
    assert pod["podRef"]["name"] == "p"
    assert (
        'container_memory_working_set_bytes{container="c",namespace="default",pod="p"}'
        in body(ask(rig, "/metrics/resource"))[1]
    )
    assert "kubelet_running_pods 1" in body(ask(rig, "/metrics"))[1]
    assert "\nkubelet_lifecycle_handler_http_fallbacks_total 0\n" in body(ask(rig, "/metrics"))[1]


def test_containers_by_cadvisors_names(rig):
    start(rig, "sleep 1000")

    assert "container_memory_working_set_bytes{" in body(ask(rig, "/metrics/cadvisor"))[1]


def test_a_runtime_without_checkpoints_says_so(rig):
    start(rig, "sleep 1000")

    status, text = body(ask(rig, "/checkpoint/default/p/c", "POST"))

    assert status == 500
    assert "checkpointing of default/p/c failed" in text
    assert body(ask(rig, "/checkpoint/default/p/c"))[0] == 405
    assert body(ask(rig, "/checkpoint/default/none/c", "POST"))[0] == 404


def test_log_folders_are_shown(rig):
    start(rig, "echo hello; sleep 1000")

    assert "default_p_" in body(ask(rig, "/logs/"))[1]


def test_the_configuration_is_shown(rig):
    assert orjson.loads(ask(rig, "/configz").body)["kubeletconfig"]["maxPods"] == 110


def test_people_read_what_runs_with_what_flags(tmp_path):
    with running(tmp_path) as rig:
        assert "max-pods=110" in body(ask(rig, "/flagz"))[1].splitlines()
        assert "kubelet statusz" in body(ask(rig, "/statusz"))[1]


def test_the_process_tells_of_itself(rig):
    text = body(ask(rig, "/metrics"))[1]

    assert "kubernetes_build_info{" in text
    assert "process_resident_memory_bytes " in text


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/pods", ["pods", "proxy"]),
        ("/runningpods/", ["pods", "proxy"]),
        ("/healthz/syncloop", ["healthz", "proxy"]),
        ("/configz", ["configz", "proxy"]),
        ("/statusz", ["statusz"]),
        ("/flagz", ["configz"]),
        ("/metrics/resource", ["metrics"]),
        ("/containerLogs/d/p/c", ["proxy"]),
    ],
)
def test_the_narrow_permission_is_asked_for_before_the_wide_one(path, wanted):
    assert list(subresources(path)) == wanted


def test_a_request_without_credentials_is_unauthorized(tmp_path):
    with running(tmp_path, **{"anonymous-auth": False, "authorization-mode": "Webhook"}) as rig:
        assert body(ask(rig, "/pods")) == (401, "Unauthorized")
        assert body(ask(rig, "/pods", headers={"authorization": "Bearer x"}))[0] == 401


def test_webhook_answers_decide(tmp_path):
    with running(tmp_path, **{"anonymous-auth": False, "authorization-mode": "Webhook"}) as rig:
        asked = []
        create = rig.client.create

        def answer(resource, obj, *args, **kwargs):
            if resource.resource == "subjectaccessreviews":
                asked.append(obj["spec"]["resourceAttributes"])
                return {"status": {"allowed": obj["spec"]["user"] == "admin"}}
            return create(resource, obj, *args, **kwargs)

        rig.client.create = answer

        allowed = body(ask(rig, "/stats/summary", user=UserInfo("admin")))[0]
        refused = body(ask(rig, "/stats/summary", user=UserInfo("eve")))

    assert allowed == 200
    assert refused == (403, "Forbidden (user=eve, verb=get, resource=nodes, subresource(s)=[stats])")
    assert asked[0] == {"verb": "get", "version": "v1", "resource": "nodes", "subresource": "stats", "name": "n1"}


def test_debugging_can_be_switched_off(tmp_path):
    with running(tmp_path, **{"enable-debugging-handlers": False}) as rig:
        assert body(ask(rig, "/containerLogs/default/p/c")) == (405, "Debug endpoints are disabled.")


@pytest.fixture
def urls(rig, monkeypatch):
    """Let the runtime have a streaming server of its own; what it was asked for."""
    asked = []

    def answer(*arguments, **streams):
        asked.append((arguments[1:], streams))
        return "http://127.0.0.1:41000/exec/a-token?x=1"

    for method in ("exec_url", "attach_url", "port_forward_url"):
        monkeypatch.setattr(rig.kubelet.runtime, method, answer, raising=False)
    return asked


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/exec/default/p/c?command=ls&command=-l&output=1&error=1", ((["ls", "-l"],), (False, True, True, False))),
        ("/exec/default/p/c?command=sh&input=1&output=1&error=1&tty=1", ((["sh"],), (True, True, False, True))),
        ("/attach/default/p/c?output=1", ((), (False, True, False, False))),
        ("/portForward/default/p?port=80&port=81", (([80, 81],), None)),
    ],
)
def test_a_runtime_with_a_streaming_server_gets_the_connection(rig, urls, path, expected):
    start(rig, "sleep 1000")

    answer = ask(rig, path, method="POST")

    assert isinstance(answer, RelayUpgrade)
    assert (answer.host, answer.port, answer.path, answer.tls) == ("127.0.0.1", 41000, "/exec/a-token?x=1", False)
    ((arguments, streams),) = urls
    flags = tuple(streams[name] for name in ("stdin", "stdout", "stderr", "tty")) if streams else None
    assert (arguments, flags) == expected


@pytest.mark.parametrize(
    "url", ["", "/exec/token", "unix:///run/x.sock", "http://127.0.0.1/x", "http://127.0.0.1:99999/"]
)
def test_a_streaming_url_that_is_none_is_the_runtimes_fault(url):
    with pytest.raises(InternalError, match="the runtime's streaming URL"):
        relay_to_url(url)
