"""What every server tells of itself at ``/metrics``: its release, its process, whether it leads.

Source of names: kubernetes component-base ``metrics/version.go`` and
``metrics/prometheus/clientgo/leaderelection/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hyperkube.machinery.release import GIT_VERSION, MAJOR, MINOR

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric


class Collector(Protocol):
    """What a registry asks when the metrics are read."""

    def collect(self) -> Iterable[Metric]:
        """Return families with their values as of now."""


class Release:
    """Tells which release runs: ``kubernetes_build_info``."""

    def collect(self) -> Iterator[Metric]:
        """Put the family together."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        build = GaugeMetricFamily("kubernetes_build_info", "The release.", labels=("major", "minor", "git_version"))
        build.add_metric((str(MAJOR), str(MINOR), GIT_VERSION), 1)
        yield build


class Leadership:
    """Tells whether this process leads: ``leader_election_master_status``."""

    def __init__(self, leads: Callable[[], Mapping[str, bool]]) -> None:
        """Take what tells, by the lock's name; nothing where there is no election."""
        self._leads = leads

    def collect(self) -> Iterator[Metric]:
        """Put the family together."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        family = GaugeMetricFamily(
            "leader_election_master_status", "Whether this process holds the lock: 1, or 0.", labels=("name",)
        )
        for name, is_leader in self._leads().items():
            family.add_metric((name,), int(is_leader))
        yield family


class Process:
    """Tells what Prometheus' own collector does not: traffic, and the limit of virtual memory.

    Source: Prometheus' Go client, ``prometheus/process_collector_linux.go``.
    """

    def collect(self) -> Iterator[Metric]:
        """Put the families together; none where the system does not tell."""
        from resource import RLIMIT_AS, getrlimit

        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        limit, _ = getrlimit(RLIMIT_AS)
        yield GaugeMetricFamily(
            "process_virtual_memory_max_bytes", "Most virtual memory, in bytes.", value=limit if limit >= 0 else 2**64
        )
        traffic = _traffic(Path("/proc/self/net/netstat"))
        for name, column in (("receive", "InOctets"), ("transmit", "OutOctets")):
            if column in traffic:
                text = f"Bytes of the network namespace: {name}."
                yield CounterMetricFamily(f"process_network_{name}_bytes", text, value=traffic[column])


def _traffic(path: Path) -> dict[str, int]:
    """Return the row ``IpExt`` of the kernel's counters, by column."""
    try:
        rows = [line.split() for line in path.read_text(encoding="ascii").splitlines() if line.startswith("IpExt:")]
    except OSError:
        return {}
    return {name: int(value) for name, value in zip(*(row[1:] for row in rows[:2]), strict=False)} if rows else {}


class FeatureGates:
    """Tells which feature gates are on: ``kubernetes_feature_enabled``.

    Told are those that were given and those that cannot be off any more, which are GA.
    """

    def __init__(self, given: Mapping[str, bool], locked: Callable[[], Iterable[str]]) -> None:
        """Take the gates that were given, and what names those that are locked."""
        self._given = given
        self._locked = locked

    def collect(self) -> Iterator[Metric]:
        """Put the family together."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        family = GaugeMetricFamily(
            "kubernetes_feature_enabled", "Whether a feature is on: 1, or 0.", labels=("name", "stage")
        )
        for name, value in {**dict.fromkeys(self._locked(), True), **self._given}.items():
            family.add_metric((name, ""), int(value))
        yield family


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """Return a registry of these and of the process's own metrics."""
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    ProcessCollector(registry=registry)
    registry.register(Process())
    return registry


def process_text() -> str:
    """Return the release and the process's own metrics in Prometheus' text format."""
    from prometheus_client import generate_latest

    return generate_latest(registry_of(Release())).decode()
