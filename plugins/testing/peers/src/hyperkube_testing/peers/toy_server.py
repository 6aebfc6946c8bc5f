"""What a server under test serves: a handler made of functions by path, and bodies that a test feeds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response

Route = Callable[[HttpRequest], Answer]


@dataclass
class Toy:
    """A handler; what it has no route for is echoed.

    Attributes:
        routes: by path.
        hot_routes: those that answer from memory.
        long_running: paths whose answers go on.
        seen: the requests, oldest first.
    """

    routes: dict[str, Route] = field(default_factory=dict)
    hot_routes: dict[str, Callable[[HttpRequest], Response]] = field(default_factory=dict)
    long_running: set[str] = field(default_factory=set)
    seen: list[HttpRequest] = field(default_factory=list)

    def handle(self, request: HttpRequest) -> Answer:
        """Answer by the route of the path."""
        self.seen.append(request)
        route = self.routes.get(request.path)
        return route(request) if route else Response(body=b"echo " + request.body)

    def hot(self, request: HttpRequest) -> Response | None:
        """Answer from memory, if there is such a route."""
        route = self.hot_routes.get(request.path)
        return route(request) if route else None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the answer goes on."""
        return request.path in self.long_running


class QueueSource:
    """A body whose pieces a test puts in.

    Attributes:
        pieces: those that have not been taken yet.
        ended: nothing more comes.
        closed: set when there is no reader any more.
    """

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.ended = False
        self.closed = threading.Event()
        self._lock = threading.Lock()
        self._notify: Callable[[], None] = lambda: None

    def put(self, *pieces: bytes) -> None:
        """Add pieces."""
        with self._lock:
            self.pieces.extend(pieces)
        self._notify()

    def end(self) -> None:
        """Let the body end after the pieces."""
        self.ended = True
        self._notify()

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call when there is something to take."""
        self._notify = notify

    def drain(self) -> list[bytes] | None:
        """Take what there is; None after the end."""
        with self._lock:
            pieces, self.pieces = self.pieces, []
        return None if not pieces and self.ended else pieces

    def close(self) -> None:
        """Nobody reads any more."""
        self.closed.set()


class EndlessSource:
    """A body of which there is always more.

    Attributes:
        closed: set when there is no reader any more.
    """

    def __init__(self, piece: bytes) -> None:
        self.closed = threading.Event()
        self._piece = piece

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call nothing: who drains finds more each time."""

    def drain(self) -> list[bytes]:
        """Return the piece, each time."""
        return [self._piece]

    def close(self) -> None:
        """Let no one drain any more."""
        self.closed.set()
