"""Health: /healthz, /livez and /readyz, their single checks, and how they are shown.

Source: kubernetes apiserver ``pkg/server/healthz/healthz.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from hyperkube.apiserver.calls import ApiRequest
from hyperkube.serving.exchange import Response
from hyperkube.serving.health import HealthChecks

_READY = "readyz"
_NAMES = ("healthz", "livez", _READY)


@dataclass(frozen=True, slots=True)
class Check:
    """One check; `passes` returns or raises, `only_ready` leaves it out of all but /readyz."""

    name: str
    passes: Callable[[], bool]
    only_ready: bool = False


class Health:
    """The checks of one server."""

    def __init__(self, checks: Sequence[Check], logger: logging.Logger) -> None:
        self._logger = logger
        self._endpoints = [
            HealthChecks(
                name,
                logger,
                (
                    (check.name, partial(self._reason, check))
                    for check in checks
                    if name == _READY or not check.only_ready
                ),
            )
            for name in _NAMES
        ]

    def ready(self) -> bool:
        """Tell whether every check passes."""
        return not next(one for one in self._endpoints if one.name == _READY).failures()

    def paths(self) -> list[str]:
        """Return the paths that are answered."""
        return [
            path for one in self._endpoints for path in (f"/{one.name}", *(f"/{one.name}/{name}" for name in one.names))
        ]

    def answer(self, request: ApiRequest) -> Response | None:
        """Answer a request for a health path, None when it is none."""
        answers = (one.reply(request.path, request.query) for one in self._endpoints)
        return next((answer for answer in answers if answer is not None), None)

    def _reason(self, check: Check) -> str:
        """Return why it fails, in words that anybody may read: the log alone says more."""
        try:
            return "" if check.passes() else "check failed"
        except Exception:
            self._logger.exception("health check %r failed", check.name)
            return "check failed"


def text(body: str, status: int = 200) -> Response:
    """Return an answer of plain text."""
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
    return Response(status=status, headers=headers, body=body.encode())
