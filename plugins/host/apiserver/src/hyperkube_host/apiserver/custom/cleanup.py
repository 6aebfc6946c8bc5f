"""Deletes the objects of definitions that go; each has a thread of its own, for finalizers may take long.

Source: kubernetes apiextensions-apiserver ``pkg/controller/finalizer/crd_finalizer.go``.
"""

from __future__ import annotations

import logging
import threading

from hyperkube.client.client import Client
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, Conflict, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, has_finalizer, name_of, without_finalizer

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_RETRY_SECONDS = 1.0
_IN_PROGRESS = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
_COMPLETED = ("False", "InstanceDeletionCompleted", "removed all instances")
_NEVER = ("False", "NeverEstablished", "resource was never established")


class Cleanup:
    """Empties definitions that are being deleted, then takes its finalizer off them."""

    def __init__(self, client: Client, clock: Clock, logger: logging.Logger) -> None:
        self._client = client
        self._clock = clock
        self._logger = logger
        self._lock = threading.Lock()
        self._running: dict[str, threading.Thread] = {}
        self._stopped = threading.Event()

    def begin(self, crd: Object) -> None:
        """Clean up after a definition, unless that is under way or done."""
        name, uid = name_of(crd), crd["metadata"]["uid"]
        if not has_finalizer(crd, FINALIZER):
            return
        with self._lock:
            if uid in self._running or self._stopped.is_set():
                return
            thread = threading.Thread(target=self._run, args=(name, uid), name=f"cleanup of {name}", daemon=True)
            self._running[uid] = thread
            thread.start()

    def close(self) -> None:
        """Stop; what is left is for the next start. Idempotent."""
        self._stopped.set()
        with self._lock:
            threads = list(self._running.values())
        for thread in threads:
            thread.join()

    def _run(self, name: str, uid: str) -> None:
        try:
            while not self._stopped.is_set() and not self._attempt(name, uid):
                self._clock.sleep(_RETRY_SECONDS)
        finally:
            with self._lock:
                del self._running[uid]

    def _attempt(self, name: str, uid: str) -> bool:
        """Do what can be done now, and tell whether nothing is left."""
        try:
            crd = self._client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
            if crd["metadata"]["uid"] != uid or not has_finalizer(crd, FINALIZER):
                return True
            return self._empty(self._marked(crd, _IN_PROGRESS))
        except NotFound:
            return True
        except Conflict:
            return False
        except ApiError:
            self._logger.exception("objects of definition %r could not be deleted", name)
            return False

    def _empty(self, crd: Object) -> bool:
        from hyperkube_host.apiserver.custom.definition_status import condition_of

        established = condition_of(crd, "Established") == "True"
        if established and not self._all_gone(_resource(crd)):
            return False
        crd = self._marked(crd, _COMPLETED if established else _NEVER)
        self._client.update(CUSTOM_RESOURCE_DEFINITIONS, without_finalizer(crd, FINALIZER))
        return True

    def _all_gone(self, resource: GroupVersionResource) -> bool:
        for obj in self._client.list(resource).items:
            meta = obj["metadata"]
            if not meta.get("deletionTimestamp"):
                try:
                    self._client.delete(resource, meta["name"], meta.get("namespace", ""))
                except NotFound:
                    continue
        return not self._client.list(resource).items

    def _marked(self, crd: Object, state: tuple[str, str, str]) -> Object:
        """Return the definition with its condition as stored."""
        from hyperkube_host.apiserver.custom.definition_status import set_condition

        crd = copy_object(crd)
        conditions = crd.setdefault("status", {}).setdefault("conditions", [])
        set_condition(conditions, "Terminating", state, self._clock.now())
        return self._client.update(CUSTOM_RESOURCE_DEFINITIONS, crd, subresource="status")


def _resource(crd: Object) -> GroupVersionResource:
    """Return the resource of a definition in the version it is stored in, or else in the first that is served."""
    from hyperkube_host.apiserver.custom.definitions import storage_version

    spec = crd["spec"]
    served = [version["name"] for version in spec["versions"] if version.get("served")]
    stored = storage_version(crd)
    return GroupVersionResource(spec["group"], stored if stored in served else served[0], spec["names"]["plural"])
