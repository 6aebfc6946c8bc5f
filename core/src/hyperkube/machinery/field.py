"""Field paths and field errors: how validation names what is wrong and where, to the letter of Kubernetes.

Source: kubernetes apimachinery ``pkg/util/validation/field``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

import orjson

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

T = TypeVar("T")

LONGEST_PATH = 4096
"""Characters of a path that are told: a name may have a megabyte, and each item below it has a path of its own."""


class Path(str):
    """A place in an object: ``spec.containers[0].name``; the empty path is the object itself."""

    __slots__ = ()

    def child(self, *names: str) -> Path:
        """Return the path of a member, or of a member of a member."""
        return Path(".".join(([str(self)] if self else []) + list(names))[:LONGEST_PATH])

    def index(self, index: int) -> Path:  # type: ignore[override]  # upstream's word; a path has no search
        """Return the path of a list item."""
        return Path(f"{self}[{index}]"[:LONGEST_PATH])

    def key(self, key: str) -> Path:
        """Return the path of a map entry."""
        return Path(f"{self}[{key}]"[:LONGEST_PATH])


ROOT = Path("")


class _Omitted:
    """Stands for a value that messages leave out."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED = _Omitted()
"""The value of an error whose message shows no value (an object or a list that breaks a rule)."""


def quote(text: str) -> str:
    """Quote a string the way Go's ``%q`` does."""
    if text.isprintable():
        return orjson.dumps(text).decode()
    return f'"{"".join(map(_quoted, text))}"'


_ESCAPES = dict(zip('"\\\a\b\f\n\r\t\v', ('\\"', "\\\\", "\\a", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v"), strict=True))


def _quoted(character: str) -> str:
    """Return one character as Go shows it between quotes."""
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_AS_GO = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
"""How Go's encoder writes what could be markup."""


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return orjson.dumps(value).decode().translate(_AS_GO)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with one field; ``str()`` gives the line that appears in messages."""

    reason: str
    path: Path
    value: Any
    detail: str = ""

    TEXTS: ClassVar[dict[str, str]] = {
        "FieldValueNotFound": "Not found",
        "FieldValueRequired": "Required value",
        "FieldValueDuplicate": "Duplicate value",
        "FieldValueInvalid": "Invalid value",
        "FieldValueNotSupported": "Unsupported value",
        "FieldValueForbidden": "Forbidden",
        "FieldValueTooLong": "Too long",
        "FieldValueTooMany": "Too many",
        "FieldValueTooFew": "Too few",
        "FieldValueTooShort": "Too short",
        "FieldValueTypeInvalid": "Invalid value",
        "InternalError": "Internal error",
    }
    WITHOUT_VALUE: ClassVar[frozenset[str]] = frozenset(
        {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "FieldValueTooShort", "InternalError"}
    )

    def body(self) -> str:
        """Return the text after the path."""
        text = self.TEXTS[self.reason]
        if self.reason not in self.WITHOUT_VALUE and self.value is not OMITTED:
            text = f"{text}: {_shown(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.path or '<nil>'}: {self.body()}"

    def cause(self) -> Object:
        """Return the row for ``Status.details.causes``."""
        return {"reason": self.reason, "message": self.body(), "field": str(self.path) or "<nil>"}


def required(path: Path, detail: str = "") -> FieldError:
    """Return the error for a field that must be set."""
    return FieldError("FieldValueRequired", path, "", detail)


def invalid(path: Path, value: Any, detail: str) -> FieldError:
    """Return the error for a malformed value; an object is shown as JSON."""
    return FieldError("FieldValueInvalid", path, value, detail)


def type_invalid(path: Path, value: Any, detail: str) -> FieldError:
    """Return the error for a value of the wrong JSON type (custom resources)."""
    return FieldError("FieldValueTypeInvalid", path, value, detail)


def not_supported(path: Path, value: Any, supported: Iterable[str]) -> FieldError:
    """Return the error for a value outside a fixed set, listing the set in the order given."""
    listed = ", ".join(quote(item) for item in supported)
    return FieldError("FieldValueNotSupported", path, value, f"supported values: {listed}" if listed else "")


def forbidden(path: Path, detail: str) -> FieldError:
    """Return the error for a field that may not be set, or not be changed."""
    return FieldError("FieldValueForbidden", path, "", detail)


def duplicate(path: Path, value: Any) -> FieldError:
    """Return the error for a value that occurs twice where it may occur once."""
    return FieldError("FieldValueDuplicate", path, value)


def repeated(items: Iterable[T]) -> list[tuple[int, T]]:
    """Return the hashable items that were there before, each with its index; in no more time than there are items."""
    seen: dict[T, int] = {}
    return [(index, item) for index, item in enumerate(items) if seen.setdefault(item, index) != index]


def not_found(path: Path, value: Any) -> FieldError:
    """Return the error for a reference to something that does not exist in the object."""
    return FieldError("FieldValueNotFound", path, value)


def too_long(path: Path, limit: int) -> FieldError:
    """Return the error for a string of more than `limit` bytes."""
    return FieldError("FieldValueTooLong", path, "", f"may not be more than {limit} bytes")


def too_many(path: Path, actual: int, limit: int) -> FieldError:
    """Return the error for a list of more than `limit` items."""
    return FieldError("FieldValueTooMany", path, actual, f"must have at most {limit} items")


def internal(path: Path, detail: str) -> FieldError:
    """Return the error for a validation that itself failed."""
    return FieldError("InternalError", path, None, detail)
