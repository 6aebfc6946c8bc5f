"""Puts descriptions from elsewhere into a document where the schemas' own are shorter.

A document is built with our texts first; what a source knows better replaces them, definition by definition and
operation by operation. The values of an enumeration follow the text of their field.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from hyperkube_host.apiserver.openapi import custom

from hyperkube.hookspecs.descriptions import Descriptions, Meanings, TypeDescription
from hyperkube.machinery.objects import Object

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_LIKE_OTHERS, _LIST_LIKE_OTHERS = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"
"""Custom kinds are described as built-in ones are: by what is said of these."""
_PLURAL = "pods"


class NoDescriptions:
    """Knows nothing: documents keep the schemas' own texts."""

    source = ""

    def types(self, names: Collection[str]) -> Mapping[str, TypeDescription]:
        """Return nothing."""
        return {}

    def values(self, wanted: Mapping[str, Mapping[str, Collection[str]]]) -> Mapping[str, Mapping[str, Meanings]]:
        """Return nothing."""
        return {}

    def parameters(self, wanted: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[str, str]]:
        """Return nothing."""
        return {}


class Remembered:
    """Asks for each type once, for the time that several documents are made."""

    def __init__(self, descriptions: Descriptions) -> None:
        self._descriptions = descriptions
        self._known: dict[str, TypeDescription | None] = {}
        self.source = descriptions.source

    def types(self, names: Collection[str]) -> Mapping[str, TypeDescription]:
        """Return what is known of definitions."""
        new = [name for name in names if name not in self._known]
        found = self._descriptions.types(new) if new else {}
        self._known.update({name: found.get(name) for name in new})
        known = {name: self._known[name] for name in names}
        return {name: text for name, text in known.items() if text is not None}

    def values(self, wanted: Mapping[str, Mapping[str, Collection[str]]]) -> Mapping[str, Mapping[str, Meanings]]:
        """Return what is known of the values of enumerations."""
        return self._descriptions.values(wanted)

    def parameters(self, wanted: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[str, str]]:
        """Return what is known of parameters."""
        return self._descriptions.parameters(wanted)


def describe(document: Object, descriptions: Descriptions) -> Object:
    """Replace a document's descriptions, in place at its upper levels; return it."""
    schemas = document["components"]["schemas"]
    found = descriptions.types(schemas)
    values = descriptions.values({name: _enumerations(body) for name, body in schemas.items() if _enumerations(body)})
    document["components"]["schemas"] = {
        name: _definition(body, found[name], values.get(name, {})) if name in found else body
        for name, body in schemas.items()
    }
    _describe_parameters(document["paths"], descriptions)
    return document


def describe_custom(document: Object, plurals: Mapping[str, str], descriptions: Descriptions) -> Object:
    """Describe what custom kinds have in common with built-in ones; `plurals`: definition of a list → plural name."""
    found = descriptions.types([_LIKE_OTHERS, _LIST_LIKE_OTHERS])
    if len(found) < len((_LIKE_OTHERS, _LIST_LIKE_OTHERS)):
        return document
    one, many = found[_LIKE_OTHERS].fields, found[_LIST_LIKE_OTHERS].fields
    texts = {
        custom.API_VERSION: one["apiVersion"],
        custom.KIND: one["kind"],
        custom.METADATA: one["metadata"],
        custom.LIST_METADATA: many["metadata"],
    }
    schemas = document["components"]["schemas"]
    for name, body in schemas.items():
        if not name.startswith("io.k8s.api"):
            schemas[name] = _replaced(body, texts)
        if name in plurals:
            schemas[name]["properties"]["items"]["description"] = many["items"].replace(_PLURAL, plurals[name])
    return document


def with_values(text: str, values: Iterable[Any], meanings: Meanings = MappingProxyType({})) -> str:
    """Return a field's description together with the values it may have, each with what it means or the text says.

    Source: kube-openapi ``pkg/generators/enum.go``.
    """
    listed = "".join(f'\n - `"{value}"`{_explained(str(value), text, meanings)}' for value in sorted(values))
    return f"{text}\n\nPossible enum values:{listed}".lstrip()


def _explained(value: str, text: str, meanings: Meanings) -> str:
    """Return a value's meaning after a space, else the paragraph or point of a list in `text` that begins with it."""
    if value in meanings:
        return f" {meanings[value]}".rstrip()
    found = re.search(rf"(?:^(?:- )?|: - ){re.escape(value)} ([a-z].*(?:\n +.*)*)", text, re.MULTILINE)
    return " " + " ".join(found[1].split()) if found else ""


def _enumerations(body: Object) -> dict[str, list[str]]:
    """Return the fields that have enumerations of strings; a custom kind's may be of numbers, lists and objects."""
    found = ((name, value.get("enum") or ()) for name, value in body.get("properties", {}).items())
    return {name: list(enum) for name, enum in found if enum and all(isinstance(value, str) for value in enum)}


def _definition(body: Object, found: TypeDescription, values: Mapping[str, Meanings]) -> Object:
    out = {**body, "description": found.text}
    if "properties" in body:
        out["properties"] = {
            name: _property(value, found.fields.get(name, ""), values.get(name, {}))
            for name, value in body["properties"].items()
        }
    return out


def _property(value: Object, text: str, meanings: Meanings) -> Object:
    if not text:
        return value
    return {**value, "description": with_values(text, value["enum"], meanings) if "enum" in value else text}


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_replaced(item, texts) for item in value]
    if not isinstance(value, dict):
        return value
    out = {name: _replaced(item, texts) for name, item in value.items()}
    about = out.get("description")
    if isinstance(about, str) and about in texts:
        out["description"] = texts[about]
    return out


def _describe_parameters(paths: Object, descriptions: Descriptions) -> None:
    wanted: dict[str, list[str]] = {}
    for item in paths.values():
        operations = [item[method] for method in _METHODS if method in item]
        for operation in operations:
            wanted[operation["operationId"]] = [each["name"] for each in operation.get("parameters", ())]
        if operations:
            wanted[operations[0]["operationId"]] += [each["name"] for each in item.get("parameters", ())]
    found = descriptions.parameters(wanted)
    for item in paths.values():
        operations = [item[method] for method in _METHODS if method in item]
        for operation in operations:
            _describe_all(operation, found.get(operation["operationId"], {}))
        if operations:
            _describe_all(item, found.get(operations[0]["operationId"], {}))


def _describe_all(owner: Object, texts: Mapping[str, str]) -> None:
    """Replace the descriptions of an owner's parameters, of the query and of the namespace; names say enough."""
    if texts and "parameters" in owner:
        owner["parameters"] = [
            {**each, "description": texts[each["name"]]} if each["name"] in texts and each["in"] == "query" else each
            for each in owner["parameters"]
        ]
