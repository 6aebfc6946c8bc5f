"""Wrapped text put together again by means of the same text in one line.

The one has the line breaks, among those of the wrapping; in the other each line break is one space, so that it tells
how many there were. Laid side by side they give the original, but for breaks that fall together with the wrapping.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hyperkube_api.descriptions.wrapped import WIDTH

_TWO_AFTER_SENTENCE = re.compile(r"[.)] {2}[A-Z]")
_PARAGRAPH = 2


def aligned(lines: Sequence[str], flat: str, width: int = WIDTH) -> str | None:
    """Return the text of which `lines` were wrapped to `width` columns and `flat` is in one line; None: they differ."""
    wide = any(_TWO_AFTER_SENTENCE.search(line) for line in lines)
    text, at, room = "", 0, 0
    for number, line in enumerate(lines):
        words = line.lstrip(" ")
        spaces = len(flat) - at - len(flat[at:].lstrip(" "))
        if not flat.startswith(words, at + spaces):
            return None
        if number:
            indent = len(line) - len(words)
            text += _between(spaces, indent, broken=_is_broken(line, spaces, room), wide=wide)
        text += words
        at += spaces + len(words)
        room = width - len(line)
    return text if at == len(flat) else None


def _is_broken(line: str, spaces: int, room: int) -> bool:
    """Tell whether the original has a line break before `line`: its first word would have fitted above."""
    return line.startswith((" ", "\t")) or spaces + len(line.split(" ", 1)[0]) <= room


def _between(spaces: int, indent: int, *, broken: bool, wide: bool) -> str:
    """Return what stands between two lines for the spaces between them in the flat text."""
    breaks = spaces - indent
    if broken:
        return "\n" * min(breaks, _PARAGRAPH) + " " * indent
    return "\n\n" if spaces == _PARAGRAPH and not wide else " " * spaces
