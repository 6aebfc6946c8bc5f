"""What is wrong with a JSON text, in the words of Go's scanner.

Source: Go ``encoding/json/scanner.go``.
"""

from __future__ import annotations

import re

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_PLAIN = re.compile(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_END = "unexpected end of JSON input"
_MAX_DEPTH = 10000


class _Fault(Exception):
    """The first thing that is wrong."""


def syntax_error(text: str) -> str:
    """Return Go's message for the first error of a JSON text, or an empty string if there is none."""
    try:
        end = _skip(text, _document(text))
        if end < len(text):
            return f"invalid character {_quoted(text[end])} after top-level value"
    except _Fault as fault:
        return str(fault)
    return ""


def _quoted(character: str) -> str:
    """Return a character as Go quotes it: of one beyond ASCII it has met the first byte only."""
    if ord(character) > 0x7F:
        byte = chr(character.encode()[0])
        return f"'{byte}'" if byte.isprintable() else f"'\\u{ord(byte):04x}'"
    if character == "'":
        return "'\\''"
    if character == '"':
        return "'\"'"
    if ord(character) < 0x20:
        return {"\n": "'\\n'", "\t": "'\\t'", "\r": "'\\r'"}.get(character, f"'\\x{ord(character):02x}'")
    return f"'{character}'"


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    if at >= len(text):
        raise _Fault(_END)
    return at


def _bad(text: str, at: int, context: str) -> _Fault:
    return _Fault(_END) if at >= len(text) else _Fault(f"invalid character {_quoted(text[at])} {context}")


def _document(text: str) -> int:
    """Return the offset after the first value; a stack instead of recursion, as bodies may be deep."""
    closers: list[str] = []
    at = _open(text, 0, closers, may_close=False)
    while closers:
        at = _next(text, at)
        if text[at] == closers[-1]:
            closers.pop()
            at += 1
        elif text[at] == ",":
            at = _name(text, at + 1) if closers[-1] == "}" else at + 1
            at = _open(text, at, closers, may_close=False)
        else:
            what = "object key:value pair" if closers[-1] == "}" else "array element"
            raise _bad(text, at, f"after {what}")
    return at


def _open(text: str, at: int, closers: list[str], *, may_close: bool) -> int:
    """Read a scalar, or the beginning of an object or array up to the end of its first scalar."""
    at = _next(text, at)
    while True:
        if may_close and text[at] == "]":
            return at
        if text[at] not in "{[":
            return _scalar(text, at)
        closers.append("}" if text[at] == "{" else "]")
        if len(closers) > _MAX_DEPTH:
            raise _Fault("exceeded max depth")
        at = _next(text, at + 1)
        if closers[-1] == "}":
            if text[at] == "}":
                return at
            at = _next(text, _name(text, at))
        may_close = closers[-1] == "]"


def _name(text: str, at: int) -> int:
    """Return the offset after a member's name and the colon."""
    at = _next(text, at)
    if text[at] != '"':
        raise _bad(text, at, "looking for beginning of object key string")
    at = _next(text, _scalar(text, at))
    if text[at] != ":":
        raise _bad(text, at, "after object key")
    return at + 1


def _scalar(text: str, at: int) -> int:
    """Return the offset after a string, number or literal."""
    first = text[at]
    if first == '"':
        match = _STRING.match(text, at)
        if match:
            return match.end()
        raise _string_fault(text, at)
    if first in "-0123456789":
        match = _NUMBER.match(text, at)
        if match:
            return _after_number(text, match.end())
        raise _bad(text, at + 1, "in numeric literal")
    for literal in ("true", "false", "null"):
        if first == literal[0]:
            return _literal(text, at, literal)
    raise _bad(text, at, "looking for beginning of value")


def _string_fault(text: str, at: int) -> _Fault:
    match = _PLAIN.match(text, at + 1)
    end = match.end() if match else at + 1
    if end < len(text) and text[end] == "\\":
        if end + 1 < len(text) and text[end + 1] == "u":
            bad = next(i for i in range(end + 2, end + 6) if i >= len(text) or text[i] not in "0123456789abcdefABCDEF")
            return _bad(text, bad, "in \\u hexadecimal character escape")
        return _bad(text, end + 1, "in string escape code")
    return _bad(text, end, "in string literal")


def _after_number(text: str, end: int) -> int:
    """Refuse what looks like more of the number than it is: ``1.``, ``1e``."""
    if end < len(text) and text[end] == ".":
        raise _bad(text, end + 1, "after decimal point in numeric literal")
    if end < len(text) and text[end] in "eE":
        signed = end + 1 < len(text) and text[end + 1] in "+-"
        raise _bad(text, end + 2 if signed else end + 1, "in exponent of numeric literal")
    return end


def _literal(text: str, at: int, literal: str) -> int:
    for offset, expected in enumerate(literal):
        if at + offset >= len(text) or text[at + offset] != expected:
            raise _bad(text, at + offset, f"in literal {literal} (expecting {_quoted(expected)})")
    return at + len(literal)
