"""Why a pod is where it is, or nowhere: the latest decisions, by pod, within a bound of memory."""

from __future__ import annotations

import threading
from collections import OrderedDict

from hyperkube.machinery.objects import Object
from hyperkube.scheduler.decision import Decision

LIMIT = 1000
LIMIT_BYTES = 8_000_000


class Explanations:
    """The latest decision on each of the last pods; thread-safe."""

    def __init__(self, limit: int = LIMIT, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._decisions: OrderedDict[str, Decision] = OrderedDict()

    def record(self, key: str, decision: Decision) -> None:
        """Remember a decision, forgetting the oldest ones over the limits."""
        with self._lock:
            before = self._decisions.pop(key, None)
            self._bytes += decision.trace.size - (before.trace.size if before else 0)
            self._decisions[key] = decision
            while len(self._decisions) > self._limit or (self._bytes > self._limit_bytes and len(self._decisions) > 1):
                _, oldest = self._decisions.popitem(last=False)
                self._bytes -= oldest.trace.size

    def explain(self, key: str) -> Object | None:
        """Return the decision on a pod as plain data: chosen node, refusals, scores; None if none is known."""
        with self._lock:
            decision = self._decisions.get(key)
        return decision.explain(key) if decision is not None else None
