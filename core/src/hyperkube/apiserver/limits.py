"""How many requests may be under way: a simple count of reads and of writes; what stays open is not counted.

Source: kubernetes apiserver ``pkg/server/filters/maxinflight.go``.
"""

from __future__ import annotations

import threading

from hyperkube.apiserver.calls import ApiRequest
from hyperkube.machinery.users import PRIVILEGED_GROUP

_READS = frozenset({"get", "list", "watch"})
_STREAMS = frozenset({"log", "exec", "attach", "portforward", "proxy"})


class InFlight:
    """Counts requests; 0 is no limit."""

    def __init__(self, reads: int, writes: int) -> None:
        self._limits = {True: reads, False: writes}
        self._counts = {True: 0, False: 0}
        self._lock = threading.Lock()

    def enter(self, request: ApiRequest) -> bool:
        """Count a request; False refuses it. Privileged users are never refused."""
        if _is_exempt(request):
            return True
        is_read = request.info.verb in _READS
        with self._lock:
            limit = self._limits[is_read]
            if limit and self._counts[is_read] >= limit and PRIVILEGED_GROUP not in request.user.groups:
                return False
            self._counts[is_read] += 1
            return True

    def leave(self, request: ApiRequest) -> None:
        """Count a request off that was let in."""
        if _is_exempt(request):
            return
        with self._lock:
            self._counts[request.info.verb in _READS] -= 1

    def current(self) -> dict[str, int]:
        """Return the requests under way, for metrics."""
        return {"readOnly": self._counts[True], "mutating": self._counts[False]}


def _is_exempt(request: ApiRequest) -> bool:
    return request.info.verb == "watch" or request.info.subresource in _STREAMS
