"""JSON as Go reads and writes it: orjson does the work, and what it refuses is read or explained the way Go would.

Go takes the last of duplicate members, replaces broken Unicode by U+FFFD, and has its own words for syntax errors.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from hyperkube.machinery.field import LONGEST_PATH
from hyperkube.machinery.schema.strict import Members, note

TOO_DEEP = "exceeded max depth"
_SUMMARY_LENGTH = 30
_MOST_DIGITS = 400
"""Beyond all that a float can hold."""
_SHALLOW = 250
"""Levels that the writer is known to follow the reader down: a document with so many brackets cannot be too deep."""
_BACKSLASH = ord("\\")


class JsonError(ValueError):
    """A body that is no JSON; the text is Go's."""


def loads(body: bytes) -> Any:
    """Read a JSON document.

    Raises:
        JsonError: the body is no JSON, or deeper than we write.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = _read_slowly(body, pairs=False)
    if body.count(b"{") + body.count(b"[") > _SHALLOW and not is_writable(value):
        raise JsonError(TOO_DEEP)
    return value


def is_writable(value: Any) -> bool:
    """Tell whether a document is not too deep to be written."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        return "ecursion" not in str(error)
    return True


def loads_members(body: bytes) -> Any:
    """Read a JSON document whose objects are `Members`, so that duplicates can be found.

    Raises:
        JsonError: the body is no JSON.
    """
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return _read_slowly(body, pairs=True)
    return _read_slowly(body, pairs=True, sound=True)


def _read_slowly(body: bytes, *, pairs: bool, sound: bool = False) -> Any:
    """Read what orjson refuses, or has read (`sound`) without telling of duplicates."""
    from hyperkube_lib.serving.json_syntax import syntax_error

    text = body.decode("utf-8", "replace")
    why = "" if sound else syntax_error(text)
    if why:
        raise JsonError(why)
    hook = Members if pairs else None
    try:
        value = json.loads(text, object_pairs_hook=hook, strict=False, parse_int=_integer)
        return value if sound else _mended(value)
    except RecursionError as error:
        raise JsonError(TOO_DEEP) from error


def _integer(text: str) -> float:
    return int(text) if len(text) <= _MOST_DIGITS else float(text)


def _mended(value: Any) -> Any:
    """Replace lone surrogates, which Python keeps and Go does not."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Members):
        return Members((_mended(name), _mended(item)) for name, item in value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(item) for name, item in value.items()}
    return value


def literals(body: bytes) -> list[str]:
    """Return the numbers of a JSON document that are read as floats, as they are written."""
    found: list[str] = []

    def keep(literal: str) -> float:
        found.append(literal)
        return float(literal)

    long = lambda literal: keep(literal) if len(literal) > _MOST_DIGITS else 0.0  # noqa: E731  one use
    json.loads(body.decode("utf-8", "replace"), parse_float=keep, parse_int=long, strict=False)
    return found


def may_have_duplicates(body: bytes, value: Any) -> bool:
    """Tell whether a body may hold duplicate members; `value` is what was read from it.

    A body that is written as it was read has none. In others quotation marks are counted: a member that was dropped
    took its own along. False is certain.
    """
    written = orjson.dumps(value)
    if written == body:
        return False
    if _BACKSLASH in body and b"\\u0022" in body:  # one byte is found in no time, and is rarely there
        return True
    return body.count(b'"') != written.count(b'"')


def duplicate_fields(body: bytes) -> list[str]:
    """Return ``duplicate field "PATH"`` for every duplicate member of a JSON body, in its order, each once.

    Raises:
        JsonError: the body is no JSON.
    """
    found: dict[str, None] = {}
    _find_duplicates(loads_members(body), "", found)
    return list(found)


def _find_duplicates(value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(value, Members):
        met: set[str] = set()
        for name, item in value:
            where = (f"{path}.{name}" if path else name)[:LONGEST_PATH]
            if name in met:
                note(found, f'duplicate field "{where}"')
            met.add(name)
            _find_duplicates(item, where, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _find_duplicates(item, f"{path}[{index}]"[:LONGEST_PATH], found)


def dumps(obj: Any, *, pretty: bool = False) -> bytes:
    """Write an object; `pretty` indents by two spaces and ends with a new line, as ``?pretty=true`` does."""
    if pretty:
        return orjson.dumps(obj, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return orjson.dumps(obj)


def summary(body: bytes) -> str:
    """Return the beginning of a body as Kubernetes shows it in errors: as text if it looks like JSON, else in hex.

    Source: kubernetes apiserver ``pkg/endpoints/handlers/rest.go`` (summarizeData).
    """
    if not body:
        return "<empty>"
    if body.startswith(b"{"):
        text = body.decode("utf-8", "replace")
        return text if len(body) <= _SUMMARY_LENGTH else body[:_SUMMARY_LENGTH].decode("utf-8", "replace") + " ..."
    shown = body[:_SUMMARY_LENGTH].hex()
    return shown if len(body) <= _SUMMARY_LENGTH else shown + " ..."
