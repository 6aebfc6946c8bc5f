"""Calls to a KMS plugin behind a unix socket."""

from __future__ import annotations

import threading
import uuid
from typing import Any

from hyperkube.storage.store import StoreUnavailable


class KeyService:
    """The three calls of KMS v2; the connection is made with the first.

    Args:
        endpoint: ``unix:///path/to/socket``.
        seconds: deadline of a call.
    """

    def __init__(self, endpoint: str, seconds: float) -> None:
        self._endpoint = endpoint
        self._seconds = seconds
        self._lock = threading.Lock()
        self._channel: Any = None
        self._closed = False

    def status(self) -> Any:
        """Return the service's StatusResponse.

        Raises:
            StoreUnavailable: it does not answer.
        """
        from hyperkube_storage.kms import messages

        return self._call("Status", messages.StatusRequest(), messages.StatusResponse)

    def encrypt(self, plaintext: bytes) -> Any:
        """Return the EncryptResponse for a seed.

        Raises:
            StoreUnavailable: it does not answer or refuses.
        """
        from hyperkube_storage.kms import messages

        request = messages.EncryptRequest(plaintext=plaintext, uid=str(uuid.uuid4()))
        return self._call("Encrypt", request, messages.EncryptResponse)

    def decrypt(self, ciphertext: bytes, key_id: str, annotations: dict[str, bytes]) -> bytes:
        """Return the seed that was encrypted.

        Raises:
            StoreUnavailable: it does not answer or refuses.
        """
        from hyperkube_storage.kms import messages

        request = messages.DecryptRequest(
            ciphertext=ciphertext, uid=str(uuid.uuid4()), key_id=key_id, annotations=annotations
        )
        return bytes(self._call("Decrypt", request, messages.DecryptResponse).plaintext)

    def close(self) -> None:
        """Close the connection for good; calls that are under way, or come later, find the KMS unavailable."""
        with self._lock:
            self._closed = True
            if self._channel is not None:
                self._channel.close()
                self._channel = None

    def _call(self, method: str, request: Any, response: Any) -> Any:
        import grpc
        from hyperkube_storage.kms.messages import SERVICE

        with self._lock:
            if self._closed:
                raise StoreUnavailable(f"kms {method}: closed")
            if self._channel is None:
                options = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 2_000)]
                # The authority of a unix socket would be its path, which servers in Go refuse.
                self._channel = grpc.insecure_channel(
                    self._endpoint, [*options, ("grpc.default_authority", "localhost")]
                )
            call = self._channel.unary_unary(
                SERVICE + method,
                request_serializer=type(request).SerializeToString,
                response_deserializer=response.FromString,
            )
        try:
            return call(request, self._seconds)
        except grpc.RpcError as error:
            raise StoreUnavailable(f"kms {method}: {error.details() or error.code()}") from error
        except ValueError as error:  # so grpc says that the channel was closed before the call began
            raise StoreUnavailable(f"kms {method}: {error}") from error
