"""References to variables in the values and commands of a container.

Source: kubernetes ``third_party/forked/golang/expansion/expand.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$(?:\$|\(([^()]*)\))")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` by the value of a known name; ``$$`` is a dollar sign, an unknown reference stays."""

    def replace(match: re.Match[str]) -> str:
        if match.group() == "$$":
            return "$"
        return values.get(match.group(1), match.group())

    return _REFERENCE.sub(replace, text)


def references(text: str) -> set[str]:
    """Return the names of the variables that a text refers to."""
    return {match.group(1) for match in _REFERENCE.finditer(text) if match.group() != "$$"}
