"""Doing the same many times, slowly at first: a mistake that meets every attempt costs a few of them, not hundreds.

Source: kubernetes ``pkg/controller/replicaset/replica_set.go`` (slowStartBatch).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hyperkube.machinery.errors import ApiError

AT_ONCE = 8
"""Attempts under way at the same time, once it goes well."""


def slow_start(count: int, attempt: Callable[[], None]) -> tuple[int, ApiError | OSError | None]:
    """Call `attempt` `count` times, in batches of 1, 2, 4, …, each batch on several threads.

    Returns:
        How many attempts went well; and the first failure of the batch after which the rest was left undone, if any.
    """
    done, batch = 0, 1
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="slow-start") as pool:
        while done < count:
            size = min(batch, count - done)
            outcomes = [_outcome(attempt)] if size == 1 else list(pool.map(_outcome, [attempt] * size))
            failures = [failure for failure in outcomes if failure is not None]
            done += size - len(failures)
            if failures:
                return done, failures[0]
            batch *= 2
    return done, None


def _outcome(attempt: Callable[[], None]) -> ApiError | OSError | None:
    try:
        attempt()
    except (ApiError, OSError) as failure:
        return failure
    return None
