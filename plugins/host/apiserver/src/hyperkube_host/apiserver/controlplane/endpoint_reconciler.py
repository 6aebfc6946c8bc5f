"""Keeps the endpoints of the Service ``kubernetes``: the addresses of all API servers that are alive.

With the reconciler ``lease`` each server keeps a key in the store that ends by itself, and a server that finds that the
endpoints are not those of the keys mends them. With ``master-count`` no entry ends: each server adds itself, and takes
others away when there are more than were announced.

Source: kubernetes ``pkg/controlplane/reconcilers`` (lease.go, mastercount.go, endpointsadapter.go).
"""

from __future__ import annotations

from ipaddress import ip_address

import orjson

from hyperkube.client.client import Client
from hyperkube.kinds.resources import ENDPOINT_SLICES, ENDPOINTS
from hyperkube.machinery.errors import AlreadyExists, Conflict, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, labels_of
from hyperkube.storage.store import Delete, Put, Store, prefix_end

LEASE_SECONDS = 15
NAMESPACE, NAME = "default", "kubernetes"
_SKIP = "endpointslice.kubernetes.io/skip-mirror"
_SERVICE = "kubernetes.io/service-name"


class KubernetesEndpoints:
    """One server's part in the endpoints.

    Args:
        root: what keys in the store begin with.
        client: the API, as the server itself sees it.
        address: where the server is reached; `port` its HTTPS port.
        count: how many servers there are; 0: those whose keys are in the store.
    """

    def __init__(self, store: Store, root: str, client: Client, *, address: str, port: int, count: int = 0) -> None:
        self._store = store
        self._prefix = f"{root}masterleases/"
        self._client = client
        self._address = address
        self._ports = [{"name": "https", "port": port, "protocol": "TCP"}]
        self._count = count

    def reconcile(self, *, ports: bool = False) -> None:
        """Renew the key and mend the endpoints; with `ports` their ports too.

        Raises:
            ApiError: the endpoints cannot be written.
            StoreError: the store does not answer.
        """
        if not self._count:
            self._renew()
        self._mend(ports=ports)

    def leave(self) -> None:
        """Take the server's address away, unless it is the last.

        Raises:
            ApiError: the endpoints cannot be written.
            StoreError: the store does not answer.
        """
        if self._count:
            return
        self._store.txn([], [Delete(self._prefix + self._address)])
        if self._alive():
            self._mend(ports=False)

    def _renew(self) -> None:
        record = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {}, "subsets": [_subset([self._address])]}
        lease = self._store.grant_lease(LEASE_SECONDS)
        self._store.txn([], [Put(self._prefix + self._address, orjson.dumps(record), lease)])

    def _alive(self) -> list[str]:
        items = self._store.range(self._prefix, prefix_end(self._prefix)).items
        return sorted({item.key.removeprefix(self._prefix) for item in items})

    def _mend(self, *, ports: bool) -> None:
        current = self._read(ENDPOINTS)
        subsets = (current or {}).get("subsets") or []
        known = [each["ip"] for each in subsets[0].get("addresses") or []] if len(subsets) == 1 else []
        kept = self._ports if ports or not known else subsets[0].get("ports") or self._ports
        wanted = self._counted(known) if self._count else self._alive()
        made = {**(current or _new("v1", "Endpoints")), "subsets": [_subset(wanted, kept)]}
        made["metadata"] = {**made["metadata"], "labels": {**labels_of(made), _SKIP: "true"}}
        self._write(ENDPOINTS, current, made)
        self._mend_slice(wanted, kept)

    def _counted(self, known: list[str]) -> list[str]:
        addresses = sorted({*known, self._address})
        while len(addresses) > self._count:  # those behind our own go first, then from the beginning
            addresses.pop((addresses.index(self._address) + 1) % len(addresses))
        return addresses

    def _mend_slice(self, addresses: list[str], ports: list[Object]) -> None:
        family = f"IPv{ip_address(addresses[0]).version}"
        current = self._read(ENDPOINT_SLICES)
        if current is not None and current.get("addressType") != family:
            self._client.delete(ENDPOINT_SLICES, NAME, NAMESPACE)
            current = None
        made = copy_object(current) if current is not None else _new("discovery.k8s.io/v1", "EndpointSlice")
        made["addressType"], made["ports"] = family, ports
        made["endpoints"] = [{"addresses": [address], "conditions": {"ready": True}} for address in addresses]
        made["metadata"] = {**made["metadata"], "labels": {**labels_of(made), _SERVICE: NAME}}
        self._write(ENDPOINT_SLICES, current, made)

    def _read(self, resource: GroupVersionResource) -> Object | None:
        try:
            return copy_object(self._client.get(resource, NAME, NAMESPACE))
        except NotFound:
            return None

    def _write(self, resource: GroupVersionResource, current: Object | None, made: Object) -> None:
        try:
            if current is None:
                self._client.create(resource, made, NAMESPACE)
            elif made != current:
                self._client.update(resource, made)
        except (AlreadyExists, Conflict):
            return  # another server was faster; what it left is looked at the next time


def _new(api_version: str, kind: str) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": NAME, "namespace": NAMESPACE}}


def _subset(addresses: list[str], ports: list[Object] | None = None) -> Object:
    made: Object = {"addresses": [{"ip": address} for address in addresses]}
    return {**made, "ports": ports} if ports else made
