"""What is counted of the requests of one schema at one level, written out only when it is asked for.

Source of names: kubernetes apiserver ``pkg/util/flowcontrol/metrics/metrics.go``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from hyperkube_host.apiserver.flowcontrol.queueset import QueueSet

from hyperkube.machinery.dataclass import dataclass

_BUCKETS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
_PREFIX = "apiserver_flowcontrol_"


@dataclass(slots=True)
class Histogram:
    """A histogram of seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(_BUCKETS, seconds)] += 1
        self.total += seconds

    def lines(self, name: str, labels: str) -> list[str]:
        """Return it in Prometheus' text format."""
        lines, seen = [], 0
        for bound, count in zip((*_BUCKETS, "+Inf"), self.counts, strict=True):
            seen += count
            lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {seen}')
        return [*lines, f"{name}_sum{{{labels}}} {self.total:.6f}", f"{name}_count{{{labels}}} {seen}"]


@dataclass(slots=True, eq=False)
class FlowMetrics:
    """The counts; all but `hot` are changed under the lock of `FlowControl`.

    Attributes:
        hot: requests answered on the loop's thread, from memory, without a seat.
    """

    executing: int = 0
    waiting: int = 0
    dispatched: int = 0
    hot: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    waits: dict[bool, Histogram] = field(default_factory=dict)
    executions: Histogram = field(default_factory=Histogram)

    def reject(self, reason: str) -> None:
        """Count one that was rejected."""
        self.rejected[reason] = self.rejected.get(reason, 0) + 1

    def waited(self, seconds: float, *, executed: bool) -> None:
        """Count one whose wait is over."""
        self.waits.setdefault(executed, Histogram()).add(seconds)


def text(levels: Iterable[QueueSet[Any]], metrics: Mapping[tuple[str, str], FlowMetrics]) -> bytes:
    """Return all series in Prometheus' text format."""
    known = sorted(metrics.items())
    lines = [
        *_series("dispatched_requests_total", "counter", "Requests let in.", known, _dispatched),
        *_series("current_inqueue_requests", "gauge", "Requests that wait.", known, lambda one: one.waiting),
        *_series("current_executing_requests", "gauge", "Requests under way.", known, lambda one: one.executing),
        *_series("current_executing_seats", "gauge", "Seats in use.", known, lambda one: one.executing),
        *_head("rejected_requests_total", "counter", "Requests turned away."),
    ]
    for key, flow in known:
        lines += [
            f'{_PREFIX}rejected_requests_total{{{_labels(key)},reason="{reason}"}} {count}'
            for reason, count in sorted(flow.rejected.items())
        ]
    lines += _head("request_wait_duration_seconds", "histogram", "Time in a queue.")
    for key, flow in known:
        for executed, times in sorted(flow.waits.items()):
            labels = f'execute="{str(executed).lower()}",{_labels(key)}'
            lines += times.lines(f"{_PREFIX}request_wait_duration_seconds", labels)
    lines += _head("request_execution_seconds", "histogram", "Time from a seat to the answer.")
    for key, flow in known:
        lines += flow.executions.lines(f"{_PREFIX}request_execution_seconds", f'{_labels(key)},type="regular"')
    return "\n".join([*lines, *_limits(list(levels))]).encode() + b"\n"


def _dispatched(flow: FlowMetrics) -> int:
    return flow.dispatched + flow.hot


def _limits(levels: list[QueueSet[Any]]) -> list[str]:
    lines: list[str] = []
    figures: tuple[tuple[str, str, Callable[[QueueSet[Any]], int]], ...] = (
        ("nominal_limit_seats", "Seats of its own.", lambda level: level.nominal),
        ("lower_limit_seats", "Seats of its own that are not lent.", lambda one: one.nominal - one.settings.lendable),
        ("upper_limit_seats", "Seats with borrowed ones.", lambda level: level.settings.most),
        ("current_limit_seats", "Seats in force now.", lambda level: max(level.nominal, level.executing)),
    )
    for name, help_text, figure in figures:
        lines += _head(name, "gauge", help_text)
        lines += [f'{_PREFIX}{name}{{priority_level="{level.settings.name}"}} {figure(level)}' for level in levels]
    return lines


def _head(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP {_PREFIX}{name} {help_text}", f"# TYPE {_PREFIX}{name} {kind}"]


def _series(
    name: str,
    kind: str,
    help_text: str,
    known: Iterable[tuple[tuple[str, str], FlowMetrics]],
    count: Callable[[FlowMetrics], int],
) -> list[str]:
    return [
        *_head(name, kind, help_text),
        *(f"{_PREFIX}{name}{{{_labels(key)}}} {count(flow)}" for key, flow in known),
    ]


def _labels(key: tuple[str, str]) -> str:
    level, schema = key
    return f'flow_schema="{schema}",priority_level="{level}"'
