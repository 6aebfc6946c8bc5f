"""Takes a connection out of HTTP: chooses how to speak exec, attach, port-forward and watches with this client."""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_lib.serving.body_writer import BodyWriter
from hyperkube_lib.serving.connection import Connection
from hyperkube_lib.serving.exchange import (
    ExecUpgrade,
    HttpRequest,
    PortForwardUpgrade,
    RelayUpgrade,
    Response,
    StreamResponse,
)
from hyperkube_lib.serving.service import Incoming
from hyperkube_lib.serving.spdy_streams import EXEC_PROTOCOLS, FORWARD_PROTOCOL, SpdyChannels, SpdyPortStreams
from hyperkube_lib.serving.upgraded import Upgraded, serve_on_thread
from hyperkube_lib.serving.wire import plain, refusal

from hyperkube.machinery.errors import BadRequest

TUNNEL_PROTOCOL = f"SPDY/3.1+{FORWARD_PROTOCOL}"
"""The WebSocket sub-protocol whose binary messages are a SPDY connection."""


def take_over(
    connection: Connection,
    incoming: Incoming,
    answer: StreamResponse | ExecUpgrade | PortForwardUpgrade | RelayUpgrade,
) -> None:
    """Upgrade the connection as the answer says and the client can, or refuse."""
    websocket = incoming.upgrade == "websocket"
    if isinstance(answer, RelayUpgrade) and not (websocket and answer.websocket_protocols):
        from hyperkube_lib.serving.relay import Relay  # needed for aggregated APIs and nodes only

        Relay(connection, incoming, answer).start()
    elif websocket:
        refused = _over_websocket(connection, incoming, answer)
        if refused is not None:
            if isinstance(answer, StreamResponse):
                answer.source.close()
            connection.refuse_upgrade(incoming, refused)
    elif incoming.upgrade == "spdy/3.1" and isinstance(answer, ExecUpgrade | PortForwardUpgrade):
        _over_spdy(connection, incoming, answer)
    else:
        connection.refuse_upgrade(incoming, refusal(BadRequest("Upgrade request required")))


def _over_websocket(
    connection: Connection,
    incoming: Incoming,
    answer: StreamResponse | ExecUpgrade | PortForwardUpgrade | RelayUpgrade,
) -> Response | None:
    from hyperkube_lib.serving import websocket
    from hyperkube_lib.serving.websocket_forward import FORWARD_PROTOCOLS

    request = incoming.request
    known: tuple[str, ...]
    if isinstance(answer, StreamResponse | RelayUpgrade):
        known = answer.websocket_protocols
        if not known and len(offered := websocket.offered_protocols(request)) == 1:
            known = tuple(offered)  # what takes none agrees to any one, and means nothing by it
    elif isinstance(answer, ExecUpgrade):
        known = websocket.CHANNELS
    else:
        known = (TUNNEL_PROTOCOL, *FORWARD_PROTOCOLS)
    protocol = websocket.choose_protocol(request, known)
    greeting = websocket.greeting(request, protocol or "")
    if greeting is None:
        return plain(400, "not a WebSocket handshake of version 13")
    if protocol is None:
        offered = websocket.offered_protocols(request)
        return plain(403, f"none of the sub-protocols {offered!r} is known here, use one of {list(known)!r}")
    if isinstance(answer, StreamResponse):
        binary = protocol in answer.websocket_protocols and "binary" in protocol
        _watch(connection, greeting, answer, text=None if binary else websocket.as_text)
    elif isinstance(answer, RelayUpgrade):
        _relayed_body(connection, incoming, greeting, answer, text="base64" in protocol)
    elif isinstance(answer, ExecUpgrade):
        _exec(connection, greeting, answer, protocol)
    elif protocol == TUNNEL_PROTOCOL:
        _tunnelled_forward(connection, greeting, answer)
    else:
        return _channel_forward(connection, request, greeting, answer, protocol)
    return None


def _relayed_body(
    connection: Connection, incoming: Incoming, greeting: bytes, answer: RelayUpgrade, *, text: bool
) -> None:
    from hyperkube_lib.serving.relay import Relay
    from hyperkube_lib.serving.websocket import WebSocket, WebSocketBody, as_base64

    def messages(relay: Relay) -> WebSocketBody:
        socket = WebSocket(connection.service)
        body = WebSocketBody(socket, text=as_base64 if text else None)
        body.writer, socket.caught_up = relay, relay.resume
        _begin(connection, socket, greeting)
        body.send_chunks((b"",))  # tells the client that the stream has begun
        return body

    Relay(connection, incoming, answer, messages).start()


