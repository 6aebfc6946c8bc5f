"""What objects have in common is kept once: a cached Pod costs 2 to 4 KB instead of 15.

Pods of one template are alike but for a few names and times, and so are the nodes of one pool. What is cached is
read-only, so equal parts can be one and the same. A part that is seen for the second time is remembered and stands for
all that are equal to it from then on; what no object has any more, or is not seen again, is forgotten.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from sys import getrefcount
from typing import Any

import orjson

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import SeenBefore, forgets

LIMIT = 8192
"""How many parts, and how many texts, are remembered while objects have them."""
_FEW = 64
_NO_STRINGS = frozenset({"resourceVersion"})
"""Fields whose texts are never equal in two objects. A pod's name, uid and address stand in its endpoints, too."""


class Interner:
    """Replaces parts of objects by equal ones that were seen before.

    All methods may be called from any thread: what a race loses is one opportunity to share.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self.forget()
        self._seen_before = SeenBefore()  # what is never seen again must not fill the tables
        forgets(self)

    def forget(self) -> None:
        """Forget all parts and texts: what is equal from now on is shared anew."""
        self._parts, self._texts = _Table(self._limit), _Table(self._limit)

    def intern(self, obj: Object, before: Object | None = None) -> Object:
        """Make `obj`, which must be the caller's own, of parts that are shared from now on; return it.

        Args:
            obj: is changed in place, but for its meaning.
            before: an earlier version of it: what has not changed since is taken from there.
        """
        with suppress(TypeError):  # deeper than can be written: it stays as it is
            self._intern_inside(obj, before)
        return obj

    def _intern_inside(self, part: Any, before: Any) -> None:
        """Intern the values of a dict or the items of a list, each of them being new to the table."""
        if isinstance(part, dict):
            earlier = before if isinstance(before, dict) else {}
            for key, value in part.items():
                kind = type(value)
                if kind is str and key not in _NO_STRINGS:
                    part[key] = self._text(value)
                elif kind is dict or kind is list:
                    part[key] = self._part(value, earlier.get(key))
            return
        earlier_items = before if isinstance(before, list) else []
        for index, value in enumerate(part):
            kind = type(value)
            if kind is str:
                part[index] = self._text(value)
            elif kind is dict or kind is list:
                part[index] = self._part(value, earlier_items[index] if index < len(earlier_items) else None)

    def _part(self, part: Any, before: Any) -> Any:
        """Return what stands for a part: its earlier version, an equal part, or itself made of such ones."""
        # Compared as bytes: 1 and true are equal in Python.
        data = orjson.dumps(part)
        if before is not None and part == before and orjson.dumps(before) == data:
            return before
        digest = hash(data)
        known = self._parts.get(digest)
        if known is not None and known == part:
            return known
        self._intern_inside(part, before)
        if self._seen_before(digest):
            self._parts.remember(digest, part)
        return part

    def _text(self, text: str) -> str:
        digest = hash(text)
        known: str | None = self._texts.get(digest)
        if known == text:
            return known
        if self._seen_before(digest):
            self._texts.remember(digest, text)
        return text


class _Table(dict[int, Any]):
    """What stands for all that is equal to it, by its hash. Of pods that come and go, most is gone with them."""

    def __init__(self, limit: int) -> None:
        self._limit, self._room = limit, min(limit, _FEW)

    def remember(self, digest: int, value: Any) -> None:
        """Remember a value; where there is no room, forget what nothing else refers to, and the older half of many."""
        if len(self) >= self._room:
            unused = [key for count, key in _references(self.copy()) if count <= _ALONE]
            if 2 * (len(self) - len(unused)) > self._limit:
                unused += islice(self.copy(), self._limit // 2)
            for each in unused:
                self.pop(each, None)
            self._room = min(self._limit, max(_FEW, 2 * len(self)))
        self[digest] = value


def _references(copy: dict[int, Any]) -> list[tuple[int, int]]:
    return [(getrefcount(value), key) for key, value in copy.items()]


(_ALONE,) = (count for table in ({0: object()},) for count, _ in _references(table.copy()))
"""How many references there are to what only a table and its copy have."""
