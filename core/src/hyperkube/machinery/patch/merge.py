"""JSON merge patch (RFC 7386): members of the patch replace, ``null`` removes, objects merge.

Where an object or list of the patch is new to the document, nulls inside it are dropped, in the objects of its lists
too: so does the library Kubernetes uses (evanphx/json-patch v4).
"""

from __future__ import annotations

from typing import Any

from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.patch.refusal import undecodable


def apply_merge_patch(document: Object, patch: Any) -> Object:
    """Return the document with the patch merged in; both arguments stay as they are, and share nothing with it.

    Raises:
        BadRequest: the patch is no object.
    """
    if patch is None:
        return document
    if not isinstance(patch, dict):
        raise undecodable(patch, "map[string]interface {}")
    return _merge(document, copy_object(patch))


def _merge(document: Object, patch: Object) -> Object:
    merged = dict(document)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
            continue
        current = merged.get(key)
        if isinstance(current, dict):
            merged[key] = _merge(current, value) if isinstance(value, dict) else value
        else:
            merged[key] = _without_nulls(value)
    return merged


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
