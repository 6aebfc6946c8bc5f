"""Health checks and their endpoints: ``/healthz``, ``/livez``, ``/readyz``.

Each also answers for one check alone, and knows ``verbose`` and ``exclude``. What the checks said is counted, for
``/metrics/slis``.
Source of paths and texts: kubernetes apiserver ``pkg/server/healthz/healthz.go``, component-base
``metrics/prometheus/slis/metrics.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.wire import plain

Check: TypeAlias = Callable[[], str]
"""Returns why it fails, or the empty string; quick, and called from several threads."""

_STATUS = {True: "success", False: "error"}
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
        self._more: Callable[[], Mapping[str, Check]] = dict
        self._counts: dict[tuple[str, bool], int] = {}
        self._last: dict[str, bool] = {}

    def add(self, name: str, check: Check) -> None:
        """Add a check, or replace the one of that name."""
        self._checks = {**self._checks, name: check}

    def add_all(self, more: Callable[[], Mapping[str, Check]]) -> None:
        """Add checks that come and go: `more` is asked for them each time, and they are reported last."""
        self._more = more

    def _all_checks(self) -> dict[str, Check]:
        return {**self._checks, **self._more()}

    @property
    def names(self) -> tuple[str, ...]:
        """The checks' names in order."""
        return tuple(self._all_checks())

    def failures(self) -> dict[str, str]:
        """Return why which checks fail; empty when all is well."""
        reasons = {name: self._run(check) for name, check in self._all_checks().items()}
        return {name: reason for name, reason in reasons.items() if reason}

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer if the path is this endpoint's or one of its checks'; otherwise return None."""
        return self.reply(request.path, request.query() if request.query_string else {})

    def reply(self, path: str, query: Mapping[str, Sequence[str]]) -> Response | None:
        """Answer as `answer` does, for a path and query that are parsed already."""
        base = f"/{self.name}"
        if path == base:
            return self._all(query)
        if not path.startswith(f"{base}/"):
            return None
        check = self._all_checks().get(path[len(base) + 1 :])
        if check is None:
            return plain(404, "404 page not found")
        reason = self._run(check)
        if reason:
            return plain(500, f"internal server error: {reason}")
        return Response(headers=list(_TEXT), body=b"ok")

    def _all(self, query: Mapping[str, Sequence[str]]) -> Response:
        excluded = set(query.get("exclude", ()))
        lines, failed = [], False
        for name, check in self._all_checks().items():
            if name in excluded:
                excluded.discard(name)
                lines.append(f"[+]{name} excluded: ok")
                continue
            reason = self._run(check)
            self._count(name, passed=not reason)
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

    def _count(self, name: str, *, passed: bool) -> None:
        self._last[name] = passed
        self._counts[name, passed] = self._counts.get((name, passed), 0) + 1

    def indicators(self) -> tuple[list[str], list[str]]:
        """Return the lines of both metrics, as far as the endpoint was asked: what checks said last, and how often."""
        last = [
            f'kubernetes_healthcheck{{name="{name}",type="{self.name}"}} {int(passed)}'
            for name, passed in sorted(self._last.items())
        ]
        totals = [
            f'kubernetes_healthchecks_total{{name="{name}",status="{_STATUS[passed]}",type="{self.name}"}} {count}'
            for (name, passed), count in sorted(self._counts.items())
        ]
        return last, totals

    def _run(self, check: Check) -> str:
        try:
            return check()
        except Exception as error:
            self._logger.exception("a %s check is broken", self.name)
            return f"{type(error).__name__}: {error}"


def service_level_indicators(endpoints: Iterable[HealthChecks]) -> bytes:
    """Return what ``/metrics/slis`` says of the endpoints, in Prometheus' text format."""
    last: list[str] = []
    totals: list[str] = []
    for endpoint in endpoints:
        now, counted = endpoint.indicators()
        last += now
        totals += counted
    lines = [
        "# HELP kubernetes_healthcheck What a health check said last: 1 for passed.",
        "# TYPE kubernetes_healthcheck gauge",
        *last,
        "# HELP kubernetes_healthchecks_total How often a health check was made.",
        "# TYPE kubernetes_healthchecks_total counter",
        *totals,
    ]
    return "\n".join(lines).encode() + b"\n"
