"""Why an object cannot be decoded, in the words of Go's decoder.

Source: Go ``encoding/json`` (UnmarshalTypeError) as forked in sigs.k8s.io/json.
"""

from __future__ import annotations

from typing import Any


class DecodeError(ValueError):
    """The object cannot be decoded; ``str()`` is the text that follows ``cannot be handled as a KIND:``."""


class TypeMismatch(DecodeError):
    """A value has the wrong JSON type; learns its place while it passes outwards through the decoders.

    Attributes:
        value: what was met, as Go names it: ``string``, ``number 1.5``.
        go_type: what was wanted.
        kind: the kind of type that is, as Go's reflection tells it: ``map``, ``slice``, ``struct`` or a plain type.
        struct: the Go struct that holds the field.
        path: the JSON names from the outside inwards; those of embedded Go structs are between them.
    """

    def __init__(self, value: str, go_type: str, kind: str = "") -> None:
        super().__init__(value, go_type)
        self.value = value
        self.go_type = go_type
        self.kind = kind or go_type
        self.struct = ""
        self.path: list[str] = []

    def inside(self, struct: str, *names: str) -> None:
        """Note that the mismatch is in the field `names` of the Go struct `struct`; innermost first.

        The last name is the field's; those before it are the embedded structs in which it stands.
        """
        self.struct = self.struct or struct
        self.path[:0] = names

    def __str__(self) -> str:
        if not self.path:
            return f"json: cannot unmarshal {self.value} into Go value of type {self.go_type}"
        where = ".".join([self.struct, *self.path])
        return f"json: cannot unmarshal {self.value} into Go struct field {where} of type {self.go_type}"


def shown(value: Any, *, literal: bool = False) -> str:
    """Return how Go names a JSON value in a mismatch; with `literal` a number is followed by its text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return f"number {value}" if literal else "number"
    return "array" if isinstance(value, list) else "object"
