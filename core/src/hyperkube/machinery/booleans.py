"""Truth values as texts.

Source: Go ``strconv/atob.go`` (ParseBool).
"""

from __future__ import annotations

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def parse_bool(text: str) -> bool | None:
    """Return the value that Go reads in a text, None where it reads none."""
    return True if text in _TRUE else False if text in _FALSE else None
