"""Health checks and their endpoints: ``/healthz``, ``/livez``, ``/readyz``.

Each also answers for one check alone, and knows ``verbose`` and ``exclude``.
Source of paths and texts: kubernetes apiserver ``pkg/server/healthz/healthz.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from hyperkube.serving.exchange import HttpRequest, Response
from hyperkube.serving.wire import plain

Check: TypeAlias = Callable[[], str]
"""Returns why it fails, or the empty string; quick, and called from several threads."""

_TEXT = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]


def _ping() -> str:
    return ""


class HealthChecks:
    """Named checks of one endpoint, in the order they are reported."""

    def __init__(self, name: str, logger: logging.Logger, checks: Iterable[tuple[str, Check]] = ()) -> None:
        """Make an endpoint with the check ``ping``, which always succeeds, before the given ones.

        Args:
            name: ``healthz``, ``livez`` or ``readyz``.
            logger: for the reasons, which clients are not told.
            checks: by name.
        """
        self.name = name
        self._logger = logger
        self._checks: dict[str, Check] = {"ping": _ping, **dict(checks)}

    def add(self, name: str, check: Check) -> None:
        """Add a check, or replace the one of that name."""
        self._checks = {**self._checks, name: check}

    @property
    def names(self) -> tuple[str, ...]:
        """The checks' names in order."""
        return tuple(self._checks)

    def failures(self) -> dict[str, str]:
        """Return why which checks fail; empty when all is well."""
        reasons = {name: self._run(check) for name, check in self._checks.items()}
        return {name: reason for name, reason in reasons.items() if reason}

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer if the path is this endpoint's or one of its checks'; otherwise return None."""
        return self.reply(request.path, request.query() if request.query_string else {})

    def reply(self, path: str, query: Mapping[str, Sequence[str]]) -> Response | None:
        """Answer as `answer` does, for a path and query that are parsed already."""
        base = f"/{self.name}"
        path = path.rstrip("/")
        if path == base:
            return self._all(query)
        if not path.startswith(f"{base}/"):
            return None
        check = self._checks.get(path[len(base) + 1 :])
        if check is None:
            return plain(404, "404 page not found")
        reason = self._run(check)
        if reason:
            return plain(500, f"internal server error: {reason}")
        return Response(headers=list(_TEXT), body=b"ok")

    def _all(self, query: Mapping[str, Sequence[str]]) -> Response:
        excluded = set(query.get("exclude", ()))
        lines, failed = [], False
        for name, check in self._checks.items():
            if name in excluded:
                excluded.discard(name)
                lines.append(f"[+]{name} excluded: ok")
                continue
            reason = self._run(check)
            if reason:
                failed = True
                self._logger.info("%s check %r failed: %s", self.name, name, reason)
            lines.append(f"[-]{name} failed: reason withheld" if reason else f"[+]{name} ok")
        if excluded:
            names = ",".join(f'"{name}"' for name in sorted(excluded))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        if failed:
            return plain(500, "\n".join([*lines, f"{self.name} check failed"]))
        if "verbose" not in query:
            return Response(headers=list(_TEXT), body=b"ok")
        return Response(headers=list(_TEXT), body="\n".join([*lines, f"{self.name} check passed", ""]).encode())

    def _run(self, check: Check) -> str:
        try:
            return check()
        except Exception as error:
            self._logger.exception("a %s check is broken", self.name)
            return f"{type(error).__name__}: {error}"
