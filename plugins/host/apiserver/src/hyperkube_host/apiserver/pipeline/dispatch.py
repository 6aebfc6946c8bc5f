"""From the words of a request to the verb that answers it, with the refusals of what is not there or not allowed.

Source: kubernetes apiserver ``pkg/endpoints/installer.go`` (which paths a resource has).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo
from hyperkube_host.apiserver.request.results import Result
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.rest import create, delete, read, update
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.serializer.negotiation import negotiate_custom, negotiate_review
from hyperkube_host.apiserver.serializer.path_errors import PathNotFound, not_allowed, not_found

from hyperkube.hookspecs.api import Subresource
from hyperkube.machinery.errors import MethodNotAllowed, NotFound

Verb = Callable[[Services, ApiRequest, Target], Result]
"""Answers a request for a resource."""

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_ITEM_VERBS = frozenset({"get", "update", "patch", "delete"})


def locate(registry: Registry, info: RequestInfo) -> Target:
    """Return what a resource request addresses.

    Raises:
        PathNotFound: its group is not served, or not by a built-in version and not in that version.
        NotFound: there is no such version or resource, or not at that place.
    """
    known, generation = info.found, registry.generation
    if known is not None and known[0] == generation:
        return known[1]
    target = _located(registry, info)
    if not target.served.custom:  # what is known of a path stays, and would keep what a deleted definition has served
        info.found = generation, target
    return target


def _located(registry: Registry, info: RequestInfo) -> Target:
    if (info.prefix == "api") != (not info.group):
        raise PathNotFound
    version = registry.version(info.group, info.version)
    if version is None:
        raise not_found() if registry.has_built_in(info.group) else PathNotFound
    served = version.resources.get(info.resource)
    if served is None:
        if version.custom:
            raise PathNotFound
        raise not_found()
    if not _is_in_scope(served, info):
        raise PathNotFound if version.custom else not_found()
    target = Target(served, info.namespace if served.spec.namespaced else "", info.name)
    if not info.subresource:
        return target
    sub = served.spec.subresource(info.subresource)
    if sub is None and served.custom:
        raise NotFound.about(served.group_resource, info.name)
    if sub is None or (len(info.parts) > 3 and not sub.connect):
        raise not_found()
    return Target(served, target.namespace, target.name, sub)


def _is_in_scope(served: ServedResource, info: RequestInfo) -> bool:
    """Tell whether a resource is at a path at all: what is not in its scope is not.

    Collections go across all namespaces: of built-in resources with every method, of custom ones to read them.
    """
    if info.in_namespace == served.spec.namespaced:
        return True
    if info.in_namespace or len(info.parts) > 1:
        return False
    return not served.custom or info.verb in {"list", "watch"}


def serve(services: Services, request: ApiRequest, target: Target) -> Result:
    """Answer a request for a resource.

    Raises:
        MethodNotAllowed: the resource has no such verb at that path.
    """
    info, served = request.info, target.served
    if served.custom:  # what cannot be answered is not done
        negotiate_custom(request.headers.get("accept", ""), transforms=True)
    if target.sub is not None and target.sub.connect and target.sub.name == "proxy":
        return _connect(services, request, target, target.sub)  # any method is the proxied server's to answer
    if request.method not in _METHODS or not info.verb:
        raise not_allowed()
    on_item = len(info.parts) > 1
    if target.sub is not None:
        _warn(request, target)
        return _part(services, request, target)
    if served.is_virtual:
        return _virtual(services, request, target, on_item=on_item)
    if info.verb not in served.spec.verbs or (on_item and info.verb not in {*_ITEM_VERBS, "watch"}):
        raise not_allowed()
    if not on_item and info.verb in {"update", "patch"}:
        raise not_allowed()
    if served.spec.namespaced and not info.in_namespace and info.verb in {"create", "deletecollection"}:
        raise not_allowed()
    _warn(request, target)
    return _VERBS[info.verb](services, request, target)


def _warn(request: ApiRequest, target: Target) -> None:
    if target.served.spec.deprecated:
        request.warn(target.served.spec.deprecated)


def _virtual(services: Services, request: ApiRequest, target: Target, *, on_item: bool) -> Result:
    if on_item:
        raise not_found()
    if request.info.verb != "create":
        raise not_allowed()
    negotiate_review(request.headers.get("accept", ""))
    return _virtual_creation()(services, request, target)


@cache
def _virtual_creation() -> Verb:
    from hyperkube_host.apiserver.rest.subresource import create_virtual  # the first review asks for it

    return create_virtual


def _part(services: Services, request: ApiRequest, target: Target) -> Result:
    sub, verb = target.sub, request.info.verb
    if sub is None or verb not in sub.verbs:
        if target.served.custom:
            raise MethodNotAllowed.about(target.served.group_resource, verb)
        raise not_allowed()
    if sub.handler is not None:
        return _handled_part()(services, request, target, sub)
    if sub.connect:
        return _connect(services, request, target, sub)
    if verb == "get":
        return read.get(services, request, target)
    return update.update(services, request, target) if verb == "update" else _patch(services, request, target)


@cache
def _handled_part() -> Callable[[Services, ApiRequest, Target, Subresource], Result]:
    from hyperkube_host.apiserver.rest import subresource  # the first binding or token asks for it

    return subresource.serve


def _connect(services: Services, request: ApiRequest, target: Target, sub: Subresource) -> Result:
    return _connection()(services, request, target, sub)


@cache
def _connection() -> Callable[[Services, ApiRequest, Target, Subresource], Result]:
    from hyperkube_host.apiserver.connect.connect import connect  # most servers are up for long before it is needed

    return connect


def _patch(services: Services, request: ApiRequest, target: Target) -> Result:
    return _any_patch()(services, request, target)


@cache
def _any_patch() -> Verb:
    from hyperkube_host.apiserver.rest.patch import patch  # with all kinds of patches, of which a start has none

    return patch


def _delete_collection(services: Services, request: ApiRequest, target: Target) -> Result:
    return _deletion_of_all()(services, request, target)


@cache
def _deletion_of_all() -> Verb:
    from hyperkube_host.apiserver.rest.delete_collection import delete_collection  # seldom asked for

    return delete_collection


_VERBS: dict[str, Verb] = {
    "create": create.create,
    "get": read.get,
    "list": read.list_objects,
    "watch": read.watch,
    "update": update.update,
    "patch": _patch,
    "delete": delete.delete,
    "deletecollection": _delete_collection,
}
