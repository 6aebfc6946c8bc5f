"""How Go's encoding/json words what is wrong with a text."""

from __future__ import annotations

import orjson


def syntax_error(error: orjson.JSONDecodeError) -> str:
    """Return the text Go has for JSON that ends early or begins wrongly."""
    if not error.doc or error.pos >= len(error.doc):
        return "unexpected end of JSON input"
    return f"invalid character '{error.doc[error.pos]}' looking for beginning of value"
