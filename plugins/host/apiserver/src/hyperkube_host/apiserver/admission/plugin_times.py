"""What each admission plugin takes of requests, measured in every tenth of them: all would cost more than it tells.

Names, labels and buckets: kubernetes apiserver ``pkg/admission/metrics/metrics.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from random import random
from typing import TYPE_CHECKING

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.metric_families import Histogram, Labels

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

NAME = "apiserver_admission_controller_admission_duration_seconds"
SAMPLED = 1 / 32
"""The share of requests that is measured: a pod whose template is known costs four times as much when it is."""
ADMIT, VALIDATE = "admit", "validate"
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)

Hook = Callable[..., object]


class PluginTimes:
    """A histogram of the time of each plugin's hooks; thread-safe.

    Args:
        share: the part of calls of the chain that is measured.
        monotonic: seconds of a clock, the machine's if None.
    """

    def __init__(self, share: float = SAMPLED, monotonic: Callable[[], float] | None = None) -> None:
        self._share = share
        self._lock = threading.Lock()
        self.monotonic = monotonic or SystemClock().monotonic
        labels = ("name", "operation", "rejected", "type")
        self._times = Histogram(NAME, "Time of an admission plugin, of one request in 32.", _BUCKETS, labels)

    def is_measured(self) -> bool:
        """Tell whether the next call of the chain is one of those that are measured."""
        return random() < self._share  # noqa: S311  which calls are measured is no secret

    def around(self, hooks: Sequence[tuple[str, Hook]], kind: str) -> tuple[Hook, ...]:
        """Return the hooks, given with their plugins' names, so that each call is measured."""
        return tuple(_Measured(self, name, hook, kind) for name, hook in hooks)

    def observe(self, labels: Labels, seconds: float) -> None:
        """Take a time."""
        with self._lock:
            self._times.observe(labels, seconds)

    def text(self) -> bytes:
        """Return the metric in Prometheus' text format."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """Return the metric."""
        with self._lock:
            rows = {labels: (list(counts), list(total)) for labels, (counts, total) in self._times.rows.items()}
        yield self._times.family(rows)


class _Measured:
    """A hook whose calls are measured."""

    __slots__ = ("_hook", "_kind", "_name", "_times")

    def __init__(self, times: PluginTimes, name: str, hook: Hook, kind: str) -> None:
        self._times = times
        self._name = name
        self._hook = hook
        self._kind = kind

    def __call__(self, *, request: AdmissionRequest) -> object:
        """Call the hook."""
        rejected = "false"
        began = self._times.monotonic()
        try:
            return self._hook(request=request)
        except ApiError:
            rejected = "true"
            raise
        finally:
            labels = (self._name, str(request.operation), rejected, self._kind)
            self._times.observe(labels, self._times.monotonic() - began)
