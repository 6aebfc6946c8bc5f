"""Slow-start batches: a mistake that meets every request costs a few of them, not hundreds.

Source: kubernetes ``pkg/controller/replicaset/replica_set.go`` (slowStartBatch).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar

from hyperkube.machinery.errors import ApiError

Item = TypeVar("Item")

CONCURRENCY = 8
"""Requests under way at the same time, at most."""

Failure = ApiError | OSError
"""Why a request failed: the server refused it, or there was no answer."""


def slow_start_batch(items: Sequence[Item], call: Callable[[Item], None]) -> tuple[int, list[Failure]]:
    """Call for each item, in batches of 1, 2, 4, …; the batch in which a call fails is the last.

    Returns:
        How many calls succeeded, and the failures of the last batch.
    """
    successes, start, size = 0, 0, 1
    with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="slow-start") as pool:
        while start < len(items):
            batch = items[start : start + size]
            failures = _failures(pool, batch, call)
            successes += len(batch) - len(failures)
            if failures:
                return successes, failures
            start, size = start + size, size * 2
    return successes, []


def all_at_once(items: Sequence[Item], call: Callable[[Item], None]) -> list[Failure]:
    """Call for each item, in one batch; return the failures."""
    with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="batch") as pool:
        return _failures(pool, items, call)


def _failures(pool: Executor, batch: Sequence[Item], call: Callable[[Item], None]) -> list[Failure]:
    def outcome(item: Item) -> Failure | None:
        try:
            call(item)
        except (ApiError, OSError) as failure:
            return failure
        return None

    # A batch of one stays on this thread: most syncs create or delete a single pod.
    outcomes = [outcome(item) for item in batch] if len(batch) == 1 else pool.map(outcome, batch)
    return [failure for failure in outcomes if failure is not None]
