"""An OpenTelemetry collector in this process: it keeps the spans that it is sent."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self


class TraceCollector:
    """Listens for OTLP over gRPC on a loopback port while the context lasts.

    Attributes:
        resources: the attributes of the sender, one set per request.
    """

    def __init__(self) -> None:
        import grpc
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

        self._spans: list[Any] = []
        self._lock = threading.Lock()
        self.resources: list[dict[str, str]] = []
        self._server = grpc.server(ThreadPoolExecutor(max_workers=2))
        collector = self

        class Service(trace_service_pb2_grpc.TraceServiceServicer):
            def Export(self, request: Any, context: Any) -> Any:  # noqa: N802  the service's own name
                collector._keep(request)
                return trace_service_pb2.ExportTraceServiceResponse()

        register: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server  # untyped
        register(Service(), self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    def _keep(self, request: Any) -> None:
        with self._lock:
            for resource in request.resource_spans:
                self.resources.append({each.key: each.value.string_value for each in resource.resource.attributes})
                for scope in resource.scope_spans:
                    self._spans += scope.spans

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def spans(self) -> list[Any]:
        """Return the spans that came, as protobuf messages."""
        with self._lock:
            return list(self._spans)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.stop(0).wait()
