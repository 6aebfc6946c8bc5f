"""A list of which only a projection is kept: where the client can, no object is kept whole beside the others.

A page of 500 parsed Pods is 12 MB, and memory that was used once stays with the process for the most part: so pages are
small. To make all of a list before any of it goes costs six times as much as one after the other: the memory is new
each time, and the garbage collector looks through it while it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

from hyperkube.client.client import Client
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object

PAGE_SIZE = 100
"""Objects that are asked for at a time."""


class ListOptions(NamedTuple):
    """Which objects are listed, as for `Client.list`."""

    resource: GroupVersionResource
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""


class Projections(NamedTuple):
    """A list or a page of it, with its resourceVersion."""

    items: list[Object]
    resource_version: str


@runtime_checkable
class ListsProjections(Protocol):
    """A client that makes the objects of a list one by one, without pages: it has them in its own process."""

    def list_projected(self, options: ListOptions, project: Callable[[Object], Object]) -> Iterator[Projections]:
        """Yield what `project` returns for each object, which is its own, in pieces of one version; one at least."""


def projected_pages(client: Client, options: ListOptions, project: Callable[[Object], Object]) -> Iterator[Projections]:
    """Yield what `project` returns for each object of a list, in pieces; the last one's version is the list's.

    Raises:
        ApiError: the server refuses the list.
        ConnectionError: there is no server.
    """
    if isinstance(client, ListsProjections):
        yield from client.list_projected(options, project)
        return
    continue_token = ""
    while True:
        page = client.list(
            options.resource,
            options.namespace,
            label_selector=options.label_selector,
            field_selector=options.field_selector,
            limit=PAGE_SIZE,
            continue_token=continue_token,
        )
        continue_token = page.continue_token
        yield Projections([project(obj) for obj in page.items], page.resource_version)
        if not continue_token:
            return
