"""Text that was wrapped to a width, line by line, put together again.

The wrapping is greedy and never splits a word, so a line that ends although the next word would have fitted ended in
the original too. Where a line ended, blank lines got lost and two spaces became one break. What stood there is told by
how the texts are made: they are Go comments, whose lines flow together but for paragraphs and indented lines.

Source: textwrap; kube-openapi ``pkg/generators`` (how comments become descriptions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 78
"""Columns to which lightkube-models wraps."""


def joined(lines: Sequence[str], width: int = WIDTH) -> str:
    """Return the text of which `lines` were made by wrapping to `width` columns and dropping blank lines."""
    return _paragraphs(_unwrapped(lines, width), width)


def _unwrapped(lines: Sequence[str], width: int) -> Iterable[str]:
    """Yield the lines of the original."""
    line, room = "", width
    for piece in lines:
        if line and piece:
            blanks = _blanks(line, piece, room)
            if blanks is None:
                yield line
                line = piece
            else:
                line += blanks + piece
        else:
            line += piece
        room = width - len(piece)
    if line:
        yield line


def _blanks(line: str, piece: str, room: int) -> str | None:
    """Return what stood between a line and the piece below it, None for the end of the line.

    `room` is how many columns the wrapped line above has left. A first word that would just have fitted after one
    space came after two, as some authors begin a sentence.
    """
    if piece.startswith((" ", "\t")):
        return None
    needed = 1 + len(piece.split(" ", 1)[0])
    if needed > room:
        return " "
    return "  " if needed == room and line.endswith((".", ")", "|")) else None


def _paragraphs(lines: Iterable[str], width: int) -> str:
    """Join lines: a blank line between two, except beside indented ones, which keep to what they belong to."""
    text, above_is_indented = "", False
    for line in lines:
        is_indented = line.startswith((" ", "\t"))
        if text:
            begins_anew = not is_indented and (not above_is_indented or _is_prose(line, width))
            text += "\n\n" if begins_anew else "\n"
        text += line
        above_is_indented = is_indented
    return text


def _is_prose(line: str, width: int) -> bool:
    """Tell a paragraph from the next point of a list or a heading."""
    return len(line) > width and not line.startswith(("-", "*")) and not line[:1].islower()
