"""Docker's two formats of logins: in pull secrets, and in files of the node.

Sources: kubernetes ``pkg/credentialprovider/{config,provider}.go``, ``pkg/credentialprovider/secrets/secrets.go``.
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
from hyperkube_host.kubelet.credentialprovider.keyring import (
    DockerConfig,
    Keyring,
    SecretSource,
    TrackedCredentials,
)

from hyperkube.hookspecs.runtime import RegistryCredentials
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

CONFIG_JSON, DOCKERCFG = "kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"
_KEYS = {CONFIG_JSON: ".dockerconfigjson", DOCKERCFG: ".dockercfg"}
REREAD_SECONDS = 300.0
_log = logging.getLogger("hyperkube.kubelet")


class DockerConfigInvalid(ValueError):
    """A file or secret of logins cannot be read."""


def read_config(document: Any) -> DockerConfig:
    """Return the logins of a ``.dockercfg``, or of the ``auths`` of a ``config.json``.

    Raises:
        DockerConfigInvalid: it has another form.
    """
    if not isinstance(document, dict):
        raise DockerConfigInvalid("a registry configuration must be a JSON object")
    return {location: _entry(value) for location, value in document.items()}


def _entry(value: Any) -> RegistryCredentials:
    if not isinstance(value, dict):
        raise DockerConfigInvalid("the login of a registry must be a JSON object")
    if value.get("auth"):
        username, password = _decoded(str(value["auth"]))
    else:
        username, password = str(value.get("username") or ""), str(value.get("password") or "")
    return RegistryCredentials(username=username, password=password)


def _decoded(text: str) -> tuple[str, str]:
    try:
        # The padding may be left out.
        raw = base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise DockerConfigInvalid(f"illegal base64 data: {error}") from error
    username, colon, password = raw.partition(":")
    if not colon:
        raise DockerConfigInvalid("unable to parse auth field, must be formatted as base64(username:password)")
    return username, password


def keyring_of(secrets: Iterable[Object]) -> Keyring:
    """Return the logins of pull secrets; a secret of another type has none.

    Raises:
        DockerConfigInvalid: one cannot be read.
    """
    keyring = Keyring()
    for secret in secrets:
        kind = str(secret.get("type") or "")
        raw = (secret.get("data") or {}).get(_KEYS.get(kind, ""))
        if not raw:
            continue
        try:
            document = orjson.loads(base64.b64decode(raw))
        except ValueError as error:
            raise DockerConfigInvalid(str(error)) from error
        found = (document.get("auths") or {}) if kind == CONFIG_JSON and isinstance(document, dict) else document
        keyring.add(read_config(found), SecretSource(uid_of(secret), namespace_of(secret), name_of(secret)))
    return keyring


class NodeFiles:
    """The logins in the node's own files: Docker's folders, the kubelet's, and the working directory.

    They are read anew every five minutes. Only the first ``config.json`` counts, and a ``.dockercfg`` without one.
    """

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._read_at = 0.0
        self._keyring: Keyring | None = None

    def lookup(self, image: str) -> list[TrackedCredentials]:
        """Return the credentials for an image."""
        now = self._clock.monotonic()
        if self._keyring is None or now - self._read_at >= REREAD_SECONDS:
            self._keyring, self._read_at = self._read(), now
        return self._keyring.lookup(image)

    def _read(self) -> Keyring:
        keyring = Keyring()
        for path, is_json in self._candidates():
            try:
                document = orjson.loads(path.read_bytes())
                keyring.add(read_config((document.get("auths") or {}) if is_json else document))
            except OSError:
                continue  # there is none, or it is not ours to read
            except (ValueError, AttributeError) as error:
                _log.warning("while trying to parse blob %s: %s", path, error)
                continue
            break
        return keyring

    def _candidates(self) -> Iterator[tuple[Path, bool]]:
        home = Path(os.environ.get("HOME") or "/")
        for folder in (self._root, Path(), home / ".docker", Path("/.docker")):
            yield folder / "config.json", True
        for folder in (self._root, Path(), home, Path("/")):
            yield folder / ".dockercfg", False
