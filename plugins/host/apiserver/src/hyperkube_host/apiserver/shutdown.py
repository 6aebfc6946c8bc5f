"""How an API server ends: no longer ready, then taking no more requests, then without streams, then gone.

Source: kubernetes apiserver ``pkg/server/genericapiserver.go`` (RunWithContext), ``filters/with_retry_after.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.wire import plain

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

_ALWAYS_ANSWERED = ("/readyz", "/livez", "/healthz", "/metrics")


class GracefulShutdown(Record):
    """What the flags say of it; times in seconds.

    Attributes:
        delay: how long to go on serving as if nothing had happened, but for ``/readyz``.
        request_seconds: how long requests under way may take after that.
        stream_seconds: over how long watches are ended, one after another; 0: all at once.
        retry_after: whether requests that come while others finish are answered 429 rather than not at all.
    """

    delay: float = 0.0
    request_seconds: float = 60.0
    stream_seconds: float = 0.0
    retry_after: bool = False


def shut_down(shutdown: GracefulShutdown, announce: Callable[[], None], edges: Sequence[Edge], clock: Clock) -> None:
    """Go through all steps but the last: to close the listeners and the server is left to the caller."""
    announce()
    if shutdown.delay > 0:
        clock.sleep(shutdown.delay)
    refuse = retry_elsewhere if shutdown.retry_after else None
    for edge in edges:
        edge.wind_down(request_seconds=shutdown.request_seconds, stream_seconds=shutdown.stream_seconds, refuse=refuse)


def retry_elsewhere(request: HttpRequest) -> Response | None:
    """Return the refusal that sends a client to another server; None for what is answered to the end."""
    if request.path.startswith(_ALWAYS_ANSWERED) or request.headers.get("user-agent", "").startswith("kube-apiserver/"):
        return None
    return plain(429, "The apiserver is shutting down, please try again later.", ("Retry-After", "5"))
