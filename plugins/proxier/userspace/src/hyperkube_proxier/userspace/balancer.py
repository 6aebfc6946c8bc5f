"""Which backend gets the next connection: round robin, with a client's affinity where a Service asks for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

Address = tuple[str, int]

AFFINITY_LIMIT = 10_000
"""Clients remembered per port; the longest silent one is forgotten first."""


class Balancer:
    """The backends of one service port; used on the network loop only, updated from any thread."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._next = 0
        self._affinity_seconds = 0
        self._clients: OrderedDict[str, tuple[Address, float]] = OrderedDict()
        self.backends: tuple[Address, ...] = ()

    def update(self, backends: Sequence[Address], affinity_seconds: int) -> None:
        """Use these backends from now on."""
        self.backends = tuple(backends)
        self._affinity_seconds = affinity_seconds

    def choose(self, client: str, failed: Sequence[Address] = ()) -> Address | None:
        """Return the backend for a connection from a client's IP, leaving out those that just `failed`."""
        candidates = [backend for backend in self.backends if backend not in failed]
        if not candidates:
            return None
        if not self._affinity_seconds:
            return self._round_robin(candidates)
        now = self._monotonic()
        known, seen = self._clients.get(client, (None, 0.0))
        fresh = known in candidates and now - seen <= self._affinity_seconds
        backend = known if fresh and known is not None else self._round_robin(candidates)
        self._clients[client] = (backend, now)
        self._clients.move_to_end(client)
        if len(self._clients) > AFFINITY_LIMIT:
            self._clients.popitem(last=False)
        return backend

    def _round_robin(self, candidates: Sequence[Address]) -> Address:
        self._next += 1
        return candidates[self._next % len(candidates)]
