"""Follows one resource: all objects first, then each change, and all again when the watch is too late.

What is followed is the server's own, so nothing waits for a network: a thread comes when there is something to take,
and goes when there is no more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import cast

from hyperkube.client.client import Client, QuietWatch, WatchEvent
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.condition import Event
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of

_LOOK = "look"


class Follower:
    """Follows a resource without namespaces.

    Args:
        client: its watches are quiet (`hyperkube.client.client.QuietWatch`).
        listed: takes all objects; called by `start`, and on a thread when a watch could not be resumed.
        changed: takes an object that was added or changed, on a thread; one call at a time.
        gone: takes the name of one that was deleted, likewise.
    """

    def __init__(
        self,
        resource: GroupVersionResource,
        client: Client,
        clock: Clock,
        logger: logging.Logger,
        *,
        name: str,
        listed: Callable[[Sequence[Object]], None],
        changed: Callable[[Object], None],
        gone: Callable[[str], None],
    ) -> None:
        self._resource = resource
        self._client = client
        self._listed = listed
        self._changed = changed
        self._gone = gone
        self._version = ""
        self._watch: QuietWatch | None = None
        self._pool = WorkerPool(name, self._look, clock=clock, workers=1, logger=logger)
        self.stopped = Event()

    def start(self) -> None:
        """Hand all objects over, then begin to follow."""
        self._list()
        self._pool.queue.add(_LOOK)
        self._pool.begin()

    def close(self) -> None:
        """Follow no more; idempotent."""
        self.stopped.set()
        self._pool.stop()
        self._pool.wait_ended()
        self._end_watch()

    def _list(self) -> None:
        listed = self._client.list(self._resource)
        self._listed(listed.items)
        self._version = listed.resource_version

    def _look(self, _key: str) -> None:
        """Take what there is; the watch rings when there is more."""
        while not self.stopped.is_set():
            if self._watch is None:
                watch = self._client.watch(self._resource, resource_version=self._version)
                self._watch = cast("QuietWatch", watch)
                self._watch.connect(lambda: self._pool.queue.add(_LOOK))
            taken = self._watch.take()
            for event in taken.events:
                self._take(event)
            if taken.ended:
                self._end_watch()
            elif not taken.events:
                self._pool.queue.add_after(_LOOK, taken.seconds)
                return

    def _take(self, event: WatchEvent) -> None:
        if event.type == "ERROR":
            self._list()
            return
        self._version = event.object["metadata"]["resourceVersion"]
        if event.type == "DELETED":
            self._gone(name_of(event.object))
        elif event.type != "BOOKMARK":
            self._changed(event.object)

    def _end_watch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()
