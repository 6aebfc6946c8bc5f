"""What the proxy's options cannot be, in Kubernetes' words, told before anything is made or opened.

What belongs to a proxier, to node ports and to the detection of local traffic is checked where it is read. An address
without a port is taken where Kubernetes refuses it, as the port has a flag of its own.

Source: kubernetes ``pkg/proxy/apis/config/validation/validation.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.plugin.flags import FlagValues

Address = tuple[str, int]
"""A host and a port."""

_ROOT = Path("KubeProxyConfiguration")
_LINUX = _ROOT.child("KubeProxyLinuxConfiguration")
_CONNTRACK = _LINUX.child("KubeProxyConntrackConfiguration")
_NUMBERS = (
    (_CONNTRACK.child("MaxPerCore"), "conntrack-max-per-core"),
    (_CONNTRACK.child("Min"), "conntrack-min"),
    (_ROOT.child("ClientConnection", "Burst"), "kube-api-burst"),
)
_DURATIONS = (
    (_CONNTRACK.child("TCPEstablishedTimeout"), "conntrack-tcp-timeout-established"),
    (_CONNTRACK.child("TCPCloseWaitTimeout"), "conntrack-tcp-timeout-close-wait"),
    (_CONNTRACK.child("UDPTimeout"), "conntrack-udp-timeout"),
    (_CONNTRACK.child("UDPStreamTimeout"), "conntrack-udp-timeout-stream"),
    (_ROOT.child("MinSyncPeriod"), "iptables-min-sync-period"),
)
_PERIODS = (("ConfigSyncPeriod", "config-sync-period"), ("SyncPeriod", "iptables-sync-period"))
_LOWEST_SCORE, _HIGHEST_SCORE = -1000, 1000
_LAST_PORT = 65535
_MOST_RANGES = 2
_NOT_NEGATIVE = "must be greater than or equal to 0"


def validate(values: FlagValues, healthz: Address | None, metrics: Address | None) -> None:
    """Refuse values that cannot be.

    Args:
        values: of all flags, those of the configuration file among them.
        healthz: where health is served; None for nowhere.
        metrics: where metrics are.

    Raises:
        UsageError: what is wrong with them, in one line: a problem, or a list of problems in brackets.
    """
    problems = [
        *_not_negative(values),
        *_score(values["oom-score-adj"]),
        *_sync_periods(values),
        *_address("HealthzBindAddress", healthz),
        *_address("MetricsBindAddress", metrics),
        *_cluster_cidrs(values),
    ]
    if problems:
        raise UsageError(aggregate(problems))


def _not_negative(values: FlagValues) -> Iterator[FieldError]:
    for path, flag in _NUMBERS:
        if values[flag] < 0:
            yield invalid(path, values[flag], _NOT_NEGATIVE)
    for path, flag in _DURATIONS:
        if values[flag] < 0:
            yield invalid(path, format_duration(values[flag]), _NOT_NEGATIVE)


def _score(score: int) -> Iterator[FieldError]:
    if not _LOWEST_SCORE <= score <= _HIGHEST_SCORE:
        yield invalid(_LINUX.child("OOMScoreAdj"), score, "must be within the range [-1000, 1000]")


def _sync_periods(values: FlagValues) -> Iterator[FieldError]:
    for name, flag in _PERIODS:
        if values[flag] <= 0:
            yield invalid(_ROOT.child(name), format_duration(values[flag]), "must be greater than 0")
    least = values["iptables-min-sync-period"]
    if least > values["iptables-sync-period"]:
        detail = f"must be greater than or equal to {_ROOT.child('MinSyncPeriod')}"
        yield invalid(_ROOT.child("SyncPeriod"), format_duration(least), detail)


def _address(name: str, address: Address | None) -> Iterator[FieldError]:
    if address is None:
        return
    path, (host, port) = _ROOT.child(name), address
    try:
        ipaddress.ip_address(host)
    except ValueError:
        yield invalid(path, host, "must be a valid IP")
    if not 1 <= port <= _LAST_PORT:
        yield invalid(path, str(port), "must be a valid port")


def _cluster_cidrs(values: FlagValues) -> Iterator[FieldError]:
    ranges = values["cluster-cidr"]
    if values["detect-local-mode"] not in {"", "ClusterCIDR"} or len(ranges) < _MOST_RANGES:
        return
    if len(ranges) > _MOST_RANGES or len({ipaddress.ip_network(each, strict=False).version for each in ranges}) == 1:
        yield invalid(
            _ROOT.child("DetectLocalConfiguration", "ClusterCIDRs"),
            list(ranges),
            "must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]",
        )
