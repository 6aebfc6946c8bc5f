"""How many requests may be under way: a count of reads and of writes; what stays open is not counted.

This is what ``--enable-priority-and-fairness=false`` leaves; the package ``flowcontrol`` is the other `Limits`.
Source: kubernetes apiserver ``pkg/server/filters/maxinflight.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hyperkube_host.apiserver.request.calls import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.users import PRIVILEGED_GROUP

READS = frozenset({"get", "list", "watch"})
_STREAMS = frozenset({"log", "exec", "attach", "portforward", "proxy"})
ADMITTED, WAITING, REFUSED = "admitted", "waiting", "refused"


class Turn(Protocol):
    """One request's place among those under way.

    Attributes:
        state: ``admitted``, ``waiting`` or ``refused``.
        headers: that the answer gets.
    """

    state: str

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return what the answer's headers say of the place."""

    def subscribe(self, ready: Callable[[], None]) -> None:
        """Call `ready` once, from any thread, when the request no longer waits."""

    def leave(self) -> None:
        """The request is answered; once."""


class Limits(Protocol):
    """Decides how many requests are under way."""

    def enter(self, request: ApiRequest) -> Turn | None:
        """Return a request's place, None for one that is not limited."""

    def current(self) -> dict[str, int]:
        """Return the requests under way, for metrics."""

    def text(self) -> bytes:
        """Return further metrics, in Prometheus' text format."""


@dataclass(slots=True)
class Counted:
    """A place among so many."""

    limits: InFlight
    is_read: bool
    state: str
    headers: tuple[tuple[str, str], ...] = ()

    def subscribe(self, ready: Callable[[], None]) -> None:
        """Call `ready` at once: nothing waits here."""
        ready()

    def leave(self) -> None:
        """Count the request off."""
        if self.state is ADMITTED:
            self.state = REFUSED
            self.limits.leave(is_read=self.is_read)


class InFlight:
    """Counts requests; 0 is no limit."""

    def __init__(self, reads: int, writes: int) -> None:
        self._limits = {True: reads, False: writes}
        self._counts = {True: 0, False: 0}
        self._lock = threading.Lock()

    def enter(self, request: ApiRequest) -> Counted | None:
        """Count a request or refuse it. Privileged users are never refused; what stays open is not counted."""
        if request.info.verb == "watch" or is_unlimited(request.info):
            return None
        is_read = request.info.verb in READS
        with self._lock:
            limit = self._limits[is_read]
            if limit and self._counts[is_read] >= limit and PRIVILEGED_GROUP not in request.user.groups:
                return Counted(self, is_read, REFUSED)
            self._counts[is_read] += 1
            return Counted(self, is_read, ADMITTED)

    def leave(self, *, is_read: bool) -> None:
        """Count a request off that was let in."""
        with self._lock:
            self._counts[is_read] -= 1

    def current(self) -> dict[str, int]:
        """Return the requests under way, for metrics."""
        return {"readOnly": self._counts[True], "mutating": self._counts[False]}

    def text(self) -> bytes:
        """Return nothing: the counts are all there is."""
        return b""


def is_unlimited(info: RequestInfo) -> bool:
    """Tell whether a request stays open for as long as its client likes, and so is not counted; a watch's start is."""
    return info.subresource in _STREAMS or info.verb == "proxy"
