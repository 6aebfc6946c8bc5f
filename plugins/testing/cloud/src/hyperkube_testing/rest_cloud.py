# ruff: noqa: D102 - tests, whose names are their docstrings
"""Clouds with a REST API, played in a test's process: what they are asked is kept, and they fail when they are told to.

`RestDouble` stands where `hyperkube_lib.cloud_provider.rest.HttpSend` would; a provider's tests derive one that answers
in the shapes which its vendor publishes. `RestCloudContract` adds to `FaultContract` what holds of such providers when
the cloud answers with rubbish, throttles, or is down.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from hyperkube_lib.cloud_provider.rest import Answer, Request
from hyperkube_testing.cloud import CLUSTER, service
from hyperkube_testing.cloud_faults import Fault, FaultContract, FaultyCloud

from hyperkube.hookspecs.base import Plugin
from hyperkube.hookspecs.cloud import CloudThrottled, CloudUnavailable, LoadBalancers
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import NodeName, Object, name_of
from hyperkube.testing.harness import raises


class RestDouble(FaultyCloud):
    """A cloud in this process.

    Attributes:
        sent: what was asked: method, path with query, body; all of it, in order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str, Any]] = []
        self._answers: list[Answer] = []
        self._always: Answer | None = None

    def __call__(self, request: Request) -> Answer:
        """Answer as the cloud would, or with the fault that is due."""
        method, path, body = self.told(request)
        self.sent.append((method, path, body))
        if self._answers:
            return self._answers.pop(0)
        if self._always is not None:
            return self._always
        bare = path.partition("?")[0]
        self.let_another_in(method, bare)
        due = self.due(method, bare)
        if due is Fault.FAIL:
            return answer(503, {})
        made = self.answered(method, path, body)
        if due is Fault.LOSE:
            raise CloudUnavailable("the connection was lost")
        return made

    def told(self, request: Request) -> tuple[str, str, Any]:
        """Return a request's method, path with query, and body; of an API that is not JSON's, what stands for them."""
        parts = urlsplit(request.url)
        body = json.loads(request.body) if request.body else None
        return request.method, parts.path + (f"?{parts.query}" if parts.query else ""), body

    def answered(self, method: str, path: str, body: Any) -> Answer:
        """Return what the cloud answers."""
        bare, _, query = path.partition("?")
        return answer(*self.play(method, bare, dict(parse_qsl(query)), body))

    def play(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Return the cloud's status and content; a double of a vendor's says which."""
        raise KeyError(f"{type(self).__name__} does not know {method} {path}")

    @contextmanager
    def answering(self, always: Answer) -> Iterator[None]:
        """Let the cloud give that one answer to everything."""
        self._always = always
        try:
            yield
        finally:
            self._always = None

    def answer_next(self, *answers: Answer) -> None:
        """Let the cloud give those answers to the next calls."""
        self._answers.extend(answers)


def answer(status: int, content: Any, **headers: str) -> Answer:
    """Return an answer of JSON, or of bytes as they are."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Answer(status=status, headers={name.replace("_", "-"): text for name, text in headers.items()}, body=body)


RUBBISH: Sequence[tuple[str, Answer]] = (
    ("nothing", answer(200, b"")),
    ("a page", answer(200, b"<html>it works</html>")),
    ("a list", answer(200, [])),
    ("null", answer(200, b"null")),
    ("an empty object", answer(200, {})),
    ("a number in place of things", answer(200, {"items": 5, "servers": 5, "server": 5, "value": 5})),
    ("a proxy's 404", answer(404, b"<html>not found</html>")),
    ("an empty 404", answer(404, b"")),
    ("a 404 in other words", answer(404, {"detail": "no such page"})),
    ("a redirect", answer(302, b"", location="https://login.example/")),
    ("a gateway's error", answer(502, b"bad gateway")),
    ("depth", answer(200, b"[" * 100_000)),
)
"""What clouds, and what stands before them, answer at bad times: none of it says that a machine is gone."""


class RestCloudContract(FaultContract):
    """The promises of a provider that talks to a REST API.

    A subclass gives the double as pytest fixture ``double``; ``built`` is to talk to it, and to set `machine`.

    Attributes:
        machine: the Node of a machine that the cloud has, for all that is asked of nodes.
    """

    machine: Object

    def node(self) -> Object:
        return self.machine

    def nodes(self) -> list[Object]:
        return [self.node()]

    def route_target(self) -> NodeName:
        return NodeName(name_of(self.node()))

    def test_a_cloud_that_answers_rubbish_has_not_lost_a_machine(self, built: Plugin, double: RestDouble) -> None:
        node = self.node()
        for name, rubbish in RUBBISH:
            with double.answering(rubbish):
                try:
                    there = self.instances(built).exists(node)
                except HyperkubeError:
                    continue
                assert there, name

    def test_a_cloud_that_throttles_or_is_down_says_so(self, built: Plugin, double: RestDouble) -> None:
        node, instances = self.node(), self.instances(built)
        instances.exists(node)

        with double.answering(answer(429, {}, retry_after="7")), raises(CloudThrottled) as caught:
            instances.exists(node)
        assert caught.exception.retry_after == 7
        with double.answering(answer(503, b"busy")), raises(CloudUnavailable):
            instances.exists(node)


class JsonHandler(BaseHTTPRequestHandler):
    """Answers over a real connection, where a provider's own library asks; a test derives `reply`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(b"")

    def do_POST(self) -> None:
        self.reply(self.rfile.read(int(self.headers["Content-Length"])))

    def reply(self, body: bytes) -> None:
        """Answer the request of `path` with that body by `say`."""
        raise KeyError(f"{type(self).__name__} does not know {self.command} {self.path}")

    def say(self, status: int, content: Any, **headers: str) -> None:
        """Send an answer of JSON."""
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[JsonHandler]) -> Iterator[ThreadingHTTPServer]:
    """Serve on a free port of loopback for the length of a block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def shape(name: str, *ports: tuple[int, str], annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return a Service of type LoadBalancer; ``spec`` is added to what it has."""
    rows = [
        {"name": f"p{port}", "port": port, "nodePort": 30000 + port % 2000, "protocol": protocol}
        for port, protocol in ports or ((80, "TCP"),)
    ]
    made = service(name)
    made["metadata"]["annotations"] = dict(annotations or {})
    made["spec"] |= {"ports": rows, **spec}
    return made


def common_shapes() -> dict[str, Object]:
    """Return Services as any cloud meets them, by what is special about them."""
    source_ranges = "service.beta.kubernetes.io/load-balancer-source-ranges"
    local = {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
    made = [
        shape("one-port"),
        shape("two-ports", (80, "TCP"), (443, "TCP")),
        shape("udp", (53, "UDP")),
        shape("both-protocols", (53, "TCP"), (53, "UDP")),
        shape("sctp", (132, "SCTP")),
        shape("no-ports", ports=[]),
        shape("neighbouring-ports", (8080, "TCP"), (8082, "TCP"), (8081, "TCP"), (9000, "TCP")),
        shape("seven-ports", *((port, "TCP") for port in range(7001, 7015, 2))),
        shape("local", **local),
        shape("local-udp", (53, "UDP"), **local),
        shape("sources", loadBalancerSourceRanges=["192.0.2.0/24", "10.0.0.0/8"]),
        shape("sources-annotation", annotations={source_ranges: "192.0.2.0/24, 10.0.0.0/8"}),
        shape("sources-host-bits", loadBalancerSourceRanges=["192.0.2.7/24"]),
        shape("sources-broken", annotations={source_ranges: "192.0.2.0/33"}),
        shape("address-of-none", loadBalancerIP="203.0.113.200"),
        shape("sticky", sessionAffinity="ClientIP"),
        shape("another-class", loadBalancerClass="example.com/other"),
        shape("without-node-ports", allocateLoadBalancerNodePorts=False),
    ]
    return {each["metadata"]["name"]: each for each in made}


def conversation(double: RestDouble, balancers: LoadBalancers, wanted: Object, nodes: Sequence[Object]) -> str:
    """Make a Service's balancer; return the calls that changed something, one a line, and what came of it."""
    start = len(double.sent)
    try:
        end = "→ " + json.dumps(balancers.ensure(CLUSTER, wanted, nodes))
    except HyperkubeError as error:
        end = f"! {type(error).__name__}: {error}"
    asked = [
        f"{method} {path}" + (f" {json.dumps(body, sort_keys=True)}" if body is not None else "")
        for method, path, body in double.sent[start:]
        if double.changes(method, path.partition("?")[0])
    ]
    return "\n".join([*asked, end])


def read_table(text: str) -> dict[str, str]:
    """Return a table of conversations: ``== name`` and its lines, for each Service."""
    parts = [part.partition("\n") for part in ("\n" + text).split("\n== ")[1:]]
    return {name: lines.strip("\n") for name, _, lines in parts}


def write_table(conversations: dict[str, str]) -> str:
    """Return the text that `read_table` reads."""
    return "\n\n".join(f"== {name}\n{lines}" for name, lines in conversations.items()) + "\n"
