"""`TypeInfo` for custom resources: a walk over a structural schema, the OpenAPI v3 subset a CRD declares.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema``; the object's own metadata have the built-in type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperkube.machinery.schema.lookup import Form, Formed, SchemaType, TypeInfo

_SCALARS = frozenset({"string", "integer", "number", "boolean"})


class StructuralType(Formed):
    """The type at one place of a custom resource."""

    __slots__ = ("_known", "_root", "_schema", "form")

    def __init__(self, schema: Mapping[str, Any], *, root: SchemaType | None = None) -> None:
        """Wrap a schema.

        Args:
            schema: the JSON schema of the place.
            root: for a whole object (or an embedded one), the type of ``metadata``.
        """
        self._schema = schema
        self._root = root
        self._known: dict[str, TypeInfo | None] = {}
        self.form: Form = _form(schema)

    @property
    def json_schema(self) -> Mapping[str, Any]:
        """The schema as it was declared."""
        return self._schema

    @property
    def name(self) -> str:
        """The JSON type."""
        return str(self._schema.get("type", ""))

    def field(self, name: str) -> TypeInfo | None:
        """Return the type of a member: the declared one, that of a map's values, or None."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> TypeInfo | None:
        if self._root is not None:
            if name == "metadata":
                return self._root
            if name in {"apiVersion", "kind"}:
                return StructuralType({"type": "string"})
        declared = (self._schema.get("properties") or {}).get(name)
        if declared is not None:
            is_object = bool(declared.get("x-kubernetes-embedded-resource")) and self._root is not None
            return StructuralType(declared, root=self._root if is_object else None)
        values = self._schema.get("additionalProperties")
        if isinstance(values, dict):
            return StructuralType(values)
        return StructuralType({"x-kubernetes-preserve-unknown-fields": True}) if values is True else None

    def fields(self) -> Iterable[str]:
        """Return the names of the declared members."""
        own = ("apiVersion", "kind", "metadata") if self._root is not None else ()
        return tuple(dict.fromkeys((*own, *(self._schema.get("properties") or {}))))

    @property
    def items(self) -> TypeInfo | None:
        """The type of a list's items or a map's values."""
        if self.form == "list":
            if "" not in self._known:
                self._known[""] = StructuralType(self._schema.get("items") or {})
            return self._known[""]
        return self.field("*") if self.form == "map" else None

    @property
    def patch_strategy(self) -> str:
        """Custom resources know no strategic merge patch."""
        return ""

    @property
    def patch_merge_key(self) -> str:
        """Custom resources know no strategic merge patch."""
        return ""

    @property
    def list_type(self) -> str:
        """``atomic``, ``set`` or ``map`` for lists."""
        return str(self._schema.get("x-kubernetes-list-type", "atomic")) if self.form == "list" else ""

    @property
    def list_map_keys(self) -> tuple[str, ...]:
        """The members that identify an item."""
        return tuple(self._schema.get("x-kubernetes-list-map-keys") or ())

    @property
    def map_type(self) -> str:
        """``granular`` or ``atomic`` for maps."""
        return str(self._schema.get("x-kubernetes-map-type", "granular")) if self.form == "map" else ""

    @property
    def struct_type(self) -> str:
        """``granular`` or ``atomic`` for structs."""
        return str(self._schema.get("x-kubernetes-map-type", "granular")) if self.form == "struct" else ""

    @property
    def default(self) -> Any:
        """The declared default of the place, or None."""
        return self._schema.get("default")

    @property
    def preserves_unknown(self) -> bool:
        """Whether members that are not declared are kept."""
        return bool(self._schema.get("x-kubernetes-preserve-unknown-fields"))


def _form(schema: Mapping[str, Any]) -> Form:
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string") or kind in _SCALARS:
        return "scalar"
    if kind == "array":
        return "list"
    if schema.get("properties") or schema.get("x-kubernetes-embedded-resource"):
        return "struct"
    if schema.get("additionalProperties"):
        return "map"
    if schema.get("x-kubernetes-preserve-unknown-fields") or kind is None:
        return "untyped"
    return "struct"
