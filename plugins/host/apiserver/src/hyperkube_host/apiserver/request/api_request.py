"""The record of one request on its way through the pipeline, and of what it addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import TYPE_CHECKING, Any

from hyperkube_host.apiserver.request.request_info import RequestInfo
from hyperkube_host.apiserver.request.warning_headers import Warnings
from hyperkube_host.apiserver.resources.known_metadata import KnownStatus

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube_host.apiserver.audit.event import AuditEvent
    from hyperkube_lib.serving.request_budget import RequestBudget


_UNLIMITED = nullcontext()
_SHORT = 16 * 1024
_LINEAR = frozenset(
    f"application/{form}"
    for form in ("json", "json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "vnd.kubernetes.protobuf")
)
"""Formats of bodies that take time in proportion to their length."""


@dataclass(slots=True, kw_only=True)
class ApiRequest:
    """One request on its way through the pipeline, from HTTP or from this process.

    Attributes:
        headers: lower-case names.
        body: as sent; empty for in-process requests that carry `content`.
        content: the parsed body of an in-process request; the caller's, so copied before it is changed.
        inside: whether the request comes from this process, so that no bytes are needed.
        annotations: for the audit log.
        status: the status of its body as it was decoded, for a write to ``/status``.
        budget: of its time; None for requests of this process.
        peer: the client's address and port; empty for requests of this process.
        audit_event: its record in the audit log, None when nothing of it is recorded.
    """

    method: str
    path: str
    info: RequestInfo
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content: Any = None
    inside: bool = False
    user: UserInfo
    audit_id: str = ""
    warnings: list[str] = field(default_factory=Warnings)
    annotations: dict[str, str] = field(default_factory=dict)
    audit_event: AuditEvent | None = None
    budget: RequestBudget | None = None
    peer: tuple[str, int] = ("", 0)
    status: KnownStatus | None = None

    def stoppable(self) -> AbstractContextManager[None]:
        """Return what to do work in that is stopped when the request's time is up: it must neither lock nor store.

        Raises:
            Timeout: when it is entered too late, or broken off.
        """
        return self.budget or _UNLIMITED

    def reading(self) -> AbstractContextManager[None]:
        """Return the same for reading the body; a short one that is no YAML, which has aliases, is read in no time.

        Raises:
            Timeout: as `stoppable`.
        """
        budget = self.budget
        if budget is None or (
            len(self.body) <= _SHORT and not budget.is_over and self.headers.get("content-type") in _LINEAR
        ):
            return _UNLIMITED
        return budget

    def param(self, name: str) -> str:
        """Return the first value of a query parameter, or the empty string."""
        values = self.query.get(name)
        return values[0] if values else ""

    @property
    def is_recorded_whole(self) -> bool:
        """Whether the audit log gets the body of the answer, too."""
        return self.audit_event is not None and self.audit_event.records_response

    def warn(self, text: str) -> None:
        """Add a warning for the client, once."""
        self.warnings.append(text)
