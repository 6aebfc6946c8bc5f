"""JSON patches. Source: kubernetes apiserver ``pkg/cel/library/jsonpatch.go``."""

from __future__ import annotations

from hyperkube_lib.cel.functions import Library

PATCHES = Library()


@PATCHES.function("jsonpatch.escapeKey", "string -> string")
def escape_key(text: str) -> str:
    """Return a key as a part of a JSON pointer."""
    return text.replace("~", "~0").replace("/", "~1")
