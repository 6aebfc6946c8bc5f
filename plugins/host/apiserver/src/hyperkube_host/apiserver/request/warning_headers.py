"""Warnings for the client: each once, and no more of them than headers should hold.

Source: kubernetes apiserver ``pkg/endpoints/filters/warning.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

_TOTAL_RUNES = 4 * 1024
"""Characters of all warnings from which each is cut; once cut ones add up to that much, the rest is dropped."""

_ITEM_RUNES = 256
_MOST = _TOTAL_RUNES
"""Texts that are kept: more could not be told even if each were a single character."""


class Warnings(list[str]):
    """The warnings of a request in their order; looking one up costs the same however many there are."""

    _known: set[str] | frozenset[str] = frozenset()
    """A set of its own with the first one: nearly all requests have none."""

    def append(self, text: str) -> None:
        """Add a warning, unless it is known or there are too many."""
        if text not in self._known and len(self) < _MOST:
            if not isinstance(self._known, set):
                self._known = set()
            self._known.add(text)
            super().append(text)

    def extend(self, texts: Iterable[str]) -> None:
        """Add several."""
        for text in texts:
            self.append(text)

    def __iadd__(self, texts: Iterable[str]) -> Self:  # type: ignore[misc,override]  # a list takes any iterable too
        self.extend(texts)
        return self

    def __contains__(self, text: object) -> bool:
        return text in self._known


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """Return the ``Warning`` headers for the texts, cut where they are too much together."""
    texts = [text for text in warnings if text]
    if sum(map(len, texts)) > _TOTAL_RUNES:
        # Those up to the first that does not fit are cut as well; from there on they are written until it is enough.
        whole, written, kept = 0, 0, []
        for text in texts:
            whole += len(text)
            if whole > _TOTAL_RUNES and written >= _TOTAL_RUNES:
                break
            kept.append(text[:_ITEM_RUNES])
            written += len(kept[-1])
        texts = kept
    return [("Warning", f"299 - {quoted(text)}") for text in texts]


def quoted(warning: str) -> str:
    """Return a warning's text as a quoted string of a header; what headers cannot hold is left out."""
    clean = "".join(char if char.isprintable() else " " for char in warning)
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"') + '"'
