"""replicaset: as many pods of a template as the replica set asks for, no more and no fewer.

How it counts is in `hyperkube_lib.replicas`, how it creates and deletes in `hyperkube_lib.pod_control`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from hyperkube_lib.controller_metrics import ControllerMetrics
from hyperkube_lib.replicas import ReplicasController

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_ready
from hyperkube.kinds.resources import REPLICA_SETS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.metric_families import Histogram, growing
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

_MILLISECONDS = 1000


class Settings(Record):
    """How many replica sets are synced at once."""

    concurrent_replicaset_syncs: int = 5


def age_ratios(active: Sequence[Object], chosen: Sequence[Object], now: datetime) -> Iterator[int]:
    """Yield for each chosen pod that is ready how many times as old it is as the youngest ready one, rounded down.

    Source: kubernetes ``pkg/controller/replicaset/replica_set.go`` (``reportSortingDeletionAgeRatioMetric``).
    """

    def age(pod: Object) -> int:
        return int((now - parse_time(metadata(pod)["creationTimestamp"])).total_seconds() * _MILLISECONDS)

    youngest = min((age(pod) for pod in active if is_ready(pod)), default=0)
    if youngest > 0:
        yield from (age(pod) // youngest for pod in chosen if is_ready(pod))


class Replicaset(Plugin):
    """Keeps each replica set's pods at ``spec.replicas``."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._age_ratio = Histogram(
            "replicaset_controller_sorting_deletion_age_ratio",
            "The ratio of the age of a ready pod that was chosen for deletion to that of the youngest one",
            growing(0.25, 2, 6),
        )
        self._metrics = ControllerMetrics(self._age_ratio)
        self._metrics.register(self.context)
        workers = self.settings(Settings).concurrent_replicaset_syncs
        return ReplicasController(
            self,
            REPLICA_SETS,
            "ReplicaSet",
            component="replicaset-controller",
            selector_of=label_selector_of,
            workers=workers,
            shows_terminating=True,
            scaled_down=self._scaled_down,
        )

    def _scaled_down(self, active: Sequence[Object], chosen: Sequence[Object], now: datetime) -> None:
        for ratio in age_ratios(active, chosen, now):
            self._metrics.observe(self._age_ratio, ratio)
