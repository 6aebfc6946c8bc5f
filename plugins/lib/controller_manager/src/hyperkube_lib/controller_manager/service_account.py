"""Tokens of a service account, requested and renewed by a user who may.

The controller manager gives each controller a service account of its own this way.
"""

from __future__ import annotations

import threading

from hyperkube.client.client import Client
from hyperkube.kinds.resources import SERVICE_ACCOUNTS
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.objects import Object

RENEW_AT = 0.8


class ServiceAccountTokens:
    """The present token of one service account; makes the account when there is none; thread-safe."""

    def __init__(
        self, client: Client, namespace: str, name: str, *, seconds: int = 3600, clock: Clock | None = None
    ) -> None:
        """Remember whose tokens are wanted; nothing is requested yet.

        Args:
            client: may create tokens, and service accounts in that namespace.
            namespace: the account's namespace.
            name: the account's name.
            seconds: life of a token; it is renewed after four fifths of it.
            clock: tells when that is.
        """
        self._client = client
        self._namespace = namespace
        self._name = name
        self._seconds = seconds
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._token = ""
        self._renew_at = 0.0

    def token(self) -> str:
        """Return a token that is still good for a fifth of its life.

        Raises:
            ApiError: the token was refused.
            ConnectionError: there is no server.
        """
        with self._lock:
            if not self._token or self._clock.monotonic() >= self._renew_at:
                self._token = self._request()["status"]["token"]
                self._renew_at = self._clock.monotonic() + RENEW_AT * self._seconds
            return self._token

    def _request(self) -> Object:
        request: Object = {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "spec": {"expirationSeconds": self._seconds},
        }

        def ask() -> Object:
            return self._client.create(SERVICE_ACCOUNTS, request, self._namespace, name=self._name, subresource="token")

        try:
            return ask()
        except NotFound:
            self._make_account()
        return ask()

    def _make_account(self) -> None:
        account: Object = {
            "kind": "ServiceAccount",
            "apiVersion": "v1",
            "metadata": {"name": self._name, "namespace": self._namespace},
        }
        try:
            self._client.create(SERVICE_ACCOUNTS, account, self._namespace)
        except AlreadyExists:
            return  # another thread was faster; its token is as good
