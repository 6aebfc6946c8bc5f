"""One request and its answer, as the edge hands them to a server and takes them back.

A server is a `Handler`: a synchronous function from `HttpRequest` to one of three answers. A `Response` is complete
bytes. A `StreamResponse` is a body that grows: the edge's loop drains it whenever it says there is more, so that
thousands of open watches cost no thread each. So is one that is too large to be held as a whole (`finite_streams`). An
`UpgradeResponse` takes the connection over (WebSocket, SPDY).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from socket import socket
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable
from urllib.parse import parse_qsl

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube_lib.serving.known_heads import Head, Target
    from hyperkube_lib.serving.priority import Priority
    from hyperkube_lib.serving.request_budget import RequestBudget
    from hyperkube_lib.serving.turns import Turns

Headers: TypeAlias = Sequence[tuple[str, str]]


@dataclass(slots=True, kw_only=True)
class HttpRequest:
    """What came in.

    Attributes:
        path: percent-decoded; `raw_path` as sent, without the query.
        headers: lower-case names; a repeated header's values are joined with a comma and a blank.
        repeated: the values of those that came on several lines, one per line; None where none did.
        certificate: DER of the client's certificate chain, leaf first, checked against no CA yet.
        budget: of its time, for work that can be broken off; None for requests without a limit.
        user: set by the in-process transport only: who calls, past authentication.
        peer: the client's address and port.
        read: what the handler has read off the first line, kept from one look at the request to the next.
        line: the first line, when it was read before.
        head: the header lines, when they were read before.
        sender: who sent it and acts as no one else, when the handler has found that out already.
    """

    method: str
    path: str
    raw_path: str = ""
    query_string: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    certificate: tuple[bytes, ...] = ()
    peer: tuple[str, int] = ("", 0)
    secure: bool = True
    user: UserInfo | None = None
    repeated: Mapping[str, Sequence[str]] | None = None
    budget: RequestBudget | None = None
    read: object = None
    line: Target | None = None
    head: Head | None = None
    sender: UserInfo | None = None

    def lines(self) -> dict[str, Sequence[str]]:
        """Return the values of all headers, one per line: what says who acts may contain commas, and UTF-8.

        Bytes that are no UTF-8 are shown as escapes, so that two names never become one.
        """
        several = self.repeated or {}
        return {name: tuple(map(_as_utf8, several.get(name, (value,)))) for name, value in self.headers.items()}

    @property
    def uri(self) -> str:
        """Path and query as they were asked."""
        path = self.raw_path or self.path
        return f"{path}?{self.query_string}" if self.query_string else path

    def query(self) -> dict[str, list[str]]:
        """Return the query parameters, decoded; parse once and keep the result."""
        values: dict[str, list[str]] = {}
        for key, value in parse_qsl(self.query_string, keep_blank_values=True):
            values.setdefault(key, []).append(value)
        return values


def _as_utf8(value: str) -> str:
    value = value.strip(" \t")
    return value if value.isascii() else value.encode("latin-1", "replace").decode(errors="backslashreplace")


@dataclass(slots=True, kw_only=True)
class Response:
    """A complete answer; the edge adds Content-Length, Date, and gzip where it pays."""

    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


class AllChunks(list[bytes]):
    """Chunks behind which a source has nothing: it notifies for whatever comes next, and need not be asked before."""

    __slots__ = ()


class ChunkSource(Protocol):
    """A body that grows. The edge calls all three from its own thread."""

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Remember `notify`; call it (from any thread, cheaply) whenever `drain` has something new to say."""

    def drain(self) -> Sequence[bytes] | None:
        """Return the chunks that are ready now (perhaps none) without blocking, or None at the end of the body.

        It is called again until it returns none, or all there are (`AllChunks`).
        """

    def close(self) -> None:
        """The client went away or the body ended: let go of everything; idempotent."""


@dataclass(slots=True, kw_only=True)
class StreamResponse:
    """An answer whose body grows (a watch, a followed log), or is too large to be held as a whole; sent chunked.

    Attributes:
        finite: the body ends by itself (a large list), so that it is compressed as that of a `Response`, and a server
            that closes waits for its end.
        slow: its chunks take long to make, so that workers do it; of a finite one.
    """

    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    source: ChunkSource
    finite: bool = False
    slow: bool = False
    websocket_protocols: tuple[str, ...] = ()
    """Sub-protocols under which a WebSocket client may take the same stream, one message per chunk."""


class Channels(Protocol):
    """An upgraded connection with numbered byte streams (stdin 0, stdout 1, stderr 2, error 3, resize 4).

    The same for WebSocket (v4, v5), and SPDY/3.1; blocking, for use on threads of the handler's own.
    """

    protocol: str

    def read(self, channel: int) -> bytes:
        """Return the next bytes from the client on a channel, or nothing when the client closed it."""

    def write(self, channel: int, data: bytes) -> None:
        """Send bytes on a channel; blocks while the client is slow.

        Raises:
            ConnectionError: the client is gone.
        """

    def close(self) -> None:
        """Flush and end the connection."""


class PortStreams(Protocol):
    """An upgraded port-forward connection: pairs of a data and an error stream, one pair per forwarded connection."""

    def accept(self) -> ForwardedConnection | None:
        """Return the next connection the client opens, or None at the end."""

    def close(self) -> None:
        """End all streams."""


class ForwardedConnection(Protocol):
    """One forwarded connection."""

    port: int

    def read(self) -> bytes:
        """Return the next bytes from the client, or nothing when it closed its side."""

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""

    def fail(self, message: str) -> None:
        """Report an error on the error stream."""

    def close(self) -> None:
        """Close both streams."""


