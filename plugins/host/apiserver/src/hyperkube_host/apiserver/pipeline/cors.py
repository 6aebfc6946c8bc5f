"""Cross-origin requests: which web pages may use the API from a browser, by ``--cors-allowed-origins``.

Source: kubernetes apiserver ``pkg/server/filters/cors.go``, ``pkg/server/options/server_run_options.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hyperkube_lib.serving.exchange import (
    Answer,
    Handler,
    HttpRequest,
    Postponed,
    Response,
    StreamResponse,
    TakesTurns,
)
from hyperkube_lib.serving.priority import Priority

from hyperkube.machinery.errors import UsageError

_METHODS = "POST, GET, OPTIONS, PUT, DELETE, PATCH"
_HEADERS = (
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"
)


def origins(expressions: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Return the expressions, compiled.

    Raises:
        UsageError: one is none, or would match hosts that merely contain the wanted one.
    """
    return tuple(_origin(text) for text in expressions if text)


def _origin(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise UsageError(f"--cors-allowed-origins has an invalid regular expression: {text!r}: {error}") from error
    if not (("^" in text or "//" in text) and ("$" in text or ":" in text.partition("//")[2])):
        hint = "it must pin the start (^ or //) and the end ($ or :) of the host, e.g. '//example.com(:|$)'"
        raise UsageError(f"--cors-allowed-origins has an invalid regular expression: {text!r}: {hint}")
    return pattern


class CrossOrigin:
    """A `Handler` around another: answers preflights, and adds the headers that browsers ask for."""

    def __init__(self, handler: Handler, allowed: Iterable[re.Pattern[str]]) -> None:
        self._handler = handler
        self._allowed = tuple(allowed)
        self.turns = handler.turns if isinstance(handler, TakesTurns) else None

    def handle(self, request: HttpRequest) -> Answer | Postponed:
        """Answer one request; what comes from no allowed origin as if nothing had been said of one."""
        origin = request.headers.get("origin", "")
        if not origin or not any(pattern.search(origin) for pattern in self._allowed):
            return self._handler.handle(request)
        if request.method == "OPTIONS":
            return Response(status=204, headers=_headers(origin))
        answer = self._handler.handle(request)
        if isinstance(answer, Postponed):
            proceed = answer.proceed
            return Postponed(wait=answer.wait, proceed=lambda: _marked(proceed(), origin))
        return _marked(answer, origin)

    def hot(self, request: HttpRequest) -> Response | None:
        """Answer at once what comes from no web page."""
        return None if "origin" in request.headers else self._handler.hot(request)

    def takes_turns(self, request: HttpRequest) -> bool:
        """Tell whether the request may be handled on a turn."""
        return isinstance(self._handler, TakesTurns) and self._handler.takes_turns(request)

    def priority(self, request: HttpRequest) -> Priority:
        """Tell how soon the request has its turn."""
        return self._handler.priority(request) if isinstance(self._handler, TakesTurns) else Priority.USUAL

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the request may stay open beyond the request timeout."""
        return self._handler.is_long_running(request)


def _marked(answer: Answer, origin: str) -> Answer:
    if isinstance(answer, Response | StreamResponse):
        answer.headers += _headers(origin)
    return answer


def _headers(origin: str) -> list[tuple[str, str]]:
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Methods", _METHODS),
        ("Access-Control-Allow-Headers", _HEADERS),
        ("Access-Control-Expose-Headers", "Date"),
        ("Access-Control-Allow-Credentials", "true"),
    ]
