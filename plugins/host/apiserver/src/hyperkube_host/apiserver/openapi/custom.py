"""Definitions of custom resources, made from their structural schemas.

Source: kubernetes apiextensions-apiserver ``pkg/controller/openapi/builder``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube.machinery.objects import Object

_META = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1."
API_VERSION, KIND = "The group and version that the object is written in.", "What the object is."
METADATA, LIST_METADATA = "Standard metadata of the object.", "Standard metadata of lists."
"""What is said of the members that custom kinds share with all others."""
_API_VERSION = {"description": API_VERSION, "type": "string"}
_KIND = {"description": KIND, "type": "string"}
_OWN = {"apiVersion": _API_VERSION, "kind": _KIND}
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def definition_name(group: str, version: str, kind: str) -> str:
    """Return the name of a custom kind's definition: the group backwards, the version, the kind."""
    return ".".join([*reversed(group.split(".")), version, kind])


def custom_definition(schema: Mapping[str, Any], group: str, version: str, kind: str) -> Object:
    """Return the definition of a custom kind."""
    out = published(schema)
    properties = dict(out.get("properties") or {})
    properties |= _OWN
    properties["metadata"] = {
        "description": METADATA,
        "allOf": [{"$ref": f"{_META}ObjectMeta"}],
    }
    out["type"] = "object"
    out["properties"] = dict(sorted(properties.items()))
    out["x-kubernetes-group-version-kind"] = [{"group": group, "kind": kind, "version": version}]
    return out


def custom_list_definition(group: str, version: str, kind: str, list_kind: str) -> Object:
    """Return the definition of a list of a custom kind."""
    return {
        "description": f"{list_kind} is a list of {kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _API_VERSION,
            "items": {
                "description": f"List of {kind} objects.",
                "type": "array",
                "items": {"$ref": f"#/components/schemas/{definition_name(group, version, kind)}"},
            },
            "kind": _KIND,
            "metadata": {"description": LIST_METADATA, "allOf": [{"$ref": f"{_META}ListMeta"}]},
        },
        "x-kubernetes-group-version-kind": [{"group": group, "kind": list_kind, "version": version}],
    }


def published(schema: Mapping[str, Any]) -> Object:
    """Return a structural schema as it is published: integers-or-strings spelled out, embedded objects completed."""
    out = dict(schema)
    for name in ("properties", "patternProperties"):
        if isinstance(out.get(name), Mapping):
            out[name] = {key: published(value) for key, value in sorted(out[name].items())}
    for name in ("items", "additionalProperties"):
        if isinstance(out.get(name), Mapping):
            out[name] = published(out[name])
    if out.get("x-kubernetes-int-or-string") and "anyOf" not in out and "allOf" not in out:
        out["anyOf"] = _INT_OR_STRING
    if out.get("x-kubernetes-embedded-resource"):
        properties = {**(out.get("properties") or {}), **_OWN}
        properties["metadata"] = {"allOf": [{"$ref": f"{_META}ObjectMeta"}]}
        out["properties"] = dict(sorted(properties.items()))
        out["required"] = sorted({*(out.get("required") or ()), "apiVersion", "kind"})
    return out
