"""Tables: a list as ``kubectl get`` prints it.

Source: kubernetes apiserver ``pkg/registry/rest/table.go``, ``pkg/endpoints/handlers/response.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from hyperkube.apiserver.served import ServedResource
from hyperkube.hookspecs.api import Column
from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import human_duration, parse_time

META_VERSION = "meta.k8s.io"
_DESCRIPTIONS = {
    "Name": "The object's name, unique among its kind in a namespace.",
    "Age": "How long ago the object was created.",
    "Created At": "When the object was created.",
}
"""What clients see of the columns that all kinds share, where a resource says nothing of its own."""
_INCLUDES = frozenset({"", "None", "Metadata", "Object"})
_DEFAULT_COLUMNS = (Column("Name", format="name"), Column("Age"))


def _is_plain(served: ServedResource) -> bool:
    """Tell whether a resource has no printer of its own: its empty tables have null for rows."""
    return not served.custom and [column.name for column in columns_of(served)] == ["Name", "Created At"]


def columns_of(served: ServedResource) -> tuple[Column, ...]:
    """Return the columns of a resource's tables."""
    return served.spec.columns or _DEFAULT_COLUMNS


def definitions(served: ServedResource) -> list[Object]:
    """Return the column definitions of a table."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": column.description or _DESCRIPTIONS.get(column.name, ""),
            "priority": column.priority,
        }
        for column in columns_of(served)
    ]


def age(obj: Object, now: datetime) -> str:
    """Return the age of an object as tables show it."""
    created = (obj.get("metadata") or {}).get("creationTimestamp")
    return human_duration(now - parse_time(created)) if created else "<unknown>"


def cells_of(served: ServedResource, obj: Object, now: datetime) -> list[Any]:
    """Return one object's cells."""
    if served.spec.cells is not None:
        return served.spec.cells(obj, now)
    return [_plain_cell(column, obj, now) for column in columns_of(served)]


def _plain_cell(column: Column, obj: Object, now: datetime) -> str:
    meta = obj.get("metadata") or {}
    if column.name == "Age":
        return age(obj, now)
    if column.name == "Created At":
        return str(meta.get("creationTimestamp") or "<unknown>")
    return str(meta.get("name", "")) if column.format == "name" else ""


def partial(served: ServedResource, obj: Object, version: str) -> Object:
    """Return an object's PartialObjectMetadata."""
    meta = obj.get("metadata") or {}
    hidden = served.spec.own_annotations
    if hidden and meta.get("annotations"):
        shown = {name: text for name, text in meta["annotations"].items() if name not in hidden}
        meta = {name: shown if name == "annotations" else value for name, value in meta.items()}
        if not shown:
            del meta["annotations"]
    return {"kind": "PartialObjectMetadata", "apiVersion": f"{META_VERSION}/{version}", "metadata": meta}


def row(served: ServedResource, obj: Object, now: datetime, *, include: str, version: str) -> Object:
    """Return one object's row; `include` is the request's ``includeObject``: None, Metadata (the default) or Object."""
    shown: Object | None = partial(served, obj, version)
    if include == "None":
        shown = None
    elif include == "Object":
        shown = obj
    return {"cells": cells_of(served, obj, now), "object": shown}


def table(
    served: ServedResource,
    objects: Iterable[Object],
    metadata: Object,
    now: datetime,
    *,
    include: str,
    version: str,
    headed: bool = True,
) -> Object:
    """Return a table; without a head it has no column definitions (all but the first of a watch).

    Raises:
        BadRequest: `include` is none of the words it may be.
    """
    if include not in _INCLUDES:
        raise BadRequest(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    rows = [row(served, obj, now, include=include, version=version) for obj in objects]
    return {
        "kind": "Table",
        "apiVersion": f"{META_VERSION}/{version}",
        "metadata": metadata,
        "columnDefinitions": definitions(served) if headed else None,
        "rows": rows if rows or not _is_plain(served) else None,
    }
