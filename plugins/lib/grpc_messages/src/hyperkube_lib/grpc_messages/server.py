"""The server's side: functions on mappings behind a socket."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hyperkube_lib.grpc_messages.errors import RpcFailed
from hyperkube_lib.grpc_messages.schema import LARGEST_MESSAGE, Method, Service, from_mapping, to_mapping

if TYPE_CHECKING:
    import grpc

Handler = Callable[[dict[str, Any]], Any]
"""Request → response as mappings; of a streaming method, an iterable of responses. Refuses with `RpcFailed`."""


@runtime_checkable
class EndlessStream(Protocol):
    """Responses that come when something happens: told, from another thread, when the caller has gone."""

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Yield responses until cancelled."""

    def cancel(self) -> None:
        """End the iteration soon."""


MOST_WAITING = 256
"""Calls that may wait for a thread; more are refused, as each keeps its message in memory."""
_log = logging.getLogger("hyperkube.grpc")


class GrpcServer:
    """Serves handlers on sockets; a larger message than `LARGEST_MESSAGE` is refused before it is read."""

    def __init__(self, threads: int = 16, waiting: int = MOST_WAITING) -> None:
        """Serve at most `threads` calls at a time, half of them open streams at most, while `waiting` others wait."""
        import grpc

        self._streams = threading.Semaphore(max(1, threads // 2))
        self._server = grpc.server(
            ThreadPoolExecutor(threads, thread_name_prefix="grpc"),
            options=(("grpc.max_receive_message_length", LARGEST_MESSAGE),),
            maximum_concurrent_rpcs=threads + waiting,
        )

    def add_service(self, service: Service, handlers: Mapping[str, Handler]) -> None:
        """Serve the methods of a service by name; a method without a handler answers ``UNIMPLEMENTED``.

        Raises:
            KeyError: a handler of no method.
        """
        import grpc

        made = {
            name: _method_handler(service.methods[name], handler, self._streams) for name, handler in handlers.items()
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.name, made),))

    def listen(self, path: str) -> None:
        """Serve on a unix socket; a file at its path must have been removed before."""
        self._server.add_insecure_port(f"unix:{path}")

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()

    def stop(self, grace_seconds: float = 0.0) -> None:
        """End: running calls get `grace_seconds`."""
        self._server.stop(grace_seconds).wait()


def _method_handler(method: Method, handler: Handler, streams: threading.Semaphore) -> Any:
    import grpc

    def answer(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return from_mapping(method.response, handler(to_mapping(request)) or {})
        except RpcFailed as error:
            context.abort(grpc.StatusCode[error.code], error.details)
        except Exception as error:  # noqa: BLE001 - the boundary of the server: logged, and told to the caller
            _log.exception("%s failed", method.path)
            context.abort(grpc.StatusCode.UNKNOWN, str(error))

    def stream(request: Any, context: grpc.ServicerContext) -> Iterable[Any]:
        if not streams.acquire(blocking=False):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams are open")
        try:
            responses = handler(to_mapping(request))
            if isinstance(responses, EndlessStream) and not context.add_callback(responses.cancel):
                return  # the caller has gone already
            for response in responses:
                yield from_mapping(method.response, response)
        except RpcFailed as error:
            context.abort(grpc.StatusCode[error.code], error.details)
        finally:
            streams.release()

    make = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
    return make(
        stream if method.server_streaming else answer, method.request.FromString, lambda m: m.SerializeToString()
    )
