"""Registry credentials from the pull secrets of pods.

Source: kubernetes ``pkg/credentialprovider/secrets/secrets.go``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

import orjson

from hyperkube.hookspecs.runtime import RegistryCredentials
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, namespace_of


def registry_of(reference: str) -> str:
    """Return the registry that an image reference names, ``docker.io`` when it names none."""
    first, slash, _ = reference.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else "docker.io"


def credentials_for(
    pod: Object, reference: str, get_secret: Callable[[str, str], Object]
) -> RegistryCredentials | None:
    """Return the credentials for an image's registry from the pod's pull secrets, or None.

    A missing pull secret is no error: the image may be public.
    """
    registry = registry_of(reference)
    for entry in pod["spec"].get("imagePullSecrets") or []:
        try:
            secret = get_secret(namespace_of(pod), entry["name"])
        except ApiError:
            continue
        raw = (secret.get("data") or {}).get(".dockerconfigjson")
        auths = orjson.loads(base64.b64decode(raw)).get("auths", {}) if raw else {}
        for server, auth in auths.items():
            if registry in server:
                user, _, password = base64.b64decode(auth.get("auth", "")).decode().partition(":")
                return RegistryCredentials(
                    username=auth.get("username") or user, password=auth.get("password") or password
                )
    return None
