"""The one document of OpenAPI version 2, made from those of version 3.

Version 2 knows no defaults here, refers to definitions elsewhere, and writes bodies and answers another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperkube.machinery.objects import Object

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_SPECIAL: dict[str, Object] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
}
_NOT_IN_V2 = frozenset({"default", "nullable", "oneOf", "anyOf", "not", "allOf"})


def to_v2(documents: Iterable[Object], version: str) -> Object:
    """Return the document that says what `documents` of version 3 say together."""
    paths: Object = {}
    definitions: Object = {}
    for document in documents:
        for name, body in document["components"]["schemas"].items():
            known = definitions.get(name)
            if known is None:
                definitions[name] = _special(name, body) or _schema(body)
            else:
                _merge_kinds(known, body)
        paths |= {path: _path(item) for path, item in document["paths"].items()}
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": version},
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
        "securityDefinitions": {
            "BearerToken": {
                "description": "Bearer Token authentication",
                "type": "apiKey",
                "name": "authorization",
                "in": "header",
            }
        },
        "security": [{"BearerToken": []}],
    }


def _special(name: str, body: Object) -> Object | None:
    special = _SPECIAL.get(name)
    return None if special is None else {"description": body.get("description", ""), **special}


def _merge_kinds(known: Object, body: Object) -> None:
    """Collect the group versions of a definition that occurs in several documents."""
    kinds: list[Object] = known.get("x-kubernetes-group-version-kind", [])
    kinds += [kind for kind in body.get("x-kubernetes-group-version-kind", ()) if kind not in kinds]


def _schema(value: Any) -> Any:
    """Return a schema of version 3 as version 2 writes it."""
    if isinstance(value, list):
        return [_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    out: Object = {}
    for name, item in value.items():
        if name == "$ref":
            out[name] = str(item).replace("#/components/schemas/", "#/definitions/")
        elif name == "allOf" and len(item) == 1:
            out |= _schema(item[0])
        elif name == "properties":
            out[name] = {key: _schema(inner) for key, inner in item.items()}
        elif name in {"items", "additionalProperties"}:
            out[name] = _schema(item)
        elif name not in _NOT_IN_V2:
            out[name] = list(item) if isinstance(item, list) else item
    return out


def _path(item: Object) -> Object:
    out: Object = {method: _operation(item[method]) for method in _METHODS if method in item}
    if "parameters" in item:
        out["parameters"] = [_parameter(parameter) for parameter in item["parameters"]]
    return out


def _parameter(parameter: Object) -> Object:
    return {**{name: item for name, item in parameter.items() if name != "schema"}, **parameter["schema"]}


def _operation(operation: Object) -> Object:
    body = operation.get("requestBody")
    produced = operation["responses"]["200"].get("content", {})
    out: Object = {
        "description": operation["description"],
        "consumes": list(body["content"]) if body else ["*/*"],
        "produces": list(produced),
        "schemes": ["https"],
        "tags": operation["tags"],
        "operationId": operation["operationId"],
    }
    parameters = [_parameter(parameter) for parameter in operation.get("parameters", ())]
    if body:
        schema = _schema(next(iter(body["content"].values()))["schema"])
        required = {"required": True} if body.get("required") else {}
        parameters.insert(0, {"name": "body", "in": "body", **required, "schema": schema})
    if parameters:
        out["parameters"] = parameters
    out["responses"] = {code: _response(answer) for code, answer in operation["responses"].items()}
    return out | {name: item for name, item in operation.items() if name.startswith("x-kubernetes-")}


def _response(answer: Object) -> Object:
    content = answer.get("content")
    if not content:
        return {"description": answer["description"]}
    return {"description": answer["description"], "schema": _schema(next(iter(content.values()))["schema"])}
