# ruff: noqa: D102 - tests, whose names are their docstrings
"""Clouds with a REST API, played in a test's process: what they are asked is kept, and they fail when they are told to.

`RestDouble` stands where `hyperkube_lib.cloud_provider.rest.HttpSend` would; a provider's tests derive one that answers
in the shapes which its vendor publishes. `RestCloudContract` adds to `CloudContract` what holds of such providers when
their host is killed, or a call fails or its answer is lost, at any point, and when the cloud answers with rubbish.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from hyperkube_lib.cloud_provider.rest import Answer, Request
from hyperkube_testing.cloud import CLUSTER, CloudContract, service

from hyperkube.hookspecs.base import Plugin
from hyperkube.hookspecs.cloud import CloudThrottled, CloudUnavailable, LoadBalancers
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object
from hyperkube.testing.harness import SkipTest, raises


class Killed(BaseException):
    """The provider's process is gone."""


class Fault(Enum):
    """What happens at a changing call."""

    KILL = auto()
    """The process is gone before the call is sent."""
    FAIL = auto()
    """The cloud answers 503, and has done nothing."""
    LOSE = auto()
    """The cloud has done it, and its answer is lost."""


class RestDouble:
    """A cloud in this process.

    Attributes:
        sent: what was asked: method, path with query, body; all of it, in order.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, Any]] = []
        self._fault: Fault | None = None
        self._left = 0
        self._answers: list[Answer] = []
        self._always: Answer | None = None
        self._meanwhile: Callable[[], object] | None = None

    def __call__(self, request: Request) -> Answer:
        """Answer as the cloud would, or with the fault that is due."""
        parts = urlsplit(request.url)
        body = json.loads(request.body) if request.body else None
        self.sent.append((request.method, parts.path + (f"?{parts.query}" if parts.query else ""), body))
        if self._answers:
            return self._answers.pop(0)
        if self._always is not None:
            return self._always
        query = dict(parse_qsl(parts.query))
        self.let_another_in(request.method, parts.path)
        due = self._due(request.method, parts.path)
        if due is Fault.KILL:
            raise Killed
        if due is Fault.FAIL:
            return answer(503, {})
        status, content = self.play(request.method, parts.path, query, body)
        if due is Fault.LOSE:
            raise CloudUnavailable("the connection was lost")
        return answer(status, content)

    def play(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Return the cloud's status and content; a double of a vendor's says which."""
        raise KeyError(f"{type(self).__name__} does not know {method} {path}")

    def changes(self, method: str, path: str) -> bool:
        """Tell whether a call changes something."""
        return method not in {"GET", "HEAD"}

    @contextmanager
    def faulty(self, fault: Fault, at: int) -> Iterator[None]:
        """Let the changing call of that number, from one on, meet a fault; a kill is caught at the end."""
        self._fault, self._left = fault, at
        try:
            yield
        except Killed:
            pass
        finally:
            self._fault = None

    @contextmanager
    def interrupted(self, at: int, meanwhile: Callable[[], object]) -> Iterator[None]:
        """Let another do something before the changing call of that number, from one on, comes through."""
        self._meanwhile, self._left = meanwhile, at
        try:
            yield
        finally:
            self._meanwhile = None

    def let_another_in(self, method: str, path: str) -> None:
        """Do what is to be done before this call, if its turn has come."""
        if self._meanwhile is None or not self.changes(method, path):
            return
        self._left -= 1
        if self._left == 0:
            meanwhile, self._meanwhile = self._meanwhile, None
            meanwhile()

    @property
    def met(self) -> bool:
        """Whether the fault, or the interruption, was met."""
        return self._left <= 0

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

    def everything(self) -> object:
        """Return all that the cloud keeps, to be compared; a double of a vendor's says what."""
        return None

    def _due(self, method: str, path: str) -> Fault | None:
        if self._fault is None or not self.changes(method, path):
            return None
        self._left -= 1
        if self._left == 0 or (self._fault is Fault.KILL and self._left < 0):
            return self._fault
        return None


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


