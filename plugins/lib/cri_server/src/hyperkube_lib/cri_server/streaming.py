"""The server of streams: a call of CRI returns a URL with a token, which may be used once, and soon.

Source: kubernetes ``staging/src/k8s.io/cri-streaming/pkg/streaming/server.go``, ``request_cache.go``.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence

from hyperkube_lib.serving.container_streams import serve_ports, serve_process
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Answer, ExecUpgrade, HttpRequest, PortForwardUpgrade, Response

from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass

TOKEN_SECONDS = 60.0
MOST_TOKENS = 1000
_NOT_FOUND = Response(status=404, headers=[("Content-Type", "text/plain")], body=b"404 page not found\n")


class TooManyStreams(Exception):
    """So many streams were asked for and not used that no more are promised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRequest:
    """Which streams of a process a client wants."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False


class StreamingServer:
    """Serves streams on a port of the loopback device; a `Handler` of the edge."""

    def __init__(self, runtime: Runtime, clock: Clock) -> None:
        self._runtime = runtime
        self._clock = clock
        self._lock = threading.Lock()
        self._promised: dict[str, tuple[float, Callable[[], Answer]]] = {}
        self._edge = Edge(self, name="cri-streams")

    def start(self) -> None:
        """Listen."""
        self._edge.start()

    def close(self) -> None:
        """End all streams."""
        self._edge.close()

    def exec_url(self, container_id: str, command: Sequence[str], wanted: StreamRequest) -> str:
        """Return the URL that runs a command."""

        def answer() -> Answer:
            serve = serve_process(
                lambda: self._runtime.exec(container_id, command, stdin=wanted.stdin, tty=wanted.tty), tells_exit=True
            )
            return _upgrade(serve, wanted=wanted)

        return self._url("exec", answer)

    def attach_url(self, container_id: str, wanted: StreamRequest) -> str:
        """Return the URL of a container's streams."""

        def answer() -> Answer:
            serve = serve_process(lambda: self._runtime.attach(container_id, stdin=wanted.stdin), tells_exit=False)
            return _upgrade(serve, wanted=wanted)

        return self._url("attach", answer)

    def port_forward_url(self, sandbox_id: str) -> str:
        """Return the URL of a sandbox's ports."""
        return self._url("portforward", lambda: PortForwardUpgrade(serve=serve_ports(self._runtime, sandbox_id)))

    def _url(self, kind: str, answer: Callable[[], Answer]) -> str:
        token = secrets.token_urlsafe(16)
        with self._lock:
            now = self._clock.monotonic()
            for old in [one for one, (until, _) in self._promised.items() if until <= now]:
                del self._promised[old]
            if len(self._promised) >= MOST_TOKENS:
                raise TooManyStreams(f"maximum number of in-flight requests exceeded ({MOST_TOKENS})")
            self._promised[f"/{kind}/{token}"] = (now + TOKEN_SECONDS, answer)
        return f"http://127.0.0.1:{self._edge.port}/{kind}/{token}"

    def handle(self, request: HttpRequest) -> Answer:
        """Answer a request for streams that were promised, once."""
        with self._lock:
            until, answer = self._promised.pop(request.path, (0.0, None))
            if answer is None or until <= self._clock.monotonic():
                return _NOT_FOUND
        return answer()

    def hot(self, request: HttpRequest) -> Response | None:
        """Answer nothing from memory."""
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell that all requests are for streams."""
        return True


def _upgrade(serve: Callable[..., None], wanted: StreamRequest) -> ExecUpgrade:
    return ExecUpgrade(
        serve=serve, tty=wanted.tty, stdin=wanted.stdin, stdout=wanted.stdout, stderr=wanted.stderr and not wanted.tty
    )
