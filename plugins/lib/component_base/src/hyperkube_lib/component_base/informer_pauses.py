"""How long informers leave a watch alone after events, so that others gather: a reading costs more than an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube.client.client import Client
from hyperkube.client.projected_list import ListsProjections
from hyperkube.machinery.groups import GroupVersionResource


def pauses(client: Client, seconds: Mapping[GroupVersionResource, float]) -> Callable[[GroupVersionResource], float]:
    """Return what `InformerFactory` takes as ``pause_of``.

    In the API server's own process informers pause no longer than their watches ask for: a reading costs nothing there.
    """
    found = {} if isinstance(client, ListsProjections) else seconds
    return lambda resource: found.get(resource, 0.0)
