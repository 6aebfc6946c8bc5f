"""Service account tokens for pods, requested from the API server and renewed before they expire.

Source: kubernetes ``pkg/kubelet/token/token_manager.go``.
"""

from __future__ import annotations

import threading
from datetime import timedelta

from hyperkube.client.client import Client
from hyperkube.kinds.resources import SERVICE_ACCOUNTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.machinery.times import parse_time

RENEW_AT = 0.8
"""The share of its life after which a token is renewed."""
MAX_TTL_SECONDS = 24 * 3600


class TokenManager:
    """Requests tokens and keeps each until it should be renewed."""

    def __init__(self, client: Client | None, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[tuple[str, str, int], tuple[float, Object]] = {}

    def token(self, pod: Object, audience: str, seconds: int) -> Object:
        """Return the status of a TokenRequest for the pod's service account.

        Raises:
            ApiError: the API server issues none.
        """
        key = (uid_of(pod), audience, seconds)
        now = self._clock.now().timestamp()
        with self._lock:
            cached = self._tokens.get(key)
        if cached is not None and now < cached[0]:
            return cached[1]
        name = pod["spec"].get("serviceAccountName") or "default"
        if self._client is None:
            raise NotFound.about(SERVICE_ACCOUNTS.group_resource, name)
        request = {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": name, "namespace": namespace_of(pod)},
            "spec": {
                "audiences": [audience] if audience else [],
                "expirationSeconds": seconds,
                "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name_of(pod), "uid": uid_of(pod)},
            },
        }
        answer = self._client.create(SERVICE_ACCOUNTS, request, namespace_of(pod), name=name, subresource="token")
        status: Object = answer["status"]
        life = (parse_time(status["expirationTimestamp"]) - self._clock.now()) / timedelta(seconds=1)
        with self._lock:
            self._tokens[key] = (now + min(life * RENEW_AT, MAX_TTL_SECONDS), status)
        return status

    def remove_pod(self, uid: str) -> None:
        """Drop the tokens of a pod that is gone."""
        with self._lock:
            self._tokens = {key: entry for key, entry in self._tokens.items() if key[0] != uid}
