"""The body of a list: as a whole where it is small, else piece by piece, as its client takes it.

A list of all pods of a large cluster has hundreds of megabytes. Joined, they would be in memory twice, and who joins
them would keep the interpreter from everyone else meanwhile. So of a large list only the objects are taken at once, all
of one revision; what is sent of them is made as it is sent.

Source: kubernetes apimachinery ``pkg/runtime/serializer/json/collections.go`` (streamEncodeCollections) and
``pkg/runtime/serializer/protobuf/collections.go``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hyperkube_host.apiserver.request.results import ListPage
from hyperkube_lib.serving.finite_streams import PIECE_BYTES
from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.clock import SystemClock

LARGE = 4 << 20
"""Bytes from which a list is sent in pieces."""

LARGE_ENCODED = 1 << 20
"""The same of one that is not sent as it is kept: a thousand rows or messages, each of which may have to be made."""

KEPT_SECONDS = 0.02
"""How long what follows then may take, up to `LARGE` bytes: rows or messages that are kept do, and those are sent as a
whole for a fourth of what their pieces cost."""

MANY = 5000
"""Objects above which a list is large whatever they are, and what is packed of them in the cache stays so: to pack all
of a cluster again costs a second."""

SLICE_SECONDS = 0.001
"""How long rows or messages of a piece are made before others have their turn."""

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.served import ServedResource
    from hyperkube_host.apiserver.serializer.encodings import ObjectEncoder
    from hyperkube_host.apiserver.serializer.kept_rows import KeptRow

Parts: TypeAlias = "list[bytes | memoryview]"
"""Bytes that follow each other."""

_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time


class Items(Protocol):
    """The items of a list, encoded from the first one to the last.

    Attributes:
        many: whether there are so many that the list is large.
        ended: whether the last one was taken.
    """

    many: bool
    ended: bool

    def take(self, size: int, seconds: float = inf) -> Parts:
        """Return the next items, with what separates them before each, until they have so many bytes or so.

        Those that have to be made are fewer when the seconds are over.
        """


class _NoItems:
    """The items of a list that is encoded as a whole."""

    many = False
    ended = True

    def take(self, size: int, seconds: float = inf) -> Parts:
        """Return none."""
        del size, seconds
        return []


class JsonItems:
    """Objects of the cache as their JSON is kept; built-in kinds do not repeat their type in each item."""

    def __init__(self, page: ListPage) -> None:
        self._served = page.served
        self._objects = iter(page.objects)
        self.many = len(page.objects) > MANY
        self.ended = False

    def take(self, size: int, seconds: float = inf) -> Parts:
        """Return the next items, however long it takes: it is next to nothing.

        Raises:
            ApiError: one cannot be converted.
        """
        del seconds
        served, in_passing, left = self._served, self.many, size
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


class EncodedItems:
    """Objects of the cache in another form, which is kept with them, or made of them."""

    def __init__(
        self, objects: Sequence[CachedObject], encode: Callable[[CachedObject], bytes], *, separator: bytes = b","
    ) -> None:
        self._objects = iter(objects)
        self._encode = encode
        self._separator = separator
        self.many = len(objects) > MANY
        self.ended = False

    def take(self, size: int, seconds: float = inf) -> Parts:
        """Return the next items."""
        encode, left = self._encode, size
        is_timed, until = seconds < inf, _monotonic() + seconds
        items: list[bytes] = []
        for cached in self._objects:
            item = encode(cached)
            items.append(item)
            left -= len(item)
            if left <= 0 or (is_timed and _monotonic() >= until):
                break
        else:
            self.ended = True
        parts: Parts = [self._separator] * (2 * len(items))
        parts[1::2] = items
        return parts


class TableRows:
    """Objects of the cache as rows of a table: those that are kept cost two look-ups, the others take time.

    Args:
        objects: in the order of their rows.
        encoder: makes rows, and keeps them with their objects.
        served: whose columns they have.
        now: the present of their ages.
        include: as in `tables.row`.
        version: of the table.
    """

    def __init__(
        self,
        objects: Sequence[CachedObject],
        encoder: ObjectEncoder,
        served: ServedResource,
        now: datetime,
        *,
        include: str,
        version: str,
    ) -> None:
        self._objects = iter(objects)
        self._keys = encoder.row_keys(served, include=include, version=version)
        self._now = now
        self._same = b"null" if include == "None" else None
        self._row = partial(encoder.kept_row, served, now=now)
        self._shown = partial(encoder.shown, served, include=include, version=version)
        self.many = len(objects) > MANY
        self.ended = False

    def take(self, size: int, seconds: float = inf) -> Parts:
        """Return the next rows; the time is looked at after each that had to be made."""
        now, same, (row_key, shown_key) = self._now, self._same, self._keys
        left, until = size, _monotonic() + seconds
        parts: Parts = []
        for cached in self._objects:
            kept = cached.encodings or {}
            row: KeptRow | None = kept.get(row_key)
            shown: bytes | None = same or kept.get(shown_key)
            is_made = False
            if row is None or row.until <= now or shown is None:
                row, shown, is_made = self._row(cached), self._shown(cached), True
            parts += (row.text, shown, b"}")
            left -= len(row.text) + len(shown)
            if left <= 0 or (is_made and _monotonic() >= until):
                break
        else:
            self.ended = True
        return parts


class _InPieces(ABC):
    """A list that is encoded as a whole where it is small."""

    @abstractmethod
    def encoded(self) -> bytes | Iterator[bytes]:
        """Return it as a whole if it is small, else its pieces, among them empty ones."""

    def whole(self) -> bytes:
        """Return it as a whole, however large."""
        found = self.encoded()
        return found if isinstance(found, bytes) else b"".join(found)


class ListBody(_InPieces):
    """A list in JSON.

    Attributes:
        head: up to the first item.
        items: what is between, separated by commas.
        tail: what follows the last one.
        slow: the items may have to be made.
    """

    def __init__(self, head: bytes, items: Items, tail: bytes, *, slow: bool = False) -> None:
        self.head = head
        self.items = items
        self.tail = tail
        self.slow = slow

    def encoded(self) -> bytes | Iterator[bytes]:
        """Return it as a whole if it is small, else its pieces, among them empty ones.

        Raises:
            ApiError: an item cannot be encoded; the pieces raise it, too.
        """
        first = _first(self.items, slow=self.slow)
        if first:
            first[0] = first[0][1:]  # no comma before the first item
        if self.items.ended:
            return b"".join((self.head, *first, self.tail))
        return self._pieces(first)

    def _pieces(self, first: Parts) -> Iterator[bytes]:
        yield self.head
        yield from _joined(first)
        while not self.items.ended:
            yield b"".join(self.items.take(PIECE_BYTES, SLICE_SECONDS))
        yield self.tail


class MessageList(_InPieces):
    """A list in protobuf: its length stands before it, so that its messages have to be there first.

    Args:
        around: returns what comes before and after so many bytes of messages.
        items: the messages, each as the list's field.
    """

    slow = True

    def __init__(self, around: Callable[[int], tuple[bytes, bytes]], items: Items) -> None:
        self._around = around
        self._items = items

    def encoded(self) -> bytes | Iterator[bytes]:
        """Return it as a whole if it is small, else its pieces, among them empty ones."""
        first = _first(self._items, slow=True)
        if not self._items.ended:
            return self._pieces(first)
        before, after = self._around(sum(map(len, first)))
        return b"".join((before, *first, after))

    def _pieces(self, parts: Parts) -> Iterator[bytes]:
        while not self._items.ended:
            parts += self._items.take(PIECE_BYTES, SLICE_SECONDS)
            yield b""
        before, after = self._around(sum(map(len, parts)))
        yield before
        yield from _joined(parts)
        yield after


def whole_list(body: bytes) -> ListBody:
    """Return a list that is encoded already."""
    return ListBody(body, _NoItems(), b"")


def _first(items: Items, *, slow: bool) -> Parts:
    """Return the first items, all of a small list; of a slow one, whose items may have to be made, fewer."""
    if items.many:
        return items.take(PIECE_BYTES, SLICE_SECONDS)
    first = items.take(LARGE_ENCODED if slow else LARGE)
    if slow and not items.ended:
        first += items.take(LARGE - LARGE_ENCODED, KEPT_SECONDS)
    return first


def _joined(parts: Parts) -> Iterator[bytes]:
    """Join parts to pieces; they are let go of, as is the list."""
    waiting = deque(parts)
    parts.clear()
    piece: Parts = []
    size = 0
    while waiting:
        part = waiting.popleft()
        piece.append(part)
        size += len(part)
        if size >= PIECE_BYTES:
            yield b"".join(piece)
            piece, size = [], 0
    yield b"".join(piece)
