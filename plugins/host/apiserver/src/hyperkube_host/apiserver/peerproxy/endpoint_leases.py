"""Where the other API servers are reached: a key in the store per server, which ends by itself.

Source: kubernetes apiserver ``pkg/reconcilers/peer_endpoint_lease.go``.
"""

from __future__ import annotations

import orjson

from hyperkube.storage.store import Delete, Put, Store

LEASE_SECONDS = 15


class PeerEndpointLeases:
    """The keys of all servers.

    Args:
        root: what keys in the store begin with.
    """

    def __init__(self, store: Store, root: str) -> None:
        self._store = store
        self._prefix = f"{root}peerserverleases/"

    def renew(self, server: str, address: str, port: int) -> None:
        """Say where a server is reached, for `LEASE_SECONDS`.

        Raises:
            StoreError: the store does not answer.
        """
        ports = [{"name": "https", "port": port, "protocol": "TCP"}]
        subsets = [{"addresses": [{"ip": address}], "ports": ports}]
        record = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {}, "subsets": subsets}
        lease = self._store.grant_lease(LEASE_SECONDS)
        self._store.txn([], [Put(self._prefix + server, orjson.dumps(record), lease)])

    def remove(self, server: str) -> None:
        """Say that a server is not reached any more.

        Raises:
            StoreError: the store does not answer.
        """
        self._store.txn([], [Delete(self._prefix + server)])

    def find(self, server: str) -> tuple[str, int] | None:
        """Return address and port of a server, None for one that has not said them lately.

        Raises:
            StoreError: the store does not answer.
        """
        item = self._store.get(self._prefix + server)
        if item is None:
            return None
        subset = orjson.loads(item.value)["subsets"][0]
        return str(subset["addresses"][0]["ip"]), int(subset["ports"][0]["port"])
