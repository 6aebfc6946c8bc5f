"""A bench for admission plugins: a fake API server behind one plugin, and requests that run through it.

The object of a request is copied, as the host does; what the plugin made of it is in the request that comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import admission as specs
from hyperkube.hookspecs.admission import AdmissionHooks, AdmissionRequest, Operation
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, name_of, namespace_of
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin.loader import PluginHost

ALICE = UserInfo("alice", "uid-alice", (AUTHENTICATED_GROUP,))

Allows = Callable[[str, str, str], bool]
"""(verb, resource, name) → whether the user may."""


class AdmissionRig:
    """One plugin on a fake world."""

    def __init__(
        self,
        plugin: type[Plugin],
        *,
        settings: Mapping[str, Any] | None = None,
        gates: Mapping[str, bool] | None = None,
        allows: Allows = lambda _verb, _resource, _name: True,
    ) -> None:
        self.client = FakeClient()
        self.clock = self.client.clock
        self.informers = InformerFactory(self.client, self.clock, detect_mutations=True)
        self.allows = allows
        context = PluginContext(
            name=plugin.__name__,
            clock=self.clock,
            client=self.client,
            informers=self.informers,
            settings=settings or {},
            gates=gates or {},
        )
        self.plugin = plugin(context)
        self._host: PluginHost[AdmissionHooks] = PluginHost("admission", specs, [(plugin.__name__, self.plugin)])
        self._host.start()

    def seed(self, resource: GroupVersionResource, *objects: Object) -> list[Object]:
        """Put objects into the world and into the plugin's caches."""
        stored = self.client.seed(resource, *objects)
        self.informers.refresh()
        return stored

    def request(
        self,
        operation: Operation,
        resource: GroupVersionResource,
        obj: Object | None = None,
        old: Object | None = None,
        **more: Any,
    ) -> AdmissionRequest:
        """Return a request; name, namespace and kind come from the object unless given."""
        subject = obj or old or {}

        def may(
            verb: str,
            asked: GroupVersionResource,
            *,
            subresource: str = "",  # noqa: ARG001  the protocol's signature
            namespace: str = "",  # noqa: ARG001
            name: str = "",
        ) -> bool:
            return self.allows(verb, asked.resource, name)

        values: dict[str, Any] = {
            "operation": operation,
            "resource": resource,
            "kind": GroupVersionKind(resource.group, resource.version, str(subject.get("kind", ""))),
            "namespace": namespace_of(subject),
            "name": name_of(subject),
            "user": ALICE,
            "object": copy_object(obj) if obj is not None else None,
            "old_object": old,
            "may": may,
        }
        return AdmissionRequest(**{**values, **more})

    def admit(self, request: AdmissionRequest) -> AdmissionRequest:
        """Run the request through the plugin's hooks, as a host does.

        Raises:
            ApiError: the plugin refuses.
        """
        self._host.hook.admission_mutate(request=request)
        self._host.hook.admission_validate(request=request)
        self.informers.check_mutations()
        return request

    def create(self, resource: GroupVersionResource, obj: Object, **more: Any) -> Object:
        """Return what becomes of an object that is created.

        Raises:
            ApiError: the plugin refuses.
        """
        return self.admit(self.request("CREATE", resource, obj, **more)).written()

    def update(self, resource: GroupVersionResource, old: Object, new: Object, **more: Any) -> Object:
        """Return what becomes of an object that replaces another.

        Raises:
            ApiError: the plugin refuses.
        """
        return self.admit(self.request("UPDATE", resource, new, old, **more)).written()

    def delete(self, resource: GroupVersionResource, old: Object, **more: Any) -> None:
        """Delete an object.

        Raises:
            ApiError: the plugin refuses.
        """
        self.admit(self.request("DELETE", resource, None, old, **more))
