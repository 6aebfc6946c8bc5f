"""Who owns the replicas: ``/scale`` writes one field of another object, and its owners follow.

A Scale shows the owners of the workload's replicas as owners of its own ``spec.replicas``. What a write to it makes of
them goes back to the workload: the manager that set the replicas through ``/scale`` takes them from their former
owners.
Source: kubernetes apimachinery ``pkg/util/managedfields/scalehandler.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.change import Change, change, uid_conflict
from hyperkube_host.apiserver.rest.ownership import manager_of
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_lib.structured_merge import field_sets, managed_fields
from hyperkube_lib.structured_merge.apply import apply_configuration
from hyperkube_lib.structured_merge.field_sets import FieldSet
from hyperkube_lib.structured_merge.managed_fields import UPDATE, FieldScope, Managed, Owned

from hyperkube.hookspecs.api import Subresource
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, metadata, uid_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.stored_objects import Items

UNSET = -(2**31)
"""The replicas of a Scale that has none yet: what a patch that leaves them so would write."""
_NO_FIRST_APPLY = (
    "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to "
    "proper version: request to convert CR to an invalid group/version: autoscaling/v1"
)
_IN_SCALE = field_sets.from_paths([("spec", "replicas")])
_CARRIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scope_of(target: Target, sub: Subresource) -> FieldScope:
    """Return what field management must know about Scales of a resource."""
    codec = target.served.codec_of(sub)
    return FieldScope(
        info=codec.type,
        api_version=sub.kind.api_version,
        kind=sub.kind.kind,
        subresource=sub.name,
        zero=lambda: codec.decode(None)[0],
    )


def owners_in_scale(workload: Object, place: FieldSet, api_version: str) -> Managed:
    """Return the owners of a workload's replicas as owners of a Scale's."""
    shown: Managed = {}
    for owner, owned in managed_fields.decode(metadata(workload).get("managedFields")).items():
        if field_sets.intersection(owned.fields, place):
            version = api_version if owner.operation == UPDATE else ""
            shown[owner._replace(api_version=version)] = Owned(_IN_SCALE, api_version, owned.time)
    return shown


def owners_in_workload(workload: Object, place: FieldSet, scaled: Managed) -> Managed:
    """Return the owners of a workload whose Scale has these owners now.

    Owners that are new have no time.

    An entry that came from a plain update of the workload has lost its version on the way, so it loses the replicas
    too, to itself: Kubernetes then stores two entries of one owner, of which the next reader keeps the first. One that
    had nothing else is the new entry.
    """
    api_version = str(workload["apiVersion"])
    result: Managed = {}
    for owner, owned in managed_fields.decode(metadata(workload).get("managedFields")).items():
        fields = owned.fields
        if field_sets.intersection(fields, place) and owner not in scaled:
            fields = field_sets.difference(fields, place)
        if fields:
            result[owner] = Owned(fields, owned.api_version, owned.time)
    for owner, owned in scaled.items():
        if field_sets.intersection(owned.fields, _IN_SCALE):
            version = api_version if owner.operation == UPDATE else ""
            result.setdefault(owner._replace(api_version=version), Owned(place, api_version, None))
    return result


class ScaledObjects:
    """The stored objects as a handler of ``/scale`` has them: its change of the workload also moves the owners."""

    def __init__(
        self, services: Services, request: ApiRequest, target: Target, sub: Subresource, applied: Managed | None = None
    ) -> None:
        self._services = services
        self._request = request
        self._target = Target(target.served, target.namespace, target.name)
        self._scope = scope_of(target, sub)
        self._path = sub.replicas_path
        self._place = field_sets.from_paths([sub.replicas_path])
        self._applied = applied

    def get(self, resource: GroupVersionResource, name: str, namespace: str = "") -> Object:
        """Return an object of your own."""
        return self._services.objects.get(resource, name, namespace)

    def list(self, resource: GroupVersionResource, namespace: str = "") -> Items:
        """Return all objects of a namespace, or of all with an empty one."""
        return self._services.objects.list(resource, namespace)

    def by_field(self, resource: GroupVersionResource, field_name: str, value: str) -> Items:
        """Return the objects whose field selector has a value."""
        return self._services.objects.by_field(resource, field_name, value)

    def create(self, resource: GroupVersionResource, obj: Object, *, dry_run: bool = False) -> Object:
        """Create a complete object."""
        return self._services.objects.create(resource, obj, dry_run=dry_run)

    def delete(self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object) -> Object:
        """Delete an object."""
        return self._services.objects.delete(resource, name, namespace, options=options)

    def change_record(self, key: str, change: Callable[[Object | None], Object | None]) -> None:
        """Change what is stored under a key that no resource has."""
        self._services.objects.change_record(key, change)

    def change(
        self,
        _resource: GroupVersionResource,
        _name: str,
        _namespace: str,
        change_object: Callable[[Object], Object],
        *,
        dry_run: bool = False,
        admit: bool = False,
    ) -> Object:
        """Change the workload; admission saw the Scale, so it does not see the workload as well."""
        services, target = self._services, self._target
        call = services.call(self._request, target, verb="update")
        call.dry_run = dry_run

        def produce(old: Object) -> Object:
            before = self._replicas(old)
            managed = owners_in_scale(old, self._place, self._scope.api_version)
            uid = uid_of(old)
            new = change_object(old)
            if uid_of(new) != uid:
                raise uid_conflict(target, uid_of(new), uid)
            moved = self._moved(managed, before, self._replicas(new), services.seconds.text())
            if moved is not None:
                managed_fields.set_managed(new, owners_in_workload(new, self._place, moved))
            return new

        write = Change(
            request=self._request,
            target=target,
            call=call,
            produce=produce,
            options={},
            unconditional=True,
            admit=False,
            prepare=admit,
            track=False,
        )
        answer = change(services, write)
        assert answer.obj is not None  # noqa: S101 -- changes answer with the object
        return answer.obj

    def _replicas(self, workload: Object) -> Object:
        """Return the Scale of a workload, as far as owners are concerned."""
        value: Any = workload
        for name in self._path:
            value = value.get(name) if isinstance(value, dict) else None
        return {"spec": {"replicas": value}}

    def _moved(self, managed: Managed, before: Object, after: Object, now: str) -> Managed | None:
        """Return the owners of the Scale after the write; None where nothing was owned."""
        if self._applied is not None:
            return self._applied
        if not managed:
            return None
        return managed_fields.updated(self._scope, before, after, managed, manager_of(self._request), now)


def unset_scale(workload: Object, sub: Subresource) -> Object:
    """Return what a patch of ``/scale`` starts from where the replicas are not set yet."""
    meta = {name: workload["metadata"][name] for name in _CARRIED if name in workload["metadata"]}
    scale = {"kind": sub.kind.kind, "apiVersion": sub.kind.api_version, "metadata": meta}
    return {**scale, "spec": {"replicas": UNSET}, "status": {"replicas": 0}}


def applied_scale(
    services: Services, request: ApiRequest, target: Target, sub: Subresource, scale: Object, config: Object
) -> tuple[Object, Managed]:
    """Return the Scale that an apply makes of the current one, and its owners then.

    Raises:
        ApiError: nothing owns the replicas of a custom resource yet; upstream cannot convert its Scale then.
        ApplyConflict: others own the replicas, and the request does not force its way.
        BadRequest: the configuration is of another kind.
    """
    spec = target.served.spec
    workload = services.objects.get(spec.resource, target.name, target.namespace)
    live = {**scale, "metadata": dict(scale["metadata"])}
    owners = owners_in_scale(workload, field_sets.from_paths([sub.replicas_path]), sub.kind.api_version)
    if target.served.custom and not owners:
        raise ApiError(_NO_FIRST_APPLY)
    managed_fields.set_managed(live, owners)
    scope, manager = scope_of(target, sub), manager_of(request)
    force = flag(request.query, "force")
    merged = apply_configuration(scope, live, config, manager=manager, force=force, now=services.clock.now())
    after = managed_fields.decode(metadata(merged).get("managedFields"))
    return managed_fields.without_managed(merged), after
