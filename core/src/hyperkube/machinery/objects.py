"""Objects are JSON-shaped dicts from the socket to the disk; these are the words for reading one.

An object that comes out of a cache or an informer is shared: copy it with `copy_object` before changing it.
"""

from __future__ import annotations

from typing import Any, NewType, TypeAlias

import orjson

Object: TypeAlias = dict[str, Any]
"""A Kubernetes object, or any part of one, as JSON shapes it."""

NodeName = NewType("NodeName", str)
Uid = NewType("Uid", str)
ResourceVersion = NewType("ResourceVersion", str)


def copy_object(obj: Object) -> Object:
    """Return a deep copy of a JSON-shaped object (9 µs for a Pod, against 73 µs for `copy.deepcopy`)."""
    copied: Object = orjson.loads(orjson.dumps(obj))
    return copied


def metadata(obj: Object) -> Object:
    """Return the object's metadata, or an empty dict where there is none."""
    return obj.get("metadata") or {}


def name_of(obj: Object) -> str:
    """Return ``metadata.name`` or the empty string."""
    return str((obj.get("metadata") or {}).get("name", ""))


def namespace_of(obj: Object) -> str:
    """Return ``metadata.namespace`` or the empty string (cluster-scoped)."""
    return str((obj.get("metadata") or {}).get("namespace", ""))


def uid_of(obj: Object) -> Uid:
    """Return ``metadata.uid`` or the empty string."""
    return Uid((obj.get("metadata") or {}).get("uid", ""))


def resource_version_of(obj: Object) -> ResourceVersion:
    """Return ``metadata.resourceVersion`` or the empty string."""
    return ResourceVersion((obj.get("metadata") or {}).get("resourceVersion", ""))


def labels_of(obj: Object) -> dict[str, str]:
    """Return the labels; treat the result as shared and read-only."""
    return (obj.get("metadata") or {}).get("labels") or {}


def annotations_of(obj: Object) -> dict[str, str]:
    """Return the annotations; treat the result as shared and read-only."""
    return (obj.get("metadata") or {}).get("annotations") or {}


def owners_of(obj: Object) -> list[Object]:
    """Return the owner references."""
    return (obj.get("metadata") or {}).get("ownerReferences") or []


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference that has ``controller: true``, if any."""
    for owner in (obj.get("metadata") or {}).get("ownerReferences") or ():
        if owner.get("controller"):
            found: Object = owner
            return found
    return None


def is_being_deleted(obj: Object) -> bool:
    """Tell whether ``metadata.deletionTimestamp`` is set."""
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


def has_finalizer(obj: Object, finalizer: str) -> bool:
    """Tell whether the object has a finalizer."""
    return finalizer in (metadata(obj).get("finalizers") or ())


def with_finalizer(obj: Object, finalizer: str) -> Object:
    """Return the object with a finalizer at the end of the list, sharing all else."""
    known = metadata(obj).get("finalizers") or []
    return obj if finalizer in known else {**obj, "metadata": {**metadata(obj), "finalizers": [*known, finalizer]}}


def without_finalizer(obj: Object, finalizer: str) -> Object:
    """Return the object without a finalizer, sharing all else."""
    left = [name for name in metadata(obj).get("finalizers") or () if name != finalizer]
    return {**obj, "metadata": {**metadata(obj), "finalizers": left}}


def key_of(obj: Object) -> str:
    """Return ``namespace/name``, or ``name`` for a cluster-scoped object: the key of queues and indexes."""
    namespace = namespace_of(obj)
    return f"{namespace}/{name_of(obj)}" if namespace else name_of(obj)


def split_key(key: str) -> tuple[str, str]:
    """Return (namespace, name) of a key made by `key_of`; the namespace is empty for cluster-scoped objects."""
    namespace, _, name = key.rpartition("/")
    return namespace, name
