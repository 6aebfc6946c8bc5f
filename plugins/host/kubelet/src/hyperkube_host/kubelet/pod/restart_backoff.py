"""The back-off of containers that crash again and again.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (doBackOff).
"""

from __future__ import annotations

from typing import NamedTuple

INITIAL_SECONDS, MAX_SECONDS = 10.0, 300.0


class _Delay(NamedTuple):
    """The delay in force and when it was set, in seconds since the epoch."""

    seconds: float
    updated: float


class RestartBackoff:
    """The restart delays of one pod's containers, by key; used by the pod's worker only.

    A key is a container's name and the hash of its spec: a container that was changed starts without delay.
    """

    def __init__(self) -> None:
        self._delays: dict[str, _Delay] = {}

    def remaining(self, key: str, finished_at: float, now: float) -> float:
        """Return the seconds that a crashed container must still wait; 0 means that it is started now.

        Each start doubles the delay of the next one, from 10 s up to 5 min. The delay starts from 10 s again when the
        container ran for more than ten minutes since the delay was set.
        """
        delay = self._delays.get(key)
        if delay is not None and finished_at - delay.updated > 2 * MAX_SECONDS:
            delay = None
        if delay is not None and now - finished_at < delay.seconds:
            return delay.seconds - (now - finished_at)
        seconds = INITIAL_SECONDS if delay is None else min(MAX_SECONDS, delay.seconds * 2)
        self._delays[key] = _Delay(seconds, now)
        return 0.0

    def delay(self, key: str) -> float:
        """Return the delay in force for a container that crashed before, in seconds."""
        return self._delays[key].seconds
