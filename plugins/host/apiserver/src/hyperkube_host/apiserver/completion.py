"""From the values of flags to complete options: what follows from other flags is filled in, and contradictions refused.

Source of the name: kubernetes ``cmd/kube-apiserver/app/options/completion.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.apiserver.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.apiserver.options import Options, given_flags
from hyperkube_host.apiserver.storage.storage_options import decoded_objects, etcd_options
from hyperkube_lib.serving.serving_certificates import ensure_key, ensure_pair, service_address

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import merged, plugin_flags, typed

_log = logging.getLogger("hyperkube.apiserver")

Values = Mapping[str, Any]
"""Flag name → value."""

SERVING_NAMES = (
    "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
)  # fmt: skip
"""What clients call the server, for its certificate."""

COMPAT = {"1.5": {"insecure-port": 8080, "admission-control": ("AlwaysAdmit",), "authorization-mode": ("AlwaysAllow",)}}
"""Release → the defaults it had where 1.36's differ."""


RECONCILERS = ("lease", "master-count", "none")
MOST_GOAWAY = 0.02
"""Source: kubernetes apiserver ``pkg/server/options/server_run_options.go``."""


def with_compat(values: Values) -> Values:
    """Return the values with the defaults of the release that ``--compat`` names, where none was given.

    Raises:
        UsageError: no such release is known.
    """
    release = values["compat"]
    if not release:
        return values
    if release not in COMPAT:
        raise UsageError(f"--compat={release!r} is not known (known: {', '.join(COMPAT)})")
    _log.warning("--compat=%s: insecure defaults of that release are in force", release)
    return {**values, **{name: value for name, value in COMPAT[release].items() if name not in given_flags(values)}}


def complete(values: Values) -> Options:
    """Return the options that the flags make, with what follows from them: certificates, the signing key.

    Raises:
        UsageError: flags that contradict each other, or a folder that cannot be written.
    """
    completed = dict(with_compat(values))
    completed.update(etcd_options(Options.of(completed).storage))
    options = Options.of(completed)
    _check(options)
    if completed["tls-cert-file"] == "" and "cert-dir" not in options.given and options.storage.data_dir:
        completed["cert-dir"] = str(Path(options.storage.data_dir) / "pki")
    if options.address.secure_port:
        addresses = ["127.0.0.1", "::1", service_address(options.control_plane.service_cluster_ip_range)]
        addresses += filter(None, (options.address.bind_address, options.address.advertise_address))
        ensure_pair(completed, "apiserver", SERVING_NAMES, addresses)
    if not completed["service-account-signing-key-file"]:
        key = completed["service-account-signing-key-file"] = ensure_key(
            Path(completed["cert-dir"]) / "service-account.key"
        )
        completed["service-account-key-file"] = completed["service-account-key-file"] or (key,)
    _log.info(
        "serving %s:%s, store %s",
        options.address.bind_address,
        options.address.secure_port,
        options.storage.storage_backend,
    )
    return Options.of(
        completed, is_announced=True, flagz=typed(merged(NAME, FLAGS, plugin_flags(NAME, FAMILIES)), completed)
    )


def _check(options: Options) -> None:
    """Refuse options that cannot be.

    Raises:
        UsageError: one of them, in one line.
    """
    storage, reconciler = options.storage, options.control_plane.endpoint_reconciler_type
    if not 0 <= options.listener.goaway_chance <= MOST_GOAWAY:
        raise UsageError("--goaway-chance can not be less than 0 or greater than 0.02")
    if storage.storage_backend == "etcd3" and not storage.etcd_servers:
        raise UsageError("--etcd-servers must be given (or choose --storage-backend=sqlite --data-dir=DIR, or memory)")
    if storage.storage_backend == "sqlite" and not storage.data_dir:
        raise UsageError("--storage-backend=sqlite needs --data-dir=DIR")
    if reconciler not in RECONCILERS:
        raise UsageError(f"--endpoint-reconciler-type must be one of: [{', '.join(RECONCILERS)}]")
    if storage.target_ram_mb:
        kept = decoded_objects(storage.target_ram_mb, storage.deserialization_cache_size)
        _log.info("target memory %d MB: deserialization cache size %d", storage.target_ram_mb, kept)
