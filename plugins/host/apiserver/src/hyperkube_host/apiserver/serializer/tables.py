"""Tables: a list as ``kubectl get`` prints it.

Source: kubernetes apiserver ``pkg/registry/rest/table.go``, ``pkg/endpoints/handlers/response.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import orjson
from hyperkube_host.apiserver.openapi import NoDescriptions
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.serializer.negotiation import Format

from hyperkube.hookspecs.api import Column
from hyperkube.hookspecs.descriptions import Descriptions
from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import CompiledSchema, compile_schema, resolve
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.structs import members
from hyperkube.machinery.times import human_duration, parse_time

META_VERSION = "meta.k8s.io"
_USUAL_FIELDS = {
    "Name": "metadata.name",
    "Age": "metadata.creationTimestamp",
    "Created At": "metadata.creationTimestamp",
}
"""The fields that the columns of all kinds show, where a column does not say itself."""
_TEXTS = {
    "Containers": "The containers of the pod template, by name.",
    "Images": "What the containers of the pod template run.",
    "Users": "The users that are bound.",
    "Groups": "The groups whose members are bound.",
    "ServiceAccounts": "The service accounts that are bound, with their namespaces.",
}
"""What is said of columns that several kinds have and that show no single field."""
_SAID_SINCE_V1 = {"roleRef": " This field is immutable."}
"""What is said of a field in v1 and not in v1beta1, from which Kubernetes' printers of bindings have their texts."""
_META_SCHEMA = "hyperkube_api.meta.v1:ObjectMeta"
_INCLUDES = frozenset({"", "None", "Metadata", "Object"})
_DEFAULT_COLUMNS = (Column("Name", format="name"), Column("Age"))


def _is_plain(served: ServedResource) -> bool:
    """Tell whether a resource has no printer of its own: its empty tables have null for rows."""
    return not served.custom and [column.name for column in columns_of(served)] == ["Name", "Created At"]


def columns_of(served: ServedResource) -> tuple[Column, ...]:
    """Return the columns of a resource's tables."""
    return served.spec.columns or _DEFAULT_COLUMNS


class ColumnDefinitions:
    """The column definitions of tables, each with a description: the column's own or that of the field it shows.

    They are made when a table of a resource is first asked for, and kept; so are the few texts, as columns share them.
    """

    def __init__(self, descriptions: Callable[[], Descriptions] = NoDescriptions) -> None:
        self._descriptions = descriptions
        self._made: WeakKeyDictionary[ServedResource, list[Object]] = WeakKeyDictionary()
        self._written: WeakKeyDictionary[ServedResource, bytes] = WeakKeyDictionary()
        self._texts: dict[tuple[str, str], str] = {}
        self._making = threading.Lock()

    def of(self, served: ServedResource) -> list[Object]:
        """Return the column definitions of a resource's tables; they are shared, so leave them as they are."""
        made = self._made.get(served)
        if made is None:
            with self._making:  # a crowd that asks for the first table reads the texts once
                made = self._made.get(served) or self._make(served)
                self._made[served] = made
        return made

    def knows(self, served: ServedResource) -> bool:
        """Tell whether the column definitions of a resource are made: the first time may read many texts."""
        return served in self._written

    def json_of(self, served: ServedResource) -> bytes:
        """Return the same as JSON."""
        written = self._written.get(served)
        if written is None:
            written = self._written[served] = orjson.dumps(self.of(served))
        return written

    def _make(self, served: ServedResource) -> list[Object]:
        columns = columns_of(served)
        shown = [None if column.description else _shown_field(served, column) for column in columns]
        self._learn([field for field in shown if field is not None])
        return [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": _own(column) if field is None else self._texts[field.key],
                "priority": column.priority,
            }
            for column, field in zip(columns, shown, strict=True)
        ]

    def _learn(self, fields: Sequence[_ShownField]) -> None:
        """Look up the texts of fields, our own where there are no others."""
        new = {field.key: field for field in fields if field.key not in self._texts}
        found = self._descriptions().types({definition for definition, _ in new}) if new else {}
        for (definition, name), field in new.items():
            known = found.get(definition)
            text = known.fields.get(name, "") if known is not None else ""
            self._texts[field.key] = text.removesuffix(_SAID_SINCE_V1.get(name, "")) or field.own


def _own(column: Column) -> str:
    return column.description or _TEXTS.get(column.name, "")


class _ShownField(NamedTuple):
    """A field that a column shows: its definition's name and its own, and what its schema says of it."""

    key: tuple[str, str]
    own: str


