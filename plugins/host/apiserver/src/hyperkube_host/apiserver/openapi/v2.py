"""The one document of OpenAPI version 2, made from those of version 3.

Version 2 knows no defaults here, refers to definitions elsewhere, and writes bodies and answers another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from hyperkube.machinery.objects import Object

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_SPECIAL: dict[str, Object] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
}
_KINDS = "x-kubernetes-group-version-kind"
_NOT_IN_V2 = frozenset({"default", "nullable", "oneOf", "anyOf", "not", "allOf"})


class Part(NamedTuple):
    """What one group version adds to the document, written already.

    Attributes:
        paths: path → its JSON.
        definitions: name → its JSON.
        kinds: name → the group versions and kinds of which that definition says that it is one.
    """

    paths: Mapping[str, bytes]
    definitions: Mapping[str, bytes]
    kinds: Mapping[str, list[Object]]


def part_of(document: Object) -> Part:
    """Return what a document of version 3 says, as version 2 writes it."""
    schemas = document["components"]["schemas"]
    return Part(
        {path: orjson.dumps(_path(item)) for path, item in document["paths"].items()},
        {name: orjson.dumps(_definition(name, body)) for name, body in schemas.items()},
        {name: list(body[_KINDS]) for name, body in schemas.items() if _KINDS in body},
    )


def assembled(parts: Iterable[Part], version: str) -> bytes:
    """Return the JSON of the document of these parts.

    Several define the same types: the first one's words count, and the kinds of all.
    """
    paths: dict[str, bytes] = {}
    definitions: dict[str, bytes] = {}
    kinds: dict[str, list[Object]] = {}
    for part in parts:
        paths |= part.paths
        for name, body in part.definitions.items():
            definitions.setdefault(name, body)
        for name, found in part.kinds.items():
            known = kinds.setdefault(name, [])
            known += [kind for kind in found if kind not in known]
    shown = {name: _with_kinds(body, kinds.get(name)) for name, body in sorted(definitions.items())}
    return orjson.dumps(
        {
            "swagger": "2.0",
            "info": {"title": "Kubernetes", "version": version},
            "paths": {path: orjson.Fragment(body) for path, body in sorted(paths.items())},
            "definitions": {name: orjson.Fragment(body) for name, body in shown.items()},
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
    )


def _with_kinds(body: bytes, kinds: list[Object] | None) -> bytes:
    """Return a definition that is of all these kinds; most are of one, or of none."""
    if not kinds or len(kinds) == 1:
        return body
    definition = orjson.loads(body)
    return orjson.dumps({**definition, _KINDS: kinds}) if _KINDS in definition else body


def _definition(name: str, body: Object) -> Object:
    """Return a definition as version 2 writes it.

    Of a custom kind that may have any fields nothing is said: kubectl would refuse all fields but those that are named.
    """
    if body.get("x-kubernetes-preserve-unknown-fields") and _KINDS in body:
        return {"type": "object", _KINDS: body[_KINDS]}
    shown: Object = _special(name, body) or _schema(body)
    return shown


def _special(name: str, body: Object) -> Object | None:
    special = _SPECIAL.get(name)
    return None if special is None else {"description": body.get("description", ""), **special}


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
