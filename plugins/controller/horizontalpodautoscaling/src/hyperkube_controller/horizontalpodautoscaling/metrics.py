"""What the controller tells of autoscalers at ``/metrics``.

Source of names, labels and buckets: kubernetes ``pkg/controller/podautoscaler/monitor``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.metric_families import Counter, Gauge, Histogram, growing
from hyperkube.machinery.objects import Object, name_of, namespace_of

_PREFIX = "horizontal_pod_autoscaler_controller_"
_BUCKETS = growing(0.001, 2, 15)
"""Seconds: a millisecond to sixteen seconds."""
_RESULT = ("action", "error")
_COMPUTATION = (*_RESULT, "metric_type")


@dataclass(slots=True)
class Outcome:
    """What was decided (``scale_up``, ``scale_down``, ``none``), and what went wrong (``internal``, ``none``)."""

    action: str = "none"
    error: str = "internal"

    def decided(self, replicas: int | None, before: int, *, failed: bool = False) -> None:
        """Note how many replicas are asked for, of `before`, None for no change; and whether something failed."""
        self.error = "internal" if failed else "none"
        if replicas is not None and replicas != before:
            self.action = "scale_up" if replicas > before else "scale_down"


class AutoscalerMetrics(ControllerMetrics):
    """Counts reconciliations and computations; thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._reconciliations = Counter(f"{_PREFIX}reconciliations", "Number of reconciliations", _RESULT)
        self._durations = Histogram(
            f"{_PREFIX}reconciliation_duration_seconds", "The time a reconciliation took", _BUCKETS, _RESULT
        )
        self._computations = Counter(f"{_PREFIX}metric_computation", "Number of metric computations", _COMPUTATION)
        self._computed = Histogram(
            f"{_PREFIX}metric_computation_duration_seconds", "The time a metric took to compute", _BUCKETS, _COMPUTATION
        )
        self._autoscalers = Gauge(f"{_PREFIX}num_horizontal_pod_autoscalers", "Number of autoscalers")
        self._desired = Gauge(
            f"{_PREFIX}desired_replicas", "Number of replicas that an autoscaler asks for", ("namespace", "hpa_name")
        )
        super().__init__(
            self._reconciliations, self._durations, self._computations, self._computed, self._autoscalers, self._desired
        )

    def controlled(self, number: int) -> None:
        """Note how many autoscalers there are."""
        self.set(self._autoscalers, number)

    def desired(self, autoscaler: Object, replicas: int) -> None:
        """Note how many replicas an autoscaler asks for."""
        self.set(self._desired, replicas, (namespace_of(autoscaler), name_of(autoscaler)))

    def gone(self, namespace: str, name: str) -> None:
        """Forget an autoscaler."""
        self.remove(self._desired, namespace, name)

    @contextmanager
    def reconciliation(self) -> Iterator[Outcome]:
        """Measure a reconciliation; its outcome is written into the result."""
        outcome, begun = Outcome(), self._clock.monotonic()
        try:
            yield outcome
        except BaseException:
            outcome.error = "internal"
            raise
        finally:
            labels = (outcome.action, outcome.error)
            self.add(self._reconciliations, labels)
            self.observe(self._durations, self._clock.monotonic() - begun, labels)

    @contextmanager
    def computation(self, metric_type: str) -> Iterator[Outcome]:
        """Measure the computation of a metric of a type."""
        outcome, begun = Outcome(), self._clock.monotonic()
        yield outcome
        labels = (outcome.action, outcome.error, metric_type)
        self.add(self._computations, labels)
        self.observe(self._computed, self._clock.monotonic() - begun, labels)
