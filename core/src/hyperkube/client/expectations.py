"""Expectations: what a controller has done and its cache does not show yet.

A controller that counts its pods in a cache would create them twice while the first ones are on their way through
the watch. It notes what it expects to see, does nothing until it has seen it, and after five minutes counts again.
Invariant: each creation and deletion that is expected is lowered exactly once, by the watch or by who made the request
and knows that the watch will not tell of it (a refusal, no answer). One that neither lowers stops the key for
`TIMEOUT`.
Source: kubernetes ``pkg/controller/controller_utils.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import field

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, resource_version_of, uid_of

TIMEOUT = 300.0


@dataclass(slots=True)
class _Expected:
    since: float
    creations: int = 0
    deletions: set[str] = field(default_factory=set)


class Expectations:
    """What is expected per key of a controller; thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._expected: dict[str, _Expected] = {}

    def expect(self, key: str, *, creations: int = 0, deletions: Iterable[str] = ()) -> None:
        """Note how many objects will appear and which uids will go.

        Call it before the requests: the watch may be faster than their answers. What was expected of the key
        before is forgotten: it was satisfied, or had waited for `TIMEOUT`.
        """
        with self._lock:
            self._expected[key] = _Expected(self._clock.monotonic(), creations, set(deletions))

    def creation_observed(self, key: str, count: int = 1) -> None:
        """An expected object has appeared, or will not because its creation failed.

        The number may fall below zero: a request without an answer was lowered, and its object shows up all the same.
        """
        with self._lock:
            expected = self._expected.get(key)
            if expected is not None:
                expected.creations -= count

    def deletion_observed(self, key: str, uid: str) -> None:
        """An expected object goes, or its deletion failed.

        Deletions are known by uid, since the watch tells of each twice: when it is asked for and when it is done.
        """
        with self._lock:
            expected = self._expected.get(key)
            if expected is not None:
                expected.deletions.discard(uid)

    def satisfied(self, key: str) -> bool:
        """Tell whether everything expected was seen, or the wait has been too long."""
        with self._lock:
            expected = self._expected.get(key)
            if expected is None:
                return True
            if expected.creations <= 0 and not expected.deletions:
                return True
            return self._clock.monotonic() - expected.since > TIMEOUT

    def forget(self, key: str) -> None:
        """Drop what is known of a key whose object is gone."""
        with self._lock:
            self._expected.pop(key, None)


class Written:
    """What a controller wrote last of each object, so that it can tell when its cache is older; thread-safe.

    Resource versions of one object are compared as the numbers that they are.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._versions: dict[str, tuple[str, int]] = {}

    def note(self, key: str, written: Object) -> None:
        """Remember an object as the server answered it."""
        with self._lock:
            self._versions[key] = (uid_of(written), int(resource_version_of(written) or 0))

    def is_stale(self, key: str, cached: Object) -> bool:
        """Tell whether the cache has yet to see what was written: then look again when it changes."""
        with self._lock:
            uid, version = self._versions.get(key, ("", 0))
            return uid == uid_of(cached) and int(resource_version_of(cached) or 0) < version

    def forget(self, key: str) -> None:
        """Drop what is known of a key whose object is gone."""
        with self._lock:
            self._versions.pop(key, None)
