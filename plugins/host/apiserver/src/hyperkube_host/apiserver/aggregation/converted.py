"""An OpenAPI document of version 2 as one of version 3, for servers that only have the former; some is lost.

Source: kube-openapi ``pkg/openapiconv/convert.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube.machinery.objects import Object

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_OLD, _NEW = "#/definitions/", "#/components/schemas/"
_OF_OPERATION = ("tags", "description", "externalDocs", "summary", "operationId", "deprecated")
_OF_PARAMETER = ("name", "in", "description", "required", "allowEmptyValue")
_OF_VALUE = (
    *("type", "format", "default", "example", "nullable", "items", "uniqueItems", "pattern", "enum", "multipleOf"),
    *("maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "maxItems", "minItems"),
)


def to_v3(document: Object) -> Object:
    """Return a document of version 3 that says what one of version 2 says."""
    shared: Mapping[str, Object] = document.get("parameters") or {}
    schemas = {name: _schema(body) for name, body in sorted((document.get("definitions") or {}).items())}
    made: Object = {"openapi": "3.0.0", "info": document.get("info") or {}}
    if document.get("externalDocs"):
        made["externalDocs"] = document["externalDocs"]
    made["paths"] = {path: _item(item, shared) for path, item in sorted((document.get("paths") or {}).items())}
    components: Object = {"schemas": schemas}
    if document.get("securityDefinitions"):
        components["securitySchemes"] = document["securityDefinitions"]
    return {**made, "components": components}


def _extensions(value: Object) -> Object:
    return {name: inner for name, inner in value.items() if name.startswith("x-")}


def _item(item: Object, shared: Mapping[str, Object]) -> Object:
    found = {method: _operation(item[method], shared) for method in _METHODS if isinstance(item.get(method), dict)}
    parameters = [_parameter(one, shared) for one in item.get("parameters") or ()]
    return {**found, **({"parameters": parameters} if parameters else {}), **_extensions(item)}


def _operation(operation: Object, shared: Mapping[str, Object]) -> Object:
    found = {name: operation[name] for name in _OF_OPERATION if name in operation}
    parameters: list[Object] = []
    for one in operation.get("parameters") or ():
        declared = _declared(one, shared)
        if declared.get("in") == "body":
            found["requestBody"] = _body(declared, operation.get("consumes") or ())
        else:
            parameters.append(_parameter(declared, shared))
    if parameters:
        found["parameters"] = parameters
    produces = operation.get("produces") or ()
    responses = {code: _response(one, produces) for code, one in (operation.get("responses") or {}).items()}
    return {**found, "responses": responses, **_extensions(operation)}


def _declared(parameter: Object, shared: Mapping[str, Object]) -> Object:
    name = str(parameter.get("$ref") or "").removeprefix("#/parameters/")
    return shared.get(name, parameter) if name else parameter


def _parameter(parameter: Object, shared: Mapping[str, Object]) -> Object:
    declared = _declared(parameter, shared)
    value = {name: declared[name] for name in _OF_VALUE if name in declared}
    found = {name: declared[name] for name in _OF_PARAMETER if name in declared}
    return {**found, "schema": _schema(value), **_extensions(declared)}


def _body(parameter: Object, consumes: Sequence[str]) -> Object:
    found: Object = {name: parameter[name] for name in ("description", "required") if name in parameter}
    return {"content": _content(parameter.get("schema"), consumes), **found, **_extensions(parameter)}


def _response(response: Object, produces: Sequence[str]) -> Object:
    found: Object = {"description": response.get("description", ""), **_extensions(response)}
    if response.get("schema") is not None:
        found["content"] = _content(response["schema"], produces)
    return found


def _content(schema: Any, media_types: Sequence[str]) -> Object:
    return {media_type: {"schema": _schema(schema)} for media_type in media_types}


def _schema(value: Any) -> Any:
    """Return a schema with its references where version 3 keeps schemas."""
    if isinstance(value, dict):
        return {
            name: _NEW + inner.removeprefix(_OLD) if name == "$ref" and isinstance(inner, str) else _schema(inner)
            for name, inner in value.items()
        }
    return [_schema(one) for one in value] if isinstance(value, list) else value
