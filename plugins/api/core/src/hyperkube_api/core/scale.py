"""``/scale``: the replica count of any workload through one shape, for the autoscaler and ``kubectl scale``.

Source: kubernetes pkg/registry/apps/deployment/storage/storage.go (ScaleREST) and its siblings.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, column
from hyperkube_api.meta.specs import PART_VERBS, Version

from hyperkube.hookspecs.api import Call, Subresource
from hyperkube.machinery.errors import BadRequest, Conflict, Invalid
from hyperkube.machinery.field import ROOT, invalid
from hyperkube.machinery.groups import GroupKind, GroupVersionKind, GroupVersionResource
from hyperkube.machinery.labels import from_label_selector, selector_from_map
from hyperkube.machinery.objects import Object, metadata

SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_CARRIED = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale(version: Version, resource: str) -> Subresource:
    """Declare ``/scale`` of a workload."""
    return Subresource(
        name="scale",
        kind=SCALE,
        verbs=PART_VERBS,
        schema="hyperkube_api.autoscaling.v1:Scale",
        handler=_handler(GroupVersionResource(version.group, version.version, resource)),
        columns=(
            column("Name"),
            column("Desired", type="integer", field="spec.replicas"),
            column("Available", type="integer", field="status.replicas"),
            AGE,
        ),
        cells=scale_cells,
    )


def scale_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the desired and the available replicas.

    Source: kubernetes pkg/printers/internalversion/printers.go (printScale).
    """
    desired, available = cells.spec_of(obj).get("replicas") or 0, cells.status_of(obj).get("replicas") or 0
    return [cells.name(obj), desired, available, cells.age(obj, now)]


def _handler(resource: GroupVersionResource) -> Callable[[Call], Object]:
    def serve(call: Call) -> Object:
        if call.verb == "get":
            return scale_of(call.objects.get(resource, call.name, call.namespace))
        wanted = call.body or {}
        _check(call, wanted)

        def resize(current: Object) -> Object:
            version = metadata(wanted).get("resourceVersion")
            if version and version != metadata(current).get("resourceVersion"):
                raise Conflict.about(resource.group_resource, call.name)
            if metadata(wanted).get("uid"):  # it is compared when the object is stored
                current["metadata"]["uid"] = metadata(wanted)["uid"]
            current["spec"]["replicas"] = (wanted.get("spec") or {}).get("replicas") or 0
            return current

        changed = call.objects.change(resource, call.name, call.namespace, resize, dry_run=call.dry_run, admit=True)
        return scale_of(changed)

    return serve


def _check(call: Call, wanted: Object) -> None:
    name = metadata(wanted).get("name")
    if name and name != call.name:
        raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    replicas = (wanted.get("spec") or {}).get("replicas") or 0
    if replicas < 0:
        error = invalid(ROOT.child("spec", "replicas"), replicas, "must be greater than or equal to 0")
        raise Invalid.about(GroupKind("autoscaling", "Scale"), call.name, [error])


def scale_of(workload: Object) -> Object:
    """Return the Scale of a workload: desired and observed replicas, and the pods' selector as text."""
    meta = metadata(workload)
    spec, status = workload.get("spec") or {}, workload.get("status") or {}
    shown: Object = {"replicas": status.get("replicas") or 0}
    selector = _selector_text(spec.get("selector"))
    if selector:
        shown["selector"] = selector
    replicas = spec.get("replicas") or 0
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {member: meta[member] for member in _CARRIED if meta.get(member)},
        "spec": {"replicas": replicas} if replicas else {},
        "status": shown,
    }


def _selector_text(selector: Object | None) -> str:
    if not selector:
        return ""
    if "matchLabels" in selector or "matchExpressions" in selector:
        return str(from_label_selector(selector))
    return str(selector_from_map(selector))
