"""From text to tokens.

Source: cel-spec ``doc/langdef.md`` (Syntax), cel-go ``parser/gen/CEL.g4`` and ``parser/unescape.go``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperkube_lib.cel.errors import Issue

EOF = "<EOF>"
KINDS_SHOWN = {"FLOAT": "NUM_FLOAT", "INT": "NUM_INT", "UINT": "NUM_UINT", "ESCAPED": "ESC_IDENTIFIER"}

_ESCAPED = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
_PATTERN = re.compile(
    rf"""
    (?P<SPACE>[\t\ \r\n\f]+|//[^\n]*)
  | (?P<FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<INT>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<BYTES>[bB](?:[rR]?(?:\"{{3}}(?s:.*?)\"{{3}}|'{{3}}(?s:.*?)'{{3}})
      |[rR](?:"[^"\n\r]*"|'[^'\n\r]*')|"(?:{_ESCAPED}|[^\\"\n\r])*"|'(?:{_ESCAPED}|[^\\'\n\r])*'))
  | (?P<RAW>[rR](?:\"{{3}}(?s:.*?)\"{{3}}|'{{3}}(?s:.*?)'{{3}}|"[^"\n\r]*"|'[^'\n\r]*'))
  | (?P<STRING>\"{{3}}(?s:(?:{_ESCAPED}|[^\\])*?)\"{{3}}|'{{3}}(?s:(?:{_ESCAPED}|[^\\])*?)'{{3}}
      |"(?:{_ESCAPED}|[^\\"\n\r])*"|'(?:{_ESCAPED}|[^\\'\n\r])*')
  | (?P<IDENTIFIER>[_a-zA-Z][_a-zA-Z0-9]*)
  | (?P<ESCAPED>`[a-zA-Z0-9_.\-/\ ]+`)
  | (?P<OPERATOR>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
    """,
    re.VERBOSE,
)
_OPEN_STRING = re.compile(rf"""(["'])(?:{_ESCAPED}|(?!\1)[^\\\n\r])*""")
_NO_ESCAPE = re.compile(r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?.", re.DOTALL)
"""What the lexer reads of an escape that is none: as far as it could be one, and the character that shows it is not."""
_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?", "`": "`",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)


class Token(NamedTuple):
    """A piece of the text: `kind` is an operator itself, ``in``/``true``/``false``/``null``, or a class of tokens."""

    kind: str
    text: str
    offset: int


def tokenize(source: str) -> tuple[list[Token], list[Issue]]:
    """Return the tokens, `EOF` last, and an issue for each stretch that is no token."""
    tokens: list[Token] = []
    issues: list[Issue] = []
    at = 0
    while at < len(source):
        match = _PATTERN.match(source, at)
        if match is None:
            issues.append(Issue(at, f"Syntax error: token recognition error at: '{_unread(source, at)}'"))
            at += len(_unread(source, at))
            continue
        kind, text = str(match.lastgroup), match.group()
        at = match.end()
        if kind == "SPACE":
            continue
        if kind == "OPERATOR" or text in {"in", "true", "false", "null"}:
            kind = text
        elif kind == "RAW":
            kind = "STRING"
        tokens.append(Token(kind, text, match.start()))
    tokens.append(Token(EOF, EOF, len(source)))
    return tokens, issues


def _unread(source: str, at: int) -> str:
    """Return what the lexer gives up on: an open string to its end, an operator that never came with its successor."""
    character = source[at]
    if opened := _OPEN_STRING.match(source, at):
        bad = _NO_ESCAPE.match(source, opened.end())
        return source[at : bad.end()] if bad else source[at:].split("\n", 1)[0]
    if character in "&|=":
        return source[at : at + 2]
    return character


class BadLiteral(ValueError):
    """A string or number that cannot be read."""


def unquote(token: Token) -> str | bytes:
    """Return the value of a string or bytes token.

    Raises:
        BadLiteral: an escape that does not exist.
    """
    text, is_bytes, raw = token.text, False, False
    while text[0] in "bBrR":
        is_bytes, raw = is_bytes or text[0] in "bB", raw or text[0] in "rR"
        text = text[1:]
    quotes = 3 if text[:3] in {"'''", '"""'} else 1
    body = text[quotes:-quotes]
    if is_bytes:
        return body.encode() if raw else _unescape_bytes(body)
    return body if raw else _ESCAPE.sub(_character, body)


def _code(body: str) -> int:
    return int(body[1:], 16) if body[0] in "xXuU" else int(body, 8)


def _character(match: re.Match[str]) -> str:
    body = match.group(1)
    if body in _SIMPLE:
        return _SIMPLE[body]
    if len(body) == 1:
        raise BadLiteral(f"unable to unescape string {match.group()!r}")
    code = _code(body)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise BadLiteral("invalid unicode code point")
    return chr(code)


def _unescape_bytes(body: str) -> bytes:
    out, at = bytearray(), 0
    for match in _ESCAPE.finditer(body):
        out += body[at : match.start()].encode()
        at = match.end()
        text = match.group(1)
        if text in _SIMPLE:
            out += _SIMPLE[text].encode()
        elif len(text) == 1 or text[0] in "uU":
            raise BadLiteral("unable to unescape bytes")
        else:
            out.append(_code(text))
    return bytes(out + body[at:].encode())
