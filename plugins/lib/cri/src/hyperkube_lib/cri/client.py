"""A client of a container runtime: both services of CRI v1, each call with a deadline.

Sources: kubernetes ``staging/src/k8s.io/cri-client/pkg/remote_runtime.go``, ``remote_image.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from hyperkube_lib.cri.schema import IMAGE_SERVICE, RUNTIME_SERVICE, cri_schema
from hyperkube_lib.grpc_messages import Stub, unix_channel, unix_socket_of

REQUEST_TIMEOUT_SECONDS = 120.0
"""The kubelet's default of ``--runtime-request-timeout``."""

_LONG_CALLS = frozenset({"RunPodSandbox"})
"""Calls that get twice the time: the network is set up in them."""
_ENDLESS_CALLS = frozenset({"PullImage"})
"""Calls without a deadline: an image may be of any size."""


class CriClient:
    """Calls a runtime by method name; connects at the first call, and again when the runtime is back."""

    def __init__(
        self, endpoint: str, image_endpoint: str = "", timeout_seconds: float = REQUEST_TIMEOUT_SECONDS
    ) -> None:
        """Use the sockets of two endpoints, of which the second defaults to the first.

        Raises:
            UsageError: an endpoint that is no unix socket.
        """
        self._timeout = timeout_seconds
        path, image_path = unix_socket_of(endpoint), unix_socket_of(image_endpoint or endpoint)
        channel = unix_channel(path)
        image_channel = channel if image_path == path else unix_channel(image_path)
        self._channels = {channel, image_channel}
        self._runtime = Stub(channel, cri_schema().service(RUNTIME_SERVICE))
        self._images = Stub(image_channel, cri_schema().service(IMAGE_SERVICE))

    def _deadline(self, method: str, extra_seconds: float) -> float | None:
        if method in _ENDLESS_CALLS:
            return None
        return self._timeout * (2 if method in _LONG_CALLS else 1) + extra_seconds

    def call(self, method: str, request: Mapping[str, Any], extra_seconds: float = 0.0) -> dict[str, Any]:
        """Call the runtime service; `extra_seconds` is what the call itself may take beyond the usual deadline.

        Raises:
            RpcFailed: the runtime refused, is away (``UNAVAILABLE``) or took too long (``DEADLINE_EXCEEDED``).
        """
        return self._runtime.call(method, request, self._deadline(method, extra_seconds))

    def call_message(self, method: str, request: Mapping[str, Any]) -> Any:
        """Call the runtime service and return the message itself: lists are read faster from it."""
        return self._runtime.call_message(method, request, self._deadline(method, 0.0))

    def call_image(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call the image service.

        Raises:
            RpcFailed: as for `call`.
        """
        return self._images.call(method, request, self._deadline(method, 0.0))

    def events(self) -> AbstractContextManager[Iterator[dict[str, Any]]]:
        """Return the stream of ``ContainerEventResponse``; leaving the context ends it."""
        return self._runtime.stream("GetContainerEvents", {})

    def close(self) -> None:
        """Close the connections; calls under way fail."""
        for channel in self._channels:
            channel.close()
