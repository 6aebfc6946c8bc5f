"""The server: a store, the services over it on a private socket, and the clients' port in front."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperkube_command.etcd.front import Front
from hyperkube_command.etcd.kv import KV
from hyperkube_command.etcd.services import VERSION, Services, Streamed
from hyperkube_lib.grpc_messages import Method, RpcFailed, from_mapping, load_schema, to_mapping

from hyperkube.machinery.clock import Clock
from hyperkube.storage.store import Store, StoreError

if TYPE_CHECKING:
    import grpc

STREAMS = 512
"""Calls at a time: an open watch is one of them, and an API server has one for each kind of object."""


def stream_handler(method: Method, call: Streamed) -> Any:
    """Return what serves a call with a stream each way."""
    import grpc

    def answer(requests: Any, context: grpc.ServicerContext) -> Any:
        try:
            for response in call(_received(requests)):
                yield from_mapping(method.response, response)
        except RpcFailed as error:
            context.abort(grpc.StatusCode[error.code], error.details)

    return grpc.stream_stream_rpc_method_handler(answer, method.request.FromString, lambda m: m.SerializeToString())


def _received(requests: Any) -> Iterator[dict[str, Any]]:
    """Yield a stream's requests; a client that leaves, however it does, ends them."""
    import grpc

    with contextlib.suppress(grpc.RpcError):
        for request in requests:
            yield to_mapping(request)


def unary_handler(method: Method, call: Any) -> Any:
    """Return what serves a call with one request and one response."""
    import grpc

    def answer(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return from_mapping(method.response, call(to_mapping(request)))
        except RpcFailed as error:
            context.abort(grpc.StatusCode[error.code], error.details)

    return grpc.unary_unary_rpc_method_handler(answer, method.request.FromString, lambda m: m.SerializeToString())


class EtcdServer:
    """Serves a store to etcd's clients; a part of a server's life."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        addresses: list[tuple[str, int]],
        *,
        name: str = "default",
        size: Callable[[], int] = lambda: 0,
    ) -> None:
        """Make it; `size` tells how many bytes the store takes on the disk."""
        import grpc

        self._kv = KV(store, clock)
        self._folder = tempfile.TemporaryDirectory(prefix="hyperkube-etcd-")
        path = str(Path(self._folder.name) / "grpc.sock")
        urls = [f"http://{host}:{port}" for host, port in addresses]
        services = Services(self._kv, name, urls, size)
        options = (("grpc.max_receive_message_length", 16 << 20), ("grpc.max_send_message_length", -1))
        self._server = grpc.server(ThreadPoolExecutor(STREAMS, thread_name_prefix="etcd"), options=options)
        schema = load_schema("hyperkube_command.etcd", "rpc.proto")
        unary, streamed = services.unary(), services.streamed()
        for word in {**unary, **streamed}:
            service = schema.service(word)
            handlers = {call: unary_handler(service.methods[call], how) for call, how in unary.get(word, {}).items()}
            for call, how in streamed.get(word, {}).items():
                handlers[call] = stream_handler(service.methods[call], how)
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.name, handlers),))
        self._server.add_insecure_port(f"unix:{path}")
        self._front = Front(addresses, path, VERSION, self._healthy, clock)

    def _healthy(self) -> bool:
        try:
            self._kv.store.revision()
        except StoreError:
            return False
        return True

    def start(self) -> None:
        """Serve.

        Raises:
            UsageError: an address is taken.
        """
        self._server.start()
        self._front.start()

    def close(self) -> None:
        """End all calls and connections."""
        self._front.close()
        self._kv.close()
        self._server.stop(0).wait()
        self._folder.cleanup()
