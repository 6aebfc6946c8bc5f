"""What objects have in common is kept once: a cached Pod costs 2 to 4 KB instead of 15.

Pods of one template are alike but for a few names and times, and so are the nodes of one pool. What is cached is
read-only, so equal parts can be one and the same. A part that is seen for the second time is remembered and stands for
all that are equal to it from then on; what is not seen again is forgotten.
"""

from __future__ import annotations

from array import array
from typing import Any

import orjson

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import forgets

LIMIT = 4096
"""How many parts, and how many strings, a generation remembers; two generations are kept."""
_SLOTS = 4096
_NO_STRINGS = frozenset({"resourceVersion"})
"""Fields whose texts are never equal in two objects. A pod's name, uid and address stand in its endpoints, too."""


class Interner:
    """Replaces parts of objects by equal ones that were seen before.

    All methods may be called from any thread: what a race loses is one opportunity to share.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self.forget()
        # What was seen once, by a piece of its hash: what is never seen again must not fill the generations.
        self._seen: array[int] | None = None
        forgets(self)

    def forget(self) -> None:
        """Forget all parts and texts: what is equal from now on is shared anew."""
        # Two generations: what is asked for moves to the young one, and when that is full, the old one is dropped.
        self._parts: dict[int, Any] = {}
        self._old_parts: dict[int, Any] = {}
        self._texts: dict[str, str] = {}
        self._old_texts: dict[str, str] = {}

    def intern(self, obj: Object, before: Object | None = None) -> Object:
        """Make `obj`, which must be the caller's own, of parts that are shared from now on; return it.

        Args:
            obj: is changed in place, but for its meaning.
            before: an earlier version of it: what has not changed since is taken from there.
        """
        try:
            self._intern_inside(obj, before)
        except TypeError:  # deeper than can be written: it stays as it is
            return obj
        return obj

    def _intern_inside(self, part: Any, before: Any) -> None:
        """Intern the values of a dict or the items of a list, each of them being new to the table."""
        if isinstance(part, dict):
            earlier = before if isinstance(before, dict) else {}
            for key, value in part.items():
                kind = type(value)
                if kind is str:
                    if key not in _NO_STRINGS:
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
        if known is None:
            known = self._old_parts.get(digest)
            if known is not None:
                self._remember(digest, known)
        if known is not None and known == part:
            return known
        self._intern_inside(part, before)
        if self._was_seen(digest):
            self._remember(digest, part)
        return part

    def _was_seen(self, digest: int) -> bool:
        """Tell whether a part or text was seen already, and note that it was; a few are forgotten soon."""
        seen = self._seen
        if seen is None:
            seen = self._seen = array("I", bytes(4 * _SLOTS))
        slot, rest = digest % _SLOTS, (digest // _SLOTS) & 0xFFFFFFFF
        if seen[slot] == rest:
            return True
        seen[slot] = rest
        return False

    def _remember(self, digest: int, part: Any) -> None:
        if len(self._parts) >= self._limit:
            self._old_parts, self._parts = self._parts, {}
        self._parts[digest] = part

    def _text(self, text: str) -> str:
        known = self._texts.get(text)
        if known is not None:
            return known
        known = self._old_texts.get(text)
        if known is None:
            if not self._was_seen(hash(text)):
                return text
            known = text
        if len(self._texts) >= self._limit:
            self._old_texts, self._texts = self._texts, {}
        self._texts[known] = known
        return known
