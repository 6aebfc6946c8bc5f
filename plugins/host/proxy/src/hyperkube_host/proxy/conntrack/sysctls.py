"""The kernel's limits and timeouts of connection tracking, as ``--conntrack-*`` say.

Source: kubernetes ``cmd/kube-proxy/app/server_linux.go`` (setupConntrack), ``pkg/proxy/conntrack/sysctls.go``.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from hyperkube_lib.proxy_rules.sysctls import ensure_sysctl

from hyperkube.machinery.record import Record

_FOLDER = "net/netfilter/nf_conntrack_"


class ConntrackOptions(Record):
    """What the flags say; a number or time of 0 leaves the kernel's."""

    max_per_core: int
    minimum: int
    tcp_established_seconds: float
    tcp_close_wait_seconds: float
    tcp_be_liberal: bool
    udp_seconds: float
    udp_stream_seconds: float

    def most_connections(self, cores: int) -> int:
        """Return how many connections are tracked at most on a node of so many cores; 0 for the kernel's limit."""
        return max(self.max_per_core * cores, self.minimum) if self.max_per_core else 0

    def sysctls(self, cores: int) -> dict[str, int]:
        """Return the settings to be made, by name."""
        wanted = {
            "max": self.most_connections(cores),
            "tcp_timeout_established": int(self.tcp_established_seconds),
            "tcp_timeout_close_wait": int(self.tcp_close_wait_seconds),
            "tcp_be_liberal": int(self.tcp_be_liberal),
            "udp_timeout": int(self.udp_seconds),
            "udp_timeout_stream": int(self.udp_stream_seconds),
        }
        return {_FOLDER + name: value for name, value in wanted.items() if value}


def set_up(options: ConntrackOptions, ensure: Callable[[str, int], bool] = ensure_sysctl) -> None:
    """Make the settings; what the kernel does not let us set is logged."""
    for name, value in options.sysctls(os.cpu_count() or 1).items():
        ensure(name, value)
