"""The real node of a test's cluster: the flags that it needs, its own and those of the servers around it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Options = Mapping[str, Any]

NAME = "process-0"
LABEL = "hyperkube.dev/hollow"


def api_server_options(folder: Path, *, is_mixed: bool) -> Options:
    """Return the API server's: it issues the tokens that pods are given, and tells pods of both kinds of nodes apart.

    Args:
        folder: where the key for the tokens is written.
        is_mixed: whether there are simulated nodes, too.
    """
    from hyperkube_lib.serving.certificates import signing_key, write_private

    key = folder / "service-account.key"
    write_private(key, signing_key()[0])
    options = {
        "service-account-signing-key-file": str(key),
        "service-account-key-file": (str(key),),
        "kubelet-preferred-address-types": ("InternalIP",),
    }
    return {**options, "enable-admission-plugins": ("SimulatedNodes",)} if is_mixed else options


def kubelet_options(folder: Path, host: str) -> Options:
    """Return the kubelet's: a client that asks it for something shows a token, and the API server says what it may.

    Args:
        folder: the node's own.
        host: the address to listen on.
    """
    with socket.create_server((host, 0)) as probe:
        port = probe.getsockname()[1]
    return {
        "container-runtime": "process",
        "address": host,
        "port": port,
        "cert-dir": str(folder / "pki"),
        "anonymous-auth": False,
        "authentication-token-webhook": True,
        "authorization-mode": "Webhook",
        "stop-pods-on-close": True,
    }
