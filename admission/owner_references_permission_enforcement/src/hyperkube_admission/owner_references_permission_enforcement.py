"""OwnerReferencesPermissionEnforcement: an owner decides when an object is deleted, so naming one takes rights.

Setting owner references takes the right to delete the object; blocking an owner's deletion takes the right to set the
owner's finalizers.
Source: kubernetes ``plugin/pkg/admission/gc/gc_admission.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from hyperkube.client.discovery import discover
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.groups import GroupKind, GroupVersionResource
from hyperkube.machinery.objects import Object, metadata
from hyperkube.plugin import Plugin, PluginContext

_EXEMPT = frozenset({("", "pods", "status")})
"""The kubelet reports the status of pods, and may not delete them all."""

Kinds = dict[GroupKind, tuple[GroupVersionResource, bool]]


def _references(obj: Object | None) -> Mapping[str, Object]:
    return {str(row.get("uid", "")): row for row in (metadata(obj).get("ownerReferences") or () if obj else ())}


class OwnerReferencesPermissionEnforcement(Plugin):
    """Refuses owner references whose author could not delete the object or hold up its owner."""

    may_block = False

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._kinds: Kinds = {}
        self._lock = threading.Lock()

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Compare the references with those the object had."""
        if request.operation not in {"CREATE", "UPDATE"} or request.object is None:
            return
        resource = request.resource
        if (resource.group, resource.resource, request.subresource) in _EXEMPT:
            return
        new, old = _references(request.object), _references(request.old_object)
        if new == old:
            return
        if not request.may(
            "delete", resource, subresource=request.subresource, namespace=request.namespace, name=request.name
        ):
            raise Forbidden("cannot set an ownerRef on a resource you can't delete: , <nil>")
        for uid, reference in new.items():
            if reference.get("blockOwnerDeletion") and not old.get(uid, {}).get("blockOwnerDeletion"):
                self._may_block(request, reference)

    def _may_block(self, request: AdmissionRequest, owner: Object) -> None:
        version, kind = str(owner.get("apiVersion", "")), str(owner.get("kind", ""))
        found = self._resource(version, kind)
        if found is None:
            raise Forbidden(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for"
                f' APIVersion {version} Kind {kind}: no matches for kind "{kind}" in version "{version}"'
            )
        resource, namespaced = found
        namespace = request.namespace if namespaced else ""
        name = str(owner.get("name", ""))
        if not request.may("update", resource, subresource="finalizers", namespace=namespace, name=name):
            raise Forbidden(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on:"
                " , <nil>"
            )

    def _resource(self, version: str, kind: str) -> tuple[GroupVersionResource, bool] | None:
        """Return an owner's resource; what is served is asked for again when a kind is not known yet."""
        wanted = GroupKind(version.rpartition("/")[0], kind)
        found = self._kinds.get(wanted)
        if found is None:
            with self._lock:
                rows = discover(self.client).resources
                self._kinds = {row.group_kind: (row.gvr, row.namespaced) for row in rows}
            found = self._kinds.get(wanted)
        return found
