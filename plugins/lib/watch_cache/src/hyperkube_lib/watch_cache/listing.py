"""A page of a resource: cut as Kubernetes cuts it, of as few objects as it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import Predicate

from hyperkube.machinery.dataclass import dataclass

LOOKED_AT = 500
"""Objects that a predicate is asked about at a time, at least."""


@dataclass(frozen=True, slots=True)
class ListResult:
    """A page of a resource.

    Attributes:
        objects: in the byte order of their keys (an index's answer likewise).
        revision: the list's resourceVersion.
        next_start: where the next page starts (`start` of the next call), empty after the last one.
        remaining: how many objects follow; None when a predicate makes that unknown.
    """

    objects: Sequence[CachedObject]
    revision: int
    next_start: str = ""
    remaining: int | None = None


class Part(NamedTuple):
    """The first objects of a range at one revision.

    Attributes:
        total: how many objects the range has.
        end: where those begin that are not among them, empty if all are.
        last: the key of the last one, where those are left out of which it is known that no predicate accepts them.
    """

    objects: Sequence[CachedObject]
    revision: int
    total: int
    end: str = ""
    last: str = ""

    def holding(self, text: bytes) -> Part:
        """Return it without the objects in whose JSON a text is not; all of them where that is empty."""
        if not text or not self.objects:
            return self
        return self._replace(objects=[obj for obj in self.objects if text in obj.body], last=self.objects[-1].key)


ReadPart: TypeAlias = Callable[[str, int, int], Part]
"""Returns the first objects from a key on, at a revision (0: now), at least as many as are asked for (0: all)."""


def part_of(objects: Sequence[CachedObject], revision: int, total: int) -> Part:
    """Return the first objects of a range that has `total` of them."""
    return Part(objects, revision, total, f"{objects[-1].key}\0" if objects and len(objects) < total else "")


def read_page(read: ReadPart, low: str, *, prefix: str, matches: Predicate | None, limit: int) -> ListResult:
    """Return the page of a range that begins at `low`; all of it without a limit.

    With a predicate there is a next page while any object was not looked at.
    Source: kubernetes apiserver ``pkg/storage/cacher/cacher.go`` (GetList) and ``pkg/storage/continue.go``.
    """
    if matches is None:
        part = read(low, 0, limit)
        if not part.end and (not limit or len(part.objects) <= limit):
            return ListResult(part.objects, part.revision)
        if len(part.objects) >= limit:
            page = part.objects[:limit]
            return ListResult(page, part.revision, _after(page, prefix), part.total - limit)
    return _collected(read, low, prefix, matches, limit)


def _collected(read: ReadPart, low: str, prefix: str, matches: Predicate | None, limit: int) -> ListResult:
    """Return a page of several parts, all of the revision of the first."""
    page: list[CachedObject] = []
    revision = total = 0
    while True:
        part = read(low, revision, max(limit, LOOKED_AT) if limit else 0)
        total = total or part.total
        revision = part.revision
        for seen, obj in enumerate(part.objects, 1):
            if matches is not None and not matches(obj):
                continue
            page.append(obj)
            if len(page) == limit and (part.end or seen < len(part.objects) or obj.key < part.last):
                return ListResult(page, revision, _after(page, prefix), total - limit if matches is None else None)
        if not part.end:
            return ListResult(page, revision)
        low = part.end


def _after(page: Sequence[CachedObject], prefix: str) -> str:
    return page[-1].key[len(prefix) :] + "\x00"
