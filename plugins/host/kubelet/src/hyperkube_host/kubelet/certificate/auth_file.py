"""The file of ``--auth-path``: how a kubelet of the 1.0 line proved to the API server who it is.

JSON with any of ``User``, ``Password``, ``BearerToken``, ``CAFile``, ``CertFile``, ``KeyFile`` and ``Insecure``.

Source: kubernetes 1.0 ``pkg/clientauth/clientauth.go``, ``cmd/kubelet/app/server.go`` (authPathClientConfig).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from hyperkube.client.http import HttpClient
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

_FIELDS = {
    "User": "username",
    "Password": "password",
    "BearerToken": "token",
    "CAFile": "ca_file",
    "CertFile": "cert_file",
    "KeyFile": "key_file",
    "Insecure": "insecure",
}
"""Member of the file → argument of the client."""


def client_by_auth_file(values: FlagValues, user_agent: str) -> HttpClient:
    """Return a client for the first of ``--api-servers`` with the credentials of ``--auth-path``.

    Raises:
        UsageError: there is a kubeconfig too, no server is named, or the file cannot be read.
    """
    path = values["auth-path"]
    if values["kubeconfig"]:
        raise UsageError("cannot specify both --kubeconfig and --auth-path")
    server = values["master"] or next(iter(values["api-servers"]), "")
    if not server:
        raise UsageError("--auth-path needs --api-servers")
    try:
        found: Any = orjson.loads(Path(path).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"--auth-path: cannot read {path!r}: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"--auth-path: {path!r} holds no JSON object")
    arguments = {ours: found[theirs] for theirs, ours in _FIELDS.items() if found.get(theirs)}
    return HttpClient(server if "://" in server else f"http://{server}", user_agent=user_agent, **arguments)
