"""`TypeInfo`: what patches and server-side apply ask about a place in an object.

One protocol serves schemas of built-in kinds (`SchemaType`) and the structural schemas of custom resources
(a library of its own declares those). A `TypeInfo` is immutable; walk it with `field` and `items`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.scalars import ZERO
from hyperkube.machinery.schema.structs import members

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema

Form = Literal["struct", "map", "list", "scalar", "untyped"]


class TypeInfo(Protocol):
    """The type at one place of an object."""

    @property
    def form(self) -> Form:
        """What the value is; ``untyped`` values may be anything and are owned as a whole."""

    @property
    def is_struct(self) -> bool:
        """Whether it is an object with declared members."""

    @property
    def is_map(self) -> bool:
        """Whether it is an object with free keys."""

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""

    @property
    def is_scalar(self) -> bool:
        """Whether it is a string, number or boolean."""

    @property
    def name(self) -> str:
        """The type's name for messages: ``Pod``, ``string``."""

    def field(self, name: str) -> TypeInfo | None:
        """Return the type of a member: of a struct the declared one, of a map any; None where there is none."""

    def fields(self) -> Iterable[str]:
        """Return the names of a struct's members in declared order."""

    @property
    def items(self) -> TypeInfo | None:
        """The type of a list's items or a map's values."""

    @property
    def patch_strategy(self) -> str:
        """Of strategic merge patch, comma-separated: ``merge``, ``replace``, ``retainKeys``; empty is replace."""

    @property
    def patch_merge_key(self) -> str:
        """The member by which strategic merge patch matches items; empty for lists of scalars."""

    @property
    def list_type(self) -> str:
        """``atomic``, ``set`` or ``map``; empty where it is no list."""

    @property
    def list_map_keys(self) -> tuple[str, ...]:
        """The members that identify an item of a list of type map."""

    @property
    def map_type(self) -> str:
        """``granular`` or ``atomic`` for maps; empty otherwise."""

    @property
    def struct_type(self) -> str:
        """``granular`` or ``atomic`` for structs; empty otherwise."""

    @property
    def default(self) -> Any:
        """The default of the place, or None; server-side apply needs those of list map keys."""

    @property
    def preserves_unknown(self) -> bool:
        """Whether a struct keeps members that are not declared (custom resources)."""


class Formed:
    """What a `TypeInfo` says of its form."""

    __slots__ = ()
    form: Form

    @property
    def is_struct(self) -> bool:
        """Whether it is an object with declared members."""
        return self.form == "struct"

    @property
    def is_map(self) -> bool:
        """Whether it is an object with free keys."""
        return self.form == "map"

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return self.form == "list"

    @property
    def is_scalar(self) -> bool:
        """Whether it is a string, number or boolean."""
        return self.form == "scalar"


class SchemaType:
    """The `TypeInfo` of a place in a built-in kind."""

    __slots__ = (
        "_field", "_items", "_members", "_schema", "form", "is_list", "is_map", "is_scalar", "is_struct",
        "list_map_keys", "list_type", "map_type", "struct_type",
    )  # fmt: skip

    def __init__(self, field: KubeField | None, schema: type[KubeSchema] | None) -> None:
        self._field = field
        self._schema = schema
        self._members: dict[str, SchemaType | KubeField] | None = None
        self._items: SchemaType | None = None
        self.form: Form = self._find_form()
        # What a comparison asks at each place is settled here: a property would cost it a call.
        self.is_struct = self.form == "struct"
        self.is_map = self.form == "map"
        self.is_list = self.form == "list"
        self.is_scalar = self.form == "scalar"
        self.list_type = (field.list_type or "atomic") if field is not None and self.is_list else ""
        self.map_type = (field.map_type or "granular") if field is not None and self.is_map else ""
        self.struct_type = self._find_struct_type() if self.is_struct else ""
        self.list_map_keys: tuple[str, ...] = field.list_map_keys if field is not None else ()

    @classmethod
    def of(cls, schema: type[KubeSchema]) -> SchemaType:
        """Return the type of a whole object."""
        return cls(None, schema)

    def _find_form(self) -> Form:
        field = self._field
        if field is None or isinstance(field, Struct):
            struct = self._struct
            return "untyped" if struct is not None and struct.shape else "struct"
        if isinstance(field, List):
            return "list"
        if isinstance(field, Map):
            return "map"
        return "untyped" if field.scalar in {"raw", "json", "any", "fields_v1"} else "scalar"

    @property
    def _struct(self) -> type[KubeSchema] | None:
        if self._schema is None and isinstance(self._field, Struct):
            self._schema = self._field.schema()
        return self._schema

    @property
    def name(self) -> str:
        """The schema's name, or the scalar's."""
        struct = self._struct
        if struct is not None:
            return struct.__name__
        return self._field.scalar if self._field is not None else ""

    def _table(self) -> dict[str, SchemaType | KubeField]:
        if self._members is None:
            struct = self._struct
            self._members = dict(members(struct)) if struct is not None and not struct.shape else {}
        return self._members

    def field(self, name: str) -> TypeInfo | None:
        """Return the type of a member; of a map any name will do."""
        if self.is_map:
            return self.items
        if not self.is_struct:
            return None
        table = self._members or self._table()
        entry = table.get(name)
        if isinstance(entry, KubeField):
            entry = table[name] = SchemaType(entry, None)
        return entry

    def fields(self) -> Iterable[str]:
        """Return the names of a struct's members in declared order."""
        return tuple(self._table()) if self.form == "struct" else ()

    @property
    def items(self) -> TypeInfo | None:
        """The type of a list's items or a map's values."""
        if self._items is None and isinstance(self._field, List | Map):
            self._items = SchemaType(self._field.items, None)
        return self._items

    @property
    def patch_strategy(self) -> str:
        """Of strategic merge patch."""
        return self._field.patch_strategy if self._field is not None else ""

    @property
    def patch_merge_key(self) -> str:
        """The member by which strategic merge patch matches items."""
        return self._field.patch_merge_key if self._field is not None else ""

    def _find_struct_type(self) -> str:
        """Return ``granular`` or ``atomic``: as the field says, else as the type says."""
        struct = self._struct
        by_field = (self._field.struct_type or self._field.map_type) if self._field is not None else ""
        return by_field or (struct.struct_type if struct is not None else "") or "granular"

    @property
    def default(self) -> Any:
        """The declared default of the place, or the zero value that OpenAPI gives what is always written; else None."""
        field = self._field
        if field is None or field.default is not None or field.omitempty or field.ptr:
            return field.default if field is not None else None
        return ZERO.get(field.scalar)

    @property
    def preserves_unknown(self) -> bool:
        """Built-in kinds drop what they do not know."""
        return False
