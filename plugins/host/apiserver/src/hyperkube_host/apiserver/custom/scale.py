"""``/scale`` of custom resources: a Scale made of the places that the definition names.

Source: kubernetes apiextensions-apiserver ``pkg/registry/customresource/etcd.go`` (ScaleREST).
"""

from __future__ import annotations

from typing import Any

from hyperkube.hookspecs.api import Call, SubresourceHandler
from hyperkube.machinery.errors import BadRequest, Conflict, InternalError, Invalid
from hyperkube.machinery.field import Path, invalid
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object

_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_handler(kind: GroupKind, paths: Object) -> SubresourceHandler:
    """Return the handler of a definition's scale subresource."""
    from hyperkube_host.apiserver.custom.json_path import first, put

    spec_path = str(paths.get("specReplicasPath", ""))

    def shown(obj: Object) -> Object:
        replicas = first(obj, spec_path)
        if replicas is None:
            raise InternalError.because(f'the spec replicas field "{spec_path}" does not exist')
        status: Object = {"replicas": first(obj, str(paths.get("statusReplicasPath", ""))) or 0}
        selector = first(obj, str(paths["labelSelectorPath"])) if paths.get("labelSelectorPath") else None
        if selector:
            status["selector"] = selector
        meta = {name: obj["metadata"][name] for name in _SHOWN if name in obj["metadata"]}
        scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta}
        return {**scale, "spec": {"replicas": replicas} if replicas else {}, "status": status}

    def handle(call: Call) -> Object:
        if call.body is None:
            current = call.objects.get(call.resource, call.name, call.namespace)
            return shown(current)
        from hyperkube_host.apiserver.rest.scale import UNSET  # which a write has loaded

        wanted: Any = (call.body.get("spec") or {}).get("replicas", 0)
        version = (call.body.get("metadata") or {}).get("resourceVersion")
        if wanted == UNSET:
            raise BadRequest(f'the spec replicas field "{spec_path}" cannot be empty')
        if wanted < 0:
            error = invalid(Path(spec_path), wanted, "should be a non-negative integer")
            raise Invalid.about(kind, call.name, [error])

        def alter(obj: Object) -> Object:
            if version and version != obj["metadata"]["resourceVersion"]:
                raise Conflict.about(call.resource.group_resource, call.name)
            put(obj, spec_path, wanted)
            return obj

        changed = call.objects.change(call.resource, call.name, call.namespace, alter, dry_run=call.dry_run, admit=True)
        return shown(changed)

    return handle
