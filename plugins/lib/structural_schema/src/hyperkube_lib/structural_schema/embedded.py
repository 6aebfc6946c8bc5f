"""Objects within objects (``x-kubernetes-embedded-resource``): they have a kind, and metadata that are such.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/objectmeta/{algorithm,validation}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hyperkube_lib.structural_schema.structure import EMBEDDED, JsonSchema, Metadata, has_anywhere

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, required
from hyperkube.machinery.groups import GroupVersion
from hyperkube.machinery.objects import Object, copy_object

CheckMetadata = Callable[[Object, Path], list[FieldError]]
"""Returns what is wrong with the metadata of an object, given where they are."""


def _nothing(_metadata: Object, _path: Path) -> list[FieldError]:
    return []


def has_embedded(schema: JsonSchema) -> bool:
    """Tell whether a schema has objects within objects anywhere, of which there may be `embedded_errors`."""
    return has_anywhere(schema, lambda inner: inner.get(EMBEDDED))


def embedded_errors(
    path: Path, value: Any, schema: JsonSchema, decode: Metadata, check: CheckMetadata = _nothing
) -> list[FieldError]:
    """Return what is wrong with the kinds and metadata of all objects within a value.

    Args:
        path: where the value is.
        value: any JSON value.
        schema: what it should be.
        decode: reads metadata; raises `DecodeError`.
        check: says what is wrong with metadata that could be read.
    """
    return list(_errors(path, value, schema, decode, check))


def _errors(path: Path, value: Any, schema: JsonSchema, decode: Metadata, check: CheckMetadata) -> Iterator[FieldError]:
    if isinstance(value, list):
        items = schema.get("items")
        for index, item in enumerate(value):
            if isinstance(items, dict):
                yield from _errors(path.index(index), item, items, decode, check)
    if not isinstance(value, dict):
        return
    if schema.get(EMBEDDED):
        yield from _object(path, value, decode, check)
    properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
    for name in sorted(value):
        if name in properties:
            yield from _errors(path.child(name), value[name], properties[name], decode, check)
        elif isinstance(values, dict):
            yield from _errors(path.key(name), value[name], values, decode, check)


def _object(path: Path, value: Object, decode: Metadata, check: CheckMetadata) -> Iterator[FieldError]:
    for member in ("apiVersion", "kind"):
        at, text = path.child(member), value.get(member)
        if member not in value or text == "":
            yield required(at)
        elif not isinstance(text, str):
            yield invalid(at, text, "must be a string")
        elif member == "kind":
            wrong = names.dns1035_label(text.lower())
            if wrong:
                yield invalid(at, text, f"may have mixed case, but should otherwise match: {','.join(wrong)}")
        else:
            try:
                GroupVersion.parse(text)
            except ValueError as error:
                yield invalid(at, text, str(error))
    if "metadata" not in value:
        return
    from hyperkube.machinery.schema import DecodeError

    at = path.child("metadata")
    try:
        metadata, _ = decode(copy_object({"": value["metadata"]})[""])
    except DecodeError as error:
        yield invalid(at, value["metadata"], str(error))
        return
    yield from check(metadata, at)
