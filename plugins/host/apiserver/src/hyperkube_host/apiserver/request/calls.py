"""The records that travel through the pipeline: one request in, one outcome out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hyperkube_host.apiserver.request.request_info import RequestInfo
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_lib.serving.exchange import Answer
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import CacheWatch

from hyperkube.hookspecs.api import Subresource
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube_host.apiserver.audit.trail import Trail


@dataclass(slots=True, kw_only=True)
class ApiRequest:
    """One request on its way through the pipeline, from HTTP or from this process.

    Attributes:
        headers: lower-case names.
        body: as sent; empty for in-process requests that carry `content`.
        content: the parsed body of an in-process request; the caller's, so copied before it is changed.
        inside: whether the request comes from this process, so that no bytes are needed.
        annotations: for the audit log.
        trail: its record in the audit log, None when nothing of it is recorded.
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
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    trail: Trail | None = None

    def param(self, name: str) -> str:
        """Return the first value of a query parameter, or the empty string."""
        values = self.query.get(name)
        return values[0] if values else ""

    def warn(self, text: str) -> None:
        """Add a warning for the client, once."""
        if text not in self.warnings:
            self.warnings.append(text)


@dataclass(frozen=True, slots=True)
class Target:
    """What a resource request addresses."""

    served: ServedResource
    namespace: str
    name: str
    sub: Subresource | None = None

    @property
    def kind(self) -> GroupVersionKind:
        """The kind of the request's object: the subresource's where it has one of its own."""
        return self.sub.kind if self.sub is not None else self.served.kind


@dataclass(slots=True)
class Single:
    """One object as the answer: parsed, or as the cache's bytes."""

    served: ServedResource | None
    obj: Object | None = None
    cached: CachedObject | None = None
    status: int = 200
    body: bytes = b""
    """The JSON of `obj`, where it was made already."""


@dataclass(slots=True)
class Page:
    """A list as the answer; the objects are the cache's, or computed ones."""

    served: ServedResource
    objects: Sequence[CachedObject]
    revision: int
    continue_token: str = ""
    remaining: int | None = None
    computed: Sequence[Object] | None = None


class Doorbell:
    """Tells whoever reads a watch that there is something; rings that nobody heard yet are kept."""

    __slots__ = ("_answer", "_rung")

    def __init__(self) -> None:
        self._answer: Callable[[], None] | None = None
        self._rung = False

    def __call__(self, _watch: CacheWatch) -> None:
        """Ring."""
        self._rung = True
        answer = self._answer
        if answer is not None:
            answer()

    def connect(self, answer: Callable[[], None]) -> None:
        """Call `answer` from now on, at once if it rang before."""
        self._answer = answer
        if self._rung:
            answer()


@dataclass(slots=True)
class Watching:
    """A watch as the answer; whoever takes it closes it.

    Attributes:
        watch: None when it could not begin; `error` says why and is its only event.
        bell: rings when the watch has something to drain.
    """

    served: ServedResource
    watch: CacheWatch | None
    bell: Doorbell
    bookmarks: bool
    seconds: float
    error: ApiError | None = None


@dataclass(slots=True)
class Raw:
    """An answer that is complete as it is: bytes, a stream, or an upgrade."""

    answer: Answer


Outcome: TypeAlias = Single | Page | Watching | Raw
