"""Field selectors: ``spec.nodeName=a,status.phase!=Running``.

A comma, an equals sign and a backslash in a value are escaped by a backslash.
Source: kubernetes apimachinery ``pkg/fields/selector.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from sys import intern
from typing import Literal, NamedTuple

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

_TERM = re.compile(r"(?P<field>.*?)(?P<operator>!=|==|=)(?P<value>.*)", re.DOTALL)
_ESCAPABLE = "\\,="


class FieldSelectorError(HyperkubeError, ValueError):
    """A text that is no field selector; the message is Kubernetes' own."""


class FieldRequirement(NamedTuple):
    """One term: the value of `field` equals, or does not equal, `value`."""

    field: str
    operator: Literal["=", "!="]
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{escape_value(self.value)}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """All requirements must hold; none at all select everything."""

    requirements: tuple[FieldRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is selected."""
        return not self.requirements

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Tell whether the fields of an object fit; a field that is not there counts as the empty string."""
        return all(
            (fields.get(requirement.field, "") == requirement.value) is (requirement.operator == "=")
            for requirement in self.requirements
        )

    def exact(self, field: str) -> str | None:
        """Return the value that `field` must have, or None when the selector does not pin it."""
        for requirement in self.requirements:
            if requirement.field == field and requirement.operator == "=":
                return requirement.value
        return None

    def transform(self, change: Callable[[str, str], tuple[str, str]]) -> FieldSelector:
        """Return the selector with every (field, value) replaced by what `change` makes of it."""
        return FieldSelector(
            tuple(
                FieldRequirement(field, old.operator, value)
                for old in self.requirements
                for field, value in [change(old.field, old.value)]
            )
        )

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING = FieldSelector()


def escape_value(value: str) -> str:
    """Return the value with backslash, comma and equals sign escaped."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def unescape_value(text: str) -> str:
    """Undo `escape_value`.

    Raises:
        FieldSelectorError: a bare comma or equals sign, or a backslash before anything else.
    """
    if not any(char in text for char in _ESCAPABLE):
        return text
    value: list[str] = []
    chars = iter(text)
    for char in chars:
        if char == "\\":
            escaped = next(chars, "")
            if not escaped or escaped not in _ESCAPABLE:
                raise FieldSelectorError(f"invalid field selector: invalid escape sequence: \\{escaped}")
            value.append(escaped)
        elif char in ",=":
            raise FieldSelectorError(f"invalid field selector: unescaped character in value: {ord(char)}")
        else:
            value.append(char)
    return "".join(value)


def parse_field_selector(text: str) -> FieldSelector:
    r"""Read a field selector; terms come out sorted by their text, empty ones are skipped.

    Raises:
        FieldSelectorError: a term without an operator, or a value that is badly escaped.
    """
    if not text:
        return EVERYTHING
    requirements: list[FieldRequirement] = []
    for term in sorted(_terms(text)):
        if not term:
            continue
        parts = _TERM.fullmatch(term)
        if parts is None:
            raise FieldSelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
        operator: Literal["=", "!="] = "!=" if parts["operator"] == "!=" else "="
        requirements.append(FieldRequirement(parts["field"], operator, unescape_value(parts["value"])))
    return FieldSelector(tuple(requirements))


def _terms(text: str) -> list[str]:
    """Split at the commas that no backslash escapes."""
    if "\\" not in text:
        return text.split(",")
    return [match.group() for match in re.finditer(r"(?:[^,\\]|\\.|\\$)+", text, re.DOTALL)]


class MemberText:
    """Reads what field selectors compare of an object: the text of the member at a dotted path.

    Args:
        path: where it is.
        absent: what it is when there is nothing.
    """

    __slots__ = ("absent", "parts")

    def __init__(self, path: str, absent: str = "") -> None:
        self.parts = tuple(path.split("."))
        self.absent = absent

    def __call__(self, obj: Object) -> str:
        """Return the text."""
        value: object = obj
        for part in self.parts:
            if not isinstance(value, dict):
                return self.absent
            value = value.get(part)
        return _text(value) or self.absent


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class _Members:
    """Fields that are members of one member, such as those of ``spec``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: list[str] = []
        self.members: list[str] = []
        self.absent: list[str] = []

    def read(self, value: object, texts: dict[str, str]) -> None:
        """Add the texts of the fields to `texts`."""
        if value.__class__ is not dict:
            texts.update(zip(self.fields, self.absent, strict=True))
            return
        get = value.get
        try:  # all in C, as long as there is nothing but texts
            texts.update(zip(self.fields, map(intern, map(get, self.members, self.absent)), strict=True))
        except TypeError:
            for field, member, absent in zip(self.fields, self.members, self.absent, strict=True):
                texts[field] = intern(_text(get(member)) or absent)


def texts_of(readers: Mapping[str, Callable[[Object], str]]) -> Callable[[Object], dict[str, str]]:
    """Return what reads all fields of an object at once, which takes a fourth of calling the readers one by one.

    The texts are interned, as the fields of many objects are the same.
    """
    groups: dict[str, _Members] = {}
    others: dict[str, Callable[[Object], str]] = {}
    for field, read in readers.items():
        if not isinstance(read, MemberText) or len(read.parts) != 2:
            others[field] = read
            continue
        name, member = read.parts
        group = groups.setdefault(name, _Members(name))
        group.fields.append(field)
        group.members.append(member)
        group.absent.append(read.absent)
    inside, rest = tuple(groups.values()), tuple(others.items())

    def read_all(obj: Object) -> dict[str, str]:
        texts: dict[str, str] = {}
        for group in inside:
            group.read(obj.get(group.name), texts)
        for field, read in rest:
            texts[field] = intern(read(obj))
        return texts

    return read_all
