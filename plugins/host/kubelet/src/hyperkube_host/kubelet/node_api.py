"""What the kubelet reads of the API for its pods: config maps, secrets, claims, tokens, services.

Objects are read when needed and kept for a moment, so that a pod's many references to one object cost one read.
"""

from __future__ import annotations

import base64
import threading
from datetime import timedelta

import orjson

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.machinery.times import parse_time

KEPT_SECONDS = 1.0
_TOKEN_LIFE_USED = 0.8
_TOKEN_MOST_SECONDS = 24 * 3600


class NodeApi:
    """Reads for pods; without an API server everything is not found."""

    def __init__(self, client: Client | None, clock: Clock, services: Informer | None) -> None:
        self._client = client
        self._clock = clock
        self._services = services
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str], tuple[float, Object]] = {}
        self._tokens: dict[tuple[str, str, int], tuple[float, Object]] = {}

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> Object:
        """Return an object; at most a second old.

        Raises:
            NotFound: there is none.
        """
        key = (resource.resource, namespace, name)
        now = self._clock.monotonic()
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and now - kept[0] < KEPT_SECONDS:
                return kept[1]
            self._kept = {k: entry for k, entry in self._kept.items() if now - entry[0] < KEPT_SECONDS}
        if self._client is None:
            raise NotFound.about(resource.group_resource, name)
        found = self._client.get(resource, name, namespace)
        with self._lock:
            self._kept[key] = (now, found)
        return found

    def config_map(self, namespace: str, name: str) -> Object:
        """Return a ConfigMap, or raise NotFound."""
        return self.get(CONFIG_MAPS, namespace, name)

    def secret(self, namespace: str, name: str) -> Object:
        """Return a Secret, or raise NotFound."""
        return self.get(SECRETS, namespace, name)

    def services(self) -> list[Object]:
        """Return all services; treat them as shared."""
        return self._services.list() if self._services is not None else []

    def token(self, pod: Object, audience: str, seconds: int) -> Object:
        """Return a token of the pod's service account, renewed after four fifths of its life or a day.

        Raises:
            ApiError: the API server gives none.
        """
        key = (uid_of(pod), audience, seconds)
        now = self._clock.now().timestamp()
        with self._lock:
            kept = self._tokens.get(key)
        if kept is not None and now < kept[0]:
            return kept[1]
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
            self._tokens[key] = (now + min(life * _TOKEN_LIFE_USED, _TOKEN_MOST_SECONDS), status)
        return status

    def forget(self, uid: str) -> None:
        """Drop the tokens of a pod that is gone."""
        with self._lock:
            self._tokens = {key: entry for key, entry in self._tokens.items() if key[0] != uid}

    def credentials(self, pod: Object, reference: str) -> Object | None:
        """Return ``{username, password}`` for an image's registry from the pod's pull secrets, or None."""
        first, slash, _ = reference.partition("/")
        registry = first if slash and ("." in first or ":" in first or first == "localhost") else "docker.io"
        for entry in pod["spec"].get("imagePullSecrets") or []:
            try:
                secret = self.secret(namespace_of(pod), entry["name"])
            except ApiError:
                continue  # a missing pull secret is no error: the image may be public
            raw = (secret.get("data") or {}).get(".dockerconfigjson")
            auths = orjson.loads(base64.b64decode(raw)).get("auths", {}) if raw else {}
            for server, auth in auths.items():
                if registry in server:
                    user, _, password = base64.b64decode(auth.get("auth", "")).decode().partition(":")
                    return {"username": auth.get("username") or user, "password": auth.get("password") or password}
        return None
