"""Stored objects as strategies, handlers and the server itself touch them: past authorization, by version-free rules.

The `Objects` protocol of `hyperkube.hookspecs.api`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.rest.change import Change, change
from hyperkube_host.apiserver.rest.create import store_new
from hyperkube_host.apiserver.rest.delete import delete_one
from hyperkube_host.apiserver.rest.delete_options import checked
from hyperkube_host.apiserver.rest.records import Records
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.users import LOOPBACK

Found: TypeAlias = list[Object]
"""Objects of the caller's own."""


class StoredObjects:
    """Reads and writes objects as the server itself."""

    def __init__(self, registry: Registry, services: Callable[[], Services]) -> None:
        """Read and write what `registry` serves; `services` are what verbs work with, and hold these objects."""
        self._registry = registry
        self._services = services
        self._records = Records()

    def _served(self, resource: GroupVersionResource) -> ServedResource:
        return self._registry.get(resource)

    def _request(self, verb: str, served: ServedResource, namespace: str, name: str, *, dry_run: bool) -> ApiRequest:
        resource = served.spec.resource
        info = RequestInfo(
            path=resource.path(namespace, name),
            verb=verb,
            is_resource=True,
            group=resource.group,
            version=resource.version,
            namespace=namespace,
            resource=resource.resource,
            name=name,
        )
        query = {"dryRun": ["All"]} if dry_run else {}
        return ApiRequest(method="", path=info.path, info=info, query=query, user=LOOPBACK, inside=True)

    def get(self, resource: GroupVersionResource, name: str, namespace: str = "") -> Object:
        """Return an object of your own.

        Raises:
            NotFound: there is none.
        """
        served = self._served(resource)
        cached = served.stored().cache.get(namespace, name)
        if cached is None:
            raise NotFound.about(served.group_resource, name)
        return served.parsed(cached)

    def list(self, resource: GroupVersionResource, namespace: str = "") -> Found:
        """Return all objects of a namespace, or of all with an empty one."""
        served = self._served(resource)
        return served.parsed_all(served.stored().cache.list(namespace=namespace).objects)

    def by_field(self, resource: GroupVersionResource, field_name: str, value: str) -> Found:
        """Return the objects whose field selector `field_name` has `value`, by index where there is one."""
        served = self._served(resource)
        storage = served.stored()
        if field_name in storage.indexes:
            found = storage.cache.list(index=(field_name, value)).objects
        else:
            found = storage.cache.list(matches=lambda obj: obj.fields.get(field_name, "") == value).objects
        return served.parsed_all(found)

    def create(self, resource: GroupVersionResource, obj: Object, *, dry_run: bool = False) -> Object:
        """Create a complete object; defaults and validation apply, admission does not."""
        services, served = self._services(), self._served(resource)
        meta = obj.get("metadata") or {}
        namespace, name = meta.get("namespace", ""), meta.get("name", "")
        request = self._request("create", served, namespace, name, dry_run=dry_run)
        target = Target(served, namespace, "")
        new, _ = served.codec.decode(copy_object(obj), report=False)
        new["kind"], new["apiVersion"] = served.kind.kind, served.kind.api_version
        served.codec.default(new)
        call = services.call(request, target, body=new)
        answer = store_new(services, request, target, call, new, options={}, admit=False)
        assert answer.obj is not None  # noqa: S101 -- creation answers with the object
        return answer.obj

    def change(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str,
        change: Callable[[Object], Object],  # the protocol's own word for it
        *,
        dry_run: bool = False,
        admit: bool = False,
    ) -> Object:
        """Change an object by compare-and-swap; without `admit` nothing but `change` and the store decides."""
        return self._change(resource, name, namespace, change, dry_run=dry_run, admit=admit)

    def _change(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str,
        alter: Callable[[Object], Object],
        *,
        dry_run: bool,
        admit: bool,
    ) -> Object:
        services, served = self._services(), self._served(resource)
        request = self._request("update", served, namespace, name, dry_run=dry_run)
        target = Target(served, namespace, name)
        call = services.call(request, target)
        write = Change(
            request=request,
            target=target,
            call=call,
            produce=alter,
            options={},
            unconditional=True,
            admit=admit,
            prepare=admit,
            track=False,
        )
        answer = change(services, write)
        assert answer.obj is not None  # noqa: S101 -- changes answer with the object
        return answer.obj

    def change_record(self, key: str, change: Callable[[Object | None], Object | None]) -> None:
        """Change what is stored under a key that no resource has; see `Records.change`."""
        self._records.change(self._services().store, f"{self._registry.root}{key}", change)

    def delete(self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object) -> Object:
        """Delete with DeleteOptions, finalizers and grace honoured."""
        services, served = self._services(), self._served(resource)
        request = self._request("delete", served, namespace, name, dry_run=bool(options.get("dryRun")))
        target = Target(served, namespace, name)
        call = services.call(request, target, body=options)
        answer = delete_one(services, request, target, call, checked(options), admit=False)
        assert answer.obj is not None  # noqa: S101 -- deletions answer with the object or a Status
        return answer.obj
