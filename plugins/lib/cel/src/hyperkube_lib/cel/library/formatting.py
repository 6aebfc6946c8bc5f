"""``"…%s…".format([…])``. Source: cel-go ``ext/formatting.go``, which writes numbers as English has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.library.conversions import show_double, show_duration, show_timestamp
from hyperkube_lib.cel.values import TypeValue, UInt, kind_of

from hyperkube.machinery.field import quote
from hyperkube.machinery.intstr import parse_int

_DEFAULT_PRECISION = 6
_MOST_PRECISION = 1000
"""More than a double has digits; the cost of a text is that of its length, whatever the clauses make of it."""
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def format_text(text: str, values: list[Any]) -> str:
    """Return a text with its clauses filled in.

    Raises:
        EvaluationError: too few values, or one of the wrong kind.
    """
    out: list[str] = []
    index, at = 0, 0
    while at < len(text):
        character = text[at]
        at += 1
        if character != "%":
            out.append(character)
            continue
        if text[at : at + 1] == "%":
            out.append("%")
            at += 1
            continue
        precision, at = _precision(text, at)
        verb = text[at : at + 1]
        if not verb:
            raise EvaluationError("unexpected end of string")
        at += 1
        if index >= len(values):
            raise EvaluationError(f"index {index} out of range")
        out.append(_clause(verb, values[index], precision))
        index += 1
    return "".join(out)


def _precision(text: str, at: int) -> tuple[int | None, int]:
    if text[at : at + 1] != ".":
        return None, at
    end = at + 1
    while text[end : end + 1].isdigit():
        end += 1
    if end == at + 1:
        raise EvaluationError("error while parsing precision: could not convert precision to integer")
    precision = parse_int(text[at + 1 : end])
    if precision is None or precision > _MOST_PRECISION:
        raise EvaluationError("error while parsing precision: could not convert precision to integer")
    return precision, end


def _clause(verb: str, value: Any, precision: int | None) -> str:
    if verb == "s":
        return show(value)
    if verb in {"f", "e"}:
        return _decimal(verb, value, _DEFAULT_PRECISION if precision is None else precision)
    if verb in {"x", "X"}:
        return _hexadecimal(verb, value)
    if verb in {"b", "d", "o"}:
        return _integer(verb, value)
    raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


def _integer(verb: str, value: Any) -> str:
    if verb == "d" and type(value) is float and not math.isfinite(value):
        return show_double(value)
    if not isinstance(value, int) or (isinstance(value, bool) and verb != "b"):
        texts = {
            "b": "only integers and bools can be formatted as binary",
            "d": "decimal clause can only be used on integers",
            "o": "octal clause can only be used on integers",
        }
        raise _wrong(texts[verb], value)
    return f"{int(value):{verb}}"


def _decimal(verb: str, value: Any, digits: int) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = "fixed-point" if verb == "f" else "scientific"
        raise _wrong(f"{kind} clause can only be used on doubles", value)
    if not math.isfinite(value):
        return show_double(float(value))
    if verb == "f":
        return f"{float(value):,.{digits}f}"
    mantissa, exponent = f"{float(value):.{digits}e}".split("e")
    return f"{mantissa}\u00d710{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}"


def _hexadecimal(verb: str, value: Any) -> str:
    if isinstance(value, str | bytes):
        text = (value.encode() if isinstance(value, str) else value).hex()
        return text.upper() if verb == "X" else text
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong("only integers, byte buffers, and strings can be formatted as hex", value)
    return f"{int(value):{verb}}"


def _wrong(text: str, value: Any) -> EvaluationError:
    return EvaluationError(f"error during formatting: {text}, was given {kind_of(value)}")


_SHOWN: dict[type, Callable[[Any], str]] = {
    type(None): lambda _value: "null",
    bool: lambda value: "true" if value else "false",
    str: str,
    float: show_double,
    int: str,
    UInt: lambda value: str(int(value)),
    bytes: lambda value: value.decode(errors="replace"),
    datetime: show_timestamp,
    timedelta: show_duration,
    TypeValue: lambda value: str(value.name),
}


def _inside(value: Any) -> str:
    """Return a value as a list or a map shows it: texts are quoted there."""
    return quote(value) if isinstance(value, str) else show(value)


def show(value: Any) -> str:
    """Return a value as ``%s`` prints it."""
    if isinstance(value, list):
        return "[" + ", ".join(_inside(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{_inside(key)}:{_inside(item)}" for key, item in value.items())) + "}"
    shown = _SHOWN.get(type(value))
    if shown is None:
        known = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        raise _wrong(f"string clause can only be used on {known}", value)
    return shown(value)
