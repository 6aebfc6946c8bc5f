"""``/logs/``: the node's log folder as pages and files, and nothing outside of it.

Pods may write below that folder (by a hostPath volume), so a folder on the way may become a link at any moment: what
was opened is asked where it lies. Files are sent piece by piece, as they may be larger than the memory.
Source: kubernetes ``pkg/kubelet/kubelet.go`` (logServer), ``pkg/kubelet/server/server.go`` (getLogs).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_lib.serving.exchange import Answer, Response, StreamResponse

from hyperkube.machinery.errors import NotFound

_PIECE, _PIECES = 1 << 16, 16
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class FileSource:
    """Gives out a file as long as it was when it was opened, some pieces at a time; closes its descriptor."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor: int | None = descriptor
        self._left = size
        self._notify: Callable[[], None] = lambda: None

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Remember whom to tell, and tell at once: there is something already."""
        self._notify = notify
        notify()

    def drain(self) -> Sequence[bytes] | None:
        """Return what comes next; None at the end."""
        pieces: list[bytes] = []
        while self._descriptor is not None and self._left and len(pieces) < _PIECES:
            piece = os.read(self._descriptor, min(_PIECE, self._left))
            self._left = self._left - len(piece) if piece else 0  # it may have become shorter
            pieces += [piece] if piece else []
        if not pieces:
            return None
        self._notify()
        return pieces

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def node_logs(root: Path, parts: Sequence[str]) -> Answer:
    """Return a file of the folder, or a page with the names in a folder.

    Raises:
        NotFound: there is none, or it lies elsewhere, or is neither.
    """
    descriptor = _opened(root.resolve(), parts)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            source = FileSource(descriptor, found.st_size)
            descriptor = -1  # the source's from now on
            return StreamResponse(headers=[("Content-Type", "text/plain; charset=utf-8")], source=source)
        if not stat.S_ISDIR(found.st_mode):
            raise NotFound("404 page not found")
        with os.scandir(descriptor) as entries:
            names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries)
        import html

        shown = (html.escape(name.encode("utf-8", "replace").decode()) for name in names)
        rows = "".join(f'<a href="{name}">{name}</a>\n' for name in shown)
        page = f"<pre>\n{rows}</pre>\n".encode()
        return Response(headers=[("Content-Type", "text/html; charset=utf-8")], body=page)
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _opened(root: Path, parts: Sequence[str]) -> int:
    """Return a descriptor of what lies below the folder.

    Raises:
        NotFound: there is nothing, or it lies elsewhere.
    """
    try:
        path = root.joinpath(*parts).resolve()
        descriptor = os.open(path, _FLAGS) if path.is_relative_to(root) else None
    except (OSError, ValueError) as error:  # a name may have a NUL
        raise NotFound("404 page not found") from error
    if descriptor is not None and Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(root):
        return descriptor
    if descriptor is not None:
        os.close(descriptor)
    raise NotFound("404 page not found")
