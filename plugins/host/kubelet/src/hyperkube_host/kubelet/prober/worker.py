"""One probe of one running container: its thresholds, decided without clock or network.

Source: kubernetes ``pkg/kubelet/prober/worker.go`` (doProbe), ``pkg/kubelet/prober/prober.go`` (runProbe).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import field
from typing import NamedTuple

from hyperkube_host.kubelet.probe.result import ProbeResult
from hyperkube_host.kubelet.prober.probe_type import ProbeType

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

DEFAULT_PERIOD_SECONDS, DEFAULT_TIMEOUT_SECONDS = 10.0, 1.0
DEFAULT_SUCCESS_THRESHOLD, DEFAULT_FAILURE_THRESHOLD = 1, 3

DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds; the usual ones of Prometheus' clients."""


class ProbeKey(NamedTuple):
    """Which probe: of one container, of one kind."""

    container_id: str
    type: ProbeType


@dataclass(slots=True)
class ProbeWorker:
    """The state of a probe between two checks.

    Attributes:
        passes: whether the container passes the probe; None as long as no threshold was reached. A liveness probe
            passes from the start: only failures have consequences.
        successes, failures: the checks in a row with that result.
        results: how many checks had each result, for the metrics.
        durations: how many checks took at most each of `DURATION_BUCKETS`, and longer.
        seconds: how long all checks took together.
    """

    key: ProbeKey
    spec: Object
    pod: Object
    container: Object
    address: str
    passes: bool | None = None
    successes: int = 0
    failures: int = 0
    results: Counter[ProbeResult] = field(default_factory=Counter)
    durations: list[int] = field(default_factory=lambda: [0] * (len(DURATION_BUCKETS) + 1))
    seconds: float = 0.0

    def measure(self, result: ProbeResult, seconds: float) -> None:
        """Note a check for the metrics."""
        self.results[result] += 1
        self.durations[bisect_left(DURATION_BUCKETS, seconds)] += 1
        self.seconds += seconds

    @property
    def period_seconds(self) -> float:
        """The time between two checks."""
        return float(self.spec.get("periodSeconds") or DEFAULT_PERIOD_SECONDS)

    @property
    def timeout_seconds(self) -> float:
        """How long a check may take."""
        return float(self.spec.get("timeoutSeconds") or DEFAULT_TIMEOUT_SECONDS)

    def record(self, result: ProbeResult) -> bool:
        """Count the result of a check; tell whether `passes` changed. An error counts for nothing."""
        if result is ProbeResult.ERROR:
            return False
        success = result is ProbeResult.SUCCESS
        self.successes = self.successes + 1 if success else 0
        self.failures = 0 if success else self.failures + 1
        if success:
            reached = self.successes >= int(self.spec.get("successThreshold") or DEFAULT_SUCCESS_THRESHOLD)
        else:
            reached = self.failures >= int(self.spec.get("failureThreshold") or DEFAULT_FAILURE_THRESHOLD)
        if not reached or self.passes is success:
            return False
        self.passes = success
        return True
