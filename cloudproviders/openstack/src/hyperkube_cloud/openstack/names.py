"""One thing for a name, of things whose names Cinder does not hold to be unique.

Two controller managers in turn may both find nothing of a name, and both make it. Then the oldest counts, and the maker
of a younger one looks again and deletes it; one that its maker did not live to delete goes when the name is next
asked for. Cinder tells the time of creation in whole seconds: of two of the same second each maker gives the other a
moment to leave, and leaves itself where that one stays, as its maker may have seen it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hyperkube_cloud.openstack.apis import CINDER, Apis
from hyperkube_lib.cloud_provider.rest import Json

MOMENT: Final = 2.0
"""Seconds that the maker of another one of the same second has to see that there are two, and to delete its own."""


class NamedThings:
    """Volumes, or snapshots, by their names.

    Args:
        apis: the services.
        collection: ``volumes`` or ``snapshots``.
        counts: tells whether one is no wreck.
        is_free: tells whether one is used by nothing, so that it may go.
        settled: waits until one with that id has been made, so that it can be deleted.
    """

    def __init__(
        self,
        apis: Apis,
        collection: str,
        *,
        counts: Callable[[Json], bool],
        is_free: Callable[[Json], bool],
        settled: Callable[[str], object],
    ) -> None:
        self._apis, self._collection = apis, collection
        self._counts, self._is_free, self._settled = counts, is_free, settled

    def find(self, name: str) -> Json | None:
        """Return the one that counts, None if there is none; younger ones that nothing uses are deleted."""
        rows = self._named(name)
        if len(rows) > 1 and _age(rows[1]) == _age(rows[0]):
            self._apis.sleep(MOMENT)
            rows = self._named(name)
        for row in rows[1:]:
            if _age(row) > _age(rows[0]) and self._is_free(row):
                self._discard(row)
        return rows[0] if rows else None

    def kept(self, name: str, made: Json) -> Json:
        """Return the one that counts after another was `made`: that, or an older one, and then `made` is deleted."""
        rows = self._named(name)
        mine = next((row for row in rows if row["id"] == made["id"]), made)
        if rows and rows[0]["id"] == mine["id"] and any(_age(row) == _age(mine) for row in rows[1:]):
            self._apis.sleep(MOMENT)
            rows = [row for row in self._named(name) if row["id"] != mine["id"] and _age(row) == _age(mine)]
        if not rows or rows[0]["id"] == mine["id"]:
            return mine
        self._discard(mine)
        return rows[0]

    def _named(self, name: str) -> list[Json]:
        """Return all of that name, the oldest first."""
        listed = self._apis.listed(CINDER, f"{self._collection}/detail", self._collection, name=name)
        return sorted(filter(self._counts, listed), key=lambda row: (_age(row), str(row["id"])))

    def _discard(self, row: Json) -> None:
        self._settled(str(row["id"]))
        self._apis.delete(CINDER, f"{self._collection}/{row['id']}")


def _age(row: Json) -> str:
    return str(row.get("created_at") or "")
