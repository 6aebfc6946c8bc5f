"""From the values of flags to complete options: what follows from other flags is filled in, and contradictions refused.

Source of the name: kubernetes ``cmd/kube-apiserver/app/options/completion.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.apiserver.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.storage.storage_options import etcd_options
from hyperkube_host.apiserver.validation import check_key_files, validate
from hyperkube_lib.serving.serving_certificates import ensure_key, is_current, service_address, serving_pair

from hyperkube.plugin.flags import FlagValues, merged, plugin_flags, typed

_log = logging.getLogger("hyperkube.apiserver")

SERVING_NAMES = (
    "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
)  # fmt: skip
"""What clients call the server, for its certificate."""
_NAME, _SIGNING_KEY = "apiserver", "service-account.key"
"""Files in ``--cert-dir``: with ``.crt`` and ``.key`` the serving pair, and what signs tokens."""

INSECURE_PORT = 8080
"""Of the 1.x line."""


def with_insecure_port(values: FlagValues) -> FlagValues:
    """Return the values with the HTTP port of the 1.x line where its address was given, and so is wanted."""
    if "insecure-bind-address" not in values.given or "insecure-port" in values.given:
        return values
    return values.with_values({"insecure-port": INSECURE_PORT})


def complete(values: FlagValues) -> Options:
    """Return the options that the flags make, with what follows from them: certificates, the signing key.

    Raises:
        UsageError: flags that contradict each other, or a folder that cannot be written.
    """
    values = with_insecure_port(values)
    values = values.with_values(etcd_options(Options.of(values).storage))
    options = Options.of(values)
    validate(options)
    if values["tls-cert-file"] == "" and "cert-dir" not in values.given and options.storage.data_dir:
        values = values.with_values({"cert-dir": str(Path(options.storage.data_dir) / "pki")})
    values = values.with_values(_made(options, values))
    check_key_files(Options.of(values).service_accounts)
    _log.info(
        "serving %s:%s, store %s",
        options.address.bind_address,
        options.address.secure_port,
        options.storage.storage_backend,
    )
    return Options.of(values, is_announced=True, flagz=typed(merged(NAME, FLAGS, plugin_flags(NAME, FAMILIES)), values))


def _made(options: Options, values: FlagValues) -> Mapping[str, Any]:
    """Return the files of the serving certificate and of the key that signs tokens, made if there are none."""

    def make() -> Mapping[str, Any]:
        return {**_serving_pair(options, values), **_signing_key(values)}

    folder = Path(values["cert-dir"])
    lacks_pair = options.address.secure_port and not values["tls-cert-file"]
    lacks_key = not values["service-account-signing-key-file"]
    if (lacks_pair and not is_current(folder / f"{_NAME}.crt", folder / f"{_NAME}.key", _NAME)) or (
        lacks_key and not (folder / _SIGNING_KEY).exists()
    ):
        from hyperkube_lib.serving.certificates_apart import in_a_child

        in_a_child(make)
    return make()


def _serving_pair(options: Options, values: FlagValues) -> Mapping[str, Any]:
    """Return the files of the serving certificate and its key, made if there are none."""
    if not options.address.secure_port:
        return {}
    addresses = ["127.0.0.1", "::1", service_address(options.control_plane.service_cluster_ip_range)]
    addresses += filter(None, (options.address.bind_address, options.address.advertise_address))
    given = values["tls-cert-file"], values["tls-private-key-file"]
    pair = serving_pair(given, Path(values["cert-dir"]), _NAME, dns=SERVING_NAMES, ips=addresses)
    return dict(zip(("tls-cert-file", "tls-private-key-file"), pair, strict=True))


def _signing_key(values: FlagValues) -> Mapping[str, Any]:
    """Return the file of the key that signs service-account tokens, made if there is none."""
    if values["service-account-signing-key-file"]:
        return {}
    key = ensure_key(Path(values["cert-dir"]) / _SIGNING_KEY)
    # The given keys verify what others sign, as a controller manager of old does; this one, what the server signs.
    verifying = (*values["service-account-key-file"], key)
    return {"service-account-signing-key-file": key, "service-account-key-file": verifying}
