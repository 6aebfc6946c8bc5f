"""YAML as sigs.k8s.io/yaml writes it: keys in their natural order, lists not indented, text quoted where it must be.

An object is written here, line by line: an emitter that is told of each of its values takes ten times as long. What is
more than a line of ASCII is asked of libyaml, of which go-yaml is a translation, and so is all of an object that has a
key which does not fit before a colon.

Source: go-yaml v2 ``encode.go``, ``sorter.go``, ``resolve.go``, ``emitterc.go`` (yaml_emitter_analyze_scalar).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cmp_to_key, lru_cache
from typing import Any

from hyperkube.machinery.codecs.yaml import plain_value

_PLAIN = re.compile(
    r"(?!---|\.\.\.)(?:[$()+./0-9;<=A-Z\\^_a-z~]|[-?:](?=[!-~]))(?:[!-9;-~]++|:(?=[!-~])| ++(?=[!\"$-~]))*+"
)
"""A line of ASCII that needs no quotes: with no indicator at its start, and neither ``: `` nor `` #`` in it."""

_LINE = re.compile(r"[ -~]+")
_TIME = r"(?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:[.,][0-9]+)?"
_DATE = r"[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])"
_TIMESTAMP = re.compile(rf"{_DATE}(?:[Tt]{_TIME}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})| {_TIME})?")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DIGITS = "0123456789"
_SEPARATORS = frozenset("\u2028\u2029")
"""What ends lines as it is, in whatever quotes."""
_BREAKS = frozenset("\n\r\x85") | _SEPARATORS

_LONGEST_KEY = 128
"""Bytes of a key that may stand before a colon."""
_MOST_DIGITS = 6
"""Digits before a decimal point; with more an exponent is written."""
_SHORT, _FEW = 40, 32
"""Characters of texts, and keys of objects, that are known again."""

_WIDTH = 2**31 - 1
_STRING_TAG = "tag:yaml.org,2002:str"


class _Unusual(Exception):
    """An object that is not written line by line."""


def dumps(obj: Any) -> bytes:
    """Return what is JSON as YAML."""
    if isinstance(obj, str):
        return _emitted(obj)
    lines: list[str] = []
    try:
        _write(obj, "\n", lines.append)
    except _Unusual:
        return _emitted(obj)
    lines.append("\n")
    return "".join(lines).encode()


def _write(value: Any, indent: str, put: Callable[[str], object]) -> None:
    """Write a value from where the line is.

    Args:
        value: what is JSON.
        indent: begins the lines behind the first one, of a text its own.
        put: takes what is written, but for the end of the last line.
    """
    if value and isinstance(value, dict):
        before, deeper = "", indent + "  "
        for key in _in_order(tuple(value)) if len(value) <= _FEW else _in_order.__wrapped__(tuple(value)):
            inner = value[key]
            put(before)
            put(_short_key(key) if len(key) <= _SHORT else _key(key))
            before = indent
            if inner and isinstance(inner, dict):
                put(deeper)
                _write(inner, deeper, put)
            elif inner and isinstance(inner, list | tuple):
                put(indent)
                _write(inner, indent, put)
            else:
                put(" ")
                put(_scalar(inner, deeper))
    elif value and isinstance(value, list | tuple):
        before, deeper = "- ", indent + "  "
        for inner in value:
            put(before)
            _write(inner, deeper, put)
            before = indent + "- "
    else:
        put(_scalar(value, indent))


def _scalar(value: Any, indent: str) -> str:
    """Return a value that has no others in it.

    Raises:
        TypeError: it is no JSON.
    """
    if isinstance(value, str):
        text = _short_text(value) if len(value) <= _SHORT else _text(value)
        return text.replace("\n  ", indent) if "\n" in text else text
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict | list | tuple):
        return "{}" if isinstance(value, dict) else "[]"
    msg = f"a {type(value).__name__} is no JSON"
    raise TypeError(msg)


