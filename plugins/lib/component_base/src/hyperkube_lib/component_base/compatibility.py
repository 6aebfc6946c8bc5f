"""``--compat``: the defaults that an older release had where 1.36's differ.

Sources: kubernetes 1.0 and 1.5 ``cmd/*/app/options`` and ``pkg/master/ports/ports.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

_log = logging.getLogger("hyperkube.compatibility")

_API_SERVER: Mapping[str, Any] = {
    "insecure-port": 8080,
    "admission-control": ("AlwaysAdmit",),
    "authorization-mode": ("AlwaysAllow",),
    "component-statuses": {
        "scheduler": "http://127.0.0.1:10251/healthz",
        "controller-manager": "http://127.0.0.1:10252/healthz",
    },
}
_LOOPS: Mapping[str, Any] = {"secure-port": 0, "leader-elect": False}
_KUBELET: Mapping[str, Any] = {
    "read-only-port": 10255,
    "anonymous-auth": True,
    "authentication-token-webhook": False,
    "authorization-mode": "AlwaysAllow",
}
_PROXY: Mapping[str, Any] = {"healthz-bind-address": "127.0.0.1", "healthz-port": 10249, "metrics-port": 0}
_COMMON: Mapping[str, Mapping[str, Any]] = {
    "kube-apiserver": _API_SERVER,
    "kube-controller-manager": {**_LOOPS, "port": 10252},
    "kube-scheduler": {**_LOOPS, "port": 10251},
    "kubelet": _KUBELET,
    "kube-proxy": _PROXY,
}
_ON_ALL_ADDRESSES: Mapping[str, Any] = {"address": "0.0.0.0"}
DEFAULTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "1.0": _COMMON,
    "1.5": {
        **_COMMON,
        "kube-controller-manager": {**_COMMON["kube-controller-manager"], **_ON_ALL_ADDRESSES},
        "kube-scheduler": {**_COMMON["kube-scheduler"], **_ON_ALL_ADDRESSES},
    },
}
"""Release → server → the defaults it had where 1.36's differ."""


def with_compat(server: str, values: FlagValues) -> FlagValues:
    """Return the values with the defaults of the release that ``--compat`` names, where none was given.

    Raises:
        UsageError: no such release is known, or it had no such server.
    """
    release = values["compat"]
    if not release:
        return values
    if release not in DEFAULTS:
        raise UsageError(f"--compat={release!r} is not known (known: {', '.join(DEFAULTS)})")
    if server not in DEFAULTS[release]:
        raise UsageError(f"--compat={release!r}: that release has no {server}")
    _log.warning("--compat=%s: insecure defaults of that release are in force", release)
    return values.with_defaults(DEFAULTS[release][server])
