"""Health: /healthz, /livez and /readyz, their single checks, and how they are shown.

Source: kubernetes apiserver ``pkg/server/healthz/healthz.go``, ``pkg/server/healthz.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_lib.serving.exchange import Response
from hyperkube_lib.serving.health import HealthChecks, service_level_indicators

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass

_LIVE, _READY = "livez", "readyz"
_NAMES = ("healthz", _LIVE, _READY)


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        passes: returns whether it does, or raises.
        only_ready: belongs to /readyz alone.
        never_ready: belongs to the others alone.
        starts: is a step of the start, which /livez gives time for.
    """

    name: str
    passes: Callable[[], bool]
    only_ready: bool = False
    never_ready: bool = False
    starts: bool = False

    def belongs_to(self, endpoint: str) -> bool:
        """Tell whether an endpoint makes this check."""
        return not (self.never_ready if endpoint == _READY else self.only_ready)


class Health:
    """The checks of one server.

    Args:
        checks: in the order they are reported.
        logger: for the reasons of failures.
        clock: the server's.
        grace: seconds from now in which steps of the start do not fail /livez.
    """

    def __init__(self, checks: Sequence[Check], logger: logging.Logger, clock: Clock, *, grace: float = 0.0) -> None:
        self._logger = logger
        self._clock = clock
        self._patient_until = clock.monotonic() + grace
        self._endpoints = [
            HealthChecks(
                name,
                logger,
                ((check.name, partial(self._reason, check, name)) for check in checks if check.belongs_to(name)),
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

    def indicators(self) -> bytes:
        """Return what ``/metrics/slis`` says."""
        return service_level_indicators(self._endpoints)

    def _reason(self, check: Check, endpoint: str) -> str:
        """Return why it fails, in words that any client may read: the log alone says more."""
        if check.starts and endpoint == _LIVE and self._clock.monotonic() < self._patient_until:
            return ""
        try:
            return "" if check.passes() else "check failed"
        except Exception:
            self._logger.exception("health check %r failed", check.name)
            return "check failed"


def text(body: str, status: int = 200) -> Response:
    """Return an answer of plain text."""
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
    return Response(status=status, headers=headers, body=body.encode())
