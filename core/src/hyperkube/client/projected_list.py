"""A list of which only a projection is kept: where the client can, no object is kept whole beside the others.

A page of 500 parsed Pods is 12 MB. To make all of it before any of it goes costs six times as much as one after the
other: the memory is new each time, and the garbage collector looks through it while it grows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from hyperkube.client.client import Client
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object

PAGE_SIZE = 500
"""Objects that are asked for at a time."""


class ListOptions(NamedTuple):
    """Which objects are listed, as for `Client.list`."""

    resource: GroupVersionResource
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""


class Projections(NamedTuple):
    """A whole list, with its resourceVersion."""

    items: list[Object]
    resource_version: str


@runtime_checkable
class ListsProjections(Protocol):
    """A client that makes the objects of a list one by one, without pages: it has them in its own process."""

    def list_projected(self, options: ListOptions, project: Callable[[Object], Object]) -> Projections:
        """Return what `project` returns for each object, which is its own."""


def list_projected(client: Client, options: ListOptions, project: Callable[[Object], Object]) -> Projections:
    """Return what `project` returns for each object of a list.

    Raises:
        ApiError: the server refuses the list.
        ConnectionError: there is no server.
    """
    if isinstance(client, ListsProjections):
        return client.list_projected(options, project)
    items: list[Object] = []
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
        items += [project(obj) for obj in page.items]
        continue_token = page.continue_token
        if not continue_token:
            return Projections(items, page.resource_version)
