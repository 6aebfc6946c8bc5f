"""The pages for somebody who looks at one server: ``/statusz`` (what runs since when) and ``/flagz`` (with what flags).

For people, not for programs: the first lines say so. Source of paths and texts: kubernetes component-base
``zpages/statusz/statusz.go`` and ``zpages/flagz/flagz.go``.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.release import GIT_VERSION, SHORT
from hyperkube.serving.exchange import HttpRequest, Response
from hyperkube.serving.wire import plain

STATUSZ, FLAGZ = "/statusz", "/flagz"
GATES = {STATUSZ: "ComponentStatusz", FLAGZ: "ComponentFlagz"}
_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for"
    " debugging purposes only."
)
_UNIX_DATE = "%a %b %e %H:%M:%S %Z %Y"
_ACCEPTED = frozenset(("", "*/*", "text/*", "text/plain"))


class Zpages:
    """Both pages of one server."""

    def __init__(
        self,
        name: str,
        clock: Clock,
        flags: Mapping[str, str],
        paths: Callable[[], Iterable[str]],
        gates: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        """Take what they tell.

        Args:
            name: the server's, e.g. ``kube-scheduler``.
            clock: when it was started is now.
            flags: values as they would be typed, by name.
            paths: what the server offers, asked when the page is.
            gates: ComponentStatusz and ComponentFlagz close the pages.
        """
        self._name = name
        self._clock = clock
        self._gates = gates
        self._flags = dict(sorted(flags.items()))
        self._paths = paths
        self._started: datetime = clock.now()

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer a request to one of the pages; None means the path is none of them."""
        if request.path not in GATES or not self._gates.get(GATES[request.path], True):
            return None
        if not _takes_text(request.headers.get("accept", "")):
            return plain(406, "media type not acceptable, must be: text/plain")
        body = self._status() if request.path == STATUSZ else self._options()
        return Response(headers=[("Content-Type", "text/plain; charset=utf-8")], body=body.encode())

    def _status(self) -> str:
        seconds = int((self._clock.now() - self._started).total_seconds())
        rows = {
            "Started": self._started.strftime(_UNIX_DATE),
            "Up": f"{seconds // 3600} hr {seconds // 60 % 60:02} min {seconds % 60:02} sec",
            "Python version": platform.python_version(),
            "Binary version": GIT_VERSION.removeprefix("v"),
            "Emulation version": SHORT,
            "Paths": " ".join(sorted({"/" + path.strip("/").partition("/")[0] for path in self._paths()})),
        }
        lines = "\n".join(f"{name}: {value}" for name, value in rows.items())
        return f"\n{self._name} statusz\n{_WARNING}\n\n{lines}\n"

    def _options(self) -> str:
        lines = "".join(f"{name}={value}\n" for name, value in self._flags.items())
        return f"\n{self._name} flagz\n{_WARNING}\n\n{lines}"


def _takes_text(accept: str) -> bool:
    return any(part.partition(";")[0].strip().lower() in _ACCEPTED for part in accept.split(","))
