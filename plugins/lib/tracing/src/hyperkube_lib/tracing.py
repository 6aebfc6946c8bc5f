"""Spans of a server, sent to an OpenTelemetry collector over gRPC.

A span is told when its work is over, with its beginning: so that a server pays for what is sampled, and for nothing
before. Who calls with a W3C trace context is trusted only if the server says so: else the span begins a trace of its
own, and links to the one it came with.

Source: kubernetes component-base ``tracing/{tracing,utils}.go``, apiserver ``pkg/endpoints/filters/traces.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_NANO = 1_000_000_000
_MILLION = 1_000_000
CLOSE_SECONDS = 2.0
"""How long the end of a server waits for its last spans: the exporter by itself tries for ten seconds, a batch."""
_ERRORS = 500
"""From this status on the server is to blame: the span of a client's mistake is no error (semantic conventions)."""


class _Exporter(OTLPSpanExporter):
    """Ends once: when its time is over, or with what it exports for."""

    _ended = False

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: object) -> None:
        """Give up what is being sent, and the waiting for another try; idempotent."""
        if not self._ended:
            self._ended = True
            super().shutdown(timeout_millis, **kwargs)


class Spans:
    """Sends spans until it is closed; a collector that is away costs a server nothing but the spans.

    Args:
        endpoint: ``HOST:PORT`` of the collector, without TLS.
        rate: how many of a million traces that begin here are sampled.
        service: ``service.name``, such as ``apiserver``.
        instance: ``service.instance.id``: which of several servers it is.
    """

    def __init__(self, endpoint: str, rate: int, service: str, instance: str) -> None:
        resource = Resource.create({"service.name": service, "service.instance.id": instance})
        sampler = ParentBased(TraceIdRatioBased(rate / _MILLION))
        self._provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
        self._exporter = _Exporter(endpoint=endpoint, insecure=True)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("hyperkube")
        self._propagator = TraceContextTextMapPropagator()

    def served(
        self,
        name: str,
        headers: Mapping[str, str],
        attributes: Mapping[str, str | int],
        *,
        status: int,
        ended: float,
        seconds: float,
        trusted: bool,
    ) -> None:
        """Tell of a request that was answered.

        Args:
            name: of the span.
            headers: of the request, by lower-case name: ``traceparent`` and ``tracestate`` are read.
            attributes: what the span says.
            status: the HTTP status.
            ended: when, in seconds of the epoch.
            seconds: how long it took.
            trusted: whether the caller may make the span part of its own trace, and have it sampled.
        """
        around = self._propagator.extract(dict(headers))
        remote = trace.get_current_span(around).get_span_context()
        links = [trace.Link(remote)] if remote.is_valid and not trusted else []
        start = int((ended - seconds) * _NANO)
        span = self._tracer.start_span(
            name,
            context=around if trusted else trace.set_span_in_context(trace.INVALID_SPAN),
            kind=trace.SpanKind.SERVER,
            attributes={**attributes, "http.status_code": status},
            links=links,
            start_time=start,
        )
        if status >= _ERRORS:
            span.set_status(trace.StatusCode.ERROR)
        span.end(end_time=int(ended * _NANO))

    def close(self) -> None:
        """Send what is waiting, for `CLOSE_SECONDS` at most, and no more; idempotent."""
        giving_up = threading.Timer(CLOSE_SECONDS, self._exporter.shutdown)
        giving_up.start()
        self._provider.shutdown()
        giving_up.cancel()
