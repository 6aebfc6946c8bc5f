"""How many requests may be under way: a count of reads and of writes; what stays open is not counted.

This is what ``--enable-priority-and-fairness=false`` leaves; the package ``flowcontrol`` is the other `Limits`.
Source: kubernetes apiserver ``pkg/server/filters/maxinflight.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.users import PRIVILEGED_GROUP

READS = frozenset({"get", "list", "watch"})
_STREAMS = frozenset({"log", "exec", "attach", "portforward", "proxy"})


class RequestState(Enum):
    """Where a limited request stands."""

    WAITING = auto()
    """For a seat."""
    EXECUTING = auto()
    """It has a seat."""
    REJECTED = auto()
    """Too many others were under way; it is answered 429."""
    FINISHED = auto()
    """It had a seat, and gave it back."""


class LimitedRequest(Protocol):
    """One request among those under way.

    Attributes:
        headers: that the answer gets.
    """

    state: RequestState

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return what the answer's headers say of the request's limits."""

    def subscribe(self, ready: Callable[[], None]) -> None:
        """Call `ready` once, from any thread, when the request no longer waits."""

    def finish(self) -> None:
        """The request is answered; once."""


class Limits(Protocol):
    """Decides how many requests are under way."""

    def enter(self, request: ApiRequest) -> LimitedRequest | None:
        """Count a request in, None for one that is not limited."""

    def current(self) -> dict[str, int]:
        """Return the requests under way, for metrics."""

    def text(self) -> bytes:
        """Return further metrics, in Prometheus' text format."""


@dataclass(slots=True)
class CountedRequest:
    """A request that is counted, or was rejected."""

    limits: InFlight
    is_read: bool
    state: RequestState
    headers: tuple[tuple[str, str], ...] = ()

    def subscribe(self, ready: Callable[[], None]) -> None:
        """Call `ready` at once: nothing waits here."""
        ready()

    def finish(self) -> None:
        """Count the request off."""
        if self.state is RequestState.EXECUTING:
            self.state = RequestState.FINISHED
            self.limits.finish(is_read=self.is_read)


class InFlight:
    """Counts requests; 0 is no limit."""

    def __init__(self, reads: int, writes: int) -> None:
        self._limits = {True: reads, False: writes}
        self._counts = {True: 0, False: 0}
        self._lock = threading.Lock()

    def enter(self, request: ApiRequest) -> CountedRequest | None:
        """Count a request or reject it. Privileged users are never rejected; what stays open is not counted."""
        if request.info.verb == "watch" or is_unlimited(request.info):
            return None
        is_read = request.info.verb in READS
        with self._lock:
            limit = self._limits[is_read]
            if limit and self._counts[is_read] >= limit and PRIVILEGED_GROUP not in request.user.groups:
                return CountedRequest(self, is_read, RequestState.REJECTED)
            self._counts[is_read] += 1
            return CountedRequest(self, is_read, RequestState.EXECUTING)

    def finish(self, *, is_read: bool) -> None:
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
