"""Reads: get, list and watch, all answered from the watch cache's bytes.

Source: kubernetes apiserver ``pkg/endpoints/handlers/get.go``, ``pkg/storage/cacher``.
"""

from __future__ import annotations

from functools import partial

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.request.results import ListPage, ObjectResult, OpenedWatch, WatchSignal
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.continue_token import encode_token
from hyperkube_host.apiserver.rest.list_options import (
    check,
    list_options,
    number,
    resource_version,
    wants_initial_events,
)
from hyperkube_host.apiserver.rest.selection import select
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_lib.watch_cache.listing import ListResult

from hyperkube.machinery.errors import BadRequest, Expired, NotFound
from hyperkube.machinery.objects import Object

_MIN_WATCH_SECONDS = 1800

_MOST_NAMED = 10


def get(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer a GET of an object.

    Raises:
        BadRequest: it shall be exported.
        NotFound: there is none.
    """
    served = target.served
    if flag(request.query, "export"):
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
    if served.spec.read is not None:
        call = services.call(request, target, verb="get")
        return ObjectResult(served, served.spec.read(call))
    version = resource_version(request)
    cached = served.stored().cache.get(target.namespace, target.name, resource_version=version)
    if cached is None:
        raise NotFound.about(served.group_resource, target.name)
    return ObjectResult(served, cached=cached)


def list_objects(services: Services, request: ApiRequest, target: Target) -> ListPage:
    """Answer a GET of a collection."""
    served = target.served
    if served.spec.read is not None:
        answer: Object = served.spec.read(services.call(request, target, verb="list"))
        return ListPage(served, (), 0, computed=answer.get("items") or [])
    selection = select(request, target)
    prefix = f"{selection.namespace}/" if selection.namespace else ""
    cache = served.stored().cache
    options = list_options(request, prefix, is_cached=cache.is_cached)
    listed = partial(
        cache.list,
        namespace=selection.namespace,
        # An informer of one object lists it by its name, and the kubelet has one for each ConfigMap of its pods.
        name=selection.name if selection.namespace or not served.spec.namespaced else "",
        index=selection.index,
        start=options.start,
        resource_version=options.version,
        exact=options.exact,
        holds=selection.holds,
    )
    try:
        if selection.converted is not None:  # asks once for all of them; each is then known
            served.parsed_all(listed(matches=selection.matches).objects)
        result: ListResult = listed(matches=selection.all_of(), limit=options.limit)
    except Expired as error:
        raise _expired(error, request, options.start, prefix) from error
    if cache.lost:
        _tell_of_lost(request, target, selection.namespace)
    token = encode_token(result.next_start, prefix, result.revision) if result.next_start else ""
    return ListPage(served, result.objects, result.revision, token, result.remaining if selection.is_whole else None)


def _tell_of_lost(request: ApiRequest, target: Target, namespace: str) -> None:
    """Warn the client of objects that a list goes on without, since the store has lost them."""
    cache = target.served.stored().cache
    within = cache.prefix + (f"{namespace}/" if namespace else "")
    lost = sorted(key.removeprefix(within) for key in cache.lost if key.startswith(within))
    if lost:
        more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
        named = ", ".join(lost[:_MOST_NAMED])
        request.warn(f"the store has lost {target.served.group_resource} that are left out here: {named}{more}")


class ExpiredPage(Expired):
    """A page of a list that is not retained any more; the Status carries a token to go on without consistency."""

    def __init__(self, fresh_token: str) -> None:
        super().__init__(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list "
            "without the continue parameter, or use the continue token in this response to retrieve the remainder of "
            "the results. Continuing with the provided token results in an inconsistent list - objects that were "
            "created, modified, or deleted between the time the first chunk was returned and now may show up in the "
            "list."
        )
        self.fresh_token = fresh_token

    def status(self) -> Object:
        """Return the Status, with the token in its metadata."""
        return {**super().status(), "metadata": {"continue": self.fresh_token}}


def _expired(error: Expired, request: ApiRequest, start: str, prefix: str) -> Expired:
    if not request.param("continue"):
        return error
    return ExpiredPage(encode_token(start, prefix, -1))


def watch(services: Services, request: ApiRequest, target: Target) -> OpenedWatch:
    """Answer a watch of a collection."""
    seconds = number(request, "timeoutSeconds")
    number(request, "limit")
    check(request, watch=True)
    selection = select(request, target)
    version = resource_version(request)
    if not seconds:
        least = services.options.requests.min_request_timeout or _MIN_WATCH_SECONDS
        seconds = int(least * (1 + services.random.random()))
    initial = wants_initial_events(request)
    name = selection.name or (target.name if target.name and not request.param("fieldSelector") else "")
    signal, bookmarks = WatchSignal(), flag(request.query, "allowWatchBookmarks")
    try:
        opened = target.served.stored().cache.watch(
            namespace=selection.namespace,
            name=name,
            index=selection.index,
            matches=selection.matches,
            resource_version=version,
            initial_events=initial,
            notify=signal,
        )
    except Expired as error:
        return OpenedWatch(target.served, None, signal, bookmarks, float(seconds), error)
    return OpenedWatch(target.served, opened, signal, bookmarks, float(seconds), accepts=selection.converted)
