"""Continue tokens: where the next page of a list begins, and of which revision it is.

Source: kubernetes apiserver ``pkg/storage/continue.go``; the texts of base64 and JSON errors are those of Go.
"""

from __future__ import annotations

import base64
import posixpath
from typing import Any, TypeVar

import orjson
from hyperkube_lib.serving import json

from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown

_VERSION = "meta.k8s.io/v1"
_STRUCT = "continueToken"
_QUANTUM = 4
_Value = TypeVar("_Value", int, str)


def encode_token(start: str, prefix: str, revision: int) -> str:
    """Return the continue token for the page that begins at `start`."""
    token = {"v": _VERSION, "rv": revision, "start": start.removeprefix(prefix)}
    return base64.urlsafe_b64encode(orjson.dumps(token)).rstrip(b"=").decode()


def decode_token(token: str, prefix: str) -> tuple[str, int]:
    """Return the start below the resource's prefix and the revision of a continue token.

    Raises:
        BadRequest: it is none.
    """
    try:
        version, revision, start = _read(token)
    except ValueError as error:
        raise _refused(f": {error}") from error
    if version != _VERSION:
        raise _refused(f": server does not recognize this encoded version {version}")
    if not revision:
        raise _refused(f": incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise _refused(f": encoded start key empty (version {_VERSION})")
    key = start if start.startswith("/") else f"/{start}"
    if key.startswith("//") or posixpath.normpath(key) != key:  # a start may not lead out of the resource
        raise _refused(f": {start}")
    return prefix + key[1:], revision


def _refused(why: str) -> BadRequest:
    return BadRequest(f"invalid continue token: continue key is not valid{why}")


def _read(token: str) -> tuple[str, int, str]:
    """Return version, revision and start.

    Raises:
        ValueError: the token is no base64, no JSON, or not of this shape.
    """
    content: Any = json.loads(_decoded(token))
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise TypeMismatch(shown(content), f"storage.{_STRUCT}")
    return _member(content, "v", ""), _member(content, "rv", 0), _member(content, "start", "")


def _member(content: dict[str, Any], name: str, empty: _Value) -> _Value:
    value = content.get(name)
    if value is None:
        return empty
    if type(value) is not type(empty):
        go_type = "string" if isinstance(empty, str) else "int64"
        mismatch = TypeMismatch(shown(value, literal=isinstance(value, float) and go_type == "int64"), go_type)
        mismatch.inside(_STRUCT, name)
        raise mismatch
    return value


def _decoded(token: str) -> bytes:
    """Return the bytes of base64 for URLs without padding, as Go's decoder reads it.

    Raises:
        ValueError: it is none; says at which byte.
    """
    good = 0
    for offset, character in enumerate(token.encode()):
        if chr(character) in "\r\n":
            continue
        if not (chr(character).isascii() and chr(character).isalnum()) and chr(character) not in "-_":
            raise ValueError(f"illegal base64 data at input byte {offset}")
        good += 1
    if good % _QUANTUM == 1:
        raise ValueError(f"illegal base64 data at input byte {len(token) - 1}")
    text = token.replace("\r", "").replace("\n", "")
    return base64.urlsafe_b64decode(text + "=" * (-good % _QUANTUM))
