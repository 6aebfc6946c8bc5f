"""The Client protocol: the API as one identity sees it.

Two transports implement it: `hyperkube.client.http.HttpClient` over HTTPS, and the API server's in-process one
(the API server host's `InProcessClient`), which goes through the same authentication, authorization, flow
control, admission and audit. Objects that come back belong to the caller.

Every method raises `hyperkube.machinery.errors.ApiError` for a refusal and `ConnectionError` when there is no server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

PatchBody: TypeAlias = Object | list[Object]
"""A merge, strategic or apply patch is an object, a JSON patch a list of operations."""

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]


@dataclass(frozen=True, slots=True)
class ObjectList:
    """One page of a list: items without kind and apiVersion filled in are given them by the transport."""

    items: list[Object]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change; `object` is a Status for ERROR, and carries only a resourceVersion for BOOKMARK."""

    type: EventType
    object: Object


class Watch(Protocol):
    """A stream of changes; iterate it on one thread, `close` it from any."""

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield events until the server ends the watch or `close` is called."""

    def close(self) -> None:
        """End the iteration, also when it is blocked; idempotent."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a look at a `QuietWatch` brought.

    Attributes:
        ended: no more will come; the last event may be the ERROR that says why.
        seconds: with events, how long the reader should leave the watch alone (of the machine's time); without, after
            how many of the cluster's time to look again if it does not ring.
    """

    events: Sequence[WatchEvent]
    ended: bool = False
    seconds: float = 0.0


class QuietWatch(Watch, Protocol):
    """A watch that can be looked at in passing, so that one thread serves many.

    A client with an attribute ``shared_threads`` (`hyperkube.client.shared_threads`) gives such watches, and answers
    its lists without a network: its informers, of whatever factory, get turns on those threads.
    """

    def connect(self, ring: Callable[[], None]) -> None:
        """Have `ring` called, from any thread, when there is something to take: at once if there is already.

        It does not ring again before a look that brought nothing.
        """

    def take(self) -> Taken:
        """Return what there is by now, without waiting; on one thread at a time."""


@dataclass(frozen=True, slots=True)
class RawResponse:
    """The answer to a raw request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Client(Protocol):
    """The API as one identity sees it; safe to use from many threads."""

    def get(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str = "",
        *,
        subresource: str = "",
        resource_version: str = "",
    ) -> Object:
        """Return one object (or its subresource)."""

    def list(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        limit: int = 0,
        continue_token: str = "",
    ) -> ObjectList:
        """Return the objects of a namespace, or of all with an empty one."""

    def watch(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> Watch:
        """Watch from `resource_version` on."""

    def create(
        self,
        resource: GroupVersionResource,
        obj: Object,
        namespace: str = "",
        *,
        name: str = "",
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Object:
        """Create an object; with `name` and `subresource`, post to a subresource (binding, eviction, token)."""

    def update(
        self,
        resource: GroupVersionResource,
        obj: Object,
        namespace: str = "",
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Object:
        """Replace an object, or its status or other subresource."""

    def patch(
        self,
        resource: GroupVersionResource,
        name: str,
        patch: PatchBody,
        namespace: str = "",
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object; `force` is for apply patches."""

    def delete(
        self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object | None = None
    ) -> Object:
        """Delete an object; `options` is DeleteOptions (gracePeriodSeconds, propagationPolicy, preconditions)."""

    def delete_collection(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        options: Object | None = None,
    ) -> None:
        """Delete all objects that match."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> RawResponse:
        """Make any request (discovery, health, proxies) and return the answer whatever its status."""
