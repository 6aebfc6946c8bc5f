"""What a controller manager serves: health of each controller, metrics of their queues, configuration.

Controllers appear among the checks once they are built, under their canonical names: one process of several leads, and
the others have none. A controller whose thread has died fails its check.
Sources: kubernetes ``cmd/kube-controller-manager/app/controllermanager.go`` (Run, StartControllers), controller-manager
``pkg/healthz``, component-base ``metrics/prometheus/controllers/metrics.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hyperkube_lib.serving.component import metrics_text
from hyperkube_lib.serving.component_metrics import Collector, Leadership, Release, registry_of
from hyperkube_lib.serving.endpoints import ServerEndpoints

if TYPE_CHECKING:
    from hyperkube_lib.controller_manager.manager import ControllerManager
    from hyperkube_lib.controller_manager.options import ManagerOptions
    from hyperkube_lib.serving.exchange import Response
    from hyperkube_lib.serving.health import Check
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

METRICS_PATH = "/debug/controllers/metrics"
"""Where `hyperkube up`, whose API server has ``/metrics`` for itself, offers the controllers'."""


class RunningControllers:
    """Tells which controllers run: ``running_managed_controllers``."""

    def __init__(self, manager: ControllerManager) -> None:
        self._manager = manager

    def collect(self) -> Iterator[Metric]:
        """Put the family together."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        family = GaugeMetricFamily(
            "running_managed_controllers", "Whether a controller runs here: 1, or 0.", labels=("name", "manager")
        )
        for name, runs in self._manager.health().items():
            family.add_metric((self._manager.descriptors[name].name, self._manager.spec.name), int(runs))
        yield family


def registry(manager: ControllerManager, collectors: Sequence[Collector] = ()) -> CollectorRegistry:
    """Return all that is told at ``/metrics``; `collectors` have what the manager does not know."""
    leads = Leadership(manager.leads)
    return registry_of(Release(), leads, RunningControllers(manager), manager.queues, manager.collectors, *collectors)


def measured(manager: ControllerManager) -> Response:
    """Answer with a manager's metrics in Prometheus' text format."""
    from prometheus_client import generate_latest

    return metrics_text(generate_latest(registry(manager)))


def manager_endpoints(
    manager: ControllerManager, options: ManagerOptions, collectors: Sequence[Collector] = ()
) -> ServerEndpoints:
    """Return health, metrics and configuration of a controller manager, as Kubernetes' managers serve them."""

    def controllers() -> dict[str, Check]:
        return {manager.descriptors[name].name: _check(runs=runs) for name, runs in manager.health().items()}

    endpoints = ServerEndpoints(
        configz={manager.spec.configuration: manager.configuration},
        metrics=lambda: registry(manager, collectors),
        profiling=options.profiling,
        set_verbosity=_set_verbosity,
    )
    if options.election is not None:
        endpoints.healthz.add("leaderElection", manager.election_failure)
        endpoints.readyz.add("leaderElection", manager.election_failure)
    endpoints.readyz.add("informer-sync", lambda: "" if manager.ready() else "controllers have not seen the world yet")
    endpoints.healthz.add_all(controllers)
    return endpoints


def _check(*, runs: bool) -> Check:
    return lambda: "" if runs else "the controller has ended"


def _set_verbosity(level: int) -> None:
    logging.getLogger("hyperkube.controller").setLevel(logging.DEBUG if level >= 4 else logging.INFO)
