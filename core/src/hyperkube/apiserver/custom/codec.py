"""The codec of a custom kind: prunes, defaults and describes objects by a structural schema.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/{pruning,defaulting,objectmeta}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube.apiserver.rest.delete_options import meta_schema
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.schema import DecodeError, SchemaType, TypeInfo
from hyperkube.machinery.schema.blanks import Blanks
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown
from hyperkube.machinery.schema.strict import Members
from hyperkube.machinery.schema.structural import StructuralType

JsonSchema = Mapping[str, Any]
_KEEPS = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_EXACT = 1e21  # from here on Go writes an exponent
_OWN = frozenset({"apiVersion", "kind", "metadata"})


class CustomCodec:
    """Decodes, defaults and describes objects of one version of a custom kind.

    Attributes:
        json_schema: the structural schema, as declared.
        blanks: none: what is empty is shown.
    """

    blanks = Blanks()

    def __init__(self, kind: GroupVersionKind, schema: JsonSchema, *, keeps_unknown: bool = False) -> None:
        self.kind = kind
        self.json_schema = schema
        self._keeps_unknown = keeps_unknown
        self._meta = meta_schema("ObjectMeta")
        root = self._meta.type
        assert isinstance(root, SchemaType)  # noqa: S101 -- that is what compiled schemas have
        self.type: TypeInfo = StructuralType(schema, root=root)

    def decode(self, value: Any, *, report: bool = True) -> tuple[Object, list[str]]:
        """Prune an object, in the schema's sense; return it with ``unknown field "PATH"`` for what went.

        Raises:
            DecodeError: it is no object, or its metadata have a wrong type.
        """
        if value is None:
            return {"metadata": {}}, []
        if not isinstance(value, dict):
            raise TypeMismatch(shown(value), "map[string]interface {}")
        unknown: list[str] = []
        meta_value = value.get("metadata")
        meta, of_meta = self._meta.decode(meta_value, report=report)
        unknown += [text.replace('field "', 'field "metadata.', 1) for text in of_meta]
        obj: Object = {name: value[name] for name in ("apiVersion", "kind") if name in value}
        obj["metadata"] = meta
        for name in sorted(value):
            if name not in _OWN:
                obj[name] = _go_numbers(value[name])
        if not self._keeps_unknown:
            self._prune(obj, self.json_schema, "", unknown, at_root=True)
        return obj, sorted(unknown, key=_path_of) if report else []

    def strict_errors(self, document: Any) -> list[str]:
        """Return the texts for duplicate and unknown members, the duplicates first."""
        duplicates: list[str] = []
        plain = _merged(document, "", duplicates)
        try:
            return duplicates + self.decode(plain)[1]
        except DecodeError:
            return duplicates

    def canonical(self, obj: Object) -> Object:
        """Return an object as it is stored."""
        return self.decode(obj, report=False)[0]

    def default(self, obj: Object) -> None:
        """Fill in declared defaults in place; null where it is not allowed counts as absent."""
        _drop_nulls(obj, self.json_schema)
        _default(obj, self.json_schema)

    def _prune(self, value: Any, schema: JsonSchema, path: str, unknown: list[str], *, at_root: bool = False) -> None:
        if isinstance(value, list):
            items = schema.get("items")
            for index, item in enumerate(value):
                if isinstance(items, dict):
                    self._prune(item, items, f"{path}[{index}]", unknown)
            return
        if not isinstance(value, dict):
            return
        embedded = bool(schema.get(_EMBEDDED))
        if embedded and isinstance(value.get("metadata"), dict):
            meta, errors = self._meta.decode(value["metadata"])
            value["metadata"] = meta
            unknown += [text.replace('field "', f'field "{path}.metadata.', 1) for text in errors]
        self._prune_members(value, schema, path, unknown, own=at_root or embedded)

    def _prune_members(self, value: Object, schema: JsonSchema, path: str, unknown: list[str], *, own: bool) -> None:
        properties = schema.get("properties") or {}
        values = schema.get("additionalProperties")
        for name in list(value):
            where = f"{path}.{name}" if path else name
            if own and name in _OWN:
                continue
            if name in properties:
                self._prune(value[name], properties[name], where, unknown)
            elif isinstance(values, dict):
                self._prune(value[name], values, where, unknown)
            elif not values and not schema.get(_KEEPS):
                del value[name]
                unknown.append(f'unknown field "{where}"')


def _go_numbers(value: Any) -> Any:
    """Return JSON as Go writes it back: a whole number has no fraction."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    if isinstance(value, list):
        return [_go_numbers(item) for item in value]
    return {name: _go_numbers(item) for name, item in value.items()} if isinstance(value, dict) else value


def _path_of(text: str) -> list[str]:
    return text.partition('"')[2].rstrip('"').replace("[", ".[").split(".")


def _merged(value: Any, path: str, duplicates: list[str]) -> Any:
    """Return a document that keeps its duplicates as plain JSON; note the duplicates."""
    if isinstance(value, Members):
        merged: Object = {}
        for name, item in value:
            where = f"{path}.{name}" if path else name
            text = f'duplicate field "{where}"'
            if name in merged and text not in duplicates:
                duplicates.append(text)
            merged[name] = _merged(item, where, duplicates)
        return merged
    if isinstance(value, list):
        return [_merged(item, f"{path}[{index}]", duplicates) for index, item in enumerate(value)]
    return copy_object(value) if isinstance(value, dict) else value


def _drop_nulls(value: Any, schema: JsonSchema) -> None:
    """Take nulls away that the schema does not allow, in place."""
    if isinstance(value, list):
        for item in value:
            _drop_nulls(item, schema.get("items") or {})
    if not isinstance(value, dict):
        return
    properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
    for name in list(value):
        inner = properties.get(name) or (values if isinstance(values, dict) else None)
        if inner is None:
            continue
        if value[name] is None and not inner.get("nullable"):
            del value[name]
        else:
            _drop_nulls(value[name], inner)


def _default(value: Any, schema: JsonSchema) -> None:
    if isinstance(value, list):
        for item in value:
            _default(item, schema.get("items") or {})
    if not isinstance(value, dict):
        return
    properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in properties.items():
        if name not in value and "default" in inner:
            given = inner["default"]
            value[name] = copy_object({"": given})[""]
        if name in value:
            _default(value[name], inner)
    if isinstance(values, dict):
        for name in value:
            if name not in properties:
                _default(value[name], values)
