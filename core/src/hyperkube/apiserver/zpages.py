"""What an operator looks up in one server: ``/statusz`` (what runs, since when), ``/flagz`` (with which flags).

Plain text unless the Accept header names the whole kind: ``application/json;g=config.k8s.io;v=v1beta1;as=Statusz``.
Kubernetes separates names from values by a character chosen at random, so that nobody parses the text; here it is
always the same.

Source: kubernetes apiserver ``pkg/server/statusz`` and ``pkg/server/flagz``; the gates ComponentStatusz and
ComponentFlagz are on since 1.36.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from hyperkube.apiserver.calls import ApiRequest
from hyperkube.apiserver.encode import NO_CACHE, wants_pretty, write
from hyperkube.apiserver.negotiation import ALL, JSON, YAML, clauses
from hyperkube.apiserver.paths import Page
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotAcceptable
from hyperkube.machinery.objects import Object
from hyperkube.machinery.release import GIT_VERSION, SHORT
from hyperkube.machinery.times import format_time
from hyperkube.serving.exchange import Answer, Response

GROUP, VERSIONS = "config.k8s.io", frozenset({"v1alpha1", "v1beta1"})
COMPONENT = "apiserver"
_PLAIN = "text/plain"
_STATUS, _FLAGS = "Statusz", "Flagz"
_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for"
    " debugging purposes only."
)
_NOT_FOR_DEBUGGING = frozenset({"/apis", "/api", "/openid", "/openapi", "/.well-known"})
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


class Zpages:
    """Both pages of one API server.

    Args:
        clock: the server's; it starts now.
        paths: what the index lists, asked when the page is.
        flags: values as they would be typed, by name; None where nobody gave any, as in a server within a test.
        gates: the feature gates that were set.
    """

    def __init__(
        self,
        clock: Clock,
        paths: Callable[[], Iterable[str]],
        flags: Mapping[str, str] | None,
        gates: Mapping[str, bool],
    ) -> None:
        self._clock = clock
        self._started = clock.now()
        self._paths = paths
        self._flags = flags
        self._gates = gates

    def pages(self) -> dict[str, Page]:
        """Return the pages that are offered, by path."""
        offered: dict[str, Page] = {}
        if self._gates.get("ComponentStatusz", True):
            offered["/statusz"] = self._statusz
        if self._flags is not None and self._gates.get("ComponentFlagz", True):
            offered["/flagz"] = self._flagz
        return offered

    def _statusz(self, request: ApiRequest) -> Answer:
        return _answered(request, _STATUS, self._status(), self._status_text)

    def _flagz(self, request: ApiRequest) -> Answer:
        return _answered(request, _FLAGS, {"flags": dict(sorted((self._flags or {}).items()))}, self._flags_text)

    def _status(self) -> Object:
        return {
            "startTime": format_time(self._started),
            "uptimeSeconds": self._uptime(),
            "goVersion": f"{platform.python_implementation()} {platform.python_version()}",
            "binaryVersion": GIT_VERSION.removeprefix("v"),
            "emulationVersion": SHORT,
            "paths": sorted({"/" + path.split("/")[1] for path in self._paths()} - _NOT_FOR_DEBUGGING - {"/"}),
        }

    def _uptime(self) -> int:
        return max(0, int((self._clock.now() - self._started).total_seconds()))

    def _status_text(self) -> str:
        status, seconds = self._status(), self._uptime()
        rows = {
            "Started": unix_date(self._started),
            "Up": f"{seconds // 3600} hr {seconds // 60 % 60:02} min {seconds % 60:02} sec",
            "Go version": status["goVersion"],
            "Binary version": status["binaryVersion"],
            "Emulation version": status["emulationVersion"],
            "Paths": " ".join(status["paths"]),
        }
        lines = "".join(f"{name}: {value}\n" for name, value in rows.items())
        return f"\n{COMPONENT} statusz\n{_WARNING}\n\n{lines}"

    def _flags_text(self) -> str:
        lines = "".join(f"{name}={value}\n" for name, value in sorted((self._flags or {}).items()))
        return f"\n{COMPONENT} flagz\n{_WARNING}\n{lines}"


def unix_date(moment: datetime) -> str:
    """Return a moment as ``date`` prints it, in UTC: ``Wed Oct 16 21:03:43 UTC 2024``."""
    utc = moment.astimezone(UTC)
    return f"{_DAYS[utc.weekday()]} {_MONTHS[utc.month - 1]} {utc.day:2} {utc:%H:%M:%S} UTC {utc.year}"


def wanted_form(accept: str, kind: str) -> tuple[str, str]:
    """Return the media type that a page is wanted in, and for a structured one the version.

    Raises:
        NotAcceptable: none that is accepted is offered: structured forms need the whole kind, text none.
    """
    if not accept.strip():
        return _PLAIN, ""
    for clause in clauses(accept):
        params = dict(clause.params)
        if not params.get("as"):
            if clause.media_type in {_PLAIN, "text/*", "*/*"}:
                return _PLAIN, ""
        elif (params["as"], params.get("g")) == (kind, GROUP) and params.get("v") in VERSIONS:
            if clause.media_type in {JSON, "application/*", "*/*"}:
                return JSON, params["v"]
            if clause.media_type == YAML:
                return YAML, params["v"]
    raise NotAcceptable(f"only the following media types are accepted: {', '.join((*ALL, _PLAIN))}")


def _answered(request: ApiRequest, kind: str, content: Object, text: Callable[[], str]) -> Answer:
    media_type, version = wanted_form(request.headers.get("accept", ""), kind)
    if media_type == _PLAIN:
        return Response(headers=[("Content-Type", f"{_PLAIN}; charset=utf-8")], body=text().encode())
    head = {"kind": kind, "apiVersion": f"{GROUP}/{version}", "metadata": {"name": COMPONENT}}
    body = write({**head, **content}, media_type, pretty=wants_pretty(request))
    return Response(headers=[("Content-Type", media_type), NO_CACHE], body=body)
