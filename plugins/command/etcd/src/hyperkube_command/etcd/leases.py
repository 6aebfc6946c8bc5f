"""Leases: keys that go when their client stops to renew them.

They live as long as this process: after a restart keys stay, and no lease ends them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import field

from hyperkube_command.etcd.keys import Refusal

from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.dataclass import dataclass


@dataclass(slots=True)
class Lease:
    """One lease: what it was granted for, when it ends, and its keys."""

    seconds: int
    ends: float
    timer: Timer
    keys: set[str] = field(default_factory=set)


class Leases:
    """All leases; `expire` is called with the keys of one that ended, on the clock's thread or the revoker's.

    The lock is held for look-ups alone and never while keys are deleted: who writes keys holds the server's lock, and
    asks for leases under it.
    """

    def __init__(self, clock: Clock, expire: Callable[[Sequence[str]], None]) -> None:
        self._clock = clock
        self._expire = expire
        self._lock = threading.Lock()
        self._leases: dict[int, Lease] = {}
        self._of_key: dict[str, int] = {}
        self._next = 0x1000

    def grant(self, seconds: int, wanted: int) -> int:
        """Make a lease; return its id, which is `wanted` unless that is 0.

        Raises:
            RpcFailed: there is one of that id.
        """
        with self._lock:
            if wanted in self._leases:
                raise Refusal.LEASE_EXISTS.error()
            while not wanted:
                self._next += 1
                wanted = self._next if self._next not in self._leases else 0
            ends = self._clock.monotonic() + seconds
            self._leases[wanted] = Lease(seconds, ends, self._timer(wanted, seconds))
            return wanted

    def _timer(self, number: int, seconds: float) -> Timer:
        return self._clock.call_later(seconds, lambda: self._end(number, due=True))

    def revoke(self, number: int) -> None:
        """End a lease now.

        Raises:
            RpcFailed: there is none.
        """
        self._get(number)
        self._end(number)

    def _end(self, number: int, *, due: bool = False) -> None:
        with self._lock:
            lease = self._leases.get(number)
            if lease is None or (due and lease.ends > self._clock.monotonic()):  # renewed as its timer fired
                return
            del self._leases[number]
            lease.timer.cancel()
            keys = sorted(lease.keys)
            for key in keys:
                self._of_key.pop(key, None)
        if keys:
            self._expire(keys)

    def renew(self, number: int) -> int:
        """Begin a lease's time anew; return how long it is, 0 if there is no such lease."""
        with self._lock:
            lease = self._leases.get(number)
            if lease is None:
                return 0
            lease.timer.cancel()
            lease.ends = self._clock.monotonic() + lease.seconds
            lease.timer = self._timer(number, lease.seconds)
            return lease.seconds

    def left(self, number: int) -> tuple[int, int, list[str]]:
        """Return the seconds that are left of a lease, those it was granted for, and its keys; -1 if there is none."""
        with self._lock:
            lease = self._leases.get(number)
            if lease is None:
                return -1, 0, []
            return max(int(lease.ends - self._clock.monotonic()), 0), lease.seconds, sorted(lease.keys)

    def numbers(self) -> list[int]:
        """Return the ids of all leases."""
        with self._lock:
            return sorted(self._leases)

    def of(self, key: str) -> int:
        """Return the id of a key's lease, 0 for none."""
        return self._of_key.get(key, 0)

    def check(self, number: int) -> None:
        """Insist that there is a lease, unless its id is 0.

        Raises:
            RpcFailed: there is none.
        """
        if number:
            self._get(number)

    def _get(self, number: int) -> Lease:
        with self._lock:
            if number not in self._leases:
                raise Refusal.LEASE_NOT_FOUND.error()
            return self._leases[number]

    def bind(self, key: str, number: int) -> None:
        """Put a key, which was written or deleted, under a lease, or under none."""
        with self._lock:
            if before := self._leases.get(self._of_key.pop(key, 0)):
                before.keys.discard(key)
            if lease := self._leases.get(number):
                lease.keys.add(key)
                self._of_key[key] = number

    def close(self) -> None:
        """Let no timer fire any more."""
        with self._lock:
            for lease in self._leases.values():
                lease.timer.cancel()
            self._leases.clear()
