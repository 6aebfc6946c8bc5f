"""`Record`: a frozen class of named fields that costs next to nothing to define.

A frozen, slotted dataclass takes most of a millisecond: its methods are compiled from generated source. Values, of
which there are many, are worth that. Options and the parts of a server are made once, and a start has many of them.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """Like a frozen dataclass of keywords; what a class assigns to a field is its default, and is never changed."""

    field_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = (name for name, kind in cls.__annotations__.items() if "ClassVar" not in str(kind))
        cls.field_names = (*cls.field_names, *own)

    def __init__(self, **values: Any) -> None:
        needed = [name for name in self.field_names if not hasattr(type(self), name)]
        if wrong := (values.keys() - set(self.field_names)) | (set(needed) - values.keys()):
            raise TypeError(f"{type(self).__name__}: unknown or missing fields: {', '.join(sorted(wrong))}")
        self.__dict__.update(values)

    def replace(self, **changes: Any) -> Self:
        """Return the same with other values of some fields."""
        return type(self)(**{**self.__dict__, **changes})

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.field_names)

    __hash__ = None  # type: ignore[assignment]  # fields may hold what has no hash

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.field_names)})"
