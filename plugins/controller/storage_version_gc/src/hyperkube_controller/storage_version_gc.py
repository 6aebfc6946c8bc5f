"""storage-version-gc: what an API server said of its storage versions is forgotten when the server is gone.

A server is there as long as its identity lease is. A StorageVersion of which no server is left is deleted; of those
that stay the version that all servers agree on is worked out anew.
Source: kubernetes ``pkg/controller/storageversiongc/gc_controller.go``, apiserver ``pkg/storageversion/updater.go``.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from hyperkube_lib.storage_versions import STORAGE_VERSIONS, with_common_encoding_version

from hyperkube.client.actions import Action, Delete, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, labels_of, metadata, name_of, namespace_of
from hyperkube.plugin import Plugin

NAMESPACE = "kube-system"
IDENTITY_LABEL, API_SERVER = "apiserver.kubernetes.io/identity", "kube-apiserver"


def is_identity(lease: Object | None) -> bool:
    """Tell whether a lease says that an API server is there."""
    return lease is not None and labels_of(lease).get(IDENTITY_LABEL) == API_SERVER


def servers_of(storage_version: Object) -> list[Object]:
    """Return what each server says of its storage version."""
    return list((storage_version.get("status") or {}).get("storageVersions") or ())


def decide(storage_version: Object, gone: Collection[str], now: datetime) -> list[Action]:
    """Return what makes a StorageVersion forget the servers that are gone."""
    listed = servers_of(storage_version)
    left = [server for server in listed if server.get("apiServerID") not in gone]
    if left == listed:
        return []
    if not left:
        return [Delete.of(STORAGE_VERSIONS, storage_version)]
    status = {**(storage_version.get("status") or {}), "storageVersions": left}
    status = with_common_encoding_version(status, metadata(storage_version).get("generation", 0), now)
    return [Update(STORAGE_VERSIONS, {**storage_version, "status": status}, "status")]


class StorageVersionGc(Plugin):
    """Forgets servers that are gone."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._versions = self.informers.informer(STORAGE_VERSIONS)
        self._leases = self.informers.informer(LEASES)  # of all namespaces: other controllers share it
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._versions.add_handler(self._seen, lambda _old, new: self._seen(new))
        self._leases.add_handler(on_delete=self._lease_gone)
        return self._loop

    def _seen(self, storage_version: Object) -> None:
        if any(not is_identity(self._leases.get(NAMESPACE, each)) for each in _ids(storage_version)):
            self._loop.enqueue(storage_version)

    def _lease_gone(self, lease: Object) -> None:
        if namespace_of(lease) == NAMESPACE and is_identity(lease):
            for storage_version in self._versions.list():
                if name_of(lease) in _ids(storage_version):
                    self._loop.enqueue(storage_version)

    def _sync(self, name: str) -> None:
        try:
            storage_version = self.client.get(STORAGE_VERSIONS, name)
        except NotFound:
            return
        gone = [each for each in _ids(storage_version) if not is_identity(self._lease(each))]
        perform(self.client, None, decide(storage_version, gone, self.context.clock.now()))

    def _lease(self, name: str) -> Object | None:
        """Return a lease; that it is gone is believed from the server alone."""
        try:
            return self.client.get(LEASES, name, NAMESPACE)
        except NotFound:
            return None


def _ids(storage_version: Object) -> list[str]:
    return [str(server.get("apiServerID") or "") for server in servers_of(storage_version)]
