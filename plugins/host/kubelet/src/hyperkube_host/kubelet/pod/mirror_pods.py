"""Keeps one mirror pod in the API for each static pod of the node.

Sources: kubernetes ``pkg/kubelet/kubelet.go`` (tryReconcileMirrorPods), ``pkg/kubelet/kubelet_pods.go``
(deleteOrphanedMirrorPods).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from hyperkube_host.kubelet.pod.mirror_client import create_mirror, delete_mirror
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.pod.pod_manager import PodManager

from hyperkube.client.client import Client
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object


class MirrorPods:
    """Creates and deletes mirror pods; what the API server refuses is tried again with the next sync."""

    def __init__(self, client: Client, pods: PodManager, registered_node: Callable[[], Object | None]) -> None:
        """Mirror `pods`; `registered_node` returns their owner, None before the node is registered."""
        self._client = client
        self._pods = pods
        self._registered_node = registered_node
        self._logger = logging.getLogger("hyperkube.kubelet")

    def sync(self, entry: PodEntry) -> None:
        """Create the mirror of a static pod, or delete it when it is outdated or the pod is gone."""
        if entry.removed:
            # The mirror tells how the pod ends, until it has; one that shows another pod of that name is not its own.
            mirror = self._pods.mirror(entry.pod)
            if mirror is not None and entry.is_finished:
                self._try(partial(delete_mirror, self._client, mirror))
            return
        stale = self._pods.stale_mirror(entry.pod)
        if stale is not None:
            self._try(partial(delete_mirror, self._client, stale))
            entry.reported = None  # the next mirror begins without a status
            return
        node = self._registered_node()
        if self._pods.mirror(entry.pod) is None and node is not None:
            entry.reported = None
            self._try(partial(create_mirror, self._client, entry.pod, node))

    def delete_orphans(self) -> None:
        """Delete the mirrors whose static pods are gone."""
        for mirror in self._pods.orphaned_mirrors():
            self._try(partial(delete_mirror, self._client, mirror))

    def _try(self, step: Callable[[], None]) -> None:
        try:
            step()
        except (ApiError, ConnectionError) as error:
            self._logger.warning("mirror pod: %s", error)
