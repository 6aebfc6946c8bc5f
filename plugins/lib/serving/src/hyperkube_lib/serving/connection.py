"""An HTTP connection as the protocols see it that take over from HTTP: relays, WebSockets, SPDY."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from hyperkube_lib.serving.body_writer import Body
from hyperkube_lib.serving.exchange import Response
from hyperkube_lib.serving.service import Incoming, Service


class BodySink(Protocol):
    """What takes the body of an answer: an HTTP connection, or WebSocket messages."""

    @property
    def writable(self) -> bool:
        """False while the client is behind."""

    def send_chunks(self, chunks: Sequence[bytes]) -> None:
        """Send a piece of the body."""

    def end_body(self, *, broken: bool) -> None:
        """End the body."""


class Connection(BodySink, Protocol):
    """The HTTP connection, as far as it matters here."""

    service: Service

    def release(self, successor: asyncio.Protocol) -> tuple[asyncio.Transport, bytes]:
        """Give the transport to `successor`; returns it with what the client has sent ahead."""

    def attach(self, body: Body) -> None:
        """Tell `body` when the client has caught up or gone away."""

    def open_body(self, incoming: Incoming, status: int, headers: list[tuple[str, str]], *, length: int | None) -> bool:
        """Begin an answer whose body comes in pieces."""

    def refuse_upgrade(self, incoming: Incoming, answer: Response) -> None:
        """Answer plainly instead."""
