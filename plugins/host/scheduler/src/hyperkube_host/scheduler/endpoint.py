"""What a scheduler serves: health, metrics, configuration, and explanations of its decisions.

``/debug/scheduler/explain?pod=NAMESPACE/NAME`` tells the latest decision on a pod. In `hyperkube up` the API server
offers the path, to whom it authorizes for it; a scheduler of its own offers it beside the endpoints that kube-scheduler
has. Source of those: kubernetes ``cmd/kube-scheduler/app/server.go`` (Run, newEndpointsHandler).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs

import orjson
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.resource_metrics import resource_metrics
from hyperkube_lib.serving.component import ComponentHandler, metrics_text
from hyperkube_lib.serving.component_metrics import Collector, Leadership
from hyperkube_lib.serving.endpoints import ServerEndpoints
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.zpages import Zpages

from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_host.scheduler.options import SchedulerOptions
    from hyperkube_host.scheduler.scheduler import Scheduler

EXPLAIN_PATH = "/debug/scheduler/explain"
RESOURCES_PATH = "/metrics/resources"
METRICS_PATH = "/debug/scheduler/metrics"
"""Where `hyperkube up`, whose API server has ``/metrics`` for itself, offers the scheduler's."""


class Explainer(Protocol):
    """Something that knows the latest decisions: the scheduler."""

    def explain(self, key: str) -> Object | None:
        """Return the decision on a pod, None if none is known."""

    def pods(self) -> Sequence[Object]:
        """Return all pods that it knows of; none while another process leads."""


def explanation(scheduler: Explainer, key: str) -> Response:
    """Answer with the latest decision on a pod; 404 and a Status-like body when none is known."""
    found = scheduler.explain(key)
    status = 404 if found is None else 200
    body = {"message": f"no decision on pod {key!r} is known"} if found is None else found
    return Response(status=status, headers=[("Content-Type", "application/json")], body=orjson.dumps(body) + b"\n")


def measured(metrics: SchedulerMetrics) -> Response:
    """Answer with the scheduler's metrics in Prometheus' text format."""
    return metrics_text(metrics.text())


def scheduler_endpoints(
    scheduler: Scheduler, options: SchedulerOptions, collectors: Sequence[Collector] = ()
) -> ServerEndpoints:
    """Return health, metrics and configuration of a scheduler, as kube-scheduler serves them.

    Args:
        scheduler: whose they are.
        options: its options.
        collectors: of what else is told at ``/metrics``.
    """
    endpoints = ServerEndpoints(
        configz={"componentconfig": scheduler.configuration},
        metrics=lambda: scheduler.metrics.registry(Leadership(scheduler.leads), *collectors),
        profiling=options.profiling,
        set_verbosity=_set_verbosity,
    )
    if options.election is not None:
        endpoints.healthz.add("leaderElection", scheduler.election_failure)
        endpoints.readyz.add("leaderElection", scheduler.election_failure)
    endpoints.readyz.add("shutdown", scheduler.close_failure)
    endpoints.readyz.add("sched-handler-sync", scheduler.sync_failure)
    return endpoints


def _set_verbosity(level: int) -> None:
    logging.getLogger("hyperkube.scheduler").setLevel(logging.DEBUG if level >= 4 else logging.INFO)


def with_explanations(
    scheduler: Explainer, endpoints: ServerEndpoints, zpages: Zpages | None = None
) -> ComponentHandler:
    """Return a handler of a scheduler's endpoints with its explanations, and its pages for people, among them."""

    def explain(request: HttpRequest) -> Response:
        return explanation(scheduler, parse_qs(request.query_string).get("pod", [""])[0])

    def resources(_request: HttpRequest) -> Response:
        return metrics_text(resource_metrics(scheduler.pods()))

    return ComponentHandler(endpoints, zpages, {EXPLAIN_PATH: explain, RESOURCES_PATH: resources})
