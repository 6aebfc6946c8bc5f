"""What every server tells of itself at ``/metrics``: its release, its process, whether it leads.

Source of names: kubernetes component-base ``metrics/version.go`` and
``metrics/prometheus/clientgo/leaderelection/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from hyperkube.machinery.release import GIT_VERSION, MAJOR, MINOR

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """Return a registry of these and of the process's own metrics."""
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    ProcessCollector(registry=registry)
    return registry


def process_text() -> str:
    """Return the release and the process's own metrics in Prometheus' text format."""
    from prometheus_client import generate_latest

    return generate_latest(registry_of(Release())).decode()
