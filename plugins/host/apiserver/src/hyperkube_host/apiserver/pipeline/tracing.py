"""Traces of requests: ``--tracing-config-file`` names the collector, and how many requests it is told of.

What sends spans is a distribution of its own (``hyperkube-lib-tracing``), imported when the flag is given.

Source: kubernetes apiserver ``pkg/endpoints/filters/traces.go``, component-base ``tracing/api/v1``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response, StreamResponse

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.users import PRIVILEGED_GROUP
from hyperkube.plugin.configuration import WrongFields, check_keys, read_configuration

if TYPE_CHECKING:
    from hyperkube_host.apiserver.request.api_request import ApiRequest
    from hyperkube_host.apiserver.request.request_info import RequestInfo

_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_ENDPOINT = "localhost:4317"
_MILLION = 1_000_000
_TRUSTED = frozenset({PRIVILEGED_GROUP, "system:monitoring"})
"""Groups whose members may make a request part of their own trace; others could have every request sampled."""


class Spans(Protocol):
    """What sends spans; see `hyperkube_lib.tracing.Spans`."""

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
        """Tell of a request that was answered."""

    def close(self) -> None:
        """Send what is waiting, and no more."""


@dataclass(frozen=True, slots=True)
class TracingConfiguration:
    """The collector, ``HOST:PORT``, and how many of a million requests it is told of."""

    endpoint: str = _ENDPOINT
    sampling_rate_per_million: int = 0


def read_tracing(path: str) -> TracingConfiguration:
    """Read a TracingConfiguration file.

    Raises:
        UsageError: it cannot be read or is wrong.
    """
    table = read_configuration(path, "TracingConfiguration", _VERSIONS)
    check_keys(table, ("apiVersion", "kind", "endpoint", "samplingRatePerMillion"), "TracingConfiguration")
    errors: list[FieldError] = []
    rate, endpoint = table.get("samplingRatePerMillion"), table.get("endpoint")
    at = ROOT.child("samplingRatePerMillion")
    if rate is not None and (not isinstance(rate, int) or isinstance(rate, bool)):
        errors.append(invalid(at, rate, "sampling rate must be an integer"))
    elif rate is not None and rate < 0:
        errors.append(invalid(at, rate, "sampling rate must be positive"))
    elif rate is not None and rate > _MILLION:
        errors.append(invalid(at, rate, "sampling rate per million must be less than or equal to one million"))
    if endpoint is not None and (not isinstance(endpoint, str) or not endpoint or "://" in endpoint):
        errors.append(invalid(ROOT.child("endpoint"), endpoint, "must be HOST:PORT of a collector"))
    if errors:
        raise WrongFields(errors)
    return TracingConfiguration(endpoint or _ENDPOINT, rate or 0)


class RequestTracer:
    """Makes a span of each request that was answered."""

    def __init__(self, spans: Spans, clock: Clock) -> None:
        self._spans = spans
        self._clock = clock

    def answered(self, asked: HttpRequest, request: ApiRequest, answer: Answer, seconds: float) -> None:
        """Tell of a request that took so many seconds; of a watch, until its stream began."""
        attributes: dict[str, str | int] = {
            "http.method": asked.method,
            "http.target": asked.uri,
            "http.scheme": "https" if asked.secure else "http",
            "http.user_agent": asked.headers.get("user-agent", ""),
            "audit-id": request.audit_id,
        }
        self._spans.served(
            span_name(asked.method, request.info),
            asked.headers,
            attributes,
            status=answer.status if isinstance(answer, Response | StreamResponse) else 101,
            ended=self._clock.now().timestamp(),
            seconds=seconds,
            trusted=not _TRUSTED.isdisjoint(request.user.groups),
        )

    def close(self) -> None:
        """Send what is waiting, and no more."""
        self._spans.close()


def span_name(method: str, info: RequestInfo) -> str:
    """Return the name of a request's span: method and path, with names in braces."""
    if not info.is_resource:
        return method
    parts = [info.prefix, *([info.group] if info.group else []), info.version]
    parts += ["namespaces", "{:namespace}"] if info.namespace else []
    parts += [info.resource, *(["{:name}"] if info.name else []), *([info.subresource] if info.subresource else [])]
    return f"{method} /{'/'.join(part.strip('/') for part in parts)}"


def open_tracer(path: str, clock: Clock, instance: str) -> RequestTracer | None:
    """Return what traces requests; None without a file.

    Raises:
        UsageError: the file is wrong, or nothing that sends spans is installed.
    """
    if not path:
        return None
    configuration = read_tracing(path)
    try:
        library = importlib.import_module("hyperkube_lib.tracing")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--tracing-config-file needs hyperkube-lib-tracing, which is not installed: {error}"
        ) from error
    spans: Spans = library.Spans(configuration.endpoint, configuration.sampling_rate_per_million, "apiserver", instance)
    return RequestTracer(spans, clock)
