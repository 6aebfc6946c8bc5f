"""What an operator looks up in one server: ``/statusz`` (what runs, since when), ``/flagz`` (with which flags).

Plain text unless the Accept header names the whole kind: ``application/json;g=config.k8s.io;v=v1beta1;as=Statusz``.
Kubernetes separates names from values by a character chosen at random, so that the text is not parsed; here it is
always the same.

Source: kubernetes apiserver ``pkg/server/statusz`` and ``pkg/server/flagz``; the gates are on since 1.36.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.wire import refusal

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, NotAcceptable
from hyperkube.machinery.objects import Object
from hyperkube.machinery.release import GIT_VERSION, SHORT
from hyperkube.machinery.times import format_time

STATUSZ, FLAGZ = "/statusz", "/flagz"
GATES = {STATUSZ: "ComponentStatusz", FLAGZ: "ComponentFlagz"}
GROUP, VERSIONS = "config.k8s.io", frozenset({"v1alpha1", "v1beta1"})
_KINDS = {STATUSZ: "Statusz", FLAGZ: "Flagz"}
_PLAIN, _JSON, _YAML = "text/plain", "application/json", "application/yaml"
_OFFERED = (_JSON, _YAML, "application/vnd.kubernetes.protobuf", _PLAIN)
"""What a refusal names; protobuf is among it in Kubernetes, too, and not to be had."""
_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for"
    " debugging purposes only."
)
_NOT_FOR_DEBUGGING = frozenset({"/", "/apis", "/api", "/openid", "/openapi", "/.well-known"})
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


class Zpages:
    """Both pages of one server."""

    def __init__(
        self,
        name: str,
        clock: Clock,
        flags: Mapping[str, str] | None,
        paths: Callable[[], Iterable[str]],
        gates: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        """Take what they tell.

        Args:
            name: the server's, e.g. ``kube-scheduler``.
            clock: when it was started is now.
            flags: values as they would be typed, by name; None where none were given, as in a server within a test.
            paths: what the server offers, asked when the page is.
            gates: ComponentStatusz and ComponentFlagz close the pages.
        """
        self._name = name
        self._clock = clock
        self._flags = dict(sorted((flags or {}).items()))
        self._paths = paths
        self._started: datetime = clock.now()
        self.offered = tuple(
            path for path, gate in GATES.items() if gates.get(gate, True) and (path != FLAGZ or flags is not None)
        )
        """The pages that are open."""

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer a request to one of the pages; None means the path is none of them."""
        if request.path not in self.offered:
            return None
        agent = request.headers.get("user-agent", "")
        try:
            return self.page(request.path, request.headers.get("accept", ""), pretty=agent.startswith("curl"))
        except ApiError as error:
            return refusal(error)

    def page(self, path: str, accept: str, *, pretty: bool = False) -> Response:
        """Return an open page in the form that is accepted.

        Raises:
            NotAcceptable: none that is accepted is offered: structured forms need the whole kind, text none.
        """
        media_type, version = wanted_form(accept, _KINDS[path])
        if media_type == _PLAIN:
            text = self._status_text() if path == STATUSZ else self._flags_text()
            return Response(headers=[("Content-Type", f"{_PLAIN}; charset=utf-8")], body=text.encode())
        content = self._status() if path == STATUSZ else {"flags": self._flags}
        head = {"kind": _KINDS[path], "apiVersion": f"{GROUP}/{version}", "metadata": {"name": self._name}}
        headers = [("Content-Type", media_type), ("Cache-Control", "no-cache, private")]
        return Response(headers=headers, body=_written({**head, **content}, media_type, pretty=pretty))

    def _status(self) -> Object:
        return {
            "startTime": format_time(self._started),
            "uptimeSeconds": self._uptime(),
            "goVersion": f"{sys.implementation.name} {sys.version.split()[0]}",
            "binaryVersion": GIT_VERSION.removeprefix("v"),
            "emulationVersion": SHORT,
            "paths": sorted({"/" + path.strip("/").partition("/")[0] for path in self._paths()} - _NOT_FOR_DEBUGGING),
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
        return f"\n{self._name} statusz\n{_WARNING}\n\n{lines}"

    def _flags_text(self) -> str:
        lines = "".join(f"{name}={value}\n" for name, value in self._flags.items())
        return f"\n{self._name} flagz\n{_WARNING}\n{lines}"


def unix_date(moment: datetime) -> str:
    """Return a moment as ``date`` prints it, in UTC: ``Wed Oct 16 21:03:43 UTC 2024``."""
    utc = moment.astimezone(UTC)
    return f"{_DAYS[utc.weekday()]} {_MONTHS[utc.month - 1]} {utc.day:2} {utc:%H:%M:%S} UTC {utc.year}"


def wanted_form(accept: str, kind: str) -> tuple[str, str]:
    """Return the media type that a page is wanted in, and for a structured one the version.

    Raises:
        NotAcceptable: none that is accepted is offered.
    """
    if not accept.strip():
        return _PLAIN, ""
    for media_type, params in _clauses(accept):
        if not params.get("as"):
            if media_type in {_PLAIN, "text/*", "*/*"}:
                return _PLAIN, ""
        elif (params["as"], params.get("g")) == (kind, GROUP) and params.get("v") in VERSIONS:
            if media_type in {_JSON, "application/*", "*/*"}:
                return _JSON, params["v"]
            if media_type == _YAML:
                return _YAML, params["v"]
    raise NotAcceptable(f"only the following media types are accepted: {', '.join(_OFFERED)}")


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """Return the clauses of an Accept header, the most wanted first: media types with their parameters."""
    found: list[tuple[float, str, dict[str, str]]] = []
    for part in accept.split(","):
        media_type, *pairs = (piece.strip() for piece in part.split(";"))
        params = {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}
        try:
            quality = float(params.pop("q", "1"))
        except ValueError:
            quality = 1.0
        found.append((quality, media_type.lower(), params))
    return [(media_type, params) for _, media_type, params in sorted(found, key=lambda clause: -clause[0])]


def _written(obj: Object, media_type: str, *, pretty: bool) -> bytes:
    if media_type == _YAML:
        from hyperkube_lib.serving import yaml

        return yaml.dumps(obj)
    from hyperkube_lib.serving import json

    return json.dumps(obj, pretty=pretty)
