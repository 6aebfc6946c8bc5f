"""Finds the credentials that may be good for an image, the most specific first.

Source: kubernetes ``pkg/credentialprovider/keyring.go``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

import orjson

from hyperkube.hookspecs.runtime import RegistryCredentials

DEFAULT_REGISTRY = "index.docker.io"


class SecretSource(NamedTuple):
    """A pull secret that had credentials."""

    uid: str
    namespace: str
    name: str


class ServiceAccountSource(NamedTuple):
    """A service account in whose name a program gave credentials."""

    uid: str
    namespace: str
    name: str


class TrackedCredentials(NamedTuple):
    """Credentials with where they come from; those of the node itself have no source."""

    credentials: RegistryCredentials
    source: SecretSource | ServiceAccountSource | None = None

    @property
    def digest(self) -> str:
        """A hash by which the same credentials are known again; salted with nothing, and never shown."""
        found = self.credentials
        return hashlib.sha256(orjson.dumps([found.username, found.password])).hexdigest()


DockerConfig = Mapping[str, RegistryCredentials]
"""Registry, with or without a path → the login for it."""


class Lookup(Protocol):
    """What knows credentials for images."""

    def lookup(self, image: str) -> list[TrackedCredentials]:
        """Return the credentials that may be good for an image without tag and digest."""


class Keyring:
    """The logins of some registries."""

    def __init__(self) -> None:
        self._found: dict[str, list[TrackedCredentials]] = {}

    def add(self, config: DockerConfig, source: SecretSource | ServiceAccountSource | None = None) -> None:
        """Add logins; those of a registry that is known already come after the known ones."""
        for location, credentials in config.items():
            key = _key_of(location)
            if key is not None:
                self._found.setdefault(key, []).append(TrackedCredentials(credentials, source))

    def lookup(self, image: str) -> list[TrackedCredentials]:
        """Return the credentials for an image: longer paths first, then Docker Hub's own for an image of it."""
        # In reverse order of names a path comes before the registry that it is in.
        keys = [key for key in sorted(self._found, reverse=True) if urls_match(key, image)]
        if not keys and is_default_registry(image) and DEFAULT_REGISTRY in self._found:
            keys = [DEFAULT_REGISTRY]
        return [credentials for key in keys for credentials in self._found[key]]


def lookup_all(keyrings: Iterable[Lookup], image: str) -> list[TrackedCredentials]:
    """Return the credentials of several keyrings, in their order."""
    return [credentials for keyring in keyrings for credentials in keyring.lookup(image)]


def _key_of(location: str) -> str | None:
    """Return host and path of a registry, as Docker's client compares them; None when it is no URL."""
    text = location if location.startswith(("https://", "http://")) else f"https://{location}"
    try:
        parsed = urlsplit(text)
    except ValueError:
        return None
    path = parsed.path[3:] if parsed.path.startswith(("/v1/", "/v2/")) else parsed.path
    return parsed.netloc + (path if path != "/" else "")


def urls_match(pattern: str, target: str) -> bool:
    """Tell whether an image is of a registry, whose host may have wildcards within its labels.

    Port and number of labels must be the same, and the pattern's path begin the target's.
    """
    try:
        wanted, found = urlsplit(f"https://{pattern}"), urlsplit(f"https://{target}")
    except ValueError:
        return False
    (wanted_host, wanted_port), (found_host, found_port) = _host_port(wanted.netloc), _host_port(found.netloc)
    labels, found_labels = wanted_host.split("."), found_host.split(".")
    if wanted_port != found_port or len(labels) != len(found_labels) or not found.path.startswith(wanted.path):
        return False
    return all(fnmatchcase(label, glob) for glob, label in zip(labels, found_labels, strict=True))


def _host_port(netloc: str) -> tuple[str, str]:
    host, colon, port = netloc.rpartition(":")
    return (host, port) if colon and port.isdigit() else (netloc, "")


def is_default_registry(image: str) -> bool:
    """Tell whether an image is pulled from Docker Hub."""
    first, slash, _ = image.partition("/")
    if not first:
        return False
    return not slash or first in {"docker.io", "index.docker.io"} or not any(mark in first for mark in ".:")
