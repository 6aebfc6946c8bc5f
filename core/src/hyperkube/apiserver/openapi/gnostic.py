"""OpenAPI version 2 as protobuf: the form in which kubectl's discovery client wants it.

A table per message says which member has which number and how it is written; members whose names begin with ``x-`` are
vendor extensions. Source: google/gnostic ``openapiv2/OpenAPIv2.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import orjson

from hyperkube.machinery.codecs.wire import FIXED64, VARINT, delimited, tag, varint
from hyperkube.machinery.objects import Object

Write: TypeAlias = Callable[[int, Any], bytes]
"""Writes a member under a number."""

Table: TypeAlias = Mapping[str, tuple[int, Write]]

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What the answer is called; clients also ask for it by the name in `ASKED_AS`, which is no legal media type."""
ASKED_AS = ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", MEDIA_TYPE)


def _text(number: int, value: str) -> bytes:
    return delimited(number, value.encode())


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _flag(number: int, value: bool) -> bytes:
    return tag(number, VARINT) + varint(int(value))


def _count(number: int, value: int) -> bytes:
    return tag(number, VARINT) + varint(value)


def _real(number: int, value: float) -> bytes:
    return tag(number, FIXED64) + struct.pack("<d", value)


def _any(number: int, value: Any) -> bytes:
    return delimited(number, _text(2, orjson.dumps(value).decode()))


def _anys(number: int, values: Iterable[Any]) -> bytes:
    return b"".join(_any(number, value) for value in values)


def _named(number: int, name: str, value: bytes) -> bytes:
    """Write a map's entry: a message with the name and the value."""
    return delimited(number, _text(1, name) + delimited(2, value))


def _message(table: Table, vendor: int, value: Object) -> bytes:
    """Return the bytes of a message; `vendor` is the number of its vendor extensions."""
    parts = []
    for name, item in value.items():
        entry = table.get(name)
        if entry is not None:
            parts.append(entry[1](entry[0], item))
        elif name.startswith("x-"):
            parts.append(_named(vendor, name, _text(2, orjson.dumps(item).decode())))
    return b"".join(parts)


def _schema(value: Object) -> bytes:
    return _message(_SCHEMA, 31, value)


def _nested(number: int, value: Object) -> bytes:
    return delimited(number, _schema(value))


def _properties(number: int, value: Mapping[str, Object]) -> bytes:
    return delimited(number, b"".join(_named(1, name, _schema(item)) for name, item in value.items()))


def _additional(number: int, value: Object | bool) -> bytes:
    return delimited(number, _flag(2, value) if isinstance(value, bool) else _nested(1, value))


_SCHEMA: Table = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _real),
    "maximum": (7, _real),
    "exclusiveMaximum": (8, _flag),
    "minimum": (9, _real),
    "exclusiveMinimum": (10, _flag),
    "maxLength": (11, _count),
    "minLength": (12, _count),
    "pattern": (13, _text),
    "maxItems": (14, _count),
    "minItems": (15, _count),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _count),
    "minProperties": (18, _count),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _additional),
    "type": (22, lambda number, value: delimited(number, _text(1, value))),
    "items": (23, lambda number, value: delimited(number, _nested(1, value))),
    "properties": (25, _properties),
    "example": (30, _any),
}

_BODY: Table = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, _nested),
}
_QUERY: Table = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
    "format": (7, _text),
    "uniqueItems": (20, _flag),
}
_PATH: Table = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
    "format": (6, _text),
    "uniqueItems": (19, _flag),
}


def _parameters(number: int, values: Iterable[Object]) -> bytes:
    return b"".join(delimited(number, delimited(1, _parameter(value))) for value in values)


def _parameter(value: Object) -> bytes:
    if value["in"] == "body":
        return delimited(1, _message(_BODY, 6, value))
    if value["in"] == "path":
        return delimited(2, delimited(4, _message(_PATH, 22, value)))
    return delimited(2, delimited(3, _message(_QUERY, 23, value)))


def _responses(number: int, values: Mapping[str, Object]) -> bytes:
    return delimited(
        number, b"".join(_named(1, code, delimited(1, _message(_RESPONSE, 5, value))) for code, value in values.items())
    )


_RESPONSE: Table = {
    "description": (1, _text),
    "schema": (2, lambda number, value: delimited(number, _nested(1, value))),
}
_OPERATION: Table = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}


def _operation(number: int, value: Object) -> bytes:
    return delimited(number, _message(_OPERATION, 13, value))


_PATH_ITEM: Table = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "options": (6, _operation),
    "head": (7, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
}


def _paths(number: int, value: Mapping[str, Object]) -> bytes:
    return delimited(number, b"".join(_named(2, path, _message(_PATH_ITEM, 10, item)) for path, item in value.items()))


def _security(number: int, values: Iterable[Mapping[str, list[str]]]) -> bytes:
    return b"".join(
        delimited(number, b"".join(_named(1, name, _texts(1, scopes)) for name, scopes in value.items()))
        for value in values
    )


_API_KEY: Table = {"type": (1, _text), "name": (2, _text), "in": (3, _text), "description": (4, _text)}


def _security_definitions(number: int, value: Mapping[str, Object]) -> bytes:
    return delimited(
        number, b"".join(_named(1, name, delimited(2, _message(_API_KEY, 5, item))) for name, item in value.items())
    )


_INFO: Table = {"title": (1, _text), "version": (2, _text)}
_DOCUMENT: Table = {
    "swagger": (1, _text),
    "info": (2, lambda number, value: delimited(number, _message(_INFO, 7, value))),
    "paths": (8, _paths),
    "definitions": (9, _properties),
    "security": (12, _security),
    "securityDefinitions": (13, _security_definitions),
}


def encode_document(document: Object) -> bytes:
    """Return the protobuf of a document of version 2."""
    return _message(_DOCUMENT, 16, document)