class RestCloudContract(CloudContract):
    """The promises of a provider that talks to a REST API.

    A subclass gives the double as pytest fixture ``double``; ``built`` is to talk to it.

    Attributes:
        names_are_unique: the cloud refuses a second thing of one name; else the election of a leader alone prevents it.
    """

    names_are_unique = True

    def shapes(self) -> Sequence[Object]:
        """Return the Services, each of its kind of balancer, that faults are tried with."""
        return [service("faulty")]

    def changed(self, shape: Object) -> Object:
        """Return a Service with another port: what `ensure` has to change."""
        return {**shape, "spec": {**shape["spec"], "ports": service("faulty", port=8443)["spec"]["ports"]}}

    def test_whatever_happens_at_a_call_the_next_one_finishes_and_nothing_is_left(
        self, built: Plugin, double: RestDouble
    ) -> None:
        """Let each changing call meet each fault while a balancer is made, changed and deleted, and then go on."""
        nodes = self.nodes()
        for shape in self.shapes():
            before = double.everything()
            made = self._made(built, double, shape, nodes)
            other = self._made(built, double, self.changed(shape), nodes)
            self.balancers(built).ensure_deleted(CLUSTER, shape)
            assert double.everything() == before
            for fault in Fault:
                self._try(built, double, fault, [], shape, end=made, before=before)
                self._try(built, double, fault, [shape], self.changed(shape), end=other, before=before)
                self._try(built, double, fault, [shape], None, end=before, before=before)

    def _made(self, built: Plugin, double: RestDouble, shape: Object, nodes: Sequence[Object]) -> object:
        self.balancers(built).ensure(CLUSTER, shape, nodes)
        return double.everything()

    def _try(
        self,
        built: Plugin,
        double: RestDouble,
        fault: Fault,
        first: Sequence[Object],
        then: Object | None,
        *,
        end: object,
        before: object,
    ) -> None:
        """Make `first`, go on to `then` (None: delete) with a fault at each call in turn, repeat, and compare."""
        nodes, at = self.nodes(), 0
        shape = then or first[0]
        while True:
            at += 1
            for each in first:
                self.balancers(built).ensure(CLUSTER, each, nodes)
            with double.faulty(fault, at):
                _step(self.balancers(built), then, shape, nodes)
            again = self.balancers(self.after_crash(built))
            if then is None:
                again.ensure_deleted(CLUSTER, shape)
            else:
                again.ensure(CLUSTER, then, nodes)
            assert double.everything() == end, f"{fault.name} at changing call {at} of {shape['metadata']['name']}"
            again.ensure_deleted(CLUSTER, shape)
            assert double.everything() == before, f"{fault.name} at changing call {at}: something is left"
            if not double.met:
                return

    def test_two_managers_in_turn_leave_what_the_last_one_wants(self, built: Plugin, double: RestDouble) -> None:
        """Let another manager change or delete the balancer before each changing call of one that is late."""
        if not self.names_are_unique:
            raise SkipTest("this cloud lets two managers make two balancers of one name")
        nodes = self.nodes()
        for shape in self.shapes():
            before, changed = double.everything(), self.changed(shape)
            end = self._made(built, double, changed, nodes)
            self.balancers(built).ensure_deleted(CLUSTER, shape)
            for then in (changed, None):
                at, is_met = 0, True
                while is_met:
                    at += 1
                    late, leader = self.balancers(self.after_crash(built)), self.balancers(self.after_crash(built))
                    with double.interrupted(at, partial(_step, leader, then, shape, nodes)):
                        _step(late, shape, shape, nodes)
                    is_met = double.met
                    _step(leader, then, shape, nodes)
                    assert then is None or double.everything() == end, f"at changing call {at}"
                    leader.ensure_deleted(CLUSTER, shape)
                    assert double.everything() == before, f"at changing call {at}: something is left"

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


def _step(balancers: LoadBalancers, then: Object | None, shape: Object, nodes: Sequence[Object]) -> None:
    try:
        if then is None:
            balancers.ensure_deleted(CLUSTER, shape)
        else:
            balancers.ensure(CLUSTER, then, nodes)
    except HyperkubeError:
        return


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
