"""A thread that follows one resource: all objects first, then each change, and all again when the watch is too late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from hyperkube.client.client import Client, Watch
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of


class Follower:
    """Follows a resource without namespaces.

    Args:
        listed: takes all objects; called by `start`, and on the thread when a watch could not be resumed.
        changed: takes an object that was added or changed, on the thread.
        gone: takes the name of one that was deleted, on the thread.
    """

    def __init__(
        self,
        resource: GroupVersionResource,
        client: Client,
        *,
        name: str,
        listed: Callable[[Sequence[Object]], None],
        changed: Callable[[Object], None],
        gone: Callable[[str], None],
    ) -> None:
        self._resource = resource
        self._client = client
        self._name = name
        self._listed = listed
        self._changed = changed
        self._gone = gone
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None
        self.stopped = threading.Event()

    def start(self) -> None:
        """Hand all objects over, then begin to follow."""
        version = self._list()
        self._thread = threading.Thread(target=self._follow, args=(version,), name=self._name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Follow no more; idempotent."""
        self.stopped.set()
        if self._watch is not None:
            self._watch.close()
        if self._thread is not None:
            self._thread.join()

    def _list(self) -> str:
        listed = self._client.list(self._resource)
        self._listed(listed.items)
        return listed.resource_version

    def _follow(self, version: str) -> None:
        while not self.stopped.is_set():
            self._watch = self._client.watch(self._resource, resource_version=version)
            if self.stopped.is_set():
                self._watch.close()
            for event in self._watch:
                if event.type == "ERROR":
                    version = self._list()
                    break
                version = event.object["metadata"]["resourceVersion"]
                if event.type == "DELETED":
                    self._gone(name_of(event.object))
                elif event.type != "BOOKMARK":
                    self._changed(event.object)