@dataclass(slots=True, kw_only=True)
class ExecUpgrade:
    """Take the connection over for exec or attach, then run `serve` on a thread; it owns the channels."""

    serve: Callable[[Channels], None]
    tty: bool = False
    stdin: bool = False
    stdout: bool = True
    stderr: bool = True


@dataclass(slots=True, kw_only=True)
class PortForwardUpgrade:
    """Take the connection over for port-forward, then run `serve` on a thread."""

    serve: Callable[[PortStreams], None]


@dataclass(frozen=True, slots=True)
class Passed:
    """What of another server's answer is passed back to the client.

    Attributes:
        headers: its headers.
        body: makes of each piece of the body what is passed on, and of an empty one at the end what was held back;
            None passes the body as it is. Called on the edge's thread: must not block.
    """

    headers: list[tuple[str, str]]
    body: Callable[[bytes], bytes] | None = None


@dataclass(slots=True, kw_only=True)
class RelayUpgrade:
    """Pass the client's request on to another server and then relay bytes both ways (exec via the kubelet, proxies).

    Plain requests too: followed logs and proxies. The edge connects, repeats the request (with `headers` replacing
    same-named ones; the client's Authorization and Impersonate-* are never passed on) and relays whatever is answered,
    without a thread; a plain answer is passed back as it is. WebSocket and SPDY need no understanding here. For
    requests that `Handler.is_long_running` says yes to, the body is not in `HttpRequest.body` but streamed to the
    other server.
    """

    host: str
    port: int
    path: str
    """With the query, percent-encoded."""
    tls: bool = True
    connect_seconds: float = 30.0
    """How long the connection may take."""
    dial: Callable[[str, int], socket] | None = None
    """Returns a connected socket to host and port, through a tunnel, say; None connects directly. May block."""
    ca_file: str = ""
    """Checks the server's certificate; empty, and no `ca_data` either: not checked."""
    ca_data: str = ""
    """The same as PEM text."""
    server_name: str = ""
    """The name that the server's certificate must have, if that is not the host."""
    certificate_file: str = ""
    key_file: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    redirects: bool = True
    """Whether an answer that sends the client elsewhere is passed on."""
    withheld: tuple[str, ...] = ()
    """Beginnings, in lower case, of names of the client's headers that are not passed on."""
    refusal: Callable[[int, bytes], Response] | None = None
    """Makes the answer out of a plain one of status 400 and above and up to 2 KiB of its body; None passes it on.

    Called on the edge's thread: must not block.
    """
    counted: Callable[[int], None] | None = None
    """Told the status that the client gets, once, unless it has gone before. Called on the edge's thread."""
    answered: Callable[[list[tuple[str, str]]], Passed] | None = None
    """Says, by a plain answer's headers, what of it is passed on; None passes all on. Called on the edge's thread."""
    websocket_protocols: tuple[str, ...] = ()
    """Sub-protocols under which a WebSocket client takes a plain answer's body, as binary messages, or as base64 text
    where the protocol's name begins so. The other server is asked without an upgrade then."""


Answer: TypeAlias = Response | StreamResponse | ExecUpgrade | PortForwardUpgrade | RelayUpgrade


@dataclass(slots=True, kw_only=True)
class Postponed:
    """No answer yet: the request waits for its turn, without a thread.

    Attributes:
        wait: called once with a function, which it calls once, from any thread, perhaps at once.
        proceed: makes the answer after that, on a worker thread; must not raise, and is always called.
    """

    wait: Callable[[Callable[[], None]], None]
    proceed: Callable[[], Answer]


WaitForStore: TypeAlias = Callable[[Callable[[Exception | None], None]], None]
"""Called with what is told once, from any thread: that there is in memory what the store had, or why not."""


class AnswersWhenCurrent(Protocol):
    """Answers reads from memory once it has what a store in another process had when they came; on the loop's thread.

    Neither may block, and the second obeys authentication and authorization.
    """

    def waits_for(self, request: HttpRequest) -> WaitForStore | None:
        """Return how a read waits; None for one that is to be handled on a worker thread."""

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer a read that has waited, or return None: it is handled on a worker thread then."""


@runtime_checkable
class PostponesReads(Protocol):
    """A `Handler` with reads that wait for the store without a thread.

    Attributes:
        postponed_reads: what answers them; None where no read waits for the store.
    """

    postponed_reads: AnswersWhenCurrent | None


@runtime_checkable
class TakesTurns(Protocol):
    """A `Handler` that can answer some requests by turns on one thread.

    Attributes:
        turns: where; None while there is no such thread.
    """

    turns: Turns | None

    def takes_turns(self, request: HttpRequest) -> bool:
        """Tell whether a request waits for nothing but the store; called on the loop's thread, must not block."""

    def priority(self, request: HttpRequest) -> Priority:
        """Tell how soon a request has its turn that `takes_turns`; called in the same way."""


class Handler(Protocol):
    """A server, seen from the edge."""

    def handle(self, request: HttpRequest) -> Answer | Postponed:
        """Answer one request; called on a worker thread; must not raise: errors are answers too."""

    def hot(self, request: HttpRequest) -> Response | None:
        """Answer at once from memory, on the loop's thread, or return None to be called through `handle`.

        Must not block, must not touch the disk or another process, and must obey authentication and authorization.
        """

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the request may stay open beyond the request timeout (watch, log, exec, proxy).

        Called on the loop's thread; the answer for method, path and query is always the same.
        """
