"""The client's side: calls by method name, with a deadline each, on a channel that reconnects by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hyperkube_lib.grpc_messages.errors import RpcFailed
from hyperkube_lib.grpc_messages.schema import LARGEST_MESSAGE, Service, from_mapping, to_mapping

from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    import grpc
    from google.protobuf.message import Message

RECONNECT_MAX_MILLISECONDS = 3000
"""The longest wait between two attempts to connect. Kubernetes: ``maxBackoffDelay`` of ``pkg/kubelet/cri``."""


def unix_socket_of(endpoint: str) -> str:
    """Return the path of the unix socket that an endpoint names: ``unix:///path``, ``unix:/path`` or a bare path.

    Raises:
        UsageError: it names something else.
    """
    scheme, colon, rest = endpoint.partition(":")
    if not colon and endpoint.startswith("/"):
        return endpoint
    if scheme == "unix" and rest.startswith("/"):
        return "/" + rest.lstrip("/")
    raise UsageError(f"endpoint {endpoint!r} is not a unix socket: only unix:///PATH is supported")


def unix_channel(path: str) -> grpc.Channel:
    """Return a channel to a unix socket; it connects at the first call, and again whenever the other side is back."""
    import grpc

    return grpc.insecure_channel(
        f"unix:{path}",
        options=(
            ("grpc.max_receive_message_length", LARGEST_MESSAGE),
            ("grpc.max_send_message_length", LARGEST_MESSAGE),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", RECONNECT_MAX_MILLISECONDS),
            # Each channel has connections of its own: closing one must not wait for another one's.
            ("grpc.use_local_subchannel_pool", 1),
            # As Go's client: proxies of the environment are not for sockets of this machine.
            ("grpc.enable_http_proxy", 0),
            ("grpc.default_authority", "localhost"),
        ),
    )


class Stub:
    """Calls the methods of one service; may be used from several threads."""

    def __init__(self, channel: grpc.Channel, service: Service) -> None:
        self._service = service
        self._calls = {name: _callable(channel, method) for name, method in service.methods.items()}

    def call(self, method: str, request: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        """Call a unary method; see `call_message`."""
        return to_mapping(self.call_message(method, request, timeout))

    def call_message(self, method: str, request: Mapping[str, Any], timeout: float | None) -> Any:
        """Call a unary method and return the message itself, which is cheaper to read than a mapping.

        Args:
            method: its name.
            request: the content of the request.
            timeout: seconds until it fails with ``DEADLINE_EXCEEDED``; None to wait for ever.

        Raises:
            RpcFailed: it failed, or could not be made.
        """
        message = from_mapping(self._service.methods[method].request, request)
        with _failures():
            return self._calls[method](message, timeout=timeout)

    @contextmanager
    def stream(
        self, method: str, request: Mapping[str, Any], timeout: float | None = None
    ) -> Iterator[Iterator[dict[str, Any]]]:
        """Call a method that answers with a stream; leaving the context cancels the call.

        Raises:
            RpcFailed: while iterating: it failed, or the other side went away.
        """
        call = self._calls[method](from_mapping(self._service.methods[method].request, request), timeout=timeout)
        try:
            yield _answers(call)
        finally:
            call.cancel()


def _callable(channel: grpc.Channel, method: Any) -> Any:
    make = channel.unary_stream if method.server_streaming else channel.unary_unary
    return make(method.path, request_serializer=_serialize, response_deserializer=method.response.FromString)


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()


def _answers(call: Any) -> Iterator[dict[str, Any]]:
    with _failures():
        for message in call:
            yield to_mapping(message)


@contextmanager
def _failures() -> Iterator[None]:
    import grpc

    try:
        yield
    except grpc.RpcError as error:
        raise RpcFailed(error.code().name, error.details() or "") from error
