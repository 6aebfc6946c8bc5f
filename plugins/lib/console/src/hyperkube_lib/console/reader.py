"""How pages read: objects and printed tables of one user, as they are or as they were at a revision.

Lists are the API server's own tables, what ``kubectl get -o wide`` prints. A table of all namespaces needs the metadata
of each object, since nothing else in a row says its namespace: that is read of few objects. Where there are many, and
few namespaces, each is read for itself, without objects: the server keeps the cells, so that 5,000 pods are read in
some 40 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from hyperkube.client.client import Client
from hyperkube.client.wire import error_of, read_list
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of

CHUNK = 500
FEW = 100
"""So many objects of all namespaces are read with their metadata."""
MOST_NAMESPACES = 64
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class Row:
    """One object in a table."""

    namespace: str
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A resource as the server prints it, whole.

    Attributes:
        columns: their names; the cells are in the same order.
        wide: how many columns from the left are shown without asking for more.
        revision: that it was read at, from which a watch goes on.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    wide: frozenset[int]
    revision: str

    def column(self, name: str) -> int | None:
        """Return a column's place, None where there is none of that name."""
        return self.columns.index(name) if name in self.columns else None


class Reader:
    """Reads as one user; `at` is a revision of the past, or empty for now."""

    def __init__(self, client: Client, at: str = "") -> None:
        self.client = client
        self.at = at

    def one(self, resource: GroupVersionResource, name: str, namespace: str = "") -> Object:
        """Return one object.

        Raises:
            ApiError: it is not there, or must not be read.
        """
        if not self.at:
            return self.client.get(resource, name, namespace)
        # Kubernetes gives no single object of the past: it is the list that selects its name.
        for found in self.objects(resource, namespace, fields=f"metadata.name={name}"):
            return found
        raise NotFound.about(resource.group_resource, name)

    def objects(
        self, resource: GroupVersionResource, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> Iterator[Object]:
        """Yield all objects, a chunk in memory at a time.

        Raises:
            ApiError: they must not be listed.
        """
        token = ""
        while True:
            if self.at:
                query = {"labelSelector": labels, "fieldSelector": fields, "limit": str(CHUNK), "continue": token}
                page = read_list(self._read(resource.path(namespace), query))
            else:
                page = self.client.list(
                    resource, namespace, label_selector=labels, field_selector=fields, limit=CHUNK, continue_token=token
                )
            yield from page.items
            token = page.continue_token
            if not token:
                return

    def table(
        self, resource: GroupVersionResource, namespace: str = "", *, namespaced: bool, fields: str = ""
    ) -> Table:
        """Return a resource's table.

        Raises:
            ApiError: it must not be listed.
        """
        if not namespaced or namespace:
            return self._printed(resource, namespace, fields, "None")[0]
        found, is_whole = self._printed(resource, "", fields, "Metadata", limit="" if self.at else str(FEW))
        if is_whole:
            return found
        spaces = self._few_namespaces()
        if not spaces:
            return self._printed(resource, "", fields, "Metadata")[0]
        parts = [self._printed(resource, space, fields, "None")[0] for space in spaces]
        rows = tuple(row for part in parts for row in part.rows)
        return Table(parts[0].columns, rows, parts[0].wide, min((part.revision for part in parts), key=_number))

    def _few_namespaces(self) -> list[str] | None:
        try:
            page = self.client.list(NAMESPACES, limit=MOST_NAMESPACES)
        except ApiError:
            return None
        return None if page.continue_token else [name_of(item) for item in page.items]

    def _printed(
        self, resource: GroupVersionResource, namespace: str, fields: str, include: str, limit: str = ""
    ) -> tuple[Table, bool]:
        """Return a table, and whether no more objects are there than were asked for."""
        query = {"includeObject": include, "fieldSelector": fields, "limit": limit}
        answer = self._read(resource.path(namespace), query, {"Accept": _TABLE})
        definitions = answer.get("columnDefinitions") or []
        columns = tuple(str(each["name"]) for each in definitions)
        name = next((place for place, each in enumerate(definitions) if each.get("format") == "name"), 0)
        rows = tuple(
            Row(namespace or _space(row), str(row["cells"][name]), tuple(map(_text, row["cells"])))
            for row in answer.get("rows") or []
        )
        wide = frozenset(place for place, each in enumerate(definitions) if each.get("priority"))
        meta = answer.get("metadata") or {}
        return Table(columns, rows, wide, meta.get("resourceVersion", "")), not meta.get("continue")

    def json(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Return what the server answers to a GET of any path.

        Raises:
            ApiError: it refuses.
        """
        return self._decoded("GET", path, query or {}, {}, b"")

    def ask(self, path: str, body: Object) -> Any:
        """Return what the server answers to a review, which is created and not kept.

        Raises:
            ApiError: it refuses.
        """
        return self._decoded("POST", path, {}, {"Content-Type": "application/json"}, orjson.dumps(body))

    def _read(self, path: str, query: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Any:
        given = {name: value for name, value in query.items() if value}
        if self.at and "continue" not in given:
            given |= {"resourceVersion": self.at, "resourceVersionMatch": "Exact"}
        return self._decoded("GET", path, given, headers or {}, b"")

    def _decoded(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Any:
        answer = self.client.request(method, path, query=query, headers=headers, body=body)
        if not 200 <= answer.status < 300:
            raise error_of(answer.status, answer.headers, answer.body)
        return orjson.loads(answer.body)


def _space(row: Mapping[str, Any]) -> str:
    return str(((row.get("object") or {}).get("metadata") or {}).get("namespace", ""))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _number(revision: str) -> int:
    return int(revision) if revision.isdecimal() else 0
