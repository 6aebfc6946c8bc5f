"""What the flags say of limits: fair shares by default, mere counting on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.max_in_flight import InFlight, Limits

from hyperkube.machinery.clock import Clock

_MAX_READS, _MAX_WRITES = 400, 200
_REQUEST_SECONDS = 60.0
WAIT_SHARE = 4
"""A request may wait for a quarter of the time it has; source: kubernetes apiserver ``priority-and-fairness.go``."""


def limits_of(options: Mapping[str, Any], clock: Clock) -> Limits:
    """Return the limits of a server; its seats are the sum of what reads and writes may take, 0 is no limit."""
    reads = int(options.get("max-requests-inflight", _MAX_READS))
    writes = int(options.get("max-mutating-requests-inflight", _MAX_WRITES))
    if options.get("enable-priority-and-fairness") is False or not reads + writes:
        return InFlight(reads, writes)
    seconds = float(options.get("request-timeout") or _REQUEST_SECONDS)
    return FlowControl(reads + writes, seconds / WAIT_SHARE, clock)
