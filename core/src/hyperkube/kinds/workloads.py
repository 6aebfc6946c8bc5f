"""What the controllers of pods share: is a pod available, what does a template make.

Pure functions. Sources: kubernetes ``pkg/controller/controller_utils.go``, ``pkg/api/v1/pod/util.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson

from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_ready
from hyperkube.machinery.labels import Selector, from_label_selector
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    controller_of,
    copy_object,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)
from hyperkube.machinery.random import safe_encode
from hyperkube.machinery.times import parse_time

_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def ready_since(pod: Object) -> datetime | None:
    """Return when the pod became ready, or None while it is not."""
    found = condition(pod.get("status") or {}, "Ready")
    if found is None or found.get("status") != "True" or not found.get("lastTransitionTime"):
        return None
    return parse_time(found["lastTransitionTime"])


def is_available(pod: Object, min_ready_seconds: int, now: datetime) -> bool:
    """Tell whether the pod has been ready for `min_ready_seconds`."""
    if not is_ready(pod):
        return False
    if not min_ready_seconds:
        return True
    since = ready_since(pod)
    return since is not None and since + timedelta(seconds=min_ready_seconds) <= now


def available_in(pods: Iterable[Object], min_ready_seconds: int, now: datetime) -> float | None:
    """Return the seconds after which the next ready pod becomes available, or None when none is waiting."""
    waits = [
        (since + timedelta(seconds=min_ready_seconds) - now).total_seconds()
        for pod in pods
        if min_ready_seconds and (since := ready_since(pod)) is not None
    ]
    return min((wait for wait in waits if wait > 0), default=None)


def controller_reference(owner: Object, api_version: str, kind: str) -> Object:
    """Return the owner reference of a managing controller."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from_template(
    template: Object, owner: Object, reference: Object, *, name: str = "", generate_name: str = ""
) -> Object:
    """Return the pod that `template` makes for `owner`; named after the owner unless told otherwise."""
    meta: Object = {"namespace": namespace_of(owner)}
    if name:
        meta["name"] = name
    else:
        meta["generateName"] = generate_name or f"{name_of(owner)}-"
    meta |= {
        "labels": dict(labels_of(template)),
        "annotations": dict(annotations_of(template)),
        "finalizers": list(metadata(template).get("finalizers") or []),
        "ownerReferences": [reference],
    }
    made = {key: value for key, value in meta.items() if value}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": made, "spec": copy_object(template.get("spec") or {})}


def template_hash(template: Object, collision_count: int | None = None) -> str:
    """Return the value of ``pod-template-hash``: equal templates have equal ones; a collision count changes it.

    Only equality matters to clients; the input is canonical JSON here and Go's dump of the structs upstream.
    """
    data = orjson.dumps(_without_empty(template), option=orjson.OPT_SORT_KEYS)
    if collision_count is not None:
        data += collision_count.to_bytes(8, "little")
    return safe_encode(str(fnv32a(data)))


def fnv32a(data: bytes) -> int:
    """Return the FNV-1a hash of the data, 32 bits."""
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return value


def _without_empty(value: Any) -> Any:
    """Drop what says nothing (null, empty lists and objects), so that it cannot make two equal templates differ."""
    if isinstance(value, dict):
        kept = {key: _without_empty(entry) for key, entry in value.items()}
        return {key: entry for key, entry in kept.items() if entry not in (None, [], {})}
    if isinstance(value, list):
        return [_without_empty(entry) for entry in value]
    return value


def same_template(one: Object, other: Object, *, ignored_label: str = "") -> bool:
    """Tell whether two pod templates are equal but for one label."""
    return bool(_comparable(one, ignored_label) == _comparable(other, ignored_label))


def _comparable(template: Object, ignored_label: str) -> Any:
    bare = _without_empty(template)
    meta = bare.get("metadata") or {}
    labels = {key: value for key, value in (meta.get("labels") or {}).items() if key != ignored_label}
    rest = {key: value for key, value in meta.items() if key not in {"labels", "creationTimestamp"}}
    return _without_empty({**bare, "metadata": {**rest, "labels": labels}})


def label_selector_of(owner: Object) -> Selector:
    """Return the compiled ``spec.selector`` of a workload that has a LabelSelector.

    Raises:
        SelectorError: the selector is not valid.
    """
    return from_label_selector((owner.get("spec") or {}).get("selector"))


def controller_index(obj: Object) -> tuple[str]:
    """Index objects by ``namespace/uid of the controller``; orphans are under ``namespace/``."""
    controller = controller_of(obj)
    return (f"{namespace_of(obj)}/{controller.get('uid', '') if controller else ''}",)


def merged_status(obj: Object, new: Mapping[str, Any]) -> Object | None:
    """Return the object with its status replaced, or None when it says that already; nulls and empties are left out."""
    status = {key: value for key, value in new.items() if value not in (None, [], {})}
    if status == (obj.get("status") or {}):
        return None
    return {**obj, "status": status}
