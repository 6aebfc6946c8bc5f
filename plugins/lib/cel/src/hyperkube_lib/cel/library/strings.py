"""Strings: the language's own functions and the extended ones.

Source: cel-go ``ext/strings.go``, ``ext/formatting.go``; kubernetes apiserver ``pkg/cel/library/regex.go``.
Patterns are RE2, as in Kubernetes: they take linear time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.library.formatting import format_text

STRINGS = Library()


@STRINGS.function("size", "string -> int", "bytes -> int", "list(A) -> int", "map(A, B) -> int")
@STRINGS.method("size", "string -> int", "bytes -> int", "list(A) -> int", "map(A, B) -> int")
def size(value: Any) -> int:
    """Return how many characters, bytes, items or entries there are."""
    return len(value)


@STRINGS.method("contains", "string, string -> bool")
def contains(text: str, part: str) -> bool:
    """Tell whether a text has another in it."""
    return part in text


@STRINGS.method("startsWith", "string, string -> bool")
def starts_with(text: str, part: str) -> bool:
    """Tell whether a text begins with another."""
    return text.startswith(part)


@STRINGS.method("endsWith", "string, string -> bool")
def ends_with(text: str, part: str) -> bool:
    """Tell whether a text ends with another."""
    return text.endswith(part)


@lru_cache(256)
def pattern(text: str) -> Any:
    """Return a compiled RE2 pattern.

    Raises:
        EvaluationError: it is none.
    """
    import re2  # type: ignore[import-untyped]  # it has no stubs

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        why = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error.args[0])
        raise EvaluationError(f"error parsing regexp: {_go_words(why)}") from None


_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
}
"""What RE2 calls a mistake → what Go calls it."""


def _go_words(why: str) -> str:
    """Return RE2's complaint in the form Go's regexp package gives it: the part at fault in backquotes."""
    text, colon, part = why.rpartition(": ")
    text = _GO_WORDS.get(text, text) if colon else _GO_WORDS.get(why, why)
    return f"{text}: `{part}`" if colon else text


def _pattern_cost(text: str, expression: str, *_rest: Any) -> int:
    return (len(text) * len(expression)) // 40


@STRINGS.function("matches", "string, string -> bool", cost=_pattern_cost)
@STRINGS.method("matches", "string, string -> bool", cost=_pattern_cost)
def matches(text: str, expression: str) -> bool:
    """Tell whether a pattern occurs in a text."""
    return pattern(expression).search(text) is not None


@STRINGS.method("find", "string, string -> string", cost=_pattern_cost)
def find(text: str, expression: str) -> str:
    """Return the first occurrence of a pattern, or nothing."""
    found = pattern(expression).search(text)
    return found.group() if found else ""


@STRINGS.method("findAll", "string, string -> list(string)", "string, string, int -> list(string)", cost=_pattern_cost)
def find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    """Return the occurrences of a pattern, at most `limit`."""
    found = [match.group() for match in pattern(expression).finditer(text)]
    return found if limit < 0 else found[:limit]


@STRINGS.method("charAt", "string, int -> string")
def char_at(text: str, index: int) -> str:
    """Return the character at a place, nothing at the end."""
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


@STRINGS.method("indexOf", "string, string -> int", "string, string, int -> int")
def index_of(text: str, part: str, start: int = 0) -> int:
    """Return where a text first occurs, from a place on; -1 when not."""
    if not part:
        return start
    if start < 0 or start >= len(text):
        if len(text) == 0 and start == 0:
            return -1
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


@STRINGS.method("lastIndexOf", "string, string -> int", "string, string, int -> int")
def last_index_of(text: str, part: str, start: int | None = None) -> int:
    """Return where a text last occurs, up to a place; -1 when not."""
    if start is None:
        return text.rfind(part)
    if not part:
        return start
    if start < 0 or start >= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part))


_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@STRINGS.method("lowerAscii", "string -> string")
def lower_ascii(text: str) -> str:
    """Return a text with ASCII letters small."""
    return text.translate(_LOWER)


@STRINGS.method("upperAscii", "string -> string")
def upper_ascii(text: str) -> str:
    """Return a text with ASCII letters large."""
    return text.translate(_UPPER)


@STRINGS.method("replace", "string, string, string -> string", "string, string, string, int -> string")
def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """Return a text with occurrences replaced, at most `count`."""
    return text.replace(old, new, count)


@STRINGS.method("split", "string, string -> list(string)", "string, string, int -> list(string)")
def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """Return the parts of a text, at most `limit`."""
    if limit == 0:
        return []
    if limit == 1:
        return [text]
    if not separator:
        parts = list(text)
        return (
            parts
            if limit < 0
            else [*parts[: limit - 1], *(["".join(parts[limit - 1 :])] if parts[limit - 1 :] else [])]
        )
    return text.split(separator, limit - 1 if limit > 0 else -1)


@STRINGS.method("substring", "string, int -> string", "string, int, int -> string")
def substring(text: str, start: int, end: int | None = None) -> str:
    """Return the part between two places."""
    stop = len(text) if end is None else end
    if start < 0 or start > len(text):
        raise EvaluationError(f"index out of range: {start}")
    if stop < 0 or stop > len(text):
        raise EvaluationError(f"index out of range: {stop}")
    if start > stop:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {stop}")
    return text[start:stop]


_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


@STRINGS.method("trim", "string -> string")
def trim(text: str) -> str:
    """Return a text without space at its ends."""
    return text.strip(_SPACE)


@STRINGS.method("join", "list(string) -> string", "list(string), string -> string")
def join(items: list[str], separator: str = "") -> str:
    """Return texts as one."""
    if any(not isinstance(item, str) for item in items):
        raise EvaluationError("no such overload")
    return separator.join(items)


_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


@STRINGS.function("strings.quote", "string -> string")
def quote(text: str) -> str:
    """Return a text as a literal."""
    return '"' + "".join(_QUOTED.get(character, character) for character in text) + '"'


@STRINGS.method("format", "string, list(dyn) -> string")
def format_with(text: str, values: list[Any]) -> str:
    """Return a text with its ``%s`` and the like filled in."""
    return format_text(text, values)
