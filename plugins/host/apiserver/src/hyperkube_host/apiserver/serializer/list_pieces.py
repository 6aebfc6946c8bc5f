"""The body of a list: as a whole where it is small, else piece by piece, as its client takes it.

A list of all pods of a large cluster has hundreds of megabytes. Joined, they would be in memory twice, and who joins
them would keep the interpreter from everyone else meanwhile. So of a large list only the objects are taken at once, all
of one revision; what is sent of them is made as it is sent.

Source: kubernetes apimachinery ``pkg/runtime/serializer/json/collections.go`` (streamEncodeCollections).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

from hyperkube_host.apiserver.request.results import ListPage
from hyperkube_lib.serving.finite_streams import PIECE_BYTES

LARGE = 4 << 20
"""Bytes from which a list is sent in pieces."""

MANY = 5000
"""Objects of a list above which what is packed in the cache stays so: to pack all of a cluster again costs a second."""

Parts: TypeAlias = "list[bytes | memoryview]"
"""Bytes that follow each other."""


class Items(Protocol):
    """The items of a list, encoded from the first one to the last.

    Attributes:
        ended: whether the last one was taken.
    """

    ended: bool

    def take(self, size: int) -> Parts:
        """Return the next items, a comma before each, until they have so many bytes or so: about a piece's."""


class NoItems:
    """The items of a list that is encoded as a whole."""

    ended = True

    def take(self, size: int) -> Parts:
        """Return none."""
        del size
        return []


class JsonItems:
    """Objects of the cache as their JSON is kept; built-in kinds do not repeat their type in each item."""

    def __init__(self, page: ListPage) -> None:
        self._served = page.served
        self._objects = iter(page.objects)
        self._in_passing = len(page.objects) > MANY
        self.ended = False

    def take(self, size: int) -> Parts:
        """Return the next items.

        Raises:
            ApiError: one cannot be converted.
        """
        served, in_passing, left = self._served, self._in_passing, size
        prefix, plain = served.type_prefix, not (served.converts or served.custom)
        skipped = len(prefix)
        parts: Parts = []
        for cached in self._objects:
            body = cached.body_in_passing if in_passing else cached.body
            if plain and body.startswith(prefix):
                parts += (b",{", memoryview(body)[skipped:])
            else:
                parts += (b",", body if served.custom and not served.converts else served.fragment(cached))
            left -= len(body)
            if left <= 0:
                break
        else:
            self.ended = True
        return parts


class ListBody:
    """A list in JSON.

    Args:
        head: up to the first item.
        items: what is between.
        tail: what follows the last one.
    """

    def __init__(self, head: bytes, items: Items, tail: bytes) -> None:
        self._head = head
        self._items = items
        self._tail = tail

    def whole(self) -> bytes:
        """Return it as a whole, however large."""
        found = self.encoded()
        return found if isinstance(found, bytes) else b"".join(found)

    def encoded(self) -> bytes | Iterator[bytes]:
        """Return it as a whole if it is small, else its pieces.

        Raises:
            ApiError: an item cannot be encoded; from the pieces, too, each time.
        """
        first = self._items.take(LARGE)
        if first:
            first[0] = first[0][1:]  # no comma before the first item
        if self._items.ended:
            return b"".join((self._head, *first, self._tail))
        return self._pieces(first)

    def _pieces(self, first: Parts) -> Iterator[bytes]:
        yield self._head
        yield from _joined(first)
        del first
        while not self._items.ended:
            yield b"".join(self._items.take(PIECE_BYTES))
        yield self._tail


def _joined(parts: Parts) -> Iterator[bytes]:
    """Join parts to pieces."""
    piece: Parts = []
    size = 0
    for part in parts:
        piece.append(part)
        size += len(part)
        if size >= PIECE_BYTES:
            yield b"".join(piece)
            piece, size = [], 0
    yield b"".join(piece)
