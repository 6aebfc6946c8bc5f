"""Health: /healthz, /livez and /readyz, their single checks, and how they are shown.

Source: kubernetes apiserver ``pkg/server/healthz/healthz.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hyperkube.apiserver.calls import ApiRequest
from hyperkube.serving.exchange import Response

ROOTS = ("/healthz", "/livez", "/readyz")


@dataclass(frozen=True, slots=True)
class Check:
    """One check; `passes` returns or raises, `only_ready` leaves it out of all but /readyz."""

    name: str
    passes: Callable[[], bool]
    only_ready: bool = False


class Health:
    """The checks of one server."""

    def __init__(self, checks: Sequence[Check], logger: logging.Logger) -> None:
        self._checks = tuple(checks)
        self._logger = logger

    def ready(self) -> bool:
        """Tell whether every check passes."""
        return all(self._passes(check) for check in self._checks)

    def paths(self) -> list[str]:
        """Return the paths that are answered."""
        return [path for root in ROOTS for path in (root, *(f"{root}/{check.name}" for check in self._of(root)))]

    def answer(self, request: ApiRequest) -> Response | None:
        """Answer a request for a health path, None when it is none."""
        path = request.path.rstrip("/")
        root = next((root for root in ROOTS if path == root or path.startswith(f"{root}/")), None)
        if root is None:
            return None
        if path != root:
            return self._single(root, path.removeprefix(f"{root}/"))
        return self._all(request, root)

    def _of(self, root: str) -> list[Check]:
        return [check for check in self._checks if root == "/readyz" or not check.only_ready]

    def _single(self, root: str, name: str) -> Response | None:
        check = next((check for check in self._of(root) if check.name == name), None)
        if check is None:
            return None
        if self._passes(check):
            return text("ok")
        return text("internal server error: check failed\n", 500)

    def _all(self, request: ApiRequest, root: str) -> Response:
        excluded = set(request.query.get("exclude") or [])
        lines: list[str] = []
        failed: list[str] = []
        checks = self._of(root)
        for check in checks:
            if check.name in excluded:
                excluded.discard(check.name)
                lines.append(f"[+]{check.name} excluded: ok")
            elif self._passes(check):
                lines.append(f"[+]{check.name} ok")
            else:
                failed.append(check.name)
                lines.append(f"[-]{check.name} failed: reason withheld")
        if excluded:
            named = ", ".join(f'"{name}"' for name in sorted(excluded))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {named}")
        title = root.strip("/")
        if failed:
            return text("\n".join(lines) + f"\n{title} check failed\n", 500)
        if "verbose" not in request.query:
            return text("ok")
        return text("\n".join(lines) + f"\n{title} check passed\n")

    def _passes(self, check: Check) -> bool:
        try:
            return check.passes()
        except Exception:
            self._logger.exception("health check %r failed", check.name)
            return False


def text(body: str, status: int = 200) -> Response:
    """Return an answer of plain text."""
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
    return Response(status=status, headers=headers, body=body.encode())
