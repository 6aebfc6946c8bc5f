"""Where the scheduler's explanations are asked for: ``/debug/scheduler/explain?pod=NAMESPACE/NAME``.

In `hyperkube up` the API server offers the path, to whom it authorizes for it; a scheduler of its own offers it on its
HTTP port.
"""

from __future__ import annotations

from typing import Protocol
from urllib.parse import parse_qs

import orjson

from hyperkube.machinery.objects import Object
from hyperkube.scheduler.metrics import SchedulerMetrics
from hyperkube.serving.endpoints import ServerEndpoints
from hyperkube.serving.exchange import Answer, HttpRequest, Response

EXPLAIN_PATH = "/debug/scheduler/explain"
METRICS_PATH = "/debug/scheduler/metrics"
"""Where `hyperkube up`, whose API server has ``/metrics`` for itself, offers the scheduler's."""


class Explainer(Protocol):
    """Something that knows the latest decisions: the scheduler."""

    def explain(self, key: str) -> Object | None:
        """Return the decision on a pod, None if none is known."""


def explanation(scheduler: Explainer, key: str) -> Response:
    """Answer with the latest decision on a pod; 404 and a Status-like body when none is known."""
    found = scheduler.explain(key)
    status = 404 if found is None else 200
    body = {"message": f"no decision on pod {key!r} is known"} if found is None else found
    return Response(status=status, headers=[("Content-Type", "application/json")], body=orjson.dumps(body) + b"\n")


def measured(metrics: SchedulerMetrics) -> Response:
    """Answer with the scheduler's metrics in Prometheus' text format."""
    headers = [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")]
    return Response(status=200, headers=headers, body=metrics.text())


class WithExplanations:
    """A scheduler's endpoints with its explanations among them; a `Handler`."""

    def __init__(self, scheduler: Explainer, endpoints: ServerEndpoints) -> None:
        self._scheduler = scheduler
        self._endpoints = endpoints

    def handle(self, request: HttpRequest) -> Answer:
        """Answer from the explanations, else from the endpoints."""
        if request.path == EXPLAIN_PATH:
            wanted = parse_qs(request.query_string).get("pod", [""])
            return explanation(self._scheduler, wanted[0])
        return self._endpoints.handle(request)

    def hot(self, request: HttpRequest) -> Response | None:
        """Nothing is answered on the loop."""
        return self._endpoints.hot(request)

    def is_long_running(self, request: HttpRequest) -> bool:
        """Only profiles take their time."""
        return self._endpoints.is_long_running(request)
