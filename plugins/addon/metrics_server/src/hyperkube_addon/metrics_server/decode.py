"""Reads what a kubelet serves at ``/metrics/resource``.

A point counts only when it has both, CPU and memory; a container without memory has ended. One that has used no CPU
time yet is told of, where upstream passes it over: a runtime may count in hundredths of a second.

Source: metrics-server ``pkg/scraper/client/resource/decode.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import NamedTuple

from hyperkube.machinery.dataclass import dataclass

_SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+(-?\d+))?\s*")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_NODE = {"node_cpu_usage_seconds_total": "cpu", "node_memory_working_set_bytes": "memory"}
_CONTAINER = {
    "container_cpu_usage_seconds_total": "cpu",
    "container_memory_working_set_bytes": "memory",
    "container_start_time_seconds": "start",
}


class MetricsPoint(NamedTuple):
    """What something had used at a time.

    Attributes:
        timestamp: when it was measured, in seconds since the epoch.
        cpu_seconds: CPU time since its start.
        memory_bytes: its working set.
        start: when it started, in seconds since the epoch; 0 where that is not told.
    """

    timestamp: float
    cpu_seconds: float
    memory_bytes: int
    start: float = 0.0


PodRef = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class MetricsBatch:
    """The points of one scrape, by node and by pod and container."""

    nodes: dict[str, MetricsPoint] = field(default_factory=dict)
    pods: dict[PodRef, dict[str, MetricsPoint]] = field(default_factory=dict)


def decode_batch(text: str, node_name: str, now: float) -> MetricsBatch:
    """Return the points in Prometheus' text format; a sample without a time of its own was taken `now`."""
    node: dict[str, float] = {}
    containers: dict[tuple[str, str, str], dict[str, float]] = {}
    for name, labels, value, when in _samples(text):
        taken = now if when is None else when
        if name in _NODE:
            node |= {_NODE[name]: value, "timestamp": taken}
        elif name in _CONTAINER:
            key = (labels.get("namespace", ""), labels.get("pod", ""), labels.get("container", ""))
            found = containers.setdefault(key, {})
            found[_CONTAINER[name]] = value
            if _CONTAINER[name] != "start":
                found["timestamp"] = taken
    batch = MetricsBatch()
    if (point := _point(node)) is not None:
        batch.nodes[node_name] = point
    for (namespace, pod, container), found in containers.items():
        if (point := _point(found)) is not None:
            batch.pods.setdefault((namespace, pod), {})[container] = point
    return batch


def _point(found: Mapping[str, float]) -> MetricsPoint | None:
    if "cpu" not in found or not found.get("memory"):
        return None
    return MetricsPoint(found["timestamp"], found["cpu"], int(found["memory"]), found.get("start", 0.0))


def _samples(text: str) -> Iterator[tuple[str, dict[str, str], float, float | None]]:
    """Yield name, labels, value and time of each sample; lines that are none are passed over."""
    for line in text.splitlines():
        found = None if line.startswith("#") else _SAMPLE.fullmatch(line)
        if found is None:
            continue
        name, labels, value, when = found.groups()
        try:
            number = float(value)
        except ValueError:
            continue
        pairs = {key: _ESCAPED.sub(_unescaped, raw) for key, raw in _LABEL.findall(labels or "")}
        yield name, pairs, number, None if when is None else int(when) / 1000


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
