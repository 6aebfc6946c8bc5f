"""Binding: a pod is assigned to a node, once.

Both ways are served: ``pods/NAME/binding`` and the older ``bindings``, which names the pod in the body.
Source: kubernetes pkg/registry/core/pod/storage/storage.go (BindingREST).
"""

from __future__ import annotations

from datetime import datetime

from hyperkube.hookspecs.api import Call
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import ApiError, BadRequest, Conflict
from hyperkube.machinery.field import ROOT, FieldError, not_supported, required
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object, metadata

PODS_BINDING = GroupResource("", "pods/binding")
SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def bind(call: Call) -> Object:
    """Bind the pod in the path to the node in the body and return a Success status.

    Raises:
        ApiError: the binding names no node, another pod, or something that is no node.
        Conflict: the pod is bound, being deleted, held by a scheduling gate, or another one than meant.
    """
    binding = call.body or {}
    if str(metadata(binding).get("name") or "") != call.name:
        raise BadRequest("name in URL does not match name in Binding object")
    errors = _problems(binding)
    if errors:
        texts = ", ".join(str(error) for error in errors)
        raise ApiError(f"[{texts}]" if len(errors) > 1 else texts)

    def assign(pod: Object) -> Object:
        return _assigned(pod, binding, call.clock.now())

    call.objects.change(PODS, call.name, call.namespace, assign, dry_run=call.dry_run)
    return dict(SUCCESS)


def bind_by_body(call: Call) -> Object:
    """Bind the pod that the body names: ``POST bindings``, the older of the two paths."""
    call.name = str(metadata(call.body or {}).get("name") or "")
    return bind(call)


def _problems(binding: Object) -> list[FieldError]:
    target = binding.get("target") or {}
    path = ROOT.child("target")
    errors: list[FieldError] = []
    if target.get("kind") not in {None, "", "Node"}:
        errors.append(not_supported(path.child("kind"), target["kind"], ["Node", "<empty>"]))
    if not target.get("name"):
        errors.append(required(path.child("name")))
    return errors


def _assigned(pod: Object, binding: Object, now: datetime) -> Object:
    meta = pod["metadata"]
    spec = pod.setdefault("spec", {})
    wanted = metadata(binding)
    _check_identity(meta, wanted)
    name = meta["name"]
    if meta.get("deletionTimestamp"):
        raise Conflict.about(PODS_BINDING, name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise Conflict.about(PODS_BINDING, name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise Conflict.about(PODS_BINDING, name, f"pod {name} has non-empty .spec.schedulingGates")
    spec["nodeName"] = binding["target"]["name"]
    for member in ("annotations", "labels"):
        if wanted.get(member):
            meta[member] = {**(meta.get(member) or {}), **wanted[member]}
    _mark_scheduled(pod.setdefault("status", {}), now)
    return pod


def _check_identity(meta: Object, wanted: Object) -> None:
    """Refuse a binding that was meant for another pod of that name."""
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    if uid and uid != meta.get("uid"):
        why = f"UID in precondition: {uid}, UID in object meta: {meta.get('uid')}"
    elif version and version != meta.get("resourceVersion"):
        why = (
            f"ResourceVersion in precondition: {version}, ResourceVersion in object meta: {meta.get('resourceVersion')}"
        )
    else:
        return
    key = f"/registry/pods/{meta.get('namespace')}/{meta['name']}"
    raise Conflict.about(
        PODS.group_resource,
        meta["name"],
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: {why}",
    )


def _mark_scheduled(status: Object, now: datetime) -> None:
    """Set the PodScheduled condition to True, keeping the rest of the list."""
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
    status["conditions"] = with_condition(status.get("conditions") or (), scheduled, now)
