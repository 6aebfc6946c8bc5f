"""Credential provider programs: asked on their standard input which credentials an image needs.

Source: kubernetes ``pkg/credentialprovider/plugin/plugin.go``; the messages are those of
credentialprovider.kubelet.k8s.io/v1.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from hyperkube_host.kubelet.credentialprovider.keyring import (
    DockerConfig,
    Keyring,
    ServiceAccountSource,
    TrackedCredentials,
    urls_match,
)
from hyperkube_host.kubelet.credentialprovider.provider_config import CredentialProvider, TokenAttributes

from hyperkube.hookspecs.runtime import RegistryCredentials
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, metadata, namespace_of, uid_of

TIMEOUT_SECONDS = 60.0
_MOST_CACHED = 10_000
_GLOBAL = "global"
_log = logging.getLogger("hyperkube.kubelet")


class PluginFailed(Exception):
    """A program gave no credentials; the text never holds what it wrote on its standard output."""


class ServiceAccounts(NamedTuple):
    """How the pod's service account and a token of it are had."""

    get: Callable[[str, str], Object]
    """(namespace, name) → the ServiceAccount."""
    token: Callable[[Object, str], str]
    """(pod, audience) → a token bound to the pod."""


class _Account(NamedTuple):
    source: ServiceAccountSource
    annotations: Mapping[str, str]
    token: str


class Request(NamedTuple):
    """What a program is asked."""

    image: str
    token: str = ""
    annotations: Mapping[str, str] = {}


class Credentials(NamedTuple):
    """What a program answered; `seconds` None leaves it to the configuration how long that is good."""

    config: DockerConfig
    cache_key_type: str
    seconds: float | None


def run_plugin(provider: CredentialProvider, folder: Path, request: Request) -> Credentials:
    """Run a program and return its answer.

    Raises:
        PluginFailed: it fails, takes over a minute, or answers something else.
    """
    message: dict[str, Any] = {
        "kind": "CredentialProviderRequest",
        "apiVersion": provider.api_version,
        "image": request.image,
    }
    if request.token:
        message |= {"serviceAccountToken": request.token, "serviceAccountAnnotations": dict(request.annotations)}
    what = f"error execing credential provider plugin {provider.name} for image {request.image}"
    try:
        done = subprocess.run(
            [str(folder / provider.name), *provider.args],
            input=orjson.dumps(message),
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            env={**os.environ, **dict(provider.env)},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PluginFailed(f"{what}: context deadline exceeded") from error
    except OSError as error:
        raise PluginFailed(f"{what}: {error}") from error
    if done.returncode:
        raise PluginFailed(f"{what}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return read_response(done.stdout, provider.api_version)


def read_response(data: bytes, api_version: str) -> Credentials:
    """Return what a program wrote.

    Raises:
        PluginFailed: it is no answer of that version.
    """
    undecodable = PluginFailed("error decoding credential provider plugin response from stdout")
    try:
        response = orjson.loads(data)
    except ValueError:
        raise undecodable from None  # the text could show credentials
    if not isinstance(response, dict) or response.get("kind") != "CredentialProviderResponse":
        raise undecodable
    if response.get("apiVersion") != api_version:
        raise PluginFailed(
            "apiVersion from credential plugin response did not match expected apiVersion:"
            f"{api_version}, actual apiVersion:{response.get('apiVersion')}"
        )
    kind = response.get("cacheKeyType")
    if kind not in {"Image", "Registry", "Global"}:
        raise PluginFailed(f'credential provider plugin did not return a valid cacheKeyType: "{kind}"')
    try:
        config = {
            location: RegistryCredentials(username=entry.get("username", ""), password=entry.get("password", ""))
            for location, entry in (response.get("auth") or {}).items()
        }
        told = response.get("cacheDuration")
        return Credentials(config, kind, None if told is None else parse_duration(told))
    except (AttributeError, TypeError, DurationError):
        raise undecodable from None


class ExecPlugin:
    """One program with what it has answered; thread-safe."""

    def __init__(
        self,
        provider: CredentialProvider,
        clock: Clock,
        accounts: ServiceAccounts,
        run: Callable[[Request], Credentials],
    ) -> None:
        """Take how the program is run."""
        self._provider = provider
        self._clock = clock
        self._accounts = accounts
        self._run = run
        # One run at a time: those that wait find the answer in the cache.
        self._running = threading.Lock()
        self._cached: dict[tuple[str, str], tuple[float, DockerConfig]] = {}

    def lookup(self, image: str, pod: Object) -> list[TrackedCredentials]:
        """Return the credentials for an image of a pod; none, and a line in the log, when the program fails."""
        if not any(urls_match(pattern, image) for pattern in self._provider.match_images):
            return []
        try:
            account = self._account(pod)
            config = self._provide(image, account) if self._may_run(account) else {}
        except (PluginFailed, ApiError, OSError) as error:
            _log.error("failed getting credential from external registry credential provider: %s", error)
            return []
        keyring = Keyring()
        keyring.add(config, None if account is None else account.source)
        return keyring.lookup(image)

    def _may_run(self, account: _Account | None) -> bool:
        token = self._provider.token
        return token is None or account is not None or not token.require_service_account

    def _account(self, pod: Object) -> _Account | None:
        """Return the pod's service account, None where the program is not told of it."""
        attributes, name = self._provider.token, pod["spec"].get("serviceAccountName") or ""
        if attributes is None or not name:
            return None
        found = self._accounts.get(namespace_of(pod), name)
        annotations = _wanted(metadata(found).get("annotations") or {}, attributes)
        if annotations is None:
            return None
        source = ServiceAccountSource(uid_of(found), namespace_of(pod), name)
        return _Account(source, annotations, self._accounts.token(pod, attributes.audience))

    def _provide(self, image: str, account: _Account | None) -> DockerConfig:
        with self._running:
            scope = "" if account is None else self._scope(account)
            known = self._find(image, scope)
            if known is not None:
                return known
            request = Request(image) if account is None else Request(image, account.token, account.annotations)
            answer = self._run(request)
            seconds = self._provider.cache_seconds if answer.seconds is None else answer.seconds
            if seconds:
                key = {"Image": image, "Registry": image.split("/", maxsplit=1)[0], "Global": _GLOBAL}[
                    answer.cache_key_type
                ]
                self._drop_expired()
                self._cached[key, scope] = (self._clock.monotonic() + seconds, answer.config)
            return answer.config

    def _scope(self, account: _Account) -> str:
        """Return what must be the same for an answer to be good for another pod."""
        parts = [*account.source, sorted(account.annotations.items())]
        if self._provider.token is not None and self._provider.token.cache_type == "Token":
            parts.append(account.token)
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()

    def _find(self, image: str, scope: str) -> DockerConfig | None:
        now = self._clock.monotonic()
        for key in (image, _registry(image), _GLOBAL):
            entry = self._cached.get((key, scope))
            if entry is not None and now <= entry[0]:
                return entry[1]
        return None

    def _drop_expired(self) -> None:
        now = self._clock.monotonic()
        self._cached = {key: entry for key, entry in self._cached.items() if now <= entry[0]}
        if len(self._cached) > _MOST_CACHED:
            self._cached.clear()


def _registry(image: str) -> str:
    return image.partition("/")[0]


def _wanted(annotations: Mapping[str, str], attributes: TokenAttributes) -> Mapping[str, str] | None:
    """Return the annotations that a program is told, None when one that it needs is missing."""
    if any(key not in annotations for key in attributes.required_annotations):
        return None
    keys = (*attributes.required_annotations, *attributes.optional_annotations)
    return {key: annotations[key] for key in keys if key in annotations}
