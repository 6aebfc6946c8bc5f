"""Patterns of schemas, which are Go's: ASCII classes, ``$`` only at the very end, Unicode classes by category.

Source: Go ``regexp/syntax`` (https://github.com/google/re2/wiki/Syntax).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PIECE = re.compile(
    r"""\\Q(?P<literal>.*?)(?:\\E|\Z)|\\(?P<p>[pP])(?:\{(?P<long>\^?\w+)\}|(?P<short>\w))|\\x\{(?P<hex>[0-9a-fA-F]+)\}"""
    r"""|(?P<end>\\z)|\\.|\[:(?P<posix>\^?\w+):\]|(?P<open>\[\^?\]?)|(?P<close>\])|(?P<name>\(\?<(?![=!]))|(?P<last>\$)|.""",
    re.DOTALL,
)
_MANY_LINES = re.compile(r"\(\?[a-z]*m")


class NotTranslatable(Exception):
    """A pattern has no counterpart here."""


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern occurs in a text; one that has no counterpart here occurs everywhere."""
    try:
        return _compiled(pattern).search(text) is not None
    except (NotTranslatable, re.error):
        return True


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    within = False
    out: list[str] = []
    last = "$" if _MANY_LINES.search(pattern) else r"\Z"
    for piece in _PIECE.finditer(pattern):
        text = piece.group()
        if piece["open"] and not within:
            within = True
            text = text.replace("]", r"\]")
        elif piece["close"] and within:
            within = False
        elif piece["open"]:
            within, text = not text.endswith("]"), "\\" + text
        elif not within or piece["p"] or piece["posix"] or piece["hex"]:
            text = _translated(piece, text, last, within=within)
        out.append(text)
    return re.compile("".join(out), re.ASCII)


def _translated(piece: re.Match[str], text: str, last: str, *, within: bool) -> str:
    if piece["literal"] is not None:
        return re.escape(piece["literal"])
    if piece["hex"]:
        return re.escape(chr(int(piece["hex"], 16)))
    if piece["p"]:
        name = piece["long"] or piece["short"]
        negated = (piece["p"] == "P") != name.startswith("^")
        return _class(_category(name.lstrip("^")), within=within, negated=negated)
    if piece["posix"] and within:
        found = _POSIX.get(piece["posix"].lstrip("^"))
        if found is None:
            raise NotTranslatable(text)
        return _class(found, within=within, negated=piece["posix"].startswith("^"))
    if piece["name"]:
        return "(?P<"
    if piece["end"]:
        return r"\Z"
    return last if piece["last"] else text


def _class(ranges: str, *, within: bool, negated: bool) -> str:
    if within and negated:
        raise NotTranslatable(ranges)
    return ranges if within else f"[{'^' if negated else ''}{ranges}]"


@lru_cache(maxsize=64)
def _category(name: str) -> str:
    """Return the characters of a Unicode category as ranges.

    Raises:
        NotTranslatable: it is none, but perhaps a script.
    """
    ranges: list[str] = []
    start = None
    for code in range(0x110001):
        inside = code < 0x110000 and unicodedata.category(chr(code)).startswith(name)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    if not ranges:
        raise NotTranslatable(name)
    return "".join(ranges)
