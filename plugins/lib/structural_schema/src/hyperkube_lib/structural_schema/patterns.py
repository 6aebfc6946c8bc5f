"""Patterns of schemas, which are Go's: RE2 reads them, in time that grows with the text and not with what it tries.

Users who may define a resource write patterns, users who may create one write texts: an engine that backtracks would
let the two of them stop a server.
Source: Go ``regexp/syntax`` (https://github.com/google/re2/wiki/Syntax).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern occurs in a text; one that cannot be read occurs everywhere."""
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text.encode("utf-8", "replace")) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    """Return a compiled pattern, None for one that was declared before RE2 was asked."""
    import re2  # type: ignore[import-untyped]  # it has no stubs

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error:
        return None
