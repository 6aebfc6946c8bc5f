"""The machine's log files under ``/logs/``: ``kubectl get --raw /logs/`` lists them, a path below gives one.

Nothing outside the folder is shown, whatever the path says and wherever a link in it points.
Source: kubernetes apiserver ``pkg/server/routes/logs.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from hyperkube_host.apiserver.health.health import text
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.serializer.path_errors import not_allowed
from hyperkube_host.apiserver.serializer.waiting_stream import WaitingStream
from hyperkube_lib.serving.exchange import Answer, Response, StreamResponse

FOLDER = Path("/var/log")
ROOT = "/logs"
_PIECE = 256 * 1024
_MISSING = "404 page not found\n"


class MachineLogs:
    """Answers ``/logs`` and what is below."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def answer(self, request: ApiRequest) -> Answer | None:
        """Answer a request for a log, None when the path is none of these."""
        path = request.path
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            return None
        if request.method not in {"GET", "HEAD"}:
            raise not_allowed()
        if path == ROOT:
            return Response(status=301, headers=[("Location", f"{ROOT}/")])
        try:
            return self._shown(path.removeprefix(f"{ROOT}/"))
        except (OSError, ValueError):
            return text(_MISSING, 404)

    def _shown(self, wanted: str) -> Answer:
        folder = self._folder.resolve()
        place = (folder / wanted.lstrip("/")).resolve()
        if not place.is_relative_to(folder):
            return text(_MISSING, 404)
        if place.is_dir():
            import html

            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in place.iterdir())
            rows = [f'<a href="{quote(name)}">{html.escape(name)}</a>' for name in names]
            body = "\n".join(["<pre>", *rows, "</pre>", ""]).encode()
            return Response(headers=[("Content-Type", "text/html; charset=utf-8")], body=body)
        if not place.is_file():  # a pipe or a device would block its reader
            return text(_MISSING, 404)
        source = WaitingStream(_Pieces(place.open("rb")))
        return StreamResponse(headers=[("Content-Type", "text/plain; charset=utf-8")], source=source)


class _Pieces:
    """A file as a body, piece by piece, up to the size it has when it ends."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def subscribe(self, notify: Callable[[], None]) -> None:
        """All of it is there already."""
        notify()

    def drain(self) -> Sequence[bytes] | None:
        """Return the next piece."""
        piece = self._file.read(_PIECE) if not self._file.closed else b""
        return [piece] if piece else None

    def close(self) -> None:
        """Close the file."""
        self._file.close()
