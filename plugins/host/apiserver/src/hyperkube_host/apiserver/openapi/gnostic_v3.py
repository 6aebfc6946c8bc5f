"""OpenAPI version 3 as protobuf.

Source: google/gnostic ``openapiv3/OpenAPIv3.proto``; kube-openapi ``pkg/handler3``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_host.apiserver.openapi.members import (
    Table,
    any_value,
    any_values,
    count,
    each,
    entries,
    flag,
    message,
    one,
    real,
    text,
    texts,
)
from hyperkube_lib.protobuf.wire import delimited

from hyperkube.machinery.objects import Object

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
"""What the answer is called; clients also ask for it by the other name, which is no legal media type."""
ASKED_AS = ("application/com.github.proto-openapi.spec.v3@v1.0+protobuf", MEDIA_TYPE)


def _schema_or_reference(value: Object) -> bytes:
    if "$ref" in value:
        return delimited(2, text(1, value["$ref"]))
    return delimited(1, message(_SCHEMA, 36, value))


def _items(value: Object) -> bytes:
    return delimited(1, _schema_or_reference(value))


def _properties(value: Mapping[str, Object]) -> bytes:
    return entries(value, _schema_or_reference)


def _additional(value: Object | bool) -> bytes:
    return flag(2, value) if isinstance(value, bool) else delimited(1, _schema_or_reference(value))


def _default(number: int, value: Any) -> bytes:
    """Write a default: a number, a boolean or a string; others have no place."""
    if isinstance(value, bool):
        return delimited(number, flag(2, value))
    if isinstance(value, int | float):
        return delimited(number, real(1, value))
    return delimited(number, text(3, value)) if isinstance(value, str) else b""


_SCHEMA: Table = {
    "nullable": (1, flag),
    "example": (7, any_value),
    "title": (9, text),
    "multipleOf": (10, real),
    "maximum": (11, real),
    "exclusiveMaximum": (12, flag),
    "minimum": (13, real),
    "exclusiveMinimum": (14, flag),
    "maxLength": (15, count),
    "minLength": (16, count),
    "pattern": (17, text),
    "maxItems": (18, count),
    "minItems": (19, count),
    "uniqueItems": (20, flag),
    "maxProperties": (21, count),
    "minProperties": (22, count),
    "required": (23, texts),
    "enum": (24, any_values),
    "type": (25, text),
    "allOf": (26, each(_schema_or_reference)),
    "oneOf": (27, each(_schema_or_reference)),
    "anyOf": (28, each(_schema_or_reference)),
    "not": (29, one(lambda value: message(_SCHEMA, 36, value))),
    "items": (30, one(_items)),
    "properties": (31, one(_properties)),
    "additionalProperties": (32, one(_additional)),
    "default": (33, _default),
    "description": (34, text),
    "format": (35, text),
}
_MEDIA: Table = {"schema": (1, one(_schema_or_reference))}


def _content(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda media: message(_MEDIA, 5, media))


_PARAMETER: Table = {
    "name": (1, text),
    "in": (2, text),
    "description": (3, text),
    "required": (4, flag),
    "schema": (10, one(_schema_or_reference)),
}
_BODY: Table = {"description": (1, text), "content": (2, one(_content)), "required": (3, flag)}
_RESPONSE: Table = {"description": (1, text), "content": (3, one(_content))}


def _parameter(value: Object) -> bytes:
    return delimited(1, message(_PARAMETER, 14, value))


def _body(value: Object) -> bytes:
    return delimited(1, message(_BODY, 4, value))


def _responses(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda response: delimited(1, message(_RESPONSE, 5, response)), 2)


_OPERATION: Table = {
    "tags": (1, texts),
    "description": (3, text),
    "operationId": (5, text),
    "parameters": (6, each(_parameter)),
    "requestBody": (7, one(_body)),
    "responses": (8, one(_responses)),
}


def _operation(number: int, value: Object) -> bytes:
    return delimited(number, message(_OPERATION, 13, value))


_PATH_ITEM: Table = {
    "get": (4, _operation),
    "put": (5, _operation),
    "post": (6, _operation),
    "delete": (7, _operation),
    "options": (8, _operation),
    "head": (9, _operation),
    "patch": (10, _operation),
    "parameters": (13, each(_parameter)),
}
_SECURITY_SCHEME: Table = {"type": (1, text), "description": (2, text), "name": (3, text), "in": (4, text)}


def _paths(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda item: message(_PATH_ITEM, 14, item))


def _security_schemes(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda scheme: delimited(1, message(_SECURITY_SCHEME, 9, scheme)))


def _requirement(value: Mapping[str, list[str]]) -> bytes:
    return entries(value, lambda scopes: texts(1, scopes))


_COMPONENTS: Table = {"schemas": (1, one(_properties)), "securitySchemes": (7, one(_security_schemes))}
_INFO: Table = {"title": (1, text), "description": (2, text), "version": (6, text)}
_DOCUMENT: Table = {
    "openapi": (1, text),
    "info": (2, one(lambda value: message(_INFO, 7, value))),
    "paths": (4, one(_paths)),
    "components": (5, one(lambda value: message(_COMPONENTS, 10, value))),
    "security": (6, each(_requirement)),
}


def encode_document(document: Object) -> bytes:
    """Return the protobuf of a document of version 3."""
    return message(_DOCUMENT, 9, document)
