"""Which columns of a table changed when: what caches ask so as to look at these only."""

from __future__ import annotations

from collections.abc import Sequence

LIMIT = 8192
"""Changes remembered; who has not looked for longer must look at everything."""


class ChangeLog:
    """Changes by generation, one column each; every change makes a new generation."""

    def __init__(self) -> None:
        self._first = 1
        self._columns: list[int] = []

    @property
    def generation(self) -> int:
        """The number of the latest change."""
        return self._first + len(self._columns) - 1

    def touch(self, column: int) -> None:
        """Note that a column changed."""
        self._columns.append(column)
        if len(self._columns) > LIMIT:
            half = LIMIT // 2
            del self._columns[:half]
            self._first += half

    def reset(self) -> None:
        """Note that everything may have changed: columns came or went."""
        self._first = self.generation + 2
        self._columns.clear()

    def since(self, generation: int) -> Sequence[int] | None:
        """Return the columns changed after a generation, each once in any order; None if that is too long ago."""
        at = generation - self._first + 1
        if at < 0:
            return None
        return list(set(self._columns[at:]))
