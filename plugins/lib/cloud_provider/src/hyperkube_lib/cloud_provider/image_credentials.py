"""What a kubelet's credential provider programs have in common: one question on the standard input, one answer.

The kubelet starts the program that ``--image-credential-provider-config`` names for an image, from the folder of
``--image-credential-provider-bin-dir``. What goes wrong is one line on the standard error, without secrets.
Source: kubernetes ``staging/src/k8s.io/kubelet/pkg/apis/credentialprovider/v1/types.go``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, TextIO

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError

GROUP: Final = "credentialprovider.kubelet.k8s.io"
REGISTRY, IMAGE = "Registry", "Image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Logins:
    """Name and password by registry; `seconds` that they may be kept, for the images of a `REGISTRY` or one `IMAGE`."""

    by_registry: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    seconds: int = 0
    kept_for: str = REGISTRY


def registry_of(image: str) -> str:
    """Return the registry in an image's name."""
    return image.partition("://")[2].partition("/")[0] if "://" in image else image.partition("/")[0]


def serve(ask: Callable[[str], Logins], stdin: TextIO = sys.stdin, stdout: TextIO = sys.stdout) -> int:
    """Answer one question by what `ask` gives for its image; return the exit code."""
    try:
        question = json.load(stdin)
        kind, version, image = (str(question[key]) for key in ("kind", "apiVersion", "image"))
    except (ValueError, KeyError, TypeError, RecursionError):
        kind = version = image = ""
    if kind != "CredentialProviderRequest" or not version.startswith(f"{GROUP}/"):
        sys.stderr.write("error: the standard input holds no CredentialProviderRequest\n")
        return 1
    try:
        found = ask(image)
    except HyperkubeError as error:
        sys.stderr.write(f"error: no credentials for {image}: {error}\n")
        return 1
    answer = {
        "kind": "CredentialProviderResponse",
        "apiVersion": version,
        "cacheKeyType": found.kept_for,
        "cacheDuration": f"{found.seconds}s",
        "auth": {
            host: {"username": name, "password": password} for host, (name, password) in found.by_registry.items()
        },
    }
    json.dump(answer, stdout)
    return 0
