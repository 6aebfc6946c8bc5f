"""What is counted: requests by verb and resource, their time, and what is under way.

Source of names: kubernetes apiserver ``pkg/endpoints/metrics/metrics.go``.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.flowcontrol.max_in_flight import Limits
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo
from hyperkube_lib.serving.exchange import Answer, Response, StreamResponse

from hyperkube.machinery.dataclass import dataclass

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

RequestKey = tuple[str, str, str, str, str, str, int]
"""Verb, group, version, resource, subresource, scope and status code: the labels that a request is counted under."""


def key_of(info: RequestInfo, code: int) -> RequestKey:
    """Return the labels of a request with its status code."""
    scope = "resource" if info.name else "namespace" if info.namespace else "cluster" if info.is_resource else ""
    return (info.verb.upper(), info.group, info.version, info.resource, info.subresource, scope, code)


@dataclass(slots=True, eq=False)
class RequestSeries:
    """Requests of the same labels: how many, and into which buckets their times, in seconds, fall."""

    total: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.total += 1
        self.counts[bisect_left(_BUCKETS, seconds) if seconds > _BUCKETS[0] else 0] += 1
        self.seconds += seconds


class RequestMetrics:
    """Counts requests in plain dictionaries, written out only when they are asked for.

    Args:
        registry: further metrics of the server's plugins.
    """

    def __init__(self, limits: Limits, registry: CollectorRegistry | None = None) -> None:
        self._limits = limits
        self._registry = registry
        self._series: dict[RequestKey, RequestSeries] = {}

    def observe(self, request: ApiRequest, answer: Answer, seconds: float) -> None:
        """Count one answered request."""
        code = answer.status if isinstance(answer, Response | StreamResponse) else 101
        info = request.info
        known = info.series
        if known is None or known[0] != code:
            known = info.series = (code, self.series(key_of(info, code)))
        known[1].add(seconds)

    def count(self, key: RequestKey, seconds: float) -> None:
        """Count one request by its labels."""
        self.series(key).add(seconds)

    def series(self, key: RequestKey) -> RequestSeries:
        """Return where requests of these labels are counted."""
        series = self._series.get(key)
        return series if series is not None else self._series.setdefault(key, RequestSeries())

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        lines = ["# HELP apiserver_request_total Requests answered.", "# TYPE apiserver_request_total counter"]
        found = list(self._series.items())
        lines += [f"apiserver_request_total{{{_labels(key)}}} {series.total}" for key, series in found]
        lines += [
            "# HELP apiserver_request_duration_seconds Time to answer a request.",
            "# TYPE apiserver_request_duration_seconds histogram",
        ]
        for key, series in found:
            if key[0] != "WATCH":  # of which the time says nothing
                lines += _histogram(_labels(key), series.counts, series.seconds)
        lines += [
            "# HELP apiserver_current_inflight_requests Requests under way.",
            "# TYPE apiserver_current_inflight_requests gauge",
        ]
        lines += [
            f'apiserver_current_inflight_requests{{request_kind="{kind}"}} {count}'
            for kind, count in self._limits.current().items()
        ]
        return "\n".join(lines).encode() + b"\n" + self._limits.text() + self._plugins()

    def _plugins(self) -> bytes:
        if self._registry is None:
            return b""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)


def _labels(key: RequestKey) -> str:
    names = ("verb", "group", "version", "resource", "subresource", "scope", "code")
    return ",".join(f'{name}="{value}"' for name, value in zip(names, key, strict=True))


def _histogram(labels: str, counts: list[int], total: float) -> list[str]:
    name, lines, seen = "apiserver_request_duration_seconds", [], 0
    for bound, count in zip((*_BUCKETS, "+Inf"), counts, strict=True):
        seen += count
        lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {seen}')
    return [*lines, f"{name}_sum{{{labels}}} {total:.6f}", f"{name}_count{{{labels}}} {seen}"]
