"""A part of the server that other parts are given before it is built.

Some parts need each other: an admission plugin is given a client of the very server that will ask it, and the store's
values are read by the rules of resources that the registry, which needs the store, will know. One of the two is then
given a promise of the other, and may use it once the server is assembled.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class NotBuiltYet(RuntimeError):
    """A part was used while the server was still being assembled: a mistake in the server or in a plugin."""


class Promise(Generic[T]):
    """Stands for a part until it is built; kept once.

    Args:
        part: what it is, for the error.
    """

    __slots__ = ("_kept", "_part")

    def __init__(self, part: str) -> None:
        self._part = part
        self._kept: T | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the part is built."""
        return self._kept is not None

    def keep(self, built: T) -> T:
        """Give the part to all who were promised it; return it.

        Raises:
            RuntimeError: it was built before.
        """
        if self._kept is not None:
            raise RuntimeError(f"{self._part} is built twice")
        self._kept = built
        return built

    def get(self) -> T:
        """Return the part.

        Raises:
            NotBuiltYet: it is not there yet.
        """
        if self._kept is None:
            raise NotBuiltYet(f"{self._part} is used before it is built")
        return self._kept
