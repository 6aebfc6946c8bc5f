"""What the cache of a store had when the store was forked: the cache of the fork begins with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hyperkube_lib.watch_cache.object_table import ObjectTable

from hyperkube.storage.store import StoreEvent


class CacheState(NamedTuple):
    """What was cached at a revision, by prefix of the resource; the tables are copied before they are used."""

    revision: int
    tables: Mapping[str, ObjectTable]


class Inherited:
    """What another cache had of a resource that has no cache here yet, and the changes since."""

    __slots__ = ("changes", "objects")

    def __init__(self, objects: ObjectTable) -> None:
        self.objects = objects
        self.changes: list[StoreEvent] = []
