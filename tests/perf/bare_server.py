"""What uvicorn itself gives: an application that answers every request with the same bytes, over TLS.

Started by the benchmarks beside the API server: ``bare_server.py PORT CERTIFICATE KEY ANSWER``.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn

Message = dict[str, Any]


def same(answer: bytes) -> Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Any]], Any]:
    """Return the application."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]

    async def app(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Any]) -> None:
        while scope["method"] != "GET" and (await receive()).get("more_body"):
            continue
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


if __name__ == "__main__":
    port, certificate, key, file = sys.argv[1:]
    uvicorn.run(
        same(Path(file).read_bytes()),
        host="127.0.0.1",
        port=int(port),
        ssl_certfile=certificate,
        ssl_keyfile=key,
        http="httptools",
        loop="uvloop",
        lifespan="off",
        access_log=False,
        log_level="error",
    )