def _float(value: float) -> str:
    """Return a number as Go writes what it has read from JSON: as an integer where 64 bits can hold it."""
    if value.is_integer() and -(2**63) <= value < 2**64:
        return str(int(value))
    text = repr(value)
    whole, _, fraction = text.lstrip("-").partition(".")
    if "e" in text or len(whole) <= _MOST_DIGITS:
        return text
    return f"{'-' if value < 0 else ''}{whole[0]}.{whole[1:]}{fraction}e+{len(whole) - 1:02}"


def _text(text: str) -> str:
    """Return a text in the quotes that it needs; its lines behind the first one are indented by two spaces."""
    if _is_another_value(text):
        return f'"{text}"'
    if _PLAIN.fullmatch(text):
        return text
    if _LINE.fullmatch(text):
        return "'" + text.replace("'", "''") + "'"
    if not _SEPARATORS.isdisjoint(text):
        raise _Unusual
    return _emitted({"": text}).decode()[len('"": ') : -1]


def _is_another_value(text: str) -> bool:
    """Tell whether a text without quotes would be read as null, a boolean, a number, a time or a merge key."""
    if not isinstance(plain_value(text), str):
        return True
    if not "0" <= text[0] <= "9":
        return text == "<<" or (text[0] in "+-" and _SEXAGESIMAL.fullmatch(text) is not None)
    return _TIMESTAMP.fullmatch(text) is not None or _SEXAGESIMAL.fullmatch(text) is not None


def _key(key: str) -> str:
    """Return a key and its colon.

    Raises:
        _Unusual: it does not fit before one.
    """
    if len(key.encode()) > _LONGEST_KEY or not _BREAKS.isdisjoint(key):
        raise _Unusual
    return f"{_text(key)}:"


def _sorted(keys: tuple[str, ...]) -> list[str]:
    return sorted(keys) if "".join(keys).isalpha() else sorted(keys, key=cmp_to_key(_compared))


def _compared(one: str, other: str) -> int:
    """Compare two keys as people would: numbers by their value, and letters behind all else."""
    place = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if place is None:
        return len(one) - len(other)
    a, b = one[place], other[place]
    if a.isalpha() or b.isalpha():
        is_less = a < b if a.isalpha() and b.isalpha() else b.isalpha()
    else:
        before = one[:place]
        is_within = "0" in {a, b} and before[len(before.rstrip(_DIGITS)) :].strip("0") != ""
        is_less = _number(one, place, is_within=is_within) < _number(other, place, is_within=is_within)
    return -1 if is_less else 1


def _number(key: str, place: int, *, is_within: bool) -> tuple[int, str, int, str]:
    """Return by what the digits from a place on are compared: their value, how many they are, and what is there."""
    rest = key[place:]
    digits = rest[: len(rest) - len(rest.lstrip(_DIGITS))]
    value = "1" + digits if is_within else digits.lstrip("0")
    return len(value), value, len(digits), key[place]


_in_order = lru_cache(maxsize=256)(_sorted)
_short_key = lru_cache(maxsize=1024)(_key)
_short_text = lru_cache(maxsize=512)(_text)


def _emitted(obj: Any) -> bytes:
    """Return what libyaml makes of an object."""
    import yaml

    text: bytes = yaml.dump(
        obj, Dumper=_dumper(), default_flow_style=False, allow_unicode=True, encoding="utf-8", width=_WIDTH
    )
    return text[:-4] if text.endswith(b"\n...\n") else text  # go-yaml marks no end


@lru_cache(maxsize=1)
def _dumper() -> Any:
    import yaml

    class Dumper(yaml.CSafeDumper):
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 -- the base class's own way

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def represent(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text else '"' if _is_another_value(text) else None
        return dumper.represent_scalar(_STRING_TAG, text, style=style)

    def plain(dumper: Any, value: Any) -> Any:
        return dumper.represent_scalar(_STRING_TAG, _scalar(value, ""))

    def members(dumper: Any, value: dict[str, Any]) -> Any:
        return dumper.represent_mapping("tag:yaml.org,2002:map", [(key, value[key]) for key in _sorted(tuple(value))])

    Dumper.add_representer(str, represent)
    Dumper.add_representer(dict, members)
    for kind in (bool, int, float, type(None)):
        Dumper.add_representer(kind, plain)
    return Dumper
