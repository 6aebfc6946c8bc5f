"""The flags that say how objects are stored, apart from which backend does it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube.apiserver.plugins import listed
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource
from hyperkube.storage.event_history import HistoryLimits

MEDIA_TYPE = "application/json"


def check_media_type(options: Mapping[str, Any]) -> None:
    """Refuse a ``--storage-media-type`` that is not written here.

    Raises:
        UsageError: it is not JSON.
    """
    wanted = options.get("storage-media-type") or MEDIA_TYPE
    if wanted != MEDIA_TYPE:
        raise UsageError(f"--storage-media-type={wanted!r} is not written here, only {MEDIA_TYPE!r} (protobuf is read)")


def server_overrides(options: Mapping[str, Any], logger: logging.Logger) -> dict[GroupResource, Sequence[str]]:
    """Return resource → etcd servers of ``--etcd-servers-overrides``: ``group/resource#server;server`` entries.

    The core group is empty: ``/events#http://127.0.0.1:4002``. As in Kubernetes, an entry that is not like that is
    logged and skipped.
    """
    found: dict[GroupResource, Sequence[str]] = {}
    for entry in listed(options, "etcd-servers-overrides"):
        place, _, servers = entry.partition("#")
        group, slash, resource = place.partition("/")
        if not slash or not resource or "/" in resource or not servers or "#" in servers:
            logger.error("invalid value of --etcd-servers-overrides, skipped: %r (group/resource#server;server)", entry)
            continue
        found[GroupResource(group, resource)] = [server for server in servers.split(";") if server]
    return found


class HistorySizes:
    """How many events each resource keeps, by ``--default-watch-cache-size`` and ``--watch-cache-sizes``.

    Raises:
        UsageError: an entry is not ``resource#size``.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._default = HistoryLimits(events=int(options.get("default-watch-cache-size") or HistoryLimits().events))
        self._single: dict[str, HistoryLimits] = {}
        for entry in listed(options, "watch-cache-sizes"):
            resource, _, size = entry.partition("#")
            if not resource or not size.isdigit():
                raise UsageError(f"invalid value of --watch-cache-sizes: {entry!r} (resource[.group]#size)")
            self._single[resource] = HistoryLimits(events=int(size))

    def of(self, resource: GroupResource | None) -> HistoryLimits:
        """Return the limits of a resource."""
        return self._single.get(str(resource), self._default)
