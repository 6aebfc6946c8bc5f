"""Clients of which something happens before each request: some fail, or they wait for their turn.

With ``--chaos-chance`` requests to the API server fail as if it had reset the connection, to test what that breaks.
``--event-qps`` and ``--event-burst`` keep a node in trouble from filling the API server with events.

Sources: kubernetes ``pkg/client/chaosclient``, ``cmd/kubelet/app/server.go`` (addChaosToClientConfig) of 1.x;
``cmd/kubelet/app/server.go`` (eventClientConfig).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from random import Random
from typing import Any

from hyperkube_lib.component_base.token_bucket import TokenBucket

from hyperkube.client.client import Client, ObjectList, RawResponse, Watch
from hyperkube.machinery.clock import Clock
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

    def fail_perhaps(verb: str) -> None:
        if random.random() < chance:
            _log.info("chaos: %s fails", verb)
            raise ConnectionResetError("connection reset by peer")

    return InterceptedClient(client, fail_perhaps) if chance else client


def with_pace(client: Client, qps: float, burst: int, clock: Clock) -> Client:
    """Return a client that sends at most `qps` requests per second, `burst` at once; 0 for no limit.

    Raises:
        UsageError: a number is negative.
    """
    for name, number in (("event-qps", qps), ("event-burst", burst)):
        if number < 0:
            raise UsageError(f"invalid configuration: --{name} {number:g} must not be a negative number")
    if not qps:
        return client
    bucket = TokenBucket(clock, qps, burst)

    def wait(_verb: str) -> None:
        seconds = bucket.reserve()
        if seconds > 0:
            clock.sleep(seconds)

    return InterceptedClient(client, wait)


class InterceptedClient:
    """A `Client` that calls `before` with the verb of each request before it is sent; what that raises ends it."""

    def __init__(self, client: Client, before: Callable[[str], None]) -> None:
        self._client = client
        self._before = before

    def get(self, *given: Any, **options: Any) -> Object:
        """See `Client.get`."""
        self._before("get")
        return self._client.get(*given, **options)

    def list(self, *given: Any, **options: Any) -> ObjectList:
        """See `Client.list`."""
        self._before("list")
        return self._client.list(*given, **options)

    def watch(self, *given: Any, **options: Any) -> Watch:
        """See `Client.watch`."""
        self._before("watch")
        return self._client.watch(*given, **options)

    def create(self, *given: Any, **options: Any) -> Object:
        """See `Client.create`."""
        self._before("create")
        return self._client.create(*given, **options)

    def update(self, *given: Any, **options: Any) -> Object:
        """See `Client.update`."""
        self._before("update")
        return self._client.update(*given, **options)

    def patch(self, *given: Any, **options: Any) -> Object:
        """See `Client.patch`."""
        self._before("patch")
        return self._client.patch(*given, **options)

    def delete(self, *given: Any, **options: Any) -> Object:
        """See `Client.delete`."""
        self._before("delete")
        return self._client.delete(*given, **options)

    def delete_collection(self, *given: Any, **options: Any) -> None:
        """See `Client.delete_collection`."""
        self._before("deletecollection")
        self._client.delete_collection(*given, **options)

    def request(self, *given: Any, **options: Any) -> RawResponse:
        """See `Client.request`."""
        self._before("request")
        return self._client.request(*given, **options)
