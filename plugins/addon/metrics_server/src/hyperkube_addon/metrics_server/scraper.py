"""Asks every node's kubelet what it and its pods use, through the API server's node proxy.

Source: metrics-server ``pkg/scraper/scraper.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from hyperkube_addon.metrics_server.decode import MetricsBatch, decode_batch

from hyperkube.client.client import Client
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of

_AT_ONCE = 8


class ScrapeFailed(Exception):
    """A kubelet did not answer with metrics."""


class Scraper:
    """Scrapes all nodes."""

    def __init__(self, client: Client, clock: Clock, logger: logging.Logger) -> None:
        """Ask through `client`."""
        self._client = client
        self._clock = clock
        self._logger = logger
        self._failing: set[str] = set()

    def scrape(self) -> Sequence[MetricsBatch]:
        """Return the points of all nodes that answer.

        Raises:
            ApiError, OSError: the nodes cannot be listed.
        """
        names = [name_of(node) for node in self._client.list(NODES).items if serves(node)]
        self._failing &= set(names)
        if len(names) == 1:
            found = [self._try(names[0])]
        else:
            with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="scrape") as pool:
                found = list(pool.map(self._try, names))
        return [batch for batch in found if batch is not None]

    def _try(self, name: str) -> MetricsBatch | None:
        try:
            batch = self._scrape_node(name)
        except (ApiError, OSError, ScrapeFailed) as error:
            if name not in self._failing:  # said once, not every few seconds
                self._logger.warning("cannot scrape node %s: %s", name, error)
                self._failing.add(name)
            return None
        self._failing.discard(name)
        return batch

    def _scrape_node(self, name: str) -> MetricsBatch:
        answer = self._client.request("GET", f"/api/v1/nodes/{quote(name)}/proxy/metrics/resource")
        if answer.status != 200:
            raise ScrapeFailed(f"request failed, status: {answer.status}")
        return decode_batch(answer.body.decode(errors="replace"), name, self._clock.now().timestamp())


def serves(node: Object) -> bool:
    """Tell whether a node's kubelet serves its API: a simulated node may not."""
    endpoint = ((node.get("status") or {}).get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    return bool(endpoint.get("Port"))
