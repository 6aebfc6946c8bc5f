"""OpenAPI version 2 as protobuf: the form in which kubectl's discovery client wants it.

Source: google/gnostic ``openapiv2/OpenAPIv2.proto``.
"""

from __future__ import annotations

from collections.abc import Mapping

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

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What the answer is called; clients also ask for it by the name in `ASKED_AS`, which is no legal media type."""
ASKED_AS = ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", MEDIA_TYPE)


def _schema(value: Object) -> bytes:
    return message(_SCHEMA, 31, value)


def _properties(value: Mapping[str, Object]) -> bytes:
    return entries(value, _schema)


def _additional(value: Object | bool) -> bytes:
    return flag(2, value) if isinstance(value, bool) else delimited(1, _schema(value))


_SCHEMA: Table = {
    "$ref": (1, text),
    "format": (2, text),
    "title": (3, text),
    "description": (4, text),
    "default": (5, any_value),
    "multipleOf": (6, real),
    "maximum": (7, real),
    "exclusiveMaximum": (8, flag),
    "minimum": (9, real),
    "exclusiveMinimum": (10, flag),
    "maxLength": (11, count),
    "minLength": (12, count),
    "pattern": (13, text),
    "maxItems": (14, count),
    "minItems": (15, count),
    "uniqueItems": (16, flag),
    "maxProperties": (17, count),
    "minProperties": (18, count),
    "required": (19, texts),
    "enum": (20, any_values),
    "additionalProperties": (21, one(_additional)),
    "type": (22, one(lambda value: text(1, value))),
    "items": (23, one(lambda value: delimited(1, _schema(value)))),
    "properties": (25, one(_properties)),
    "example": (30, any_value),
}

_BODY: Table = {
    "description": (1, text),
    "name": (2, text),
    "in": (3, text),
    "required": (4, flag),
    "schema": (5, one(_schema)),
}
_QUERY: Table = {
    "required": (1, flag),
    "in": (2, text),
    "description": (3, text),
    "name": (4, text),
    "type": (6, text),
    "format": (7, text),
    "uniqueItems": (20, flag),
}
_PATH: Table = {
    "required": (1, flag),
    "in": (2, text),
    "description": (3, text),
    "name": (4, text),
    "type": (5, text),
    "format": (6, text),
    "uniqueItems": (19, flag),
}


def _parameter(value: Object) -> bytes:
    if value["in"] == "body":
        return delimited(1, delimited(1, message(_BODY, 6, value)))
    if value["in"] == "path":
        return delimited(1, delimited(2, delimited(4, message(_PATH, 22, value))))
    return delimited(1, delimited(2, delimited(3, message(_QUERY, 23, value))))


def _responses(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda response: delimited(1, message(_RESPONSE, 5, response)))


_RESPONSE: Table = {
    "description": (1, text),
    "schema": (2, one(lambda value: delimited(1, _schema(value)))),
}
_OPERATION: Table = {
    "tags": (1, texts),
    "description": (3, text),
    "operationId": (5, text),
    "produces": (6, texts),
    "consumes": (7, texts),
    "parameters": (8, each(_parameter)),
    "responses": (9, one(_responses)),
    "schemes": (10, texts),
}


def _operation(value: Object) -> bytes:
    return message(_OPERATION, 13, value)


_PATH_ITEM: Table = {
    "get": (2, one(_operation)),
    "put": (3, one(_operation)),
    "post": (4, one(_operation)),
    "delete": (5, one(_operation)),
    "options": (6, one(_operation)),
    "head": (7, one(_operation)),
    "patch": (8, one(_operation)),
    "parameters": (9, each(_parameter)),
}


_API_KEY: Table = {"type": (1, text), "name": (2, text), "in": (3, text), "description": (4, text)}


def _paths(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda item: message(_PATH_ITEM, 10, item), 2)


def _requirement(value: Mapping[str, list[str]]) -> bytes:
    return entries(value, lambda scopes: texts(1, scopes))


def _security_definitions(value: Mapping[str, Object]) -> bytes:
    return entries(value, lambda item: delimited(2, message(_API_KEY, 5, item)))


_INFO: Table = {"title": (1, text), "version": (2, text)}
_DOCUMENT: Table = {
    "swagger": (1, text),
    "info": (2, one(lambda value: message(_INFO, 7, value))),
    "paths": (8, one(_paths)),
    "definitions": (9, one(_properties)),
    "security": (12, each(_requirement)),
    "securityDefinitions": (13, one(_security_definitions)),
}


def encode_document(document: Object) -> bytes:
    """Return the protobuf of a document of version 2."""
    return message(_DOCUMENT, 16, document)
