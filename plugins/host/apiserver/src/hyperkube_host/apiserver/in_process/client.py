"""The in-process transport: the `Client` protocol over the pipeline, without a socket and without bytes where possible.

A call runs in its caller's thread as an explicit user, through the same authorization, admission and verbs as HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from itertools import islice
from typing import TypeAlias
from urllib.parse import urlencode, urlsplit

import orjson
from hyperkube_host.apiserver.aggregation.fetch import fetch
from hyperkube_host.apiserver.in_process.watch import TOGETHER, InProcessWatch
from hyperkube_host.apiserver.pipeline.request_path import RequestPath
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_host.apiserver.request.results import ListPage, ObjectResult, OpenedWatch, RawResult
from hyperkube_host.apiserver.serializer.encode import is_shared, items_of
from hyperkube_lib.serving.exchange import HttpRequest, RelayUpgrade, Response
from hyperkube_lib.serving.loop import TimeSlices
from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.client.client import APPLY_PATCH, MERGE_PATCH, ObjectList, RawResponse
from hyperkube.client.projected_list import ListOptions, Projections
from hyperkube.client.shared_threads import SharedThreads
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import InternalError, ServiceUnavailable, from_status
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, name_of, namespace_of
from hyperkube.machinery.random import unique_id
from hyperkube.machinery.users import APISERVER_USER, UserInfo

Patch: TypeAlias = Object | list[Object]
"""The body of a patch."""


class InProcessClient:
    """The API as one identity sees it, in the API server's own process; implements `hyperkube.client.client.Client`."""

    is_remote = False
    """Its watches cost next to nothing."""

    def __init__(
        self,
        path: Callable[[], RequestPath],
        user: UserInfo,
        clock: Clock,
        shared_threads: SharedThreads,
        agent: str = "",
        slices: TimeSlices | None = None,
    ) -> None:
        """Ask as `user`.

        Args:
            path: returns the server's, which need not be built before the first request.
            user: who asks.
            clock: the cluster's time.
            shared_threads: of the informers of all such clients, whose watches are
                `hyperkube.client.client.QuietWatch`.
            agent: the user agent, if not the user's name.
            slices: for which a long list, or many events, are parsed before the server's loop has its turn.
        """
        self.shared_threads = shared_threads
        self._path = path
        self._slices = slices or TimeSlices(None)
        self._clock = clock
        self._headers = {
            "user-agent": agent or ("kube-apiserver" if user.name == APISERVER_USER else user.name.rpartition(":")[2])
        }
        self.user = user

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
        query = {"resourceVersion": resource_version}
        return self._one(self._request("GET", resource.path(namespace, name, subresource), query))

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
        query = {
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "resourceVersion": resource_version,
            "limit": str(limit or ""),
            "continue": continue_token,
        }
        result = self._listed(resource, namespace, query)
        if not isinstance(result, ListPage):
            return result
        return ObjectList(items_of(result), str(result.revision), result.continue_token, result.remaining)

    def list_projected(self, options: ListOptions, project: Callable[[Object], Object]) -> Iterator[Projections]:
        """Yield what `project` returns for each object of a list; none is parsed twice to fill the cache, too.

        They come a few at a time, and the loop has its turn between two of these: of 50,000 pods all at once would
        keep it from its own for seconds.
        """
        query = {"labelSelector": options.label_selector, "fieldSelector": options.field_selector}
        known: dict[CachedObject, Object] = {}

        def tell(cached: CachedObject, obj: Object) -> None:
            obj["metadata"]["resourceVersion"] = str(cached.revision)
            try:
                known[cached] = project(obj)
            except Exception:  # noqa: BLE001  a projection's bug is no fault of the object's: it is raised below
                known.pop(cached, None)

        served = self._path().pipeline.services.registry.find(options.resource)
        stored = served.storage if served is not None and not served.converts else None
        with stored.loads.telling(tell) if stored is not None else nullcontext():
            result = self._listed(options.resource, options.namespace, query)
        if not isinstance(result, ListPage):
            yield Projections([project(obj) for obj in result.items], result.resource_version)
            return
        version = str(result.revision)
        if not is_shared(result):
            yield Projections([project(obj) for obj in items_of(result)], version)
            return
        parsed = result.served.parsed
        objects = iter(result.objects)
        while True:
            some = islice(objects, TOGETHER)
            items = [known.pop(each) if each in known else project(parsed(each)) for each in some]
            yield Projections(items, version)
            if len(items) < TOGETHER:
                return
            self._slices.rest()

    def _listed(
        self, resource: GroupVersionResource, namespace: str, query: Mapping[str, str]
    ) -> ListPage | ObjectList:
        """Return a page of the server's own, or another server's list."""
        result = self._run(self._request("GET", resource.path(namespace), query))
        if isinstance(result, RawResult) and isinstance(result.answer, Response) and result.answer.status < 300:
            return _listed(orjson.loads(result.answer.body))
        if isinstance(result, RawResult) and isinstance(result.answer, Response):
            raise from_status(_status_of(result.answer))
        if not isinstance(result, ListPage):
            raise InternalError(f"a list of {resource.resource!r} was answered with {type(result).__name__}")
        return result

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
    ) -> InProcessWatch:
        """Watch from `resource_version` on."""
        query = {
            "watch": "1",
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true" if bookmarks else "",
            "timeoutSeconds": str(timeout_seconds or ""),
        }
        result = self._run(self._request("GET", resource.path(namespace), query))
        if not isinstance(result, OpenedWatch):
            raise InternalError(f"a watch of {resource.resource!r} was answered with {type(result).__name__}")
        return InProcessWatch(result, self._clock, self._slices)

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
        path = resource.path(namespace or namespace_of(obj), name, subresource)
        return self._one(self._request("POST", path, _write_query(field_manager, dry_run=dry_run), obj))

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
        path = resource.path(namespace or namespace_of(obj), name_of(obj), subresource)
        return self._one(self._request("PUT", path, _write_query(field_manager, dry_run=dry_run), obj))

    def patch(
        self,
        resource: GroupVersionResource,
        name: str,
        patch: Patch,
        namespace: str = "",
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object; `force` is for apply patches."""
        query = _write_query(field_manager, dry_run=dry_run)
        if patch_type == APPLY_PATCH:
            query["force"] = "true" if force else "false"
        request = self._request("PATCH", resource.path(namespace, name, subresource), query, patch)
        request.headers = {**self._headers, "content-type": patch_type}
        return self._one(request)

    def delete(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str = "",
        *,
        options: Object | None = None,
    ) -> Object:
        """Delete an object; `options` is a DeleteOptions body."""
        return self._one(self._request("DELETE", resource.path(namespace, name), {}, options))

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
        query = {"labelSelector": label_selector, "fieldSelector": field_selector}
        self._run(self._request("DELETE", resource.path(namespace), query, options))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> RawResponse:
        """Make any request and return the answer whatever its status; streams and upgrades need a real connection.

        Raises:
            ServiceUnavailable: another server is to answer, and cannot be reached.
        """
        parts = urlsplit(path)
        text = "&".join(piece for piece in (parts.query, urlencode(query or {})) if piece)
        lower = {name.lower(): value for name, value in (headers or {}).items()}
        answer = self._path().handler.answer(
            HttpRequest(
                method=method,
                path=parts.path,
                raw_path=parts.path,
                query_string=text,
                headers={**self._headers, **lower},
                body=body,
                user=self.user,
            )
        )
        if isinstance(answer, RelayUpgrade):
            answer = self._ask_elsewhere(answer, method, {**self._headers, **lower}, body)
        if not isinstance(answer, Response):
            raise InternalError(f"{method} {path} is answered by a stream, which needs a connection")
        return RawResponse(answer.status, dict(answer.headers), answer.body)

    def _request(self, method: str, path: str, query: Mapping[str, str], content: Patch | None = None) -> ApiRequest:
        given = {name: [value] for name, value in query.items() if value}
        return ApiRequest(
            method=method,
            path=path,
            info=parse(method, path, given),
            query=given,
            headers=self._headers,
            content=content,
            user=self.user,
            inside=True,
            audit_id=unique_id(self._path().pipeline.services.random),
        )

    def _run(self, request: ApiRequest) -> ObjectResult | ListPage | OpenedWatch | RawResult:
        audit = self._path().handler.audit
        if audit is None:
            return self._answer(request)
        query = urlencode([(name, value) for name, values in request.query.items() for value in values])
        uri = f"{request.path}?{query}" if query else request.path
        return audit.around(request, uri, lambda: self._answer(request))

    def _answer(self, request: ApiRequest) -> ObjectResult | ListPage | OpenedWatch | RawResult:
        self._path().pipeline.authorize(request)
        result = self._path().pipeline.answer(request)
        if isinstance(result, RawResult) and isinstance(result.answer, RelayUpgrade):
            body = request.body or (orjson.dumps(request.content) if request.content is not None else b"")
            return RawResult(self._ask_elsewhere(result.answer, request.method, request.headers, body))
        return result

    def _ask_elsewhere(self, relay: RelayUpgrade, method: str, given: Mapping[str, str], body: bytes) -> Response:
        """Return another server's answer; this process is no client behind the edge, so it asks by itself.

        Raises:
            ServiceUnavailable: the other server cannot be reached.
        """
        headers = {"Host": relay.server_name, "Accept": "application/json", **given}
        if body:
            headers.setdefault("content-type", "application/json")
        try:
            return fetch(relay, self._clock, method, headers, body, self._path().kept)
        except OSError as error:
            raise ServiceUnavailable(f"error trying to reach service: {error}") from error

    def _one(self, request: ApiRequest) -> Object:
        result = self._run(request)
        if isinstance(result, ObjectResult):
            if result.cached is not None and result.served is not None:
                return result.served.parsed(result.cached)
            if result.body:
                written: Object = orjson.loads(result.body)
                return written
            if result.obj is not None:
                return copy_object(result.obj)
        if isinstance(result, ListPage):
            return {"items": items_of(result)}
        answer = result.answer if isinstance(result, RawResult) else None
        if isinstance(answer, Response) and answer.status >= 400:
            raise from_status(_status_of(answer))
        if isinstance(answer, Response):
            found: Object = orjson.loads(answer.body)
            return found
        raise InternalError(f"{request.method} {request.path} is not answered with an object")


def _listed(body: Object) -> ObjectList:
    """Return another server's list."""
    meta, kind = body.get("metadata") or {}, str(body.get("kind", "")).removesuffix("List")
    head = {"kind": kind, "apiVersion": body.get("apiVersion", "")}
    items = [{**head, **item} for item in body.get("items") or []]
    return ObjectList(items, meta.get("resourceVersion", ""), meta.get("continue", ""), meta.get("remainingItemCount"))


def _status_of(answer: Response) -> Object:
    try:
        status: Object = orjson.loads(answer.body)
    except ValueError:
        reason = {404: "NotFound", 503: "ServiceUnavailable"}.get(answer.status, "")
        return {"message": answer.body.decode("utf-8", "replace").strip(), "reason": reason, "code": answer.status}
    return status


def _write_query(field_manager: str, *, dry_run: bool) -> dict[str, str]:
    return {"fieldManager": field_manager, "dryRun": "All" if dry_run else ""}