def _watch(
    connection: Connection, greeting: bytes, answer: StreamResponse, *, text: Callable[[bytes], str] | None
) -> None:
    from hyperkube_lib.serving.websocket import WebSocket, WebSocketBody

    service = connection.service
    socket = WebSocket(service)
    body = WebSocketBody(socket, text=text)
    writer = BodyWriter(answer.source, body, loop=service.loop, logger=service.logger)
    body.writer = writer
    socket.caught_up = writer.resume
    _begin(connection, socket, greeting)
    writer.start()


def _exec(connection: Connection, greeting: bytes, answer: ExecUpgrade, protocol: str) -> None:
    from hyperkube_lib.serving.websocket import ERROR, STDERR, STDOUT, WebSocket, WebSocketChannels

    service = connection.service
    socket = WebSocket(service)
    first = STDOUT if answer.stdout else STDERR if answer.stderr else ERROR
    channels = WebSocketChannels(socket, protocol, first)
    _begin(connection, socket, greeting)
    serve_on_thread(service, "exec", lambda: answer.serve(channels), channels.close)


def _tunnelled_forward(connection: Connection, greeting: bytes, answer: PortForwardUpgrade) -> None:
    from hyperkube_lib.serving.websocket import WebSocket

    socket = WebSocket(connection.service)
    streams = SpdyPortStreams(socket, connection.service)
    socket.listener = streams.session
    _begin(connection, socket, greeting)
    serve_on_thread(connection.service, "port-forward", lambda: answer.serve(streams), streams.close)


def _channel_forward(
    connection: Connection, request: HttpRequest, greeting: bytes, answer: PortForwardUpgrade, protocol: str
) -> Response | None:
    from hyperkube_lib.serving.websocket import WebSocket
    from hyperkube_lib.serving.websocket_forward import WebSocketPortStreams, requested_ports

    try:
        ports = requested_ports(request)
    except ValueError as error:
        return plain(400, str(error))
    socket = WebSocket(connection.service)
    streams = WebSocketPortStreams(socket, ports, text="base64" in protocol)
    _begin(connection, socket, greeting)
    streams.greet()
    serve_on_thread(connection.service, "port-forward", lambda: answer.serve(streams), streams.close)
    return None


def _over_spdy(connection: Connection, incoming: Incoming, answer: ExecUpgrade | PortForwardUpgrade) -> None:
    known = EXEC_PROTOCOLS if isinstance(answer, ExecUpgrade) else (FORWARD_PROTOCOL,)
    header = incoming.request.headers.get("x-stream-protocol-version", "")
    offered = [name.strip() for name in header.split(",") if name.strip()]
    protocol = next((name for name in offered if name in known), None)
    if not offered:
        protocol = known[-1]
    if protocol is None:
        accepted = [("X-Accepted-Stream-Protocol-Versions", name) for name in known]
        text = (
            f"unable to upgrade: unable to negotiate protocol: client supports {offered}, server accepts {list(known)}"
        )
        connection.refuse_upgrade(incoming, plain(403, text, *accepted))
        return
    lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: SPDY/3.1"]
    if offered:
        lines.append(f"X-Stream-Protocol-Version: {protocol}")
    greeting = "".join(f"{line}\r\n" for line in (*lines, "")).encode()
    service = connection.service
    bare = Upgraded(service)
    if isinstance(answer, ExecUpgrade):
        serve = answer.serve

        def ready() -> None:
            serve_on_thread(service, "exec", lambda: serve(channels), channels.close)

        channels = SpdyChannels(bare, service, answer, protocol, ready)
        bare.listener = channels.session
        _begin(connection, bare, greeting)
        return
    streams = SpdyPortStreams(bare, service)
    bare.listener = streams.session
    _begin(connection, bare, greeting)
    serve_on_thread(service, "port-forward", lambda: answer.serve(streams), streams.close)


def _begin(connection: Connection, successor: Upgraded, greeting: bytes) -> None:
    transport, early = connection.release(successor)
    successor.begin(transport, greeting, early)