def _shown_field(served: ServedResource, column: Column) -> _ShownField | None:
    """Return the field that a column shows, None for a column that shows no field."""
    path = column.field or _USUAL_FIELDS.get(column.name, "")
    if not path:
        return None
    name, _, path = path.rpartition("/")
    parts = path.split(".")
    if parts[0] == "metadata":
        name, parts = _META_SCHEMA, parts[1:]
    schema = resolve(name or served.spec.schema)
    for part in parts[:-1]:
        schema = _inner(members(schema)[part])
    return _ShownField((schema.openapi_name(), parts[-1]), members(schema)[parts[-1]].doc)


def _inner(field: KubeField) -> type[KubeSchema]:
    """Return the schema of a struct, or of the items of a list."""
    while isinstance(field, List | Map):
        field = field.items
    assert isinstance(field, Struct)  # noqa: S101 -- a path leads through structs
    return field.schema()


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


def partial_schema(wanted: Format) -> CompiledSchema:
    """Return the schema of PartialObjectMetadata or of a list of them, for protobuf; only the list has two versions."""
    module = "v1beta1" if wanted.kind.endswith("List") and wanted.version == "v1beta1" else "v1"
    return compile_schema(f"hyperkube_api.meta.{module}:{wanted.kind}")


def shown_as(served: ServedResource, subresource: str) -> ServedResource:
    """Return whose columns and cells a table has: the resource's, or those that a subresource has of its own."""
    part = next((sub for sub in served.spec.subresources if sub.columns and sub.name == subresource), None)
    if part is None:
        return served
    spec = replace(
        served.spec,
        schema=part.schema or served.spec.schema,
        columns=part.columns,
        cells=part.cells,
        row_conditions=None,
        row_order=None,
    )
    return ServedResource(spec, None, custom=served.custom)


def row(served: ServedResource, obj: Object, now: datetime, *, include: str, version: str) -> Object:
    """Return one object's row; `include` is the request's ``includeObject``: None, Metadata (the default) or Object."""
    shown: Object | None = partial(served, obj, version)
    if include == "None":
        shown = None
    elif include == "Object":
        shown = obj
    return {"cells": cells_of(served, obj, now), **conditions_of(served, obj), "object": shown}


def conditions_of(served: ServedResource, obj: Object) -> Object:
    """Return the conditions of an object's row as members of the row: none where it has none."""
    conditions = served.spec.row_conditions(obj) if served.spec.row_conditions is not None else []
    return {"conditions": conditions} if conditions else {}


def check_include(include: str) -> None:
    """Check the request's ``includeObject``.

    Raises:
        BadRequest: it is none of the words it may be.
    """
    if include not in _INCLUDES:
        raise BadRequest(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )


def table(
    served: ServedResource,
    objects: Iterable[Object],
    metadata: Object,
    now: datetime,
    *,
    include: str,
    version: str,
    columns: ColumnDefinitions | None,
) -> Object:
    """Return a table; without `columns` it has no column definitions (all but the first of a watch).

    Raises:
        BadRequest: `include` is none of the words it may be.
    """
    check_include(include)
    if served.spec.row_order is not None:
        objects = sorted(objects, key=served.spec.row_order)
    rows = [row(served, obj, now, include=include, version=version) for obj in objects]
    return {
        "kind": "Table",
        "apiVersion": f"{META_VERSION}/{version}",
        "metadata": metadata,
        "columnDefinitions": columns.of(served) if columns is not None else None,
        "rows": rows if rows or not _is_plain(served) else None,
    }


def table_bytes(
    served: ServedResource, rows: Sequence[bytes], metadata: Object, version: str, columns: ColumnDefinitions | None
) -> bytes:
    """Return the JSON of a table whose rows are encoded already; see `table`."""
    body = b"[%s]" % b",".join(rows) if rows or not _is_plain(served) else b"null"
    return b"%s%s}" % (table_head(served, metadata, version, columns), body)


def table_head(served: ServedResource, metadata: Object, version: str, columns: ColumnDefinitions | None) -> bytes:
    """Return the JSON of a table up to its rows; see `table`."""
    kind = orjson.dumps({"kind": "Table", "apiVersion": f"{META_VERSION}/{version}", "metadata": metadata})
    definitions = columns.json_of(served) if columns is not None else b"null"
    return b'%s,"columnDefinitions":%s,"rows":' % (kind[:-1], definitions)
