"""The flags that say how objects are stored, apart from which backend does it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import orjson
from hyperkube_host.apiserver.options import StorageOptions
from hyperkube_lib.watch_cache.event_history import HistoryLimits

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource, GroupVersion

MEDIA_TYPE = "application/json"


def check_media_type(options: StorageOptions) -> None:
    """Refuse a ``--storage-media-type`` that is not written here.

    Raises:
        UsageError: it is not JSON.
    """
    wanted = options.storage_media_type or MEDIA_TYPE
    if wanted != MEDIA_TYPE:
        raise UsageError(f"--storage-media-type={wanted!r} is not written here, only {MEDIA_TYPE!r} (protobuf is read)")


def etcd_options(options: StorageOptions) -> dict[str, Any]:
    """Return the options that reach etcd: those of the file of ``--etcd-config``, or none besides what is given.

    The file is what the etcd client of release 1.0 wrote: ``{"cluster": {"machines": ["http://127.0.0.1:4001"]},
    "config": {"certFile": "", "keyFile": "", "caCertFile": [""]}}``.

    Raises:
        UsageError: both ways at once, a file that is not one, or reads that are not to be linearizable.
    """
    if not options.etcd_quorum_read:
        raise UsageError("--etcd-quorum-read=false is not supported: all reads are linearizable")
    path = options.etcd_config
    if not path:
        return {}
    if options.etcd_servers:
        raise UsageError("specify either --etcd-servers or --etcd-config")
    try:
        document = orjson.loads(Path(path).read_bytes())
        machines = list(document["cluster"]["machines"])
        config = document.get("config") or {}
        authorities = [name for name in config.get("caCertFile") or [] if name]
    except OSError as error:
        raise UsageError(f"--etcd-config={path!r} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"--etcd-config={path!r} has no cluster.machines of an etcd client") from error
    found = {
        "etcd-cafile": authorities[0] if authorities else "",
        "etcd-certfile": config.get("certFile") or "",
        "etcd-keyfile": config.get("keyFile") or "",
    }
    return {"etcd-servers": machines, **{name: value for name, value in found.items() if value}}


def storage_versions(options: StorageOptions) -> list[GroupVersion]:
    """Return the versions of ``--storage-versions`` and ``--storage-version``: ``apps/v1beta1,autoscaling/v1``.

    ``extensions=apps/v1`` says that what group extensions has, is stored as apps/v1; here groups that have the same
    objects store them in one place anyway.

    Raises:
        UsageError: an entry is not like that.
    """
    entries = [entry for entry in f"{options.storage_version},{options.storage_versions}".split(",") if entry]
    found = []
    for entry in entries:
        _, _, text = entry.rpartition("=")
        try:
            version = GroupVersion.parse(text)
        except ValueError as error:
            raise UsageError(f"--storage-versions: {entry!r} is not group/version or oldgroup=group/version") from error
        found.append(version)
    return found


def check_storage_versions(versions: Sequence[GroupVersion], served: Collection[tuple[str, str]]) -> None:
    """Refuse versions that are not served.

    Raises:
        UsageError: one of them is not, so that nothing could be converted to it.
    """
    for version in versions:
        if (version.group, version.version) not in served:
            raise UsageError(f"--storage-versions: {str(version)!r} is not served (see --runtime-config)")


def server_overrides(options: StorageOptions, logger: logging.Logger) -> dict[GroupResource, Sequence[str]]:
    """Return resource → etcd servers of ``--etcd-servers-overrides``: ``group/resource#server;server`` entries.

    The core group is empty: ``/events#http://127.0.0.1:4002``. As in Kubernetes, an entry that is not like that is
    logged and skipped.
    """
    found: dict[GroupResource, Sequence[str]] = {}
    for entry in options.etcd_servers_overrides:
        place, _, servers = entry.partition("#")
        group, slash, resource = place.partition("/")
        if not slash or not resource or "/" in resource or not servers or "#" in servers:
            logger.error("invalid value of --etcd-servers-overrides, skipped: %r (group/resource#server;server)", entry)
            continue
        found[GroupResource(group, resource)] = [server for server in servers.split(";") if server]
    return found


_RAM_SIZES = {
    "replicationcontrollers": (5, 100),
    "endpoints": (10, 1000),
    "nodes": (3, 1000),
    "pods": (10, 1000),
    "services": (5, 1000),
}
"""Resource → events per node, and the least; source: kubernetes 1.5 ``pkg/registry/cachesize`` (cachesize.go)."""
_RAM_PER_NODE = 60


def sizes_for(megabytes: int) -> dict[str, int]:
    """Return the events that resources keep on a machine with so much memory for the server; none for 0.

    A cluster is taken to have a node per 60 MB.
    """
    nodes = megabytes // _RAM_PER_NODE
    if not nodes:
        return {}
    return {resource: max(each * nodes, least) for resource, (each, least) in _RAM_SIZES.items()}


class HistorySizes:
    """How many events each resource keeps: by ``--watch-cache-sizes``, else ``--target-ram-mb``, else the default size.

    Raises:
        UsageError: an entry is not ``resource#size``.
    """

    def __init__(self, options: StorageOptions) -> None:
        self._default = HistoryLimits(events=options.default_watch_cache_size or HistoryLimits().events)
        self._single: dict[str, HistoryLimits] = {
            resource: HistoryLimits(events=size) for resource, size in sizes_for(options.target_ram_mb).items()
        }
        for entry in options.watch_cache_sizes:
            resource, _, size = entry.partition("#")
            if not resource or not size.isdigit():
                raise UsageError(f"invalid value of --watch-cache-sizes: {entry!r} (resource[.group]#size)")
            self._single[resource] = HistoryLimits(events=int(size), seconds=0.0, is_all=True)

    def of(self, resource: GroupResource | None) -> HistoryLimits:
        """Return the limits of a resource."""
        return self._single.get(str(resource), self._default)
