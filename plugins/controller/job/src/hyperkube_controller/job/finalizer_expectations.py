"""Which pods have lost the finalizer for tracking although the cache may still show it.

A pod that was counted must not be counted again: not by the next sync either, which may come before the watch tells
that the finalizer is gone. Invariant: a uid is listed from before the request until the watch has shown the pod without
the finalizer, or its end, or until the request has failed.
Source: kubernetes ``pkg/controller/job/tracking_utils.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable


class FinalizerExpectations:
    """The uids of pods by the key of their job; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uids: dict[str, set[str]] = {}

    def expect(self, key: str, uids: Iterable[str]) -> None:
        """Note pods whose finalizer is going to be removed; call it before the requests."""
        with self._lock:
            self._uids.setdefault(key, set()).update(uids)

    def observed(self, key: str, uid: str) -> None:
        """Note that a pod is seen without the finalizer, is gone, or keeps it since its removal failed."""
        with self._lock:
            uids = self._uids.get(key)
            if uids is not None:
                uids.discard(uid)
                if not uids:
                    del self._uids[key]

    def of(self, key: str) -> frozenset[str]:
        """Return the uids of a job's pods that must be taken to be without the finalizer."""
        with self._lock:
            return frozenset(self._uids.get(key, ()))

    def forget(self, key: str) -> None:
        """Drop what is known of a job that is gone."""
        with self._lock:
            self._uids.pop(key, None)
