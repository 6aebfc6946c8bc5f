"""A page of a resource: cut as Kubernetes cuts it."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import Predicate

from hyperkube.machinery.dataclass import dataclass


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


def cut_page(
    objects: Sequence[CachedObject], revision: int, *, prefix: str, matches: Predicate | None, limit: int
) -> ListResult:
    """Return the first page of the objects; with a predicate, there is a next one while any object was not looked at.

    Source: kubernetes apiserver ``pkg/storage/cacher/cacher.go`` (GetList) and ``pkg/storage/continue.go``.
    """
    if matches is None:
        seen = min(limit or len(objects), len(objects))
        page = objects[:seen]
    else:
        page, seen = _matching(objects, matches, limit)
    if seen >= len(objects):
        return ListResult(page, revision)
    next_start = page[-1].key[len(prefix) :] + "\x00"
    return ListResult(page, revision, next_start, len(objects) - seen if matches is None else None)


def _matching(objects: Sequence[CachedObject], matches: Predicate, limit: int) -> tuple[list[CachedObject], int]:
    """Return up to `limit` matching objects and how many were looked at for them."""
    if not limit:
        return [obj for obj in objects if matches(obj)], len(objects)
    page: list[CachedObject] = []
    for seen, obj in enumerate(objects, 1):
        if matches(obj):
            page.append(obj)
            if len(page) == limit:
                return page, seen
    return page, len(objects)
