"""What the flags say of limits: fair shares by default, mere counting on demand."""

from __future__ import annotations

from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.max_in_flight import InFlight, Limits
from hyperkube_host.apiserver.options import RequestOptions

from hyperkube.machinery.clock import Clock

_REQUEST_SECONDS = 60.0
WAIT_SHARE = 4
"""A request may wait for a quarter of the time it has; source: kubernetes apiserver ``priority-and-fairness.go``."""


def limits_of(options: RequestOptions, clock: Clock) -> Limits:
    """Return the limits of a server; its seats are the sum of what reads and writes may take, 0 is no limit."""
    reads, writes = options.max_requests_inflight, options.max_mutating_requests_inflight
    if not options.enable_priority_and_fairness or not reads + writes:
        return InFlight(reads, writes)
    return FlowControl(reads + writes, (options.request_timeout or _REQUEST_SECONDS) / WAIT_SHARE, clock)
