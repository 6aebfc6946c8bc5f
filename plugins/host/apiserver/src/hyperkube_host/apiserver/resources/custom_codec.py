"""The codec of a custom kind: prunes, defaults and describes objects by a structural schema.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/{pruning,defaulting,objectmeta}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
from hyperkube_lib.structural_schema.structural_type import StructuralType
from hyperkube_lib.structural_schema.structure import OWN, drop_nulls, fill, has_defaults, prune

from hyperkube.machinery.field import LONGEST_PATH
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.numbers import without_fraction
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.schema import DecodeError, SchemaType, TypeInfo, compile_schema
from hyperkube.machinery.schema.blanks import Blanks
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown
from hyperkube.machinery.schema.strict import Members, note

JsonSchema = Mapping[str, Any]
_METADATA, _WITH_METADATA = "hyperkube_api.meta.v1:ObjectMeta", "hyperkube_api.meta.v1:PartialObjectMetadata"
"""Named as text, like every schema."""
_INT64_MAX, _UINT64_END = 2**63 - 1, 2**64


class CustomCodec:
    """Decodes, defaults and describes objects of one version of a custom kind.

    Attributes:
        json_schema: the structural schema, as declared.
        reshapes: whether what is stored may be older than the schema, and is pruned and defaulted when it is read.
        blanks: none: what is empty is shown.
    """

    blanks = Blanks()

    def __init__(
        self, kind: GroupVersionKind, schema: JsonSchema, *, keeps_unknown: bool = False, reshapes: bool = False
    ) -> None:
        self.kind = kind
        self.json_schema = schema
        self.reshapes = reshapes
        self._keeps_unknown = keeps_unknown
        self._has_defaults = has_defaults(schema)
        self._meta, self._with_metadata = compile_schema(_METADATA), compile_schema(_WITH_METADATA)
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
        meta, of_meta = self._meta.decode(value.get("metadata"), report=report)
        obj, unknown = self._around_metadata(value, meta)
        unknown += [text.replace('field "', 'field "metadata.', 1) for text in of_meta]
        return obj, sorted(unknown, key=_path_of) if report else []

    def _around_metadata(self, value: Object, meta: Object) -> tuple[Object, list[str]]:
        """Return an object with metadata that are canonical, pruned, and what went."""
        obj: Object = {name: value[name] for name in ("apiVersion", "kind") if name in value}
        obj["metadata"] = meta
        for name in sorted(value):
            if name not in OWN:
                obj[name] = _go_numbers(value[name])
        if self._keeps_unknown:
            return obj, []
        return obj, prune(obj, self.json_schema, self._meta.decode, root=True)

    def pruned(self, obj: Object) -> Object:
        """Return an object without what the schema does not declare; the argument stays as it is.

        Raises:
            DecodeError: its metadata have a wrong type.
        """
        return self.decode(copy_object(obj), report=False)[0]

    def shaped(self, obj: Object) -> Object:
        """Return a stored object as the schema wants it now; the argument stays as it is.

        Raises:
            DecodeError: its metadata have a wrong type.
        """
        pruned = self.pruned(obj)
        self.default(pruned)
        return pruned

    def shaped_body(self, body: bytes) -> bytes:
        """Return the JSON of a stored object as the schema wants it now; what cannot be read stays as it is."""
        try:
            obj = orjson.loads(body)
            shaped = self.shaped(obj)
        except (ValueError, DecodeError):
            return body
        return body if shaped == obj else orjson.dumps(shaped)

    def metadata(self, value: Any) -> tuple[Object, list[str]]:
        """Return metadata in canonical form, and ``unknown field "PATH"`` for what does not belong there.

        Raises:
            DecodeError: they have a wrong type.
        """
        return self._meta.decode(value)

    def strict_errors(self, document: Any) -> list[str]:
        """Return the texts for duplicate and unknown members, the duplicates first."""
        duplicates: dict[str, None] = {}
        plain = _merged(document, "", duplicates)
        try:
            return list(duplicates) + self.decode(plain)[1]
        except DecodeError:
            return list(duplicates)

    def canonical(self, obj: Object) -> Object:
        """Return an object as it is stored."""
        return self.decode(obj, report=False)[0]

    def canonical_but_for_metadata(self, obj: Object) -> Object:
        """Return an object as it is stored; each member of its metadata is canonical and need only be put in order."""
        return self._around_metadata(obj, self._with_metadata.member_in_order("metadata", obj["metadata"]))[0]

    def default(self, obj: Object) -> None:
        """Fill in declared defaults in place; null where it is not allowed counts as absent."""
        drop_nulls(obj, self.json_schema)
        if self._has_defaults:
            fill(obj, self.json_schema)


def _go_numbers(value: Any) -> Any:
    """Return JSON as Go writes it back: a whole number has no fraction, one beyond 64 bits the digits of a float."""
    if isinstance(value, int) and value > _INT64_MAX:
        written = int(Decimal(repr(float(value))))
        return written if written < _UINT64_END else float(value)
    if isinstance(value, float):
        return without_fraction(value)
    if isinstance(value, list):
        return [_go_numbers(item) for item in value]
    return {name: _go_numbers(item) for name, item in value.items()} if isinstance(value, dict) else value


def _path_of(text: str) -> list[str]:
    return text.partition('"')[2].rstrip('"').replace("[", ".[").split(".")


def _merged(value: Any, path: str, duplicates: dict[str, None]) -> Any:
    """Return a document that keeps its duplicates as plain JSON; note the duplicates."""
    if isinstance(value, Members):
        merged: Object = {}
        for name, item in value:
            where = (f"{path}.{name}" if path else name)[:LONGEST_PATH]
            if name in merged:
                note(duplicates, f'duplicate field "{where}"')
            merged[name] = _merged(item, where, duplicates)
        return merged
    if isinstance(value, list):
        return [_merged(item, f"{path}[{index}]"[:LONGEST_PATH], duplicates) for index, item in enumerate(value)]
    return copy_object(value) if isinstance(value, dict) else value
