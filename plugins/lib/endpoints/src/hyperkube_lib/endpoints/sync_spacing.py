"""How often the endpoints of a large service are looked at.

Each look costs as much as the service has pods, and so does each write, for the API server and for every watcher. While
pods of a large service come and go all the time, one look answers what happened within half a second. The first change
after a rest is answered at once, and so is each change of a small service.
"""

from __future__ import annotations

from hyperkube.machinery.clock import Clock

SMALL = 16
"""Up to so many pods a service is looked at for each change."""
SPACING_SECONDS = 0.5


class SyncSpacing:
    """Remembers when large services were looked at last; thread-safe for different keys."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[str, float] = {}

    def synced(self, key: str, pods: int) -> None:
        """Take in that a service with so many pods is being looked at."""
        if pods > SMALL:
            self._last[key] = self._clock.monotonic()
        else:
            self._last.pop(key, None)

    def wait(self, key: str) -> float:
        """Return for how many seconds a change of one of the service's pods waits for others."""
        last = self._last.get(key)
        return 0.0 if last is None else max(0.0, last + SPACING_SECONDS - self._clock.monotonic())

    def forget(self, key: str) -> None:
        """Forget a service that is gone."""
        self._last.pop(key, None)
