"""``--chaos-chance``: some requests to the API server fail as if it had reset the connection, to test what that breaks.

Source: kubernetes ``pkg/client/chaosclient``, ``cmd/kubelet/app/server.go`` (addChaosToClientConfig) of 1.x.
"""

from __future__ import annotations

import logging
from random import Random
from typing import Any

from hyperkube.client.client import Client, ObjectList, RawResponse, Watch
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

_log = logging.getLogger("hyperkube.kubelet")


def with_chaos(client: Client, chance: float, random: Random) -> Client:
    """Return the client itself for no chance, else one of whose requests that share fails.

    Raises:
        UsageError: it is no probability.
    """
    if not 0 <= chance <= 1:
        raise UsageError(f"--chaos-chance: {chance} is no probability: 0 to 1")
    return ChaosClient(client, chance, random) if chance else client


class ChaosClient:
    """A `Client` whose requests fail with a probability, before they are sent."""

    def __init__(self, client: Client, chance: float, random: Random) -> None:
        self._client = client
        self._chance = chance
        self._random = random

    def _fail_perhaps(self, verb: str) -> None:
        if self._random.random() < self._chance:
            _log.info("chaos: %s fails", verb)
            raise ConnectionResetError("connection reset by peer")

    def get(self, *given: Any, **options: Any) -> Object:
        """See `Client.get`."""
        self._fail_perhaps("get")
        return self._client.get(*given, **options)

    def list(self, *given: Any, **options: Any) -> ObjectList:
        """See `Client.list`."""
        self._fail_perhaps("list")
        return self._client.list(*given, **options)

    def watch(self, *given: Any, **options: Any) -> Watch:
        """See `Client.watch`."""
        self._fail_perhaps("watch")
        return self._client.watch(*given, **options)

    def create(self, *given: Any, **options: Any) -> Object:
        """See `Client.create`."""
        self._fail_perhaps("create")
        return self._client.create(*given, **options)

    def update(self, *given: Any, **options: Any) -> Object:
        """See `Client.update`."""
        self._fail_perhaps("update")
        return self._client.update(*given, **options)

    def patch(self, *given: Any, **options: Any) -> Object:
        """See `Client.patch`."""
        self._fail_perhaps("patch")
        return self._client.patch(*given, **options)

    def delete(self, *given: Any, **options: Any) -> Object:
        """See `Client.delete`."""
        self._fail_perhaps("delete")
        return self._client.delete(*given, **options)

    def delete_collection(self, *given: Any, **options: Any) -> None:
        """See `Client.delete_collection`."""
        self._fail_perhaps("deletecollection")
        self._client.delete_collection(*given, **options)

    def request(self, *given: Any, **options: Any) -> RawResponse:
        """See `Client.request`."""
        self._fail_perhaps("request")
        return self._client.request(*given, **options)
