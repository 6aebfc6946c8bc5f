"""Connections to other servers that something else than the loop dials, as a tunnel does; that may block."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable


async def dialled(dial: Callable[[str, int], socket.socket], host: str, port: int) -> socket.socket:
    """Dial on another thread; a connection that comes after the time is over is closed."""
    dialling = asyncio.get_running_loop().run_in_executor(None, dial, host, port)
    try:
        return await asyncio.shield(dialling)
    except asyncio.CancelledError:
        dialling.add_done_callback(_close_late)
        raise


def _close_late(dialling: asyncio.Future[socket.socket]) -> None:
    if not dialling.cancelled() and dialling.exception() is None:
        dialling.result().close()
